"""Record what happens in a crawl: write it to the history, count it for progress and stopping rules, tell a watcher."""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol

import msgspec

from scenthound import url as urls
from scenthound.looking_for import PAGES, is_counted
from scenthound.loop.forecast import LITTLE_LEFT, Forecast
from scenthound.loop.link_balance import DELAYED, NOT_RESTORED, RESTORED, STRATEGY, STRATEGY_DROPPED
from scenthound.loop.messages import Dropped, Limits
from scenthound.loop.plugin_calls import PageJudgement
from scenthound.loop.trap_watch import REINSTATED, SUSPENDED, Suspended
from scenthound.model import Candidate, Event, LookingFor, Miss, Step, Url
from scenthound.page.page import Page
from scenthound.ports import History, Where
from scenthound.store.memory import ELSEWHERE

WINDOW = 100
BEST = 10


class Counted(Protocol):
    """The fields of a page that are counted; a `Step` or a `Mark` has them."""

    @property
    def n(self) -> int: ...
    @property
    def url(self) -> str: ...
    @property
    def similarity(self) -> float: ...
    @property
    def relevance(self) -> float: ...
    @property
    def relevant(self) -> bool: ...
    @property
    def depth(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def title(self) -> str: ...


class SavedCounters(msgspec.Struct, frozen=True):
    """The counters that can't be counted again from the history."""

    attempts: int = 0
    retries: Mapping[str, int] = {}
    dry: tuple[Sequence[int], float, int] = ((), 0.0, 0)
    """Whether each of the last pages was relevant, the best rate of relevant pages, and for how long it was low."""
    out_of_order: int = 0
    waited: float = 0.0
    links: Mapping[str, int] = {}


@dataclass(slots=True)
class Counters:
    """Counts pages, harvest and failures. Its size does not grow with the crawl.

    If sites are looked for, only home pages count for the forecast. `best` and the mean relevance are of all pages.

    With `dry_window` it also applies the stopping rule of sheet 70.2: `dry` becomes true when the moving harvest rate
    has stayed below max(floor, best rate / 5) for `dry_patience` pages in a row.
    """

    dry_window: int = 0
    dry_floor: float = 0.02
    dry_patience: int = 200
    looking_for: LookingFor = PAGES
    pages: int = 0
    attempts: int = 0
    bytes: int = 0
    relevant: int = 0
    similarity: float = 0.0
    """The sum over all pages."""
    relevance: float = 0.0
    """The sum over all pages."""
    misses: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    """URLs and links that are not followed, by reason."""
    links: Counter[str] = field(default_factory=Counter)
    """Links and URLs found by source, and repeated links; see `link_balance`."""
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))
    best: list[tuple[float, int, str, str]] = field(default_factory=list)
    dry: bool = False
    forecast: Forecast = field(default_factory=Forecast)
    """Estimates what is left to find."""
    out_of_order: int = 0
    """URLs requested before better URLs whose hosts were resting."""
    waited: float = 0.0
    """Seconds in which the crawl could have sent requests, but waited for the hosts of better URLs."""
    _flags: deque[bool] = field(default_factory=deque)
    _good: int = 0
    _best_rate: float = 0.0
    _below: int = 0

    def page(self, step: Counted) -> bool:
        """Count a page; True if it is relevant."""
        good = bool(step.relevant)
        self.pages += 1
        self.bytes += step.bytes
        self.relevant += good
        self.similarity += step.similarity
        self.relevance += step.relevance
        self.recent.append(good)
        found = step.relevance if is_counted(step.url, self.looking_for) else 0.0
        self.forecast.page(found, is_seed=step.depth == 0)
        entry = (step.relevance, -step.n, str(step.url), step.title)
        if len(self.best) < BEST:
            heapq.heappush(self.best, entry)
        elif entry > self.best[0]:
            heapq.heapreplace(self.best, entry)
        if self.dry_window:
            self._watch_harvest(good)
        return good

    def count_again(self, pages: Iterable[Counted]) -> None:
        """Count all pages so far again, after what counts as relevant has changed."""
        fresh = Counters(self.dry_window, self.dry_floor, self.dry_patience, self.looking_for)
        for page in pages:
            fresh.page(page)
        self.relevant, self.recent, self.forecast, self.best = fresh.relevant, fresh.recent, fresh.forecast, fresh.best
        self.dry, self._below, self._best_rate, self._good = False, 0, 0.0, 0
        self._flags.clear()

    def miss(self, miss: Miss) -> None:
        self.misses[miss.reason] += 1

    def retry(self, miss: Miss) -> None:
        self.retries[miss.reason] += 1

    def count(self, reason: str, times: int = 1) -> None:
        self.dropped[reason] += times

    @property
    def harvest(self) -> float:
        return self.relevant / self.pages if self.pages else 0.0

    @property
    def harvest_recent(self) -> float:
        return sum(self.recent) / len(self.recent) if self.recent else 0.0

    def reason_to_end(self, limits: Limits, now: float, in_flight: int) -> str:
        """Why the crawl must end before its page budget is spent; empty if it may continue."""
        if now >= limits.ends_at:
            return "time"
        if 0 < limits.requests <= self.attempts + in_flight:
            return "requests"
        return LITTLE_LEFT if limits.stop_share and self._is_little_left(limits) else ""

    def _is_little_left(self, limits: Limits) -> bool:
        """Whether at most `limits.stop_share` of all relevant pages are expected in the rest of the budget."""
        if self.pages >= limits.pages:
            return False
        left = self.forecast.left(limits.pages - self.pages)
        return left is not None and left.share <= limits.stop_share

    def _watch_harvest(self, good: bool) -> None:
        self._flags.append(good)
        self._good += good
        if len(self._flags) > self.dry_window:
            self._good -= self._flags.popleft()
        rate = self._good / len(self._flags)
        self._best_rate = max(self._best_rate, rate)
        floor = max(self.dry_floor, self._best_rate / 5)
        self._below = self._below + 1 if rate < floor else 0
        self.dry = self._below >= self.dry_patience

    def save(self) -> SavedCounters:
        return SavedCounters(
            self.attempts,
            dict(self.retries),
            ([int(flag) for flag in self._flags], self._best_rate, self._below),
            self.out_of_order,
            round(self.waited, 3),
            dict(self.links),
        )

    def load(self, saved: SavedCounters) -> None:
        """Load what `save` returned. Pages, misses and dropped links are counted again from the history."""
        self.attempts, self.out_of_order, self.waited = saved.attempts, saved.out_of_order, saved.waited
        self.retries, self.links = Counter(saved.retries), Counter(saved.links)
        flags, self._best_rate, self._below = saved.dry
        self._flags = deque(bool(flag) for flag in flags)
        self._good = sum(self._flags)


Watcher = Callable[[Step | Miss | Dropped | Event], None]
"""Called with every page, miss, dropped link and event of the strategy."""


class Recorder:
    """The only writer of the history. It numbers the pages."""

    def __init__(self, history: History, counters: Counters, watch: Watcher | None) -> None:
        self.history, self.counters, self.watch = history, counters, watch
        self.counts_links = True
        """False while a resumed crawl repeats what it has counted before."""
        self.counts_sources = True
        """False for a crawl that was started by a version that did not count them."""
        self.pages = len(history)
        self.last_number = history.highest()

    def page(
        self, page: Page, judgement: PageJudgement, rank: int, requested: Url | None, where: Where | None, now: float
    ) -> Step:
        """Record a page with its links, and an alias if it was requested under another URL."""
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
            similarity=judgement.similarity,
            depth=candidate.depth,
            status=page.status,
            bytes=page.size,
            time=now,
            title=record.title,
            rank=rank,
            requested=requested,
            carry=candidate.carry,
            relevance=judgement.relevance,
            relevant=judgement.relevant,
        )
        history.record(step, where)
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
        self.counters.miss(miss)
        self.notify(miss)

    def postponed(self, miss: Miss, now: float) -> None:
        """Record a miss that will be retried."""
        self.history.lost(miss, now, dead=False, heard=False)
        self.counters.retry(miss)

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
            self.counters.count(reason, times)

    def found(self, kind: str, times: int = 1) -> None:
        """Count links: their source, or why they are only repeated. Called several times per page, not per link."""
        if times and self.counts_links and self.counts_sources:
            self.counters.links[kind] += times

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
            self.counters.count(reason, times)

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
