"""Waiting URLs in a queue for each host, and the first of them on a host that is awake.

Frontiers that choose at pop time are built on it (`Levels`, `PageQueues`). It knows only places: tuples that end in a
URL and are smaller the earlier its turn is. What has left a queue is skipped when it comes up, and removed when most of
a queue is gone, so nothing costs more than a heap does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Generic, TypeVar

from scenthound import url as urls
from scenthound.model import Candidate, Url

DECIMALS = 12  # rule 3: what is compared is rounded before
Place = TypeVar("Place", bound=tuple[Any, ...])


class HostLines(Generic[Place]):
    """A queue for each host, the hosts that rest, and the current time, which never goes back."""

    def __init__(self) -> None:
        self.now = 0.0
        self._resting: dict[str, float] = {}
        self.clear()

    def clear(self) -> None:
        """Forget everything but which hosts rest."""
        self._places: dict[Url, Place] = {}
        self._lines: dict[str, list[Place]] = {}
        self._gone: dict[str, int] = {}  # how many of a line have left it from behind the first
        self._heads: list[Place] = []  # the first of each line whose host is awake, and some that were
        self._resting_heads: list[Place] = []  # the first of each line whose host rests, and some that were
        self._timers: list[tuple[float, str]] = []  # when a host wakes

    def __len__(self) -> int:
        return len(self._places)

    # ---- coming and going

    def enter(self, entry: Place) -> None:
        """Add a URL that is not queued yet."""
        url: Url = entry[-1]
        host = urls.host(url)
        self._places[url] = entry
        line = self._lines.setdefault(host, [])
        heappush(line, entry)
        resting = self._is_resting(host)
        if resting:
            self._set_timer(host)
        if line[0] is entry:
            self._show(entry, resting)

    def leave(self, url: Url) -> None:
        """Remove a URL from its queue, if it is in one."""
        entry = self._places.pop(url, None)
        if entry is None:
            return
        host = urls.host(url)
        line = self._lines[host]
        if line[0] is entry:
            self._post(host)
            return
        gone = self._gone[host] = self._gone.get(host, 0) + 1
        if 2 * gone > len(line) + 16:  # most of it
            line[:] = [other for other in line if self._is_current(other)]
            heapify(line)
            del self._gone[host]

    # ---- the first entry

    def wake(self, now: float) -> None:
        """Move the time on; hosts that have rested are awake again."""
        self.now = max(self.now, now)
        while self._timers and self._timers[0][0] <= self.now:
            until, host = heappop(self._timers)
            if self._resting.get(host) == until:
                self._post(host)

    def rest(self, host: str, until: float) -> None:
        """Return nothing of this host before `until`; a later call replaces an earlier one."""
        if until <= self.now:
            self._resting.pop(host, None)
            self._post(host)
            return
        self._resting[host] = until
        if host in self._lines:
            self._set_timer(host)
            self._post(host)

    def first(self) -> Place | None:
        """The first entry on a host that is awake."""
        while self._heads:
            entry = self._heads[0]
            host = urls.host(entry[-1])
            if self._is_current(entry) and not self._is_resting(host) and self._lines[host][0] is entry:
                return entry
            heappop(self._heads)
        return None

    def first_resting(self) -> tuple[Place, float] | None:
        """The first entry on a host that rests until a known time, and that time."""
        heap, endless = self._resting_heads, []
        best = None
        while heap:
            entry = heap[0]
            host = urls.host(entry[-1])
            if not (self._is_current(entry) and self._is_resting(host) and self._lines[host][0] is entry):
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
            if self._resting.get(host) == until and host in self._lines:
                return until
            heappop(self._timers)
        return math.inf

    def _post(self, host: str) -> None:
        """Put the first entry of a host among those awake or resting; an empty queue is removed."""
        line = self._lines.get(host)
        if line is None:
            return
        while line and not self._is_current(line[0]):
            heappop(line)
        if not line:
            del self._lines[host]
            self._gone.pop(host, None)
        else:
            self._show(line[0], self._is_resting(host))

    def _show(self, entry: Place, resting: bool) -> None:
        heap = self._resting_heads if resting else self._heads
        heappush(heap, entry)
        if len(heap) > 2 * len(self._lines) + 64:
            heap[:] = [line[0] for host, line in self._lines.items() if self._is_resting(host) == resting]
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

    def _is_current(self, entry: Place) -> bool:
        return self._places.get(entry[-1]) is entry


def plain(candidate: Candidate) -> list[Any]:
    """A candidate as JSON values."""
    score = None if candidate.score == math.inf else candidate.score
    return [candidate.url, score, dict(candidate.carry), dict(candidate.parts), *candidate[4:9]]


def from_plain(fields: Sequence[Any]) -> Candidate:
    """The candidate that `plain` was given; old states have no due time."""
    score = math.inf if fields[1] is None else float(fields[1])
    return Candidate(Url(fields[0]), score, *fields[2:9])
