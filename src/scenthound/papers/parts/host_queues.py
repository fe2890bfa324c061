"""One queue of waiting URLs per host, which finds the first entry on a host that is awake.

The frontiers that choose at pop time (`LevelFrontier`, `PageQueues`, `SeedFrontiers`) are built on it. Entries are
tuples that end in a URL; the smallest comes first. An entry that has left stays in its queue until it reaches the top,
or until most entries of the queue have left, so every operation costs as much as on a heap.
"""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush
from typing import Any, Generic, TypeVar

from scenthound import url as urls
from scenthound.model import Url

Entry = TypeVar("Entry", bound=tuple[Any, ...])


class HostQueues(Generic[Entry]):
    """One queue per host, the hosts that rest, and the current time, which never goes back."""

    def __init__(self) -> None:
        self.now = 0.0
        self._resting: dict[str, float] = {}
        self.clear()

    def clear(self) -> None:
        """Forget everything except which hosts rest."""
        self._entries: dict[Url, Entry] = {}
        self._queues: dict[str, list[Entry]] = {}
        self._gone: dict[str, int] = {}  # per host: entries that have left but are still in the queue
        self._heads: list[Entry] = []  # the first entry of each queue whose host is awake, and some stale entries
        self._resting_heads: list[Entry] = []  # the same for hosts that rest
        self._timers: list[tuple[float, str]] = []  # (time, host): when a host wakes

    def __len__(self) -> int:
        return len(self._entries)

    # ---- entering and leaving

    def enter(self, entry: Entry) -> None:
        """Add a URL that is not queued yet."""
        url: Url = entry[-1]
        host = urls.host(url)
        self._entries[url] = entry
        queue = self._queues.setdefault(host, [])
        heappush(queue, entry)
        resting = self._is_resting(host)
        if resting:
            self._set_timer(host)
        if queue[0] is entry:
            self._push_head(entry, resting)

    def leave(self, url: Url) -> None:
        """Remove a URL from its queue, if it is in one."""
        entry = self._entries.pop(url, None)
        if entry is None:
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

    # ---- the first entry

    def wake(self, now: float) -> None:
        """Advance the time; hosts that have rested wake up."""
        self.now = max(self.now, now)
        while self._timers and self._timers[0][0] <= self.now:
            until, host = heappop(self._timers)
            if self._resting.get(host) == until:
                self._update_head(host)

    def rest(self, host: str, until: float) -> None:
        """Return nothing from this host before `until`; a later call replaces an earlier one."""
        if until <= self.now:
            self._resting.pop(host, None)
            self._update_head(host)
            return
        self._resting[host] = until
        if host in self._queues:
            self._set_timer(host)
            self._update_head(host)

    def first(self) -> Entry | None:
        """The first entry on a host that is awake."""
        while self._heads:
            entry = self._heads[0]
            host = urls.host(entry[-1])
            if self._is_current(entry) and not self._is_resting(host) and self._queues[host][0] is entry:
                return entry
            heappop(self._heads)
        return None

    def first_resting(self) -> tuple[Entry, float] | None:
        """The first entry on a host that rests until a known time, with that time."""
        heap, endless = self._resting_heads, []
        best = None
        while heap:
            entry = heap[0]
            host = urls.host(entry[-1])
            if not (self._is_current(entry) and self._is_resting(host) and self._queues[host][0] is entry):
                heappop(heap)
            elif self._resting[host] == math.inf:
                endless.append(heappop(heap))
            else:
                best = entry, self._resting[host]
                break
        for entry in endless:
            heappush(heap, entry)
        return best

    def rests_until(self, url: Url) -> float:
        """When the host of a URL wakes; 0 if it is awake."""
        host = urls.host(url)
        return self._resting[host] if self._is_resting(host) else 0.0

    def ready_at(self) -> float:
        """When `first` can return something; infinity if unknown."""
        if self.first() is not None:
            return self.now
        while self._timers:
            until, host = self._timers[0]
            if self._resting.get(host) == until and host in self._queues:
                return until
            heappop(self._timers)
        return math.inf

    def _update_head(self, host: str) -> None:
        """Add the first current entry of a host to the heads; remove the queue if it is empty."""
        queue = self._queues.get(host)
        if queue is None:
            return
        while queue and not self._is_current(queue[0]):
            heappop(queue)
        if not queue:
            del self._queues[host]
            self._gone.pop(host, None)
        else:
            self._push_head(queue[0], self._is_resting(host))

    def _push_head(self, entry: Entry, resting: bool) -> None:
        heap = self._resting_heads if resting else self._heads
        heappush(heap, entry)
        if len(heap) > 2 * len(self._queues) + 64:
            heap[:] = [queue[0] for host, queue in self._queues.items() if self._is_resting(host) == resting]
            heapify(heap)

    def _is_resting(self, host: str) -> bool:
        until = self._resting.get(host)
        if until is not None and until <= self.now:
            del self._resting[host]
            until = None
        return until is not None

    def _set_timer(self, host: str) -> None:
        if self._resting[host] < math.inf:
            heappush(self._timers, (self._resting[host], host))

    def _is_current(self, entry: Entry) -> bool:
        return self._entries.get(entry[-1]) is entry
