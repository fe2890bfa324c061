"""Arrays that grow, and sums over consecutive runs of their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


class Column:
    """An array that grows at its end.

    >>> column = Column(np.int32)
    >>> column.add([1, 2, 3])
    >>> column.keep(column.values != 2)
    >>> column.values.tolist()
    [1, 3]
    """

    __slots__ = ("_array", "_size")

    def __init__(self, kind: npt.DTypeLike) -> None:
        self._array: npt.NDArray[Any] = np.zeros(64, dtype=kind)
        self._size = 0

    def add(self, values: npt.ArrayLike | Sequence[Any]) -> None:
        new = np.asarray(values, dtype=self._array.dtype)
        size = self._size + len(new)
        if size > len(self._array):
            grown = np.zeros(max(size, 2 * len(self._array)), dtype=self._array.dtype)
            grown[: self._size] = self._array[: self._size]
            self._array = grown
        self._array[self._size : size] = new
        self._size = size

    def append(self, value: float) -> None:
        """Add one value."""
        size = self._size
        if size == len(self._array):
            self.add([value])
            return
        self._array[size] = value
        self._size = size + 1

    def keep(self, which: npt.NDArray[np.bool_]) -> None:
        """Keep only the values where `which` is true."""
        self._array = self._array[: self._size][which]
        self._size = len(self._array)

    @property
    def values(self) -> npt.NDArray[Any]:
        """The values so far; may be written to. Only valid until the next `add` or `keep`."""
        return self._array[: self._size]

    def __len__(self) -> int:
        return self._size


class WordRuns:
    """A list of word ids for each link, stored in one array."""

    __slots__ = ("sizes", "words")

    def __init__(self) -> None:
        self.words, self.sizes = Column(np.int32), Column(np.int32)

    def add(self, words: npt.NDArray[np.int32], sizes: npt.NDArray[np.int32]) -> None:
        self.words.add(words)
        self.sizes.add(sizes)

    def of_each_word(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Repeat the value of each run for each of its words."""
        return np.repeat(values, self.sizes.values)

    def keep(self, which: npt.NDArray[np.bool_]) -> None:
        """Keep only the runs where `which` is true."""
        self.words.keep(self.of_each_word(which))
        self.sizes.keep(which)

    def mean_weight(self, weights: npt.NDArray[np.float64], first: int = 0) -> npt.NDArray[np.float64]:
        """The sum of the weights of each run's words, divided by sqrt(1 + their number), for runs from `first` on.

        >>> runs = WordRuns()
        >>> runs.add(np.array([0, 1, 1]), np.array([2, 0, 1]))
        >>> runs.mean_weight(np.array([1.0, 2.0])).round(3).tolist()
        [1.732, 0.0, 1.414]
        """
        sizes = self.sizes.values
        words = self.words.values[int(sizes[:first].sum()) :]
        return np.asarray(sums(weights[words], sizes[first:]) / np.sqrt(1 + sizes[first:]))


def sums(values: npt.NDArray[np.float64], sizes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
    """The sum of each run of values. Runs are consecutive and have these sizes.

    >>> sums(np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1])).tolist()
    [3.0, 0.0, 3.0]
    """
    totals = np.zeros(len(sizes))
    filled = np.flatnonzero(sizes)
    if len(filled):
        ends = np.cumsum(sizes[filled])
        totals[filled] = np.add.reduceat(values, ends - sizes[filled])
    return totals
