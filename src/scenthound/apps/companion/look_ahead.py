"""Looks ahead breadth-first from the page in front: its links in order, then theirs, within a small budget.

The crawl is that of every other command: it obeys robots.txt, gives each host its delay and refuses private addresses.
An address with a query is never fetched, as it may do something (`/unsubscribe?user=…`); its link can still be
suggested by its text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from scenthound.apps.companion.reader_profile import ANALYSER, vector
from scenthound.apps.companion.suggestions import SeenLink, SeenPage
from scenthound.loop.settings import Settings
from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.ports import Declaration, Fetcher
from scenthound.wiring.short_crawl import ShortCrawls

PAGES = 20
"""Pages that are fetched for one page in front."""
SECONDS = 60.0
QUERY = "[?]"
MOST_LINKS = 500
GONE = (404, 410)
"""What a host says of a page that is not there; anything else may pass."""


class Sees(Protocol):
    """Who is told what lies ahead."""

    def see(self, page: SeenPage, asked: Url) -> None:
        """A page was looked at; `asked` is the address that led there."""

    def gone(self, url: Url) -> None:
        """There is no page at this address."""


@dataclass
class LooksAhead:
    """A strategy: breadth-first; tells what it saw."""

    sees: Sees

    @property
    def declaration(self) -> Declaration:
        return Declaration(eviction="refuse", parts=Parts((ANALYSER,)))

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        return [Candidate(url, 0.0) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        self.sees.see(seen(page), page.candidate.url)
        return page.offer_all(0.0)

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        if miss.status in GONE:
            self.sees.gone(miss.candidate.url)
        return ()


def seen(page: Page) -> SeenPage:
    """What is kept of a page: its words, title and links."""
    links = tuple(SeenLink.of(link.url, link.anchor, link.spelling) for link in page.outlinks[:MOST_LINKS])
    return SeenPage(page.url, page.title, vector(page.record.counts(ANALYSER)), links)


def settings_for(given: Settings, excluded: Sequence[str] = ()) -> Settings:
    """The settings of a crawl that looks ahead."""
    return replace(
        given,
        pages=PAGES,
        time=SECONDS,
        depth=1,  # the links are the seeds: one more click
        frontier=2_000,
        concurrency=4,
        retries=0,
        longest_wait=20.0,
        page_timeout=min(given.page_timeout, 20.0),
        not_domains=[*given.not_domains, *excluded],
        not_paths=[*given.not_paths, QUERY],
        order="speed",
    )


class Scout:
    """Looks ahead from one page at a time; a new page ends the look from the one before."""

    def __init__(self, sees: Sees, settings: Settings, fetcher: Fetcher | None = None) -> None:
        self._settings = settings
        self._crawls = ShortCrawls(settings_for(self._settings), fetcher)
        self._task: asyncio.Task[str] | None = None
        self._sees = sees

    @property
    def is_busy(self) -> bool:
        return self._task is not None and not self._task.done()

    async def look(self, links: Sequence[SeenLink], excluded: Sequence[str]) -> None:
        """Begin to look at these links, in their order."""
        await self.stop()
        seeds = [(link.url, link.spelling or link.url) for link in links]
        self._task = asyncio.create_task(
            self._crawls.run(LooksAhead(self._sees), seeds, settings_for(self._settings, excluded))
        )

    async def stop(self) -> None:
        """End the look, without waiting for what is in flight."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @property
    def failure(self) -> str:
        """Why the look failed, if it did: a bug, as what hosts do is no failure."""
        task = self._task
        error = task.exception() if task is not None and task.done() and not task.cancelled() else None
        return "" if error is None else f"{type(error).__name__}: {error}"

    async def close(self) -> None:
        await self.stop()
        await self._crawls.close()
