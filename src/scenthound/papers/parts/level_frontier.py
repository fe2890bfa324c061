"""The frontier of a crawler that goes level by level: a URL waits until its stage begins.

Used by `cc-bfs` and `bayes`. It chooses at pop time, because only then is it certain that a stage is over: URLs that
robots.txt or the crawl's scope excludes never produce a result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from scenthound.model import DECIMALS, Candidate, Url
from scenthound.papers.parts.host_queues import HostQueues
from scenthound.papers.parts.saved_candidates import from_plain, plain
from scenthound.ports import Frontier, Popped


class ChosenUrl(NamedTuple):
    """A URL chosen for the stage that begins."""

    url: Url
    score: float
    carry: Mapping[str, Any]
    parts: Mapping[str, float]
    parent: Url | None = None
    """The page for which the URL is fetched, if that is not the page where it was first found."""
    depth: int = 0


_Entry = tuple[float, int, Url]  # (-score, number in the queue, url)


class LevelFrontier(Frontier):
    """All URLs found, and the queue of the current stage.

    When a stage has nothing queued or in flight, `next_stage` is called and returns the URLs of the next stage, or None
    to end the crawl. A stage waits for hosts that rest. The state is saved with the strategy.
    """

    def __init__(self, bound: int | None, next_stage: Callable[[], Iterable[ChosenUrl] | None]) -> None:
        if bound is not None and bound < 1:
            raise ValueError(f"a frontier's bound is at least 1, not {bound}")
        self.bound, self._next_stage = bound, next_stage
        self._queues: HostQueues[_Entry] = HostQueues()
        self.clear()

    def clear(self) -> None:
        """Forget everything except which hosts rest."""
        self._found: dict[Url, Candidate] = {}
        self._queued: dict[Url, tuple[int, Candidate]] = {}  # with the number in the queue
        self._queues.clear()
        self._in_flight: dict[Url, tuple[int, Candidate] | None] = {}  # None: the target of a redirect
        self._next_number = 0
        self._is_running = False

    # ---- the port

    def push(self, candidate: Candidate) -> Candidate | None:
        if math.isnan(candidate.score):
            raise ValueError(f"a score must be a number: {candidate.url}")
        self._in_flight.pop(candidate.url, None)
        if candidate.url in self:
            return None
        if candidate.due > self._queues.now or (self.bound is not None and len(self) >= self.bound):
            return candidate
        if "stage" in candidate.carry:  # a seed, or a candidate handed back
            self._enqueue(candidate)
        else:
            self._found[candidate.url] = candidate
        return None

    def rest(self, host: str, until: float) -> None:
        self._queues.rest(host, until)

    def pop(self, now: float) -> Popped | None:
        self._is_running = True
        self._queues.wake(now)
        while (entry := self._queues.first()) is None:
            if self._queued or self._in_flight:
                return None
            chosen = self._next_stage()
            if chosen is None:
                return None
            self.begin(chosen)
        return self._launch(entry[2])

    def best_resting(self, now: float) -> tuple[Candidate, float] | None:
        """The best queued URL whose host rests; URLs of later stages do not count."""
        self._queues.wake(now)
        resting = self._queues.first_resting()
        return None if resting is None else (self._queued[resting[0][2]][1], resting[1])

    def ready_at(self) -> float | None:
        return self._queues.ready_at() if self._queued else None

    def __len__(self) -> int:
        return len(self._found) + len(self._queued)

    def __contains__(self, url: object) -> bool:
        return url in self._found or url in self._queued

    def urls(self) -> Collection[Url]:
        return [*self._found, *self._queued]

    # ---- in flight

    def settle(self, url: Url) -> None:
        """Record that the stage no longer waits for this URL."""
        self._in_flight.pop(url, None)
        self._found.pop(url, None)
        self._leave(url)

    def take(self, url: Url) -> Candidate | None:
        """Pop this URL if it is queued; otherwise it is the target of a redirect, and the stage waits for it too."""
        if url in self._queued:
            return self._launch(url).candidate
        if self._is_running:  # before the first pop this is a restart
            self._found.pop(url, None)
            self._in_flight[url] = None
        return None

    def give_back(self, popped: Popped) -> Candidate | None:
        self._in_flight.pop(popped.candidate.url, None)
        self._enqueue(popped.candidate, popped.number)
        return None

    def in_flight(self) -> Collection[Url]:
        return self._in_flight.keys()

    # ---- stages

    def begin(self, chosen: Iterable[ChosenUrl]) -> None:
        """Start a stage: queue the chosen URLs that were pushed and not dropped."""
        for choice in chosen:
            candidate = self._found.pop(choice.url, None)
            if candidate is not None:
                candidate = candidate._replace(score=choice.score, carry=choice.carry, parts=choice.parts)
                if choice.parent not in (None, candidate.parent):
                    candidate = candidate._replace(parent=choice.parent, depth=choice.depth, anchor="")
                self._enqueue(candidate)

    def _enqueue(self, candidate: Candidate, number: int | None = None) -> None:
        if number is None:
            number = self._next_number
            self._next_number += 1
        self._queued[candidate.url] = (number, candidate)
        self._queues.enter((-round(candidate.score, DECIMALS), number, candidate.url))

    def _launch(self, url: Url) -> Popped:
        self._in_flight[url] = number, candidate = self._queued[url]
        self._leave(url)
        return Popped(candidate, number=number)

    def _leave(self, url: Url) -> None:
        self._queued.pop(url, None)
        self._queues.leave(url)

    # ---- saving

    def save(self) -> dict[str, Any]:
        """The state as JSON. Requests in flight count as queued, under their old number."""
        queued = [*self._queued.values(), *(entry for entry in self._in_flight.values() if entry is not None)]
        return {
            "found": [_plain(candidate) for candidate in self._found.values()],
            "line": [[number, _plain(candidate)] for number, candidate in sorted(queued, key=lambda entry: entry[0])],
            "next": self._next_number,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear()
        self._found = {candidate.url: candidate for candidate in map(from_plain, state["found"])}
        for number, fields in state["line"]:
            self._enqueue(from_plain(fields), number)
        self._next_number = state["next"]


def _plain(candidate: Candidate) -> list[Any]:
    return plain(candidate._replace(due=0.0))  # this frontier refuses candidates that are not due yet
