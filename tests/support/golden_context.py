"""The worked examples of sheets 20.3 to 20.6, for `golden.py`: link contexts, hubs, fish and shark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from golden import Inputs, answers, best_first_runs, toy_walk
from scenthound.lab.testing import page_of
from scenthound.model import Candidate, Topic, Url
from scenthound.page.page import Page
from scenthound.papers.dom import Dom
from scenthound.papers.fish_search import FishSearch
from scenthound.papers.hub_seeking import HubSeeking
from scenthound.papers.shark_search import SharkSearch
from scenthound.ports import Strategy

Told = Callable[[Candidate, int], Any]
"""How a link is printed, from what its page offered and the depth at which it waits afterwards."""


@answers("dom")
def dom(inputs: Inputs) -> dict[str, Any]:
    return best_first_runs(inputs, lambda **options: Dom(stop_words="small", **options))


@answers("hub")
def hub_seeking(inputs: Inputs) -> dict[str, Any]:
    return best_first_runs(inputs, lambda **options: HubSeeking(stop_words="small", **options))


@answers("hub_n")
def seed_hosts_linked(inputs: Inputs) -> dict[str, int]:
    strategy = HubSeeking(stop_words="small")
    strategy.start(Topic(inputs["QUERY"]), [Url(seed) for seed in inputs["SEEDS"]])
    return {url: strategy.seeds_linked(page_of(html, url)) for url, html in inputs["PAGES"].items()}


@answers("fish")
def fish_search(inputs: Inputs) -> dict[str, Any]:
    fish = FishSearch(stop_words="small", **inputs["FISH"])
    return deep_run(inputs, fish, lambda offer, depth: [offer.score, depth])


@answers("shark")
def shark_search(inputs: Inputs) -> dict[str, Any]:
    shark = SharkSearch(stop_words="small", **inputs["SHARK"])
    printed = ("anchor", "context", "neighbourhood", "inherited")
    return deep_run(
        inputs,
        shark,
        lambda offer, depth: {**{name: offer.parts[name] for name in printed}, "score": offer.score, "depth": depth},
    )


def deep_run(inputs: Inputs, strategy: Strategy, told: Told) -> dict[str, Any]:
    """A crawl, and what each page gave to those of its links that were not crawled yet.

    A depth is told as it is after the offer, when a link that waited with a larger one has kept that.
    """
    given: list[list[Any]] = []
    waiting: dict[Url, int] = {}
    crawled: set[Url] = set()
    read = strategy.read

    def overheard(page: Page) -> Iterable[Candidate]:
        crawled.add(page.url)
        offered = list(read(page))
        new = [offer for offer in offered if offer.url not in crawled]
        waiting.update({offer.url: max(offer.carry["depth"], waiting.get(offer.url, 0)) for offer in new})
        given.append([page.url, {offer.url: told(offer, waiting[offer.url]) for offer in new}])
        return offered

    strategy.read = overheard  # type: ignore[method-assign]
    return {"order": toy_walk(inputs, strategy).visited, "given": given}
