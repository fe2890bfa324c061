"""Finds the hubs of a topic: pages of the live web that link to several of its seeds (sheet 60.2).

Sources suggest pages that may link to a seed; these are fetched politely, and only real links count.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from scenthound import url as urls
from scenthound.loop.settings import Settings
from scenthound.model import Response, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Fetcher, Where
from scenthound.seeding import Asker
from scenthound.sources.augment import AugmentedSeeds, HubRules, augment
from scenthound.text.tokens import Analyser
from scenthound.wiring.fetch_pages import fetch_pages
from scenthound.wiring.find_seeds import asking, find_back_links

Say = Callable[[str], None]


class _MemoryRepository:
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
class Gathering:
    """The pages fetched so far, and the means to fetch more."""

    settings: Settings
    fetcher: Fetcher | None
    say: Say
    repository: _MemoryRepository = field(default_factory=_MemoryRepository)
    pages: dict[Url, Page] = field(default_factory=dict)
    requested: set[Url] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)
    """The first problem of each source that failed."""

    async def fetch(self, spellings: Mapping[Url, str]) -> list[Page]:
        """Fetch the URLs that are new, and return their pages."""
        new = {url: spelling for url, spelling in spellings.items() if url not in self.requested}
        self.requested.update(new)
        if not new:
            return []
        fetched = await fetch_pages(new, self.settings, self.fetcher, repository=self.repository)
        self.pages.update({page.url: page for page in fetched.pages})
        return fetched.pages

    async def back_links(self, targets: Iterable[Url], asker: Asker, most: int) -> dict[Url, dict[Url, str]]:
        """For each target, the pages that link to it according to the sources, with their spellings."""
        suggested: dict[Url, dict[Url, str]] = {}
        for target in targets:
            suggested[target] = {}
            for answer in await find_back_links(target, self.settings, most, asker):
                if answer.problem:
                    self.problems.setdefault(answer.source, answer.problem)
                suggested[target].update({urls.make(result.url): result.url for result in answer.found})
        return suggested

    def report_problems(self) -> None:
        for source, problem in self.problems.items():
            self.say(f"{source}: {problem}")


def links_to(page: Page, targets: Set[Url]) -> bool:
    return any(link.url in targets for link in page.outlinks)


def augment_live(
    seeds: Sequence[str],
    topic: Topic,
    settings: Settings,
    rules: HubRules | None = None,
    fetcher: Fetcher | None = None,
    say: Say | None = None,
) -> AugmentedSeeds:
    """The seeds, and the pages that link to several of them (sheet 60.2), found with the sources in the settings.

    A page becomes a hub only if it was fetched and really links. Mirrors are recognised by the topic's description;
    without a description, no page is taken for a mirror.
    """
    rules = rules or HubRules()
    gathering = Gathering(settings, fetcher, say or (lambda sentence: None))
    targets = {urls.make(raw): raw for raw in seeds}
    suggested = asyncio.run(_fetch_hubs(gathering, list(targets), rules))
    gathering.report_problems()
    analyser, pages = Analyser(), gathering.pages

    def back_links(seed: str) -> list[str]:
        return [url for url in suggested[Url(seed)] if url in pages and links_to(pages[url], {Url(seed)})]

    def counts(url: str) -> dict[str, int] | None:
        return dict(pages[Url(url)].record.counts(analyser).items()) if url in pages else None

    description = dict(analyser.counts(topic.description).items())
    augmented = augment(list(targets), back_links, description, counts, rules)
    spellings = {url: spelling for pages_of_seed in suggested.values() for url, spelling in pages_of_seed.items()}
    return AugmentedSeeds(tuple(seeds), tuple(spellings[Url(url)] for url in augmented.hubs), augmented.candidates)


async def _fetch_hubs(gathering: Gathering, targets: list[Url], rules: HubRules) -> dict[Url, dict[Url, str]]:
    """Fetch the pages suggested for enough seeds; return the suggestions for each seed."""
    async with asking(gathering.settings, gathering.fetcher) as asker:
        suggested = await gathering.back_links(targets, asker, rules.per_seed)
    seed_counts: dict[Url, int] = {}
    for pages in suggested.values():
        for url in pages:
            seed_counts[url] = seed_counts.get(url, 0) + 1
    spellings = {url: spelling for pages in suggested.values() for url, spelling in pages.items()}
    await gathering.fetch({url: spellings[url] for url, count in seed_counts.items() if count >= rules.fewest})
    return suggested
