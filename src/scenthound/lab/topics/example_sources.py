"""Example pages from wherever people have them: addresses, bookmarks, files, a crawl.

Addresses are fetched as in any crawl: robots.txt is obeyed, hosts are given rest, private networks are left alone. Or
they are looked up in a web that is known already.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from scenthound import url as urls
from scenthound.errors import BadConfig, BadUsage
from scenthound.lab.run.lesson_sources import Source
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
from scenthound.ports import Fetcher
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.wiring import make_fetcher, page_limits, product_token

MOST = 1_000  # pages that one topic is made of
MOST_OF_CRAWL = 50  # of a crawl without labels: its best
LARGEST_LIST = 20_000_000  # bytes of a list of addresses
_WAY_OUT = "give addresses, a file with an address a line, bookmarks, a folder of pages, or a crawl folder"


@dataclass(slots=True)
class Gathered:
    """The pages that could be had, and what became of the rest, one line each."""

    pages: list[Page] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def gather(
    places: Sequence[str],
    settings: Settings | None = None,
    known: Source | None = None,
    fetcher: Fetcher | None = None,
    tick: Callable[[int, int], None] | None = None,
) -> Gathered:
    """The pages at these places, each once. `known` is where addresses are looked up instead of asking the web.

    Raises `BadConfig` where there is not a single one, naming why.
    """
    found = Gathered()
    wanted: dict[Url, str] = {}
    for place in places:
        for one in _at(place, found):
            if isinstance(one, Page):
                found.pages.append(one)
            else:
                wanted.setdefault(urls.make(one), one)
    if len(wanted) + len(found.pages) > MOST:
        raise BadConfig(f"{len(wanted) + len(found.pages):,} examples are too many", f"{MOST:,} do; choose among them")
    if wanted and known is not None:
        _look_up(wanted, known, found)
    elif wanted:
        asyncio.run(_fetch(wanted, settings or Settings(), fetcher, tick, found))
    with_words = [page for page in found.pages if page.text.strip()]
    found.problems += [f"{page.url}: there are no words on it" for page in found.pages if not page.text.strip()]
    found.pages = list({page.url: page for page in with_words}.values())
    if not found.pages:
        listed = "".join(f"\n{problem}" for problem in found.problems[:10])
        private = any(": refused-address" in problem for problem in found.problems)
        hint = "--allow-private NET lets private networks be reached, as `loopback`" if private else _WAY_OUT
        raise BadConfig(f"there is not one example that can be read{listed}", hint)
    return found


def _at(place: str, found: Gathered) -> Iterator[str | Page]:
    if place.lower().startswith(("http://", "https://")):
        yield from check_seeds([("--examples", place)])
        return
    path = Path(place)
    if place == "-":
        yield from _listed(sys.stdin.buffer.read(LARGEST_LIST), "stdin")
    elif path.is_dir():
        yield from _in_folder(path, found)
    elif not path.is_file():
        raise BadConfig(f"there are no examples at {place}", _WAY_OUT)
    else:
        try:
            with path.open("rb") as file:
                raw = file.read(LARGEST_LIST)
        except OSError as error:
            raise BadConfig(f"{path} can't be read: {error.strerror}", "check the path") from None
        head = raw[:4096].lower()
        if path.suffix.lower() in PAGES and b"netscape-bookmark" not in head and b"<dt" not in head:
            page = page_on_disk(path, path.parent)
            yield from [] if page is None else [page]
        else:
            yield from _listed(raw, place)


def _listed(raw: bytes, where: str) -> list[str]:
    found = list(dict.fromkeys(read_seeds(raw.decode("utf-8-sig", "replace"), where)))
    if not found:
        raise BadConfig(f"there are no addresses in {where}", "one a line, or a browser's bookmarks in HTML")
    return found


def _in_folder(folder: Path, found: Gathered) -> Iterator[Page]:
    if (folder / "bed.toml").is_file():
        raise BadUsage(
            f"{folder} is a bed, and not all of its pages are examples", f"list addresses, and add --from {folder}"
        )
    if (folder / "crawl.toml").is_file():
        yield from _of_crawl(folder, found)
        return
    for _, file in category_files(folder):
        page = page_on_disk(file, folder)
        if page is not None:
            yield page


def _of_crawl(folder: Path, found: Gathered) -> Iterator[Page]:
    """What somebody labelled as on topic; without labels, what the crawl itself liked best."""
    with CrawlFolder.look(folder) as opened:
        labelled = [url for url, on_topic in opened.database.labels().items() if on_topic]
        liked = [s.url for s in opened.history.best(MOST_OF_CRAWL) if s.similarity >= opened.request.settings.relevant]
        for url in labelled or liked:
            where = opened.history.where(url)
            page = None
            if where is not None:
                page = land(Candidate(url, 0.0), opened.repository.get(where), page_limits(opened.request.settings))
            if isinstance(page, Page):
                yield page
            else:
                found.problems.append(f"{url}: the crawl kept no page of it")


def _look_up(wanted: dict[Url, str], known: Source, found: Gathered) -> None:
    for url in wanted:
        number = known.bed.number(url)
        page = None if number is None else known.bed.fetch(Candidate(known.bed.pages[number], 0.0))
        if isinstance(page, Page):
            found.pages.append(page)
        else:
            found.problems.append(f"{url}: not in {known.name}")


# ---- from the web


class _Listed:
    """A strategy that wants what it was given and nothing else."""

    def __init__(self) -> None:
        self.pages: list[Page] = []

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        return [Candidate(url, float("inf")) for url in seeds]

    def read(self, page: Page) -> Iterable[Candidate]:
        self.pages.append(page)
        return ()

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()


class _Nowhere:
    """What has landed is in memory, and that is all there is to it."""

    def commit(self, now: float) -> None:
        return None


async def _fetch(
    wanted: dict[Url, str],
    settings: Settings,
    fetcher: Fetcher | None,
    tick: Callable[[int, int], None] | None,
    found: Gathered,
) -> None:
    lost: dict[Url, str] = {}
    listed, clock = _Listed(), Clock()

    def watch(event: Step | Miss | Dropped | Event) -> None:
        if isinstance(event, Miss | Dropped):
            detail = f" ({event.detail[:100]})" if isinstance(event, Miss) and event.detail else ""
            lost.setdefault(event.candidate.url, event.reason + detail)
        if tick is not None:
            tick(len(listed.pages) + len(lost), len(wanted))

    crawl = Crawl(
        listed,
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
        politeness=Politeness(settings.delay, settings.backoff, settings.robots),
        watch=watch,
    )
    async with AsyncExitStack() as stack:
        used = fetcher if fetcher is not None else await stack.enter_async_context(make_fetcher(settings))
        crawl.start()
        await LiveRun(
            crawl, used, _Nowhere(), Replies(product_token(settings), page_limits(settings), settings.robots),
            concurrency=settings.concurrency, slow_requests=settings.slow_requests, delay=settings.delay, clock=clock,
        ).run()  # fmt: skip
    found.pages += listed.pages
    had = {url for page in listed.pages for url in (page.url, page.candidate.url)}
    gone = {step.requested for step in crawl.history.trail()} | had
    for url in wanted:
        if url not in gone:
            found.problems.append(f"{url}: {lost.get(url, 'it leads to a page that is there already, or nowhere')}")
