"""Several frontiers that take turns: one per seed, or a set number of threads.

Used by `per-seed`. A URL waits only in the frontier where it was first found, and is merged there if found again (rule
5). When the frontiers together are full, the longest drops its worst candidate.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from scenthound.model import Candidate, Url, merge_offer, rounded
from scenthound.papers.parts.strategy_frontier import HostQueues, StrategyFrontier, from_plain, plain
from scenthound.ports import Popped

THREAD = "thread"
"""Key in a candidate's `carry` for the number of its frontier. Every waiting candidate has it."""

_Entry = tuple[float, int, Url]  # (-score, insertion number, url)


class SeedFrontiers(StrategyFrontier):
    """One `Frontier` made of several queues.

    `pop` prefers the queues with the fewest requests in flight; among these it takes turns, starting after the queue of
    the last result, and skips queues whose hosts all rest. So the turn depends only on results and on requests in
    flight, which are both known again after a restart.
    """

    def __init__(self, bound: int | None = None) -> None:
        super().__init__(bound)
        self.clear(1)

    def clear(self, threads: int) -> None:
        self._forget_urls()
        self._threads: list[HostQueues[_Entry]] = [HostQueues(self.bound is not None) for _ in range(threads)]
        self._next_number = 0
        self._turn = 0

    @property
    def threads(self) -> int:
        return len(self._threads)

    def thread_of(self, candidate: Candidate) -> int:
        """The number of a candidate's frontier: where its URL waits, else as carried, else by a hash of its URL."""
        waiting = self._waiting.get(candidate.url)
        carried = (candidate if waiting is None else waiting.candidate).carry.get(THREAD)
        return carried % self.threads if isinstance(carried, int) else zlib.crc32(candidate.url.encode()) % self.threads

    def landed(self, candidate: Candidate) -> int:
        """Record a result for a candidate and return its frontier. It is then the next frontier's turn."""
        thread = self.thread_of(candidate)
        self.settle(candidate.url)
        self._turn = (thread + 1) % self.threads
        return thread

    # ---- the order

    def _push(self, candidate: Candidate) -> Candidate | None:
        candidate = candidate._replace(carry={**candidate.carry, THREAD: self.thread_of(candidate)})
        old = self._waiting.get(candidate.url)
        if old is not None:
            merged = merge_offer(old.candidate, candidate)
            if merged is not old.candidate:
                self._leave(candidate.url)
                self._enter(merged, old.number)
            return None
        self._enter(candidate, self._next_number)
        self._next_number += 1
        return self._evict()

    def _pop(self) -> Popped | None:
        busy = Counter(flight.candidate.carry[THREAD] for flight in self._flying())
        turns = sorted(range(self.threads), key=lambda thread: (busy[thread], (thread - self._turn) % self.threads))
        firsts = (self._threads[thread].first(self.host_clock) for thread in turns)
        first = next((first for first in firsts if first is not None), None)
        if first is None:
            return None
        resting = self.host_clock.not_ready()
        later = [url for queues in self._threads if (url := queues.first_later(self.host_clock, resting)) is not None]
        best = max(later, key=lambda url: self._waiting[url].candidate.score, default=None)
        return self._launch(first[2], best)

    def _enter(self, candidate: Candidate, number: int) -> None:
        self._waiting[candidate.url] = Popped(candidate, number=number)
        entry = (-rounded(candidate.score), number, candidate.url)
        self._threads[candidate.carry[THREAD]].enter(entry, candidate.due)

    def _wake(self) -> None:
        woken = self.host_clock.take_woken()
        for queues in self._threads:
            queues.wake(woken)

    def _leave(self, url: Url) -> Popped:
        popped = super()._leave(url)
        self._threads[popped.candidate.carry[THREAD]].leave(url)
        return popped

    def _evict(self) -> Candidate | None:
        """Drop the worst candidate of the longest frontier if there are too many, and return it."""
        if self.bound is None or len(self._waiting) <= self.bound:
            return None
        longest = max(range(self.threads), key=lambda thread: (len(self._threads[thread]), -thread))
        return self._leave(self._threads[longest].last()[2]).candidate

    def give_back(self, popped: Popped) -> Candidate | None:
        self._in_flight.pop(popped.candidate.url, None)
        self._enter(popped.candidate, popped.number)
        return self._evict()

    # ---- saving

    def save(self) -> dict[str, Any]:
        """The state as JSON. Requests in flight count as waiting, under their insertion number."""
        entries = sorted((*self._waiting.values(), *self._flying()), key=lambda popped: popped.number)
        return {
            "threads": self.threads,
            "turn": self._turn,
            "next": self._next_number,
            "waiting": [[self.thread_of(entry.candidate), entry.number, plain(entry.candidate)] for entry in entries],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear(state["threads"])
        for _, number, fields in state["waiting"]:
            self._enter(from_plain(fields), number)
        self._turn, self._next_number = state["turn"], state["next"]
