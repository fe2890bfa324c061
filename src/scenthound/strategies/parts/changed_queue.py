"""A priority queue whose scores change: a score is computed again only for what was said to have changed."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable


class ChangedQueue:
    """Numbers by score, highest first, then by number. The scores are those at the time of `take`."""

    def __init__(self, score: Callable[[int], float]) -> None:
        self._score = score
        self._scores: dict[int, float] = {}
        self._heap: list[tuple[float, int]] = []
        self._changed: set[int] = set()

    def touch(self, numbers: Iterable[int]) -> None:
        """The scores of these may have changed, or they are new."""
        self._changed.update(numbers)

    def take(self, count: int, is_waiting: Callable[[int], bool]) -> list[int]:
        """Remove the best `count` that still wait, best first.

        >>> queue = ChangedQueue({1: 0.5, 2: 0.9, 3: 0.5}.__getitem__)
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
            if self._scores.get(number) == -score:  # else a later entry has its score
                del self._scores[number]
                if is_waiting(number):
                    taken.append(number)
        return taken
