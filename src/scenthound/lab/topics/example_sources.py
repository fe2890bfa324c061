"""Collects example pages from URLs, bookmarks, files or a crawl.

URLs are fetched as in any crawl: with robots.txt, delays, and no access to private networks. Or they are looked up in a
known web.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from scenthound import url as urls
from scenthound.errors import BadConfig, BadUsage, of_system
from scenthound.lab.run.lesson_sources import Source
from scenthound.lab.run.topic_lessons import page_at
from scenthound.lab.topics.taxonomies import PAGES, category_files, page_on_disk
from scenthound.loop.core import Crawl
from scenthound.loop.crawl_toml import check_seeds, read_seeds
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.live import Clock, LiveRun
from scenthound.loop.messages import Dropped, Limits
from scenthound.loop.politeness import Politeness
from scenthound.loop.replies import Replies
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Event, Miss, Step, Topic, Url
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.ports import Fetcher, Repository
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.wiring import make_address_delay, make_fetcher, page_limits, product_token

MOST = 1_000  # examples of one topic
MOST_OF_CRAWL = 50  # best pages of a crawl without labels
LARGEST_LIST = 20_000_000  # bytes of a list of addresses
_WAYS_OUT = {
    ": refused-address": "--allow-private NET lets private networks be reached, as `loopback`",
    ": robots": "robots.txt forbids these pages: give others, or say in words what you look for",
}
_WAY_OUT = "give addresses, a file with an address a line, bookmarks, a folder of pages, or a crawl folder"


@dataclass(slots=True)
class Gathered:
    """The pages that could be read, and why the others could not, one line each."""

    pages: list[Page] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def gather(
    sources: Sequence[str],
    settings: Settings | None = None,
    known: Source | None = None,
    fetcher: Fetcher | None = None,
    tick: Callable[[int, int], None] | None = None,
) -> Gathered:
    """The pages of these sources, each once. With `known`, URLs are looked up there and not fetched.

    Raises `BadConfig` that says why if there is no page.
    """
    gathered = Gathered()
    wanted: dict[Url, str] = {}
    for source in sources:
        for item in _read_source(source, gathered):
            if isinstance(item, Page):
                gathered.pages.append(item)
            else:
                wanted.setdefault(urls.make(item), item)
    if len(wanted) + len(gathered.pages) > MOST:
        raise BadConfig(
            f"{len(wanted) + len(gathered.pages):,} examples are too many", f"{MOST:,} do; choose among them"
        )
    if wanted and known is not None:
        _look_up(wanted, known, gathered)
    elif wanted:
        fetched = asyncio.run(fetch_pages(wanted, settings or Settings(), fetcher, tick))
        gathered.pages += fetched.pages
        gathered.problems += fetched.problems
    with_words = [page for page in gathered.pages if page.text.strip()]
    gathered.problems += [f"{page.url}: it has no text" for page in gathered.pages if not page.text.strip()]
    gathered.pages = list({page.url: page for page in with_words}.values())
    if not gathered.pages:
        listed = "".join(f"\n{problem}" for problem in gathered.problems[:10])
        ways_out = (hint for reason, hint in _WAYS_OUT.items() if any(reason in said for said in gathered.problems))
        raise BadConfig(f"no example can be read{listed}", next(ways_out, _WAY_OUT))
    return gathered


def _read_source(source: str, gathered: Gathered) -> Iterator[str | Page]:
    """The URLs or pages of one source."""
    if source.lower().startswith(("http://", "https://")):
        yield from check_seeds([("--examples", source)])
        return
    path = Path(source)
    if source == "-":
        yield from _listed(sys.stdin.buffer.read(LARGEST_LIST), "stdin")
    elif path.is_dir():
        yield from _in_folder(path, gathered)
    elif not path.is_file():
        raise BadConfig(f"there are no examples at {source}", _WAY_OUT)
    else:
        try:
            with path.open("rb") as file:
                raw = file.read(LARGEST_LIST)
        except OSError as error:
            raise of_system(
                error, path, BadConfig(f"{path} can't be read: {error.strerror}", "check the path")
            ) from None
        head = raw[:4096].lower()
        if path.suffix.lower() in PAGES and b"netscape-bookmark" not in head and b"<dt" not in head:
            page = page_on_disk(path, path.parent)
            yield from [] if page is None else [page]
        else:
            yield from _listed(raw, source)


def _listed(raw: bytes, where: str) -> list[str]:
    addresses = list(dict.fromkeys(read_seeds(raw.decode("utf-8-sig", "replace"), where)))
    if not addresses:
        raise BadConfig(f"there are no addresses in {where}", "give one per line, or a browser's bookmarks in HTML")
    return addresses


def _in_folder(folder: Path, gathered: Gathered) -> Iterator[Page]:
    if (folder / "bed.toml").is_file():
        raise BadUsage(
            f"{folder} is a bed, and not all of its pages are examples", f"list addresses, and add --from {folder}"
        )
    if (folder / "crawl.toml").is_file():
        yield from _of_crawl(folder, gathered)
        return
    for _, file in category_files(folder):
        page = page_on_disk(file, folder)
        if page is not None:
            yield page


def _of_crawl(folder: Path, gathered: Gathered) -> Iterator[Page]:
    """The pages labelled as on topic; without labels, those with the highest similarity."""
    with CrawlFolder.look(folder) as opened:
        labelled = [url for url, on_topic in opened.database.labels().items() if on_topic]
        liked = [s.url for s in opened.history.best(MOST_OF_CRAWL) if s.relevant]
        for url in labelled or liked:
            where = opened.history.where(url)
            page = None
            if where is not None:
                page = land(Candidate(url, 0.0), opened.repository.get(where), page_limits(opened.request.settings))
            if isinstance(page, Page):
                yield page
            else:
                gathered.problems.append(f"{url}: the crawl has no page of it")


def _look_up(wanted: dict[Url, str], known: Source, gathered: Gathered) -> None:
    for url in wanted:
        if (page := page_at(known.bed, url)) is not None:
            gathered.pages.append(page)
        else:
            gathered.problems.append(f"{url}: not in {known.name}")


# ---- from the web


class _SeedsOnly:
    """A strategy that fetches the seeds and follows no links."""

    def __init__(self) -> None:
        self.pages: list[Page] = []

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        return [Candidate(url, float("inf")) for url in seeds]

    def read(self, page: Page) -> Iterable[Candidate]:
        self.pages.append(page)
        return ()

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()


class _NoStore:
    """Pages stay in memory: nothing is committed."""

    def commit(self, now: float) -> None:
        return None


async def fetch_pages(
    wanted: Mapping[Url, str],
    settings: Settings,
    fetcher: Fetcher | None = None,
    tick: Callable[[int, int], None] | None = None,
    repository: Repository | None = None,
) -> Gathered:
    """Fetch these URLs (keys and spellings) as a crawl does, and nothing else. `repository` gets the responses."""
    lost: dict[Url, str] = {}
    strategy, clock = _SeedsOnly(), Clock()

    def watch(event: Step | Miss | Dropped | Event) -> None:
        if isinstance(event, Miss | Dropped):
            detail = f" ({event.detail[:100]})" if isinstance(event, Miss) and event.detail else ""
            lost.setdefault(event.candidate.url, event.reason + detail)
        if tick is not None:
            tick(len(strategy.pages) + len(lost), len(wanted))

    crawl = Crawl(
        strategy,
        MemoryFrontier(),
        MemoryHistory(),
        Topic("examples"),
        list(wanted.items()),
        limits=Limits(
            pages=len(wanted),
            ends_at=clock() + settings.time if settings.time else float("inf"),
            redirects=settings.redirects,
            retries=settings.retries,
            longest_wait=settings.longest_wait,
        ),
        politeness=Politeness(settings.delay, settings.backoff, settings.robots, settings.robots_cache),
        repository=repository,
        watch=watch,
    )
    async with AsyncExitStack() as stack:
        used = fetcher if fetcher is not None else await stack.enter_async_context(make_fetcher(settings))
        crawl.start()
        await LiveRun(
            crawl, used, _NoStore(), Replies(product_token(settings), page_limits(settings), settings.robots),
            concurrency=settings.concurrency, slow_requests=settings.slow_requests, clock=clock,
            address_delay=make_address_delay(settings),
        ).run()  # fmt: skip
    gathered = Gathered(strategy.pages)
    fetched = {url for page in strategy.pages for url in (page.url, page.candidate.url)}
    fetched |= {step.requested for step in crawl.history.trail() if step.requested is not None}
    for url in wanted:
        if url not in fetched:
            gathered.problems.append(f"{url}: {lost.get(url, 'it redirects to nothing new')}")
    return gathered
