"""Gathers the web around sample pages from the live web, with the help of seed sources.

Context graphs, reinforcement and the economies need it before they can start from a few sample URLs: the pages that
link to the samples, the pages that link to those, and so on, as the papers got them from a search engine. Sources
suggest pages that may link; these are fetched politely, and only real links count. Pages that turn out not to link, and
a sample of the pages that the gathered pages link to, serve as the background. Pages that lead to the samples are never
counter-examples.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from scenthound import url as urls
from scenthound.errors import BadConfig
from scenthound.lab.run.lesson_sources import Source, recorded_source
from scenthound.lab.topics.augment import AugmentedSeeds, HubRules, augment
from scenthound.lab.topics.crawl_starts import from_distinct_hosts
from scenthound.lab.topics.example_sources import fetch_pages
from scenthound.loop.settings import Settings
from scenthound.model import Response, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Fetcher, Where
from scenthound.seeding import Asker
from scenthound.text.tokens import Analyser
from scenthound.wiring import asking, find_back_links

BACK_LINKS = 20  # of a page; sheet 60.1: the number that a search engine returned
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AroundSamples:
    """Limits on the pages that are gathered around the samples."""

    layers: int = 3
    """Number of links to go backwards from the samples."""
    layer_pages: int = 60
    """The largest number of pages in a layer."""
    background: int = 60
    """The largest number of pages that the gathered pages link to."""
    seed_number: int = 0


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
class _Gathering:
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


def gather_around(
    samples: Sequence[str],
    settings: Settings,
    rules: AroundSamples | None = None,
    fetcher: Fetcher | None = None,
    say: Say | None = None,
) -> Source:
    """The web around some sample pages, ready for training. Raises `BadConfig` if no sample can be fetched."""
    gathering = _Gathering(settings, fetcher, say or (lambda sentence: None))
    rules = rules or AroundSamples()
    found = asyncio.run(_gather(gathering, samples, rules))
    gathering.report_problems()
    source = recorded_source("live", f"pages around {len(samples):,} samples", gathering.repository.responses)
    return replace(source, leading=leading_to(found, gathering.pages.values(), rules.layers))


def leading_to(samples: Iterable[Url], pages: Collection[Page], most: int) -> frozenset[Url]:
    """The pages from which at most `most` links lead to a sample, through these pages; without the samples."""
    reached = layer = frozenset(samples)
    for _ in range(most):
        layer = frozenset(page.url for page in pages if page.url not in reached and _links_to(page, layer))
        reached |= layer
    return reached - frozenset(samples)


async def _gather(gathering: _Gathering, samples: Sequence[str], rules: AroundSamples) -> list[Url]:
    """Fetch the layers and the background. Returns the URLs of the samples."""
    rng = random.Random(f"around:{rules.seed_number}")
    layer_urls = found = [page.url for page in await gathering.fetch({urls.make(raw): raw for raw in samples})]
    if not layer_urls:
        raise BadConfig("none of the sample pages can be fetched", "check their URLs; private addresses are refused")
    async with asking(gathering.settings, gathering.fetcher) as asker:
        for layer in range(1, rules.layers + 1):
            suggested = await gathering.back_links(layer_urls, asker, BACK_LINKS)
            spellings = {url: spelling for pages in suggested.values() for url, spelling in pages.items()}
            chosen = rng.sample(sorted(spellings), min(len(spellings), rules.layer_pages))
            fetched = await gathering.fetch({url: spellings[url] for url in chosen})
            targets = set(layer_urls)
            layer_urls = [page.url for page in fetched if _links_to(page, targets)]
            counts = f"{len(spellings):,} pages suggested, {len(layer_urls):,} of {len(fetched):,} fetched pages link"
            gathering.say(f"layer {layer}: {counts}")
    linked = {link.url: link.spelling for page in gathering.pages.values() for link in page.outlinks}
    for url in gathering.requested:
        linked.pop(url, None)
    drawn = from_distinct_hosts(list(linked), rng, rules.background)
    background = await gathering.fetch({url: linked[url] or url for url in drawn})
    gathering.say(f"background: {len(background):,} pages that the gathered pages link to")
    return found


def _links_to(page: Page, targets: Set[Url]) -> bool:
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
    gathering = _Gathering(settings, fetcher, say or (lambda sentence: None))
    targets = {urls.make(raw): raw for raw in seeds}
    suggested = asyncio.run(_fetch_hubs(gathering, list(targets), rules))
    gathering.report_problems()
    analyser, pages = Analyser(), gathering.pages

    def back_links(seed: str) -> list[str]:
        return [url for url in suggested[Url(seed)] if url in pages and _links_to(pages[url], {Url(seed)})]

    def counts(url: str) -> dict[str, int] | None:
        return dict(pages[Url(url)].record.counts(analyser).items()) if url in pages else None

    description = dict(analyser.counts(topic.description).items())
    augmented = augment(list(targets), back_links, description, counts, rules)
    spellings = {url: spelling for pages_of_seed in suggested.values() for url, spelling in pages_of_seed.items()}
    return AugmentedSeeds(tuple(seeds), tuple(spellings[Url(url)] for url in augmented.hubs), augmented.candidates)


async def _fetch_hubs(gathering: _Gathering, targets: list[Url], rules: HubRules) -> dict[Url, dict[Url, str]]:
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
