"""What happens in a crawl: written to the history, counted, and passed to the watcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scenthound import url as urls
from scenthound.loop.counters import Counters
from scenthound.loop.messages import Dropped
from scenthound.model import Candidate, Event, Miss, Step, Url
from scenthound.page.page import Page
from scenthound.ports import History, Where

Watcher = Callable[[Step | Miss | Dropped | Event], None]
"""Called with every page, miss, dropped link and event of the strategy."""


class Recorder:
    """The only writer of the history. It numbers the pages."""

    def __init__(self, history: History, counters: Counters, watch: Watcher | None) -> None:
        self.history, self.counters, self.watch = history, counters, watch
        self.pages = len(history)
        self.last_number = history.highest()

    def page(
        self, page: Page, similarity: float, rank: int, requested: Url | None, where: Where | None, now: float
    ) -> Step:
        """Record a page with its links; an alias if it was requested under another URL."""
        candidate, history = page.candidate, self.history
        self.pages += 1
        self.last_number += 1
        step = Step(
            n=self.last_number,
            url=page.url,
            parent=candidate.parent,
            anchor=candidate.anchor,
            score=candidate.score,
            parts=candidate.parts,
            similarity=similarity,
            depth=candidate.depth,
            status=page.status,
            bytes=page.size,
            time=now,
            title=page.title,
            rank=rank,
            requested=requested,
            carry=candidate.carry,
        )
        history.record(step, where)
        history.link(page.url, [link.url for link in page.outlinks])
        if page.url != candidate.url:
            history.alias(candidate.url, page.url)
        return step

    def tell(self, what: Step | Miss | Dropped | Event) -> None:
        if self.watch:
            self.watch(what)

    def lost(self, miss: Miss, now: float, heard: bool) -> None:
        """A request brought no page and is not repeated."""
        self.history.lost(miss, now, heard=heard)
        self.counters.miss(miss)
        self.tell(miss)

    def postponed(self, miss: Miss, now: float) -> None:
        """A request brought no page and will be repeated."""
        self.history.lost(miss, now, dead=False, heard=False)
        self.counters.retry(miss)

    def dropped(self, candidate: Candidate, reason: str) -> None:
        """A candidate is not kept."""
        self.count(candidate.url, reason)
        if self.watch:
            self.watch(Dropped(candidate, reason))

    def count(self, url: Url, reason: str) -> None:
        """Count something by the URL's host."""
        self.history.count(urls.host(url), reason)
        self.counters.count(reason)

    def events(self, events: Iterable[Event]) -> None:
        """Events of the strategy."""
        for event in events:
            self.history.note(event)
            self.tell(event)
