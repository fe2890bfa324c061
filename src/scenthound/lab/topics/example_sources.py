"""Collects example pages from URLs, bookmarks, files or a crawl, and gathers the live web around them.

URLs are fetched as in any crawl, with robots.txt, delays, and no access to private networks, or looked up in a web that
is already recorded.

Context graphs, reinforcement and the economies need the web around the samples before they can start from a few URLs:
the pages that link to the samples, the pages that link to those, and so on, as the papers got them from a search
engine. Seed sources suggest pages that may link; these are fetched politely, and only real links count. Pages that turn
out not to link, and a sample of the pages that the gathered pages link to, serve as the background. Pages that lead to
the samples are never counter-examples.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scenthound import url as urls
from scenthound.errors import BadConfig, BadUsage, from_os_error
from scenthound.lab.run.lesson_sources import Source, recorded_source
from scenthound.lab.run.topic_lessons import page_at
from scenthound.lab.topics.crawl_starts import from_distinct_hosts
from scenthound.lab.topics.taxonomies import PAGES, category_files, page_on_disk
from scenthound.loop.crawl_toml import check_seeds, read_seeds
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Url
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.ports import Fetcher
from scenthound.wiring import asking, page_limits
from scenthound.wiring.fetch_pages import GatheredPages, fetch_pages
from scenthound.wiring.find_hubs import Gathering, Say, links_to

MAX_EXAMPLES = 1_000  # of one topic
MAX_FROM_CRAWL = 50  # best pages of a crawl without labels
MAX_LIST = 20_000_000  # bytes of a list of URLs
_HINTS = {  # by reason
    ": refused-address": "--allow-private NET gives access to private networks, such as `loopback`",
    ": robots": "robots.txt forbids these pages: give others, or describe in words what you look for",
}
_HINT = "give URLs, a file with one URL per line, bookmarks, a folder of pages, or a crawl folder"


def gather(
    sources: Sequence[str],
    settings: Settings | None = None,
    known: Source | None = None,
    fetcher: Fetcher | None = None,
    tick: Callable[[int, int], None] | None = None,
) -> GatheredPages:
    """The pages of these sources, without duplicates. With `known`, URLs are looked up there instead of fetched.

    Raises `BadConfig` with the reasons if no page can be read.
    """
    gathered = GatheredPages()
    to_fetch: dict[Url, str] = {}
    for source in sources:
        for item in _read_source(source, gathered):
            if isinstance(item, Page):
                gathered.pages.append(item)
            else:
                to_fetch.setdefault(urls.make(item), item)
    if len(to_fetch) + len(gathered.pages) > MAX_EXAMPLES:
        raise BadConfig(
            f"{len(to_fetch) + len(gathered.pages):,} examples are too many", f"choose {MAX_EXAMPLES:,} of them"
        )
    if to_fetch and known is not None:
        _look_up(to_fetch, known, gathered)
    elif to_fetch:
        fetched = asyncio.run(fetch_pages(to_fetch, settings or Settings(), fetcher, tick))
        gathered.pages += fetched.pages
        gathered.problems += fetched.problems
    with_text = [page for page in gathered.pages if page.text.strip()]
    gathered.problems += [f"{page.url}: it has no text" for page in gathered.pages if not page.text.strip()]
    gathered.pages = list({page.url: page for page in with_text}.values())
    if not gathered.pages:
        lines = "".join(f"\n{problem}" for problem in gathered.problems[:10])
        hints = (hint for reason, hint in _HINTS.items() if any(reason in line for line in gathered.problems))
        raise BadConfig(f"no example can be read{lines}", next(hints, _HINT))
    return gathered


def _read_source(source: str, gathered: GatheredPages) -> Iterator[str | Page]:
    """The URLs or pages of one source."""
    if source.lower().startswith(("http://", "https://")):
        yield from check_seeds([("--examples", source)])
        return
    path = Path(source)
    if source == "-":
        yield from _urls_in(sys.stdin.buffer.read(MAX_LIST), "stdin")
    elif path.is_dir():
        yield from _pages_in_folder(path, gathered)
    elif not path.is_file():
        raise BadConfig(f"there are no examples at {source}", _HINT)
    else:
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_LIST)
        except OSError as error:
            raise from_os_error(
                error, path, BadConfig(f"{path} can't be read: {error.strerror}", "check the path")
            ) from None
        head = raw[:4096].lower()
        if path.suffix.lower() in PAGES and b"netscape-bookmark" not in head and b"<dt" not in head:
            page = page_on_disk(path, path.parent)
            yield from [] if page is None else [page]
        else:
            yield from _urls_in(raw, source)


def _urls_in(raw: bytes, where: str) -> list[str]:
    addresses = list(dict.fromkeys(read_seeds(raw.decode("utf-8-sig", "replace"), where)))
    if not addresses:
        raise BadConfig(f"there are no addresses in {where}", "give one per line, or a browser's bookmarks in HTML")
    return addresses


def _pages_in_folder(folder: Path, gathered: GatheredPages) -> Iterator[Page]:
    if (folder / "bed.toml").is_file():
        raise BadUsage(
            f"{folder} is a bed, and not all of its pages are examples", f"list URLs, and add --from {folder}"
        )
    if (folder / "crawl.toml").is_file():
        yield from _pages_of_crawl(folder, gathered)
        return
    for _, file in category_files(folder):
        page = page_on_disk(file, folder)
        if page is not None:
            yield page


def _pages_of_crawl(folder: Path, gathered: GatheredPages) -> Iterator[Page]:
    """The pages labelled as on topic; without labels, the relevant pages among the most similar."""
    with CrawlFolder.look(folder) as opened:
        labelled = [url for url, on_topic in opened.database.labels().items() if on_topic]
        relevant = [step.url for step in opened.history.best(MAX_FROM_CRAWL) if step.relevant]
        for url in labelled or relevant:
            where = opened.history.where(url)
            page = None
            if where is not None:
                page = land(Candidate(url, 0.0), opened.repository.get(where), page_limits(opened.request.settings))
            if isinstance(page, Page):
                yield page
            else:
                gathered.problems.append(f"{url}: the crawl has no such page")


def _look_up(requested: Iterable[Url], known: Source, gathered: GatheredPages) -> None:
    for url in requested:
        if (page := page_at(known.bed, url)) is not None:
            gathered.pages.append(page)
        else:
            gathered.problems.append(f"{url}: not in {known.name}")


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
