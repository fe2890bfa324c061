"""A priority queue whose scores change: only the scores of entries marked as changed are recomputed."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable


class RescoredQueue:
    """Item numbers in order of score, highest first, then of number. Scores are computed when `take` is called."""

    def __init__(self, score: Callable[[int], float]) -> None:
        self._score = score
        self._scores: dict[int, float] = {}
        self._heap: list[tuple[float, int]] = []
        self._changed: set[int] = set()

    def touch(self, numbers: Iterable[int]) -> None:
        """Mark numbers that are new or whose score may have changed."""
        self._changed.update(numbers)

    def take(self, count: int, is_waiting: Callable[[int], bool]) -> list[int]:
        """Remove and return the best `count` numbers that still wait, best first.

        >>> queue = RescoredQueue({1: 0.5, 2: 0.9, 3: 0.5}.__getitem__)
        >>> queue.touch([3, 2, 1])
        >>> queue.take(2, lambda number: True)
        [2, 1]
        """
        for number in self._changed:
            if is_waiting(number) and self._scores.get(number) != (score := self._score(number)):
                self._scores[number] = score
                heapq.heappush(self._heap, (-score, number))
        self._changed.clear()
        taken: list[int] = []
        while self._heap and len(taken) < count:
            score, number = heapq.heappop(self._heap)
            if self._scores.get(number) == -score:  # otherwise the entry is stale
                del self._scores[number]
                if is_waiting(number):
                    taken.append(number)
        return taken
