"""Record what happens in a crawl: write it to the history, count it for progress and stopping rules, tell a watcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from scenthound import url as urls
from scenthound.loop.figures import Figures
from scenthound.loop.link_balance import DELAYED, NOT_RESTORED, RESTORED, STRATEGY, STRATEGY_DROPPED
from scenthound.loop.messages import Dropped
from scenthound.loop.plugin_calls import PageVerdict
from scenthound.loop.trap_watch import REINSTATED, SUSPENDED, Suspended
from scenthound.model import Candidate, Event, Miss, Step, Url
from scenthound.page.page import Page
from scenthound.ports import History, Where
from scenthound.store.memory import ELSEWHERE

Watcher = Callable[[Step | Miss | Dropped | Event], None]
"""Called with every page, miss, dropped link and event of the strategy."""


class Recorder:
    """The only writer of the history. It numbers the pages."""

    def __init__(self, history: History, figures: Figures, watch: Watcher | None) -> None:
        self.history, self.figures, self.watch = history, figures, watch
        self.counts_links = True
        """False while a resumed crawl repeats what it has counted before."""
        self.counts_sources = True
        """False for a crawl that was started by a version that did not count them."""
        self.pages = len(history)
        self.last_number = history.highest()

    def page(
        self, page: Page, verdict: PageVerdict, rank: int, requested: Url | None, where: Where | None, now: float
    ) -> Step:
        """Record and count a page with its links, and an alias if it was requested under another URL."""
        candidate, record, history = page.candidate, page.record, self.history
        self.pages += 1
        self.last_number += 1
        step = Step(
            n=self.last_number,
            url=page.url,
            parent=candidate.parent,
            anchor=candidate.anchor,
            score=candidate.score,
            parts=candidate.parts,
            similarity=verdict.similarity,
            depth=candidate.depth,
            status=page.status,
            bytes=page.size,
            time=now,
            title=record.title,
            rank=rank,
            requested=requested,
            carry=candidate.carry,
            relevance=verdict.relevance,
            relevant=verdict.relevant,
        )
        history.record(step, where)
        self.figures.page(step)
        history.link(page.url, chain((link.url for link in record.outlinks), record.barred))
        if page.url != candidate.url:
            history.alias(candidate.url, page.url)
        return step

    def notify(self, happening: Step | Miss | Dropped | Event) -> None:
        """Pass something that happened to the watcher."""
        if self.watch:
            self.watch(happening)

    def lost(self, miss: Miss, now: float, heard: bool) -> None:
        """Record a miss that is final. `heard`: the strategy is informed."""
        self.history.lost(miss, now, heard=heard)
        self.figures.misses[miss.reason] += 1
        self.notify(miss)

    def postponed(self, miss: Miss, now: float) -> None:
        """Record a miss that will be retried."""
        self.history.lost(miss, now, dead=False, heard=False)
        self.figures.retries[miss.reason] += 1

    def dropped(self, candidate: Candidate, reason: str, is_delayed: bool = False) -> None:
        """Record a candidate that is dropped, or put back into the frontier until later."""
        self.found(DELAYED + reason, is_delayed)
        self.count(candidate.url, reason)
        if self.watch:
            self.watch(Dropped(candidate, reason))

    def count(self, url: Url, reason: str, times: int = 1) -> None:
        """Count a reason for not following links, in total and for the host of a URL."""
        if times and self.counts_links:
            self.history.count(urls.host(url), reason, times)
            self.figures.dropped[reason] += times

    def found(self, kind: str, times: int = 1) -> None:
        """Count links: their source, or why they are only repeated. Called several times per page, not per link."""
        if times and self.counts_links and self.counts_sources:
            self.figures.links[kind] += times

    def restored(self, more: int) -> None:
        """Count URLs that wait again after a restart although they were dropped before, or do not wait any more."""
        if more > 0:
            self.found(RESTORED, more)
        else:
            self._count_anywhere(NOT_RESTORED, -more)

    def frontier_changed(self, by: int) -> None:
        """Count URLs that the strategy has removed from its own frontier, or added to it."""
        if by > 0:
            self.found(STRATEGY, by)
        else:
            self._count_anywhere(STRATEGY_DROPPED, -by)

    def _count_anywhere(self, reason: str, times: int) -> None:
        """Count a reason for URLs of unknown hosts."""
        if times and self.counts_links:
            self.history.count(ELSEWHERE, reason, times)
            self.figures.dropped[reason] += times

    def suspended(self, suspended: Suspended, url: Url) -> None:
        """Record that URLs of a pattern wait behind all others, because this page and others had nothing new."""
        facts = {**suspended._asdict(), "why": str(suspended)}
        self.events([Event(SUSPENDED, facts, url, self.last_number)])

    def reinstated(self, suspended: Suspended, url: Url) -> None:
        """Record that URLs of a pattern are requested again, because this page and others had something new."""
        facts = {**suspended._asdict(), "why": f"samples of {suspended.pattern} had something new"}
        self.events([Event(REINSTATED, facts, url, self.last_number)])

    def events(self, events: Iterable[Event]) -> None:
        """Record events of the strategy."""
        for event in events:
            self.history.note(event)
            self.notify(event)
