"""Arrays that grow, and sums over runs of them."""

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

    def keep(self, which: npt.NDArray[np.bool_]) -> None:
        """Drop all other values."""
        self._array = self._array[: self._size][which]
        self._size = len(self._array)

    @property
    def values(self) -> npt.NDArray[Any]:
        """The values so far; may be written to. Only valid until the next `add` or `keep`."""
        return self._array[: self._size]

    def __len__(self) -> int:
        return self._size


def sums(values: npt.NDArray[np.float64], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The sum of each run of values; runs follow each other and have these sizes.

    >>> sums(np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1])).tolist()
    [3.0, 0.0, 3.0]
    """
    totals = np.concatenate(([0.0], np.cumsum(values)))
    ends = np.cumsum(sizes)
    return np.asarray(totals[ends] - totals[ends - sizes])
