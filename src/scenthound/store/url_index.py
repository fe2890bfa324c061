"""A compact map from URLs to entry numbers: hashes in sorted arrays, 8 bytes per URL.

Two URLs may share a hash, so the caller must compare the URL with the stored URL of each number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARES = 256  # number of arrays; 8 bits of the hash select one, so a change copies only part of the index
LARGEST = 2**32 - 1
"""The largest number that fits."""
_EMPTY = np.empty(0, np.uint64)


class Pairs(NamedTuple):
    """Hashes of URLs, and their numbers."""

    hashes: NDArray[np.uint64]
    numbers: NDArray[np.uint64]

    @classmethod
    def of(cls, urls: Iterable[str], numbers: Iterable[int], count: int) -> Pairs:
        hashes = np.fromiter(map(hash, urls), np.int64, count).view(np.uint64)
        return cls(hashes, np.fromiter(numbers, np.uint64, count))


NO_PAIRS = Pairs(_EMPTY, _EMPTY)


class UrlIndex:
    """Pairs of a URL and a number. Changes are made many at a time, because each copies the arrays it touches."""

    def __init__(self) -> None:
        self._shares: list[NDArray[np.uint64]] = [_EMPTY] * SHARES
        self._views = [_EMPTY.data] * SHARES  # reading an item of a memoryview takes a third of the time

    def __len__(self) -> int:
        return sum(map(len, self._shares))

    def find(self, url: str) -> list[int]:
        """The numbers that this URL may have: nearly always zero or one."""
        hash_value = hash(url)
        share, low = self._views[hash_value & 0xFF], (hash_value >> 8 & 0xFFFF_FFFF) << 32
        index, numbers = bisect_left(share, low), []
        while index < len(share) and share[index] >> 32 == low >> 32:
            numbers.append(share[index] & LARGEST)
            index += 1
        return numbers

    def change(self, added: Pairs, removed: Pairs) -> None:
        """Remove pairs that are in the index, then add pairs, which may be among the removed ones."""
        new, old = _by_share(added), _by_share(removed)
        for share, pairs in enumerate(self._shares):
            if not len(new[share]) and not len(old[share]):
                continue
            pairs = np.sort(np.concatenate((pairs, new[share])), kind="stable")
            gone = np.searchsorted(pairs, old[share])
            gone = gone[gone < len(pairs)]
            pairs = np.delete(pairs, gone[np.isin(pairs[gone], old[share])])
            self._shares[share], self._views[share] = pairs, pairs.data

    def of_equal_hash(self) -> Iterator[list[int]]:
        """The numbers of URLs that share a hash, as pairs of neighbours."""
        for pairs in self._shares:
            for index in np.flatnonzero(np.diff(pairs >> np.uint64(32)) == 0):
                yield [int(pair) & LARGEST for pair in pairs[index : index + 2]]


def _by_share(pairs: Pairs) -> list[NDArray[np.uint64]]:
    packed = (pairs.hashes >> np.uint64(8) & np.uint64(LARGEST)) << np.uint64(32) | pairs.numbers
    shares = (pairs.hashes & np.uint64(0xFF)).astype(np.uint8)
    order = np.argsort(shares, kind="stable")
    ends = np.searchsorted(shares[order], np.arange(SHARES + 1))
    packed = packed[order]
    return [packed[start:end] for start, end in pairwise(ends)]
