"""Candidates whose turn has come and that wait only for their host to wake."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from scenthound import url as urls
from scenthound.loop.messages import FOREVER
from scenthound.model import Candidate


class Pending:
    """Ordered by when the host wakes, then by arrival. A host in flight sleeps until `rest` says when it wakes."""

    def __init__(self) -> None:
        self._timed: list[tuple[float, int, Candidate]] = []
        self._asleep: dict[str, list[tuple[int, Candidate]]] = {}
        self._count = 0

    def put(self, candidate: Candidate, until: float) -> None:
        self._count += 1
        self._place(until, self._count, candidate)

    def pop(self, now: float) -> Candidate | None:
        """The one whose host was to wake first, if that time has come."""
        if self._timed and self._timed[0][0] <= now:
            return heapq.heappop(self._timed)[2]
        return None

    def rest(self, host: str, until: float) -> None:
        """The host wakes at `until`: its candidates of unknown time get this one."""
        if until != FOREVER:
            for number, candidate in self._asleep.pop(host, ()):
                self._place(until, number, candidate)

    def ready_at(self) -> float:
        return self._timed[0][0] if self._timed else FOREVER

    def __iter__(self) -> Iterator[Candidate]:
        timed = [(number, candidate) for _, number, candidate in self._timed]
        asleep = [entry for waiting in self._asleep.values() for entry in waiting]
        return (candidate for _, candidate in sorted([*timed, *asleep], key=lambda entry: entry[0]))

    def __len__(self) -> int:
        return len(self._timed) + sum(map(len, self._asleep.values()))

    def _place(self, until: float, number: int, candidate: Candidate) -> None:
        if until == FOREVER:
            self._asleep.setdefault(urls.host(candidate.url), []).append((number, candidate))
        else:
            heapq.heappush(self._timed, (until, number, candidate))
