"""Fetches given pages and no others, politely, into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from scenthound.loop.core import Crawl
from scenthound.loop.live import Clock, LiveRun
from scenthound.loop.messages import Dropped
from scenthound.loop.settings import Settings
from scenthound.loop.stored_hosts import new_host_clock
from scenthound.model import Candidate, Event, Miss, Step, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Fetcher, Repository
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.wiring.parts_from_settings import (
    make_fetcher,
    make_short_limits,
)


@dataclass(slots=True)
class GatheredPages:
    """The pages that could be read, and one line for each page that could not."""

    pages: list[Page] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


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
    """A store without files: the pages stay in memory."""

    def commit(self, now: float) -> None:
        return None


async def fetch_pages(
    requested: Mapping[Url, str],
    settings: Settings,
    fetcher: Fetcher | None = None,
    tick: Callable[[int, int], None] | None = None,
    repository: Repository | None = None,
) -> GatheredPages:
    """Fetch these URLs (mapped to their spellings) politely, and no others. `repository` stores the responses."""
    missed: dict[Url, str] = {}
    strategy, clock = _SeedsOnly(), Clock()

    def watch(event: Step | Miss | Dropped | Event) -> None:
        if isinstance(event, Miss | Dropped):
            detail = f" ({event.detail[:100]})" if isinstance(event, Miss) and event.detail else ""
            missed.setdefault(event.candidate.url, event.reason + detail)
        if tick is not None:
            tick(len(strategy.pages) + len(missed), len(requested))

    crawl = Crawl(
        strategy,
        MemoryFrontier(),
        MemoryHistory(),
        Topic("examples"),
        list(requested.items()),
        limits=replace(make_short_limits(settings, clock()), pages=len(requested)),
        host_clock=new_host_clock(settings),
        repository=repository,
        watch=watch,
    )
    async with AsyncExitStack() as stack:
        used_fetcher = fetcher if fetcher is not None else await stack.enter_async_context(make_fetcher(settings))
        crawl.start()
        await LiveRun(crawl, used_fetcher, _NoStore(), settings, clock=clock).run()
    gathered = GatheredPages(strategy.pages)
    fetched = {url for page in strategy.pages for url in (page.url, page.candidate.url)}
    fetched |= {step.requested for step in crawl.history.trail() if step.requested is not None}
    for url in requested:
        if url not in fetched:
            gathered.problems.append(f"{url}: {missed.get(url, 'it redirects to a URL that was already requested')}")
    return gathered
