"""The order of those entries of a frontier that are not in memory: 20 bytes each, best first.

Recent entries are in an array, the others in an unnamed temporary file, which is rewritten when the array has become
long. Nothing outlives the process: the order is rebuilt from the rows of the frontier.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

RECORD = np.dtype([("key", "<f8"), ("host", "<u8"), ("number", "<u4")])
"""An entry: minus its rounded score, a hash of its host, its insertion number. It sorts by key and number (rule 3)."""
Records = NDArray[np.void]
Order = tuple[float, int]
"""The sort key of an entry: key and number."""
BLOCK = 16_384  # records read at a time
RECENT = 1 << 18  # records in the array before the file is rewritten
NONE: Records = np.empty(0, RECORD)
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


class ColdOrder:
    """Sorted records. `change` adds and removes many at a time; `last` finds the lowest without reading the others."""

    def __init__(self, folder: Path | None, recent: int = RECENT) -> None:
        self._folder, self._most_recent = folder, recent
        self._recent = NONE
        self._file: BinaryIO | None = None
        self._in_file = 0
        self._left_file: NDArray[np.uint32] = np.empty(
            0, np.uint32
        )  # entries that were removed but are still in the file
        self._tails: list[_Tail] = []

    def __iter__(self) -> Iterator[Records]:
        """All records, in sorted blocks."""
        return merge(self._recent, self._file_blocks())

    def change(self, added: Records, removed: NDArray[np.uint32]) -> None:
        """Remove the entries with these numbers, then add records. A changed entry is both removed and added."""
        kept = self._recent[~is_in(self._recent["number"], removed)]
        self._recent = _sorted(np.concatenate((kept, added)))
        if self._in_file:
            self._left_file = np.union1d(self._left_file, removed)
        if len(self._recent) > self._most_recent or len(self._left_file) > max(self._in_file // 4, self._most_recent):
            self._write_file()
        self._tails = [_Tail(len(self._recent), lambda start, stop: self._recent[start:stop])]
        if self._in_file:
            self._tails.append(_Tail(self._in_file, self._read))

    def last(self, count: int, gone: Container[int]) -> list[Order]:
        """Up to `count` of the last entries that are not in `gone`, in order, always including the very last."""
        return sorted(order for tail in self._tails for order in tail.last(count, gone))[-count:]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _write_file(self) -> None:
        file: Any = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - it is kept
        count = 0
        try:
            for block in self:
                file.write(block.tobytes())
                count += len(block)
        except BaseException:
            file.close()
            raise
        self.close()
        self._file, self._in_file, self._recent = file, count, NONE
        self._left_file = np.empty(0, np.uint32)

    def _file_blocks(self) -> Iterator[Records]:
        for start in range(0, self._in_file, BLOCK):
            yield self._read(start, min(start + BLOCK, self._in_file))

    def _read(self, start: int, stop: int) -> Records:
        assert self._file is not None
        self._file.seek(start * RECORD.itemsize)
        block = np.frombuffer(self._file.read((stop - start) * RECORD.itemsize), RECORD)
        return block[~is_in(block["number"], self._left_file)]


class _Tail:
    """Reads sorted records from their end."""

    def __init__(self, length: int, read: Callable[[int, int], Records]) -> None:
        self._unread, self._read = length, read
        self._loaded: list[tuple[float, int, int]] = []

    def last(self, count: int, gone: Container[int]) -> list[Order]:
        """Some of the last entries that are not in `gone`, at least one unless there are none."""
        while True:
            last = [(key, number) for key, _, number in self._loaded[-count:] if number not in gone]
            if last:
                return last
            del self._loaded[-count:]
            if not self._loaded and not self._unread:
                return []
            if not self._loaded:
                start = max(0, self._unread - BLOCK)
                self._loaded, self._unread = self._read(start, self._unread).tolist(), start


def as_records(keys: Iterable[float], hosts: Iterable[int], numbers: Iterable[int], count: int) -> Records:
    """Sorted records from `count` keys, hosts and numbers."""
    records = np.empty(count, RECORD)
    for name, values in (("key", keys), ("host", hosts), ("number", numbers)):
        records[name] = np.fromiter(values, RECORD[name], count)
    return _sorted(records)


def merge(records: Records, blocks: Iterator[Records]) -> Iterator[Records]:
    """Merge sorted records with sorted blocks; yields sorted blocks."""
    keys, numbers = (
        records["key"].copy(),
        records["number"].copy(),
    )  # contiguous copies: they are searched for every block
    start = 0
    for block in blocks:
        if len(block):
            low, high = (int(np.searchsorted(keys, block["key"][-1], side)) for side in _SIDES)
            stop = low + int(np.searchsorted(numbers[low:high], block["number"][-1]))
            yield _sorted(np.concatenate((records[start:stop], block))) if stop > start else block
            start = stop
    for begin in range(start, len(records), BLOCK):
        yield records[begin : begin + BLOCK]


def _sorted(records: Records) -> Records:
    return records[np.lexsort((records["number"], records["key"]))]


def is_in(values: NDArray[Any], sorted_values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each value is in a sorted array."""
    if not len(sorted_values):
        return np.zeros(len(values), np.bool_)
    indices = np.minimum(np.searchsorted(sorted_values, values), len(sorted_values) - 1)
    is_equal: NDArray[np.bool_] = sorted_values[indices] == values
    return is_equal
