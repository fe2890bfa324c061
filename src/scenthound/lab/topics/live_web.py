"""A known web around sample pages, gathered from the live web with the help of seed sources.

What context graphs, reinforcement and the economies need before they can start from a few sample URLs: the pages that
link to the samples, those that link to these, and so on, as the papers got them from a search engine. Sources name
pages that are said to link; they are fetched politely, and only real links count. Pages that turn out not to link, and
some that the others link to, stand for the rest of the world.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scenthound import url as urls
from scenthound.errors import BadConfig
from scenthound.lab.run.lesson_sources import Source, recorded_source
from scenthound.lab.topics.augment import Augmented, HubRules, augment
from scenthound.lab.topics.example_sources import fetch_pages
from scenthound.lab.topics.start import from_distinct_hosts
from scenthound.loop.settings import Settings
from scenthound.model import Response, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Fetcher, Where
from scenthound.seeding import Asker
from scenthound.text.tokens import Analyser
from scenthound.wiring import asking, find_back_links

BACK_LINKS = 20  # of a page; sheet 60.1: as many as a search engine returned
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AroundSamples:
    """How much is gathered around the samples."""

    layers: int = 3
    """Steps backwards."""
    layer_pages: int = 60
    """Pages of one layer, at most."""
    background: int = 60
    """Pages that the gathered ones link to."""
    seed_number: int = 0


class _Kept:
    """A repository that keeps responses in memory."""

    def __init__(self) -> None:
        self.responses: list[Response] = []

    def put(self, response: Response, now: float) -> Where:
        self.responses.append(response)
        return Where("", len(self.responses) - 1, 1)

    def get(self, where: Where) -> Response:
        return self.responses[where.offset]

    def flush(self) -> None:
        return None

    sync = close = flush


@dataclass(slots=True)
class _Gathering:
    """The pages fetched so far, and who fetches."""

    settings: Settings
    fetcher: Fetcher | None
    say: Say
    kept: _Kept = field(default_factory=_Kept)
    pages: dict[Url, Page] = field(default_factory=dict)
    asked: set[Url] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)
    """Why a source gave no answer, once for each source."""

    async def fetch(self, wanted: Mapping[Url, str]) -> list[Page]:
        """Those of these pages that are new and could be fetched."""
        new = {url: spelling for url, spelling in wanted.items() if url not in self.asked}
        self.asked.update(new)
        if not new:
            return []
        fetched = await fetch_pages(new, self.settings, self.fetcher, repository=self.kept)
        self.pages.update({page.url: page for page in fetched.pages})
        return fetched.pages

    async def linking(self, targets: Iterable[Url], asker: Asker, most: int) -> dict[Url, dict[Url, str]]:
        """Of each target: pages that sources say link to it, with their spellings."""
        named: dict[Url, dict[Url, str]] = {}
        for target in targets:
            named[target] = {}
            for answer in await find_back_links(target, self.settings, most, asker):
                if answer.problem:
                    self.problems.setdefault(answer.source, answer.problem)
                named[target].update({urls.make(one.url): one.url for one in answer.found})
        return named

    def complain(self) -> None:
        for source, problem in self.problems.items():
            self.say(f"{source}: {problem}")


def gather_around(
    samples: Sequence[str],
    settings: Settings,
    rules: AroundSamples | None = None,
    fetcher: Fetcher | None = None,
    say: Say | None = None,
) -> Source:
    """The web around some sample pages, ready to train on. Raises `BadConfig` if no sample can be fetched."""
    gathering = _Gathering(settings, fetcher, say or (lambda sentence: None))
    asyncio.run(_gather(gathering, samples, rules or AroundSamples()))
    gathering.complain()
    return recorded_source("live", f"pages around {len(samples):,} samples", gathering.kept.responses)


async def _gather(gathering: _Gathering, samples: Sequence[str], rules: AroundSamples) -> None:
    rng = random.Random(f"around:{rules.seed_number}")
    line = [page.url for page in await gathering.fetch({urls.make(raw): raw for raw in samples})]
    if not line:
        raise BadConfig("none of the sample pages can be fetched", "check their addresses; private ones are refused")
    async with asking(gathering.settings, gathering.fetcher) as asker:
        for layer in range(1, rules.layers + 1):
            named = await gathering.linking(line, asker, BACK_LINKS)
            wanted = {url: spelling for pages in named.values() for url, spelling in pages.items()}
            chosen = rng.sample(sorted(wanted), min(len(wanted), rules.layer_pages))
            fetched = await gathering.fetch({url: wanted[url] for url in chosen})
            targets = set(line)
            line = [page.url for page in fetched if _links_to(page, targets)]
            gathering.say(f"layer {layer}: {len(wanted):,} pages named, {len(line):,} of {len(fetched):,} fetched link")
    outward = {link.url: link.spelling for page in gathering.pages.values() for link in page.outlinks}
    for url in gathering.asked:
        outward.pop(url, None)
    drawn = from_distinct_hosts(list(outward), rng, rules.background)
    others = await gathering.fetch({url: outward[url] or url for url in drawn})
    gathering.say(f"{len(others):,} pages that these link to")


def _links_to(page: Page, targets: set[Url]) -> bool:
    return any(link.url in targets for link in page.outlinks)


def augment_live(
    seeds: Sequence[str],
    topic: Topic,
    settings: Settings,
    rules: HubRules | None = None,
    fetcher: Fetcher | None = None,
    say: Say | None = None,
) -> Augmented:
    """The seeds, and the pages that link to several of them (sheet 60.2), found by the sources of the settings.

    A page becomes a hub only if it was fetched and really links. Mirrors are told by the topic's description; a topic
    without one has none.
    """
    rules = rules or HubRules()
    gathering = _Gathering(settings, fetcher, say or (lambda sentence: None))
    targets = {urls.make(raw): raw for raw in seeds}
    named = asyncio.run(_hubs(gathering, list(targets), rules))
    gathering.complain()
    analyser, pages = Analyser(), gathering.pages

    def back_links(seed: str) -> list[str]:
        return [url for url in named[Url(seed)] if url in pages and _links_to(pages[url], {Url(seed)})]

    def counts(url: str) -> dict[str, int] | None:
        return dict(pages[Url(url)].record.counts(analyser).items()) if url in pages else None

    description = dict(analyser.counts(topic.description).items())
    found = augment(list(targets), back_links, description, counts, rules)
    spellings = {url: spelling for of_seed in named.values() for url, spelling in of_seed.items()}
    return Augmented(tuple(seeds), tuple(spellings[Url(url)] for url in found.hubs), found.candidates)


async def _hubs(gathering: _Gathering, targets: list[Url], rules: HubRules) -> dict[Url, dict[Url, str]]:
    """The pages said to link to each seed; those named for enough of them are fetched."""
    async with asking(gathering.settings, gathering.fetcher) as asker:
        named = await gathering.linking(targets, asker, rules.per_seed)
    times: dict[Url, int] = {}
    for pages in named.values():
        for url in pages:
            times[url] = times.get(url, 0) + 1
    spellings = {url: spelling for pages in named.values() for url, spelling in pages.items()}
    await gathering.fetch({url: spellings[url] for url, count in times.items() if count >= rules.fewest})
    return named
