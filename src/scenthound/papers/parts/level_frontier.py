"""The frontier of a crawler that goes level by level: a URL waits until its stage begins.

Used by `cc-bfs` and `bayes`. It chooses at pop time, because only then is it certain that a stage is over: URLs that
robots.txt or the crawl's scope excludes never produce a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from scenthound.model import DECIMALS, Candidate, Url
from scenthound.papers.parts.strategy_frontier import HostQueues, StrategyFrontier, from_plain, plain
from scenthound.ports import Popped


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


class LevelFrontier(StrategyFrontier):
    """All URLs found, and the queue of the current stage.

    When a stage has nothing queued or in flight, `next_stage` is called and returns the URLs of the next stage, or None
    to end the crawl. A stage waits for hosts that rest. The state is saved with the strategy.
    """

    def __init__(self, bound: int | None, next_stage: Callable[[], Iterable[ChosenUrl] | None]) -> None:
        self._next_stage = next_stage
        self._queues: HostQueues[_Entry] = HostQueues()
        super().__init__(bound)
        self.clear()

    def clear(self) -> None:
        self._forget_urls()
        self._queues.clear()
        self._next_number = 0

    # ---- the order

    def _push(self, candidate: Candidate) -> Candidate | None:
        if candidate.url in self:
            return None
        if self._refuses(candidate):
            return candidate
        if "stage" in candidate.carry:  # a seed, or a candidate handed back
            self._enqueue(candidate)
        else:
            self._later[candidate.url] = candidate
        return None

    def _pop(self) -> Popped | None:
        while (entry := self._queues.first(self.host_clock)) is None:
            if self._waiting or self._in_flight:
                return None
            chosen = self._next_stage()
            if chosen is None:
                return None
            self.begin(chosen)
        return self._launch(entry[2], self._queues.first_later(self.host_clock))

    def _wake(self) -> None:
        self._queues.wake(self.host_clock.take_woken())

    def _leave(self, url: Url) -> Popped:
        self._queues.leave(url)
        return super()._leave(url)

    def _enqueue(self, candidate: Candidate, number: int | None = None) -> None:
        if number is None:
            number = self._next_number
            self._next_number += 1
        self._waiting[candidate.url] = Popped(candidate, number=number)
        self._queues.enter((-round(candidate.score, DECIMALS), number, candidate.url))

    def take(self, url: Url) -> Candidate | None:
        """Pop this URL if it is queued; otherwise it is the target of a redirect, and the stage waits for it too."""
        if url not in self._waiting and self._is_running:
            self._later.pop(url, None)
            self._in_flight[url] = None
        return super().take(url)

    def give_back(self, popped: Popped) -> Candidate | None:
        self._in_flight.pop(popped.candidate.url, None)
        self._enqueue(popped.candidate, popped.number)
        return None

    # ---- stages

    def begin(self, chosen: Iterable[ChosenUrl]) -> None:
        """Start a stage: queue the chosen URLs that were pushed and not dropped."""
        for choice in chosen:
            candidate = self._later.pop(choice.url, None)
            if candidate is not None:
                candidate = candidate._replace(score=choice.score, carry=choice.carry, parts=choice.parts)
                if choice.parent not in (None, candidate.parent):
                    candidate = candidate._replace(parent=choice.parent, depth=choice.depth, anchor="")
                self._enqueue(candidate)

    # ---- saving

    def save(self) -> dict[str, Any]:
        """The state as JSON. Requests in flight count as queued, under their old number."""
        queued = sorted((*self._waiting.values(), *self._flying()), key=lambda popped: popped.number)
        return {
            "found": [_plain(candidate) for candidate in self._later.values()],
            "line": [[popped.number, _plain(popped.candidate)] for popped in queued],
            "next": self._next_number,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear()
        self._later = {candidate.url: candidate for candidate in map(from_plain, state["found"])}
        for number, fields in state["line"]:
            self._enqueue(from_plain(fields), number)
        self._next_number = state["next"]


def _plain(candidate: Candidate) -> list[Any]:
    return plain(candidate._replace(due=0.0))  # this frontier refuses candidates that are not due yet
