"""What the frontiers that strategies bring have in common, so that each of them only describes its order.

`StrategyFrontier` has the bound, the requests in flight and the moments at which the host clock is asked; `HostQueues`
finds the first entry on a host that is ready; `plain` and `from_plain` save candidates.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence
from heapq import heapify, heappop, heappush
from operator import neg
from typing import Any, Generic, TypeVar

from scenthound import url as urls
from scenthound.hosts import HostClock
from scenthound.model import Candidate, Url
from scenthound.ports import Frontier, Popped


def plain(candidate: Candidate) -> list[Any]:
    """A candidate as JSON values. The last value is its due time, which a frontier without due times leaves out.

    >>> plain(Candidate(Url("http://a.test/"), math.inf, anchor="home"))
    ['http://a.test/', None, {}, {}, None, 'home', 0, '', 0.0]
    """
    score = None if candidate.score == math.inf else candidate.score
    return [candidate.url, score, dict(candidate.carry), dict(candidate.parts), *candidate[4:9]]


def from_plain(fields: Sequence[Any]) -> Candidate:
    """Rebuild a candidate from the result of `plain`, with or without its due time."""
    score = math.inf if fields[1] is None else float(fields[1])
    return Candidate(Url(fields[0]), score, *fields[2:9])


class StrategyFrontier(Frontier):
    """The waiting URLs of a strategy, and those in flight.

    A subclass keeps `_waiting`, the URLs that `pop` may return, in its order, and implements `_push`, `_pop` and
    `_leave`. URLs in `_later` also wait, but can't be popped yet.
    """

    def __init__(self, bound: int | None) -> None:
        if bound is not None and bound < 1:
            raise ValueError(f"a frontier's bound is at least 1, not {bound}")
        self.bound, self.host_clock = bound, HostClock()

    def _forget_urls(self) -> None:
        """Remove all URLs; also called when the subclass is made."""
        self._waiting: dict[Url, Popped] = {}
        self._later: dict[Url, Candidate] = {}
        self._in_flight: dict[Url, Popped | None] = {}  # None: the target of a redirect that was not waiting
        self._is_running = False  # before the first pop, `take` is part of a restart

    # ---- the order, in a subclass

    @abstractmethod
    def _push(self, candidate: Candidate) -> Candidate | None:
        """Insert a candidate, and return the one that is dropped."""

    @abstractmethod
    def _pop(self) -> Popped | None:
        """Take out the first candidate whose host is ready; the host clock has been moved forward."""

    def _wake(self) -> None:
        """Look at hosts that rested before. A subclass with `HostQueues` passes the woken hosts to them."""
        self.host_clock.forget_all()

    def _leave(self, url: Url) -> Popped:
        """Remove a URL from `_waiting`, and from the order."""
        return self._waiting.pop(url)

    # ---- the port

    def push(self, candidate: Candidate) -> Candidate | None:
        if candidate.score != candidate.score:
            raise ValueError(f"a score must be a number: {candidate.url}")
        self._in_flight.pop(candidate.url, None)
        return self._push(candidate)

    def pop(self, now: float) -> Popped | None:
        self._is_running = True
        self.host_clock.advance(now)
        self._wake()
        return self._pop()

    def take(self, url: Url) -> Candidate | None:
        return self._launch(url).candidate if url in self._waiting else None

    def settle(self, url: Url) -> None:
        self._in_flight.pop(url, None)
        self._later.pop(url, None)
        if url in self._waiting:
            self._leave(url)

    def in_flight(self) -> Collection[Url]:
        return self._in_flight.keys()

    def urls(self) -> Collection[Url]:
        return [*self._later, *self._waiting]

    def __len__(self) -> int:
        return len(self._later) + len(self._waiting)

    def __contains__(self, url: object) -> bool:
        return url in self._waiting or url in self._later

    # ---- for subclasses

    def _refuses(self, candidate: Candidate) -> bool:
        """Whether a frontier without eviction and due times drops a new candidate."""
        is_full = self.bound is not None and len(self) >= self.bound
        return is_full or candidate.due > self.host_clock.now

    def _launch(self, url: Url, later: Url | None = None) -> Popped:
        """Take out a URL. `later` is the first that waits until a known time, if any."""
        popped = self._in_flight[url] = self._leave(url)
        is_better = later is not None and self._waiting[later].candidate.score > popped.candidate.score
        return popped._replace(overtakes=is_better)

    def _flying(self) -> Iterable[Popped]:
        """The candidates in flight, which are saved as waiting."""
        return (popped for popped in self._in_flight.values() if popped is not None)


Entry = TypeVar("Entry", bound=tuple[Any, ...])


class HostQueues(Generic[Entry]):
    """One queue per host. Entries are tuples of numbers that end in a URL; the smallest comes first.

    An entry that has left stays in its heaps until it reaches the top, or until most entries of a heap have left, so
    every operation costs as much as on a heap. Hosts that were not ready when their entry came first are `_parked`
    until `wake` names them.
    """

    def __init__(self, is_bounded: bool = False) -> None:
        self._is_bounded = is_bounded
        self.clear()

    def clear(self) -> None:
        self._entries: dict[Url, Entry] = {}
        self._queues: dict[str, list[Entry]] = {}
        self._gone: dict[str, int] = {}  # per host: entries that have left but are still in the queue
        self._heads: list[Entry] = []  # the first entry of each queue whose host is not parked, and some stale entries
        self._parked: dict[str, None] = {}
        self._parked_heads: list[Entry] = []  # the same for parked hosts
        self._delayed: list[tuple[float, Entry]] = []  # (due, entry) of candidates that are not due yet
        self._not_due: dict[Url, float] = {}
        self._reversed: list[tuple[Any, ...]] = []  # all entries, the last one first, if there is a bound

    def __len__(self) -> int:
        return len(self._entries)

    # ---- entering and leaving

    def enter(self, entry: Entry, due: float = 0.0) -> None:
        """Add a URL that is not queued yet. It is not returned before it is due."""
        url: Url = entry[-1]
        self._entries[url] = entry
        if self._is_bounded:
            heappush(self._reversed, _reverse(entry))
            if len(self._reversed) > 2 * len(self._entries) + 64:
                self._reversed = [_reverse(other) for other in self._entries.values()]
                heapify(self._reversed)
        if due:
            heappush(self._delayed, (due, entry))
            self._not_due[url] = due
        else:
            self._enqueue(entry)

    def _enqueue(self, entry: Entry) -> None:
        host = urls.host(entry[-1])
        queue = self._queues.setdefault(host, [])
        heappush(queue, entry)
        if queue[0] is entry:
            self._push_head(host)

    def leave(self, url: Url) -> None:
        """Remove a URL from its queue."""
        entry = self._entries.pop(url)
        if self._not_due.pop(url, None) is not None:
            return
        host = urls.host(url)
        queue = self._queues[host]
        if queue[0] is entry:
            self._update_head(host)
            return
        gone = self._gone[host] = self._gone.get(host, 0) + 1
        if 2 * gone > len(queue) + 16:  # more than half, and enough to pay for the rebuild
            queue[:] = [other for other in queue if self._is_current(other)]
            heapify(queue)
            del self._gone[host]

    # ---- in order

    def entry(self, url: Url) -> Entry:
        return self._entries[url]

    def first(self, clock: HostClock) -> Entry | None:
        """The first entry that is due, on a host that is ready."""
        self._take_due(clock)
        while self._heads:
            entry = self._heads[0]
            host = urls.host(entry[-1])
            if host not in self._parked and self._is_first(entry, host):
                if clock.is_ready(host):
                    return entry
                self._parked[host] = None
                self._push_head(host)
            heappop(self._heads)
        for url, due in self._not_due.items():
            clock.want(urls.host(url), due)
        return None

    def wake(self, hosts: Iterable[str]) -> None:
        """Look at these hosts again: the host clock has named them."""
        for host in hosts:
            if host in self._parked:
                del self._parked[host]
                self._push_head(host)

    def first_later(self, clock: HostClock, resting: Iterable[str] | None = None) -> Url | None:
        """The URL of the first entry that `first` will return only later, but at a known time.

        `resting` are all hosts that are not ready. Without it, only entries before the result of `first` count.
        """
        if resting is None:
            parked = self._first_parked(clock)
            entries = [] if parked is None else [parked]
        else:
            entries = [self._queues[host][0] for host in resting if host in self._queues]
        entries += [entry for due, entry in self._delayed if self._not_due.get(entry[-1]) == due]
        known = [entry for entry in entries if clock.ready_at(urls.host(entry[-1])) < math.inf]
        return min(known)[-1] if known else None

    def _first_parked(self, clock: HostClock) -> Entry | None:
        """The first entry of a parked host that wakes at a known time."""
        unknown, first = [], None
        while self._parked_heads and first is None:
            entry = self._parked_heads[0]
            host = urls.host(entry[-1])
            if host not in self._parked or not self._is_first(entry, host):
                heappop(self._parked_heads)
            elif clock.ready_at(host) == math.inf:
                unknown.append(heappop(self._parked_heads))
            else:
                first = entry
        for entry in unknown:
            heappush(self._parked_heads, entry)
        return first

    def last(self) -> Entry:
        """The last entry of all."""
        while True:
            entry = self._entries.get(self._reversed[0][-1])
            if entry is not None and _reverse(entry) == self._reversed[0]:
                return entry
            heappop(self._reversed)

    def _take_due(self, clock: HostClock) -> None:
        while self._delayed:
            due, entry = self._delayed[0]
            is_waiting = self._not_due.get(entry[-1]) == due
            if is_waiting and due > clock.now:
                return
            heappop(self._delayed)
            if is_waiting:
                del self._not_due[entry[-1]]
                self._enqueue(self._entries[entry[-1]])

    def _update_head(self, host: str) -> None:
        """Add the first current entry of a host to the heads; remove the queue if it is empty."""
        queue = self._queues[host]
        while queue and not self._is_current(queue[0]):
            heappop(queue)
        if not queue:
            del self._queues[host]
            self._gone.pop(host, None)
            self._parked.pop(host, None)
        else:
            self._push_head(host)

    def _push_head(self, host: str) -> None:
        is_parked = host in self._parked
        heads = self._parked_heads if is_parked else self._heads
        heappush(heads, self._queues[host][0])
        if len(heads) > 2 * len(self._queues) + 64:
            heads[:] = [queue[0] for name, queue in self._queues.items() if (name in self._parked) == is_parked]
            heapify(heads)

    def _is_first(self, entry: Entry, host: str) -> bool:
        return self._is_current(entry) and self._queues[host][0] is entry

    def _is_current(self, entry: Entry) -> bool:
        """Whether an entry of a queue has not left."""
        return self._entries.get(entry[-1]) is entry and entry[-1] not in self._not_due


def _reverse(entry: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*map(neg, entry[:-1]), entry[-1])
