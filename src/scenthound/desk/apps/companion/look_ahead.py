"""Fetch pages ahead of the reader: the links of the active page in document order, then their links, up to a limit.

The crawl follows the same rules as any other: it obeys robots.txt, waits between requests to a host and refuses private
addresses. A URL with a query is never fetched, because fetching it may have an effect (`/unsubscribe?user=…`); the link
can still be suggested because of its text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from scenthound.desk.apps.companion.reader_profile import ANALYSER, vector
from scenthound.desk.apps.companion.short_crawl import ShortCrawls
from scenthound.desk.apps.companion.suggestions import CompanionPage, PageLink
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.ports import Declaration, Fetcher

PAGES = 20
"""Pages fetched ahead for one active page."""
SECONDS = 60.0
QUERY = "[?]"
MOST_LINKS = 500
GONE = (404, 410)
"""Status codes of a page that does not exist; other failures may be temporary."""


class PageReceiver(Protocol):
    """Receives the pages that are fetched ahead."""

    def add_fetched(self, page: CompanionPage, requested: Url) -> None:
        """Called with each page that was fetched; `requested` is the URL before redirects."""

    def add_missing(self, url: Url) -> None:
        """Called with each URL at which there is no page."""


@dataclass
class LooksAhead:
    """A breadth-first strategy that reports each page to `receiver`."""

    receiver: PageReceiver

    @property
    def declaration(self) -> Declaration:
        return Declaration(eviction="refuse", parts=Parts((ANALYSER,)))

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        return [Candidate(url, 0.0) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        self.receiver.add_fetched(summarise(page), page.candidate.url)
        return page.offer_all(0.0)

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        if miss.status in GONE:
            self.receiver.add_missing(miss.candidate.url)
        return ()


def summarise(page: Page) -> CompanionPage:
    """Return the data that is kept about a page: title, words and links."""
    links = tuple(PageLink.of(link.url, link.anchor, link.spelling) for link in page.outlinks[:MOST_LINKS])
    return CompanionPage(page.url, page.title, vector(page.record.counts(ANALYSER)), links)


def settings_for(base: Settings, excluded: Sequence[str] = ()) -> Settings:
    """Return the settings of a crawl that looks ahead, derived from `base`."""
    return replace(
        base,
        pages=PAGES,
        time=SECONDS,
        depth=1,  # the seeds are the links of the page; follow their links too
        frontier=2_000,
        concurrency=4,
        retries=0,
        longest_wait=20.0,
        page_timeout=min(base.page_timeout, 20.0),
        not_domains=[*base.not_domains, *excluded],
        not_paths=[*base.not_paths, QUERY],
        order="speed",
    )


class Scout:
    """Looks ahead from one page at a time; a new page cancels the previous crawl."""

    def __init__(self, receiver: PageReceiver, settings: Settings, fetcher: Fetcher | None = None) -> None:
        self._settings = settings
        self._crawls = ShortCrawls(settings_for(self._settings), fetcher)
        self._task: asyncio.Task[str] | None = None
        self._receiver = receiver

    @property
    def is_busy(self) -> bool:
        return self._task is not None and not self._task.done()

    async def look(self, links: Sequence[PageLink], excluded: Sequence[str]) -> None:
        """Start fetching these links, in order."""
        await self.stop()
        seeds = [(link.url, link.original_url or link.url) for link in links]
        self._task = asyncio.create_task(
            self._crawls.run(LooksAhead(self._receiver), seeds, settings_for(self._settings, excluded))
        )

    async def stop(self) -> None:
        """Cancel the crawl without waiting for requests in flight."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @property
    def failure(self) -> str:
        """The error that ended the crawl, or an empty string. It is always a bug: problems with hosts do not raise."""
        task = self._task
        error = task.exception() if task is not None and task.done() and not task.cancelled() else None
        return "" if error is None else f"{type(error).__name__}: {error}"

    async def close(self) -> None:
        await self.stop()
        await self._crawls.close()
