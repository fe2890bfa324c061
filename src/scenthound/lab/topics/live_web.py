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
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from scenthound import url as urls
from scenthound.errors import BadConfig
from scenthound.lab.run.lesson_sources import Source, recorded_source
from scenthound.lab.topics.crawl_starts import from_distinct_hosts
from scenthound.loop.settings import Settings
from scenthound.model import Url
from scenthound.page.page import Page
from scenthound.ports import Fetcher
from scenthound.wiring import asking
from scenthound.wiring.find_hubs import Gathering, Say, links_to

BACK_LINKS = 20  # of a page; sheet 60.1: the number that a search engine returned


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


def gather_around(
    samples: Sequence[str],
    settings: Settings,
    rules: AroundSamples | None = None,
    fetcher: Fetcher | None = None,
    say: Say | None = None,
) -> Source:
    """The web around some sample pages, ready for training. Raises `BadConfig` if no sample can be fetched."""
    gathering = Gathering(settings, fetcher, say or (lambda sentence: None))
    rules = rules or AroundSamples()
    found = asyncio.run(_gather(gathering, samples, rules))
    gathering.report_problems()
    source = recorded_source("live", f"pages around {len(samples):,} samples", gathering.repository.responses)
    return replace(source, leading=leading_to(found, gathering.pages.values(), rules.layers))


def leading_to(samples: Iterable[Url], pages: Collection[Page], most: int) -> frozenset[Url]:
    """The pages from which at most `most` links lead to a sample, through these pages; without the samples."""
    reached = layer = frozenset(samples)
    for _ in range(most):
        layer = frozenset(page.url for page in pages if page.url not in reached and links_to(page, layer))
        reached |= layer
    return reached - frozenset(samples)


async def _gather(gathering: Gathering, samples: Sequence[str], rules: AroundSamples) -> list[Url]:
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
            layer_urls = [page.url for page in fetched if links_to(page, targets)]
            counts = f"{len(spellings):,} pages suggested, {len(layer_urls):,} of {len(fetched):,} fetched pages link"
            gathering.say(f"layer {layer}: {counts}")
    linked = {link.url: link.spelling for page in gathering.pages.values() for link in page.outlinks}
    for url in gathering.requested:
        linked.pop(url, None)
    drawn = from_distinct_hosts(list(linked), rng, rules.background)
    background = await gathering.fetch({url: linked[url] or url for url in drawn})
    gathering.say(f"background: {len(background):,} pages that the gathered pages link to")
    return found
