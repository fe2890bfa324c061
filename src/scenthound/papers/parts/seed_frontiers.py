"""Several frontiers that take turns: one per seed, or a set number of threads.

Used by `per-seed`. A URL waits only in the frontier where it was first found, and is merged there if found again (rule
5). When the frontiers together are full, the longest drops its worst candidate.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Collection, Mapping
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

from scenthound import url as urls
from scenthound.merge_candidates import merge_offer, rounded
from scenthound.model import Candidate, Url
from scenthound.papers.parts.host_queues import HostQueues
from scenthound.papers.parts.saved_candidates import from_plain, plain
from scenthound.ports import Frontier, Popped

THREAD = "thread"
"""Key in a candidate's `carry` for the number of its frontier."""

_Entry = tuple[float, int, Url]  # (-score, insertion number, url)


class _Waiting(NamedTuple):
    thread: int
    candidate: Candidate
    entry: _Entry


class SeedFrontiers(Frontier):
    """One `Frontier` made of several queues.

    `pop` prefers the queues with the fewest requests in flight; among these it takes turns, starting after the queue of
    the last result, and skips queues whose hosts all rest. So the turn depends only on results and on requests in
    flight, which are both known again after a restart.
    """

    def __init__(self, bound: int | None = None) -> None:
        if bound is not None and bound < 1:
            raise ValueError(f"a frontier's bound is at least 1, not {bound}")
        self.bound, self._now = bound, 0.0
        self._resting: dict[str, float] = {}
        self.clear(1)

    def clear(self, threads: int) -> None:
        """Forget everything except which hosts rest."""
        self._threads: list[HostQueues[_Entry]] = [HostQueues() for _ in range(threads)]
        self._sizes = [0] * threads
        self._worst: list[list[tuple[float, int, Url]]] = [[] for _ in range(threads)]  # in reverse order
        for host, until in self._resting.items():
            self.rest(host, until)
        self._waiting: dict[Url, _Waiting] = {}
        self._parked: list[tuple[float, int, Url]] = []  # (due, insertion number, url) of candidates not due yet
        self._in_flight: dict[Url, _Waiting] = {}
        self._next_number = 0
        self._turn = 0

    @property
    def threads(self) -> int:
        return len(self._threads)

    def thread_of(self, candidate: Candidate) -> int:
        """The number of a candidate's frontier: where its URL waits, else as carried, else by a hash of its URL."""
        waiting = self._waiting.get(candidate.url)
        if waiting is not None:
            return waiting.thread
        carried = candidate.carry.get(THREAD)
        return carried % self.threads if isinstance(carried, int) else zlib.crc32(candidate.url.encode()) % self.threads

    def landed(self, candidate: Candidate) -> int:
        """Record a result for a candidate and return its frontier. It is then the next frontier's turn."""
        thread = self.thread_of(candidate)
        self.settle(candidate.url)
        self._turn = (thread + 1) % self.threads
        return thread

    # ---- the port

    def push(self, candidate: Candidate) -> Candidate | None:
        if math.isnan(candidate.score):
            raise ValueError(f"a score must be a number: {candidate.url}")
        thread = self.thread_of(candidate)
        candidate = candidate._replace(carry={**candidate.carry, THREAD: thread})
        old = self._waiting.get(candidate.url)
        if old is not None:
            merged = merge_offer(old.candidate, candidate)
            if merged is not old.candidate:
                self._leave(candidate.url)
                self._enter(thread, merged, old.entry[1])
            return None
        self._in_flight.pop(candidate.url, None)
        self._enter(thread, candidate, self._next_number)
        self._next_number += 1
        return self._evict()

    def rest(self, host: str, until: float) -> None:
        self._resting[host] = until
        for queues in self._threads:
            queues.rest(host, until)

    def pop(self, now: float) -> Popped | None:
        self._wake(now)
        busy = Counter(flight.thread for flight in self._in_flight.values())
        turns = sorted(range(self.threads), key=lambda thread: (busy[thread], (thread - self._turn) % self.threads))
        for thread in turns:
            if (first := self._threads[thread].first()) is not None:
                return Popped(self._launch(first[2]), number=first[1])
        return None

    def best_resting(self, now: float) -> tuple[Candidate, float] | None:
        self._wake(now)
        resting = [first for queues in self._threads if (first := queues.first_resting()) is not None]
        resting += [
            (self._waiting[url].entry, due) for due, number, url in self._parked if self._is_parked(number, url)
        ]
        wakes = [(entry, max(until, self._resting.get(urls.host(entry[2]), 0.0))) for entry, until in resting]
        best = min(((entry, until) for entry, until in wakes if until < math.inf), default=None)
        return None if best is None else (self._waiting[best[0][2]].candidate, best[1])

    def ready_at(self) -> float | None:
        if not self._waiting:
            return None
        parked = min((due for due, number, url in self._parked if self._is_parked(number, url)), default=math.inf)
        return min(parked, *(queues.ready_at() for queues in self._threads))

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, url: object) -> bool:
        return url in self._waiting

    def urls(self) -> Collection[Url]:
        return self._waiting.keys()

    # ---- in flight

    def settle(self, url: Url) -> None:
        self._in_flight.pop(url, None)
        if url in self._waiting:
            self._leave(url)

    def take(self, url: Url) -> Candidate | None:
        return self._launch(url) if url in self._waiting else None

    def give_back(self, popped: Popped) -> Candidate | None:
        self._in_flight.pop(popped.candidate.url, None)
        self._enter(self.thread_of(popped.candidate), popped.candidate, popped.number)
        return self._evict()

    def in_flight(self) -> Collection[Url]:
        return self._in_flight.keys()

    # ---- entries

    def _enter(self, thread: int, candidate: Candidate, number: int) -> None:
        entry = (-rounded(candidate.score), number, candidate.url)
        self._waiting[candidate.url] = _Waiting(thread, candidate, entry)
        self._sizes[thread] += 1
        if candidate.due > self._now:
            heappush(self._parked, (candidate.due, number, candidate.url))
        else:
            self._threads[thread].enter(entry)
        if self.bound is not None:
            worst = self._worst[thread]
            heappush(worst, (-entry[0], -number, candidate.url))
            if len(worst) > 2 * self._sizes[thread] + 64:
                entries = [waiting.entry for waiting in self._waiting.values() if waiting.thread == thread]
                worst[:] = [(-score, -other, url) for score, other, url in entries]
                heapify(worst)

    def _leave(self, url: Url) -> _Waiting:
        waiting = self._waiting.pop(url)
        self._sizes[waiting.thread] -= 1
        self._threads[waiting.thread].leave(url)
        return waiting

    def _launch(self, url: Url) -> Candidate:
        waiting = self._in_flight[url] = self._leave(url)
        return waiting.candidate

    def _evict(self) -> Candidate | None:
        """Drop the worst candidate of the longest frontier if there are too many, and return it."""
        if self.bound is None or len(self._waiting) <= self.bound:
            return None
        worst = self._worst[max(range(self.threads), key=lambda thread: (self._sizes[thread], -thread))]
        while True:
            score, number, url = heappop(worst)
            waiting = self._waiting.get(url)
            if waiting is not None and waiting.entry == (-score, -number, url):
                return self._leave(url).candidate

    def _wake(self, now: float) -> None:
        self._now = max(self._now, now)
        for queues in self._threads:
            queues.wake(self._now)
        while self._parked and self._parked[0][0] <= self._now:
            _, number, url = heappop(self._parked)
            waiting = self._waiting.get(url)
            if waiting is not None and waiting.entry[1] == number and waiting.candidate.due <= self._now:
                self._threads[waiting.thread].leave(url)
                self._threads[waiting.thread].enter(waiting.entry)

    def _is_parked(self, number: int, url: Url) -> bool:
        waiting = self._waiting.get(url)
        return waiting is not None and waiting.entry[1] == number and waiting.candidate.due > self._now

    # ---- saving

    def save(self) -> dict[str, Any]:
        """The state as JSON. Requests in flight count as waiting, under their insertion number."""
        entries = sorted((*self._waiting.values(), *self._in_flight.values()), key=lambda waiting: waiting.entry[1])
        return {
            "threads": self.threads,
            "turn": self._turn,
            "next": self._next_number,
            "waiting": [[waiting.thread, waiting.entry[1], plain(waiting.candidate)] for waiting in entries],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear(state["threads"])
        for thread, number, fields in state["waiting"]:
            self._enter(thread, from_plain(fields), number)
        self._turn, self._next_number = state["turn"], state["next"]
