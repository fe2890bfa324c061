"""Which numbers a URL may have, in 8 bytes a URL: hashes in sorted arrays.

Two URLs may share a hash, so whoever asks compares the URL itself with what is stored under each number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARES = 256  # arrays, chosen by 8 bits of the hash: a change copies one of them at a time
LARGEST = 2**32 - 1
"""The largest number that can be kept."""
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
        self._views = [_EMPTY.data] * SHARES  # reading one item takes a third of the time of an array

    def __len__(self) -> int:
        return sum(map(len, self._shares))

    def find(self, url: str) -> list[int]:
        """The numbers that this URL may have: nearly always none or one."""
        hashed = hash(url)
        share, low = self._views[hashed & 0xFF], (hashed >> 8 & 0xFFFF_FFFF) << 32
        place, numbers = bisect_left(share, low), []
        while place < len(share) and share[place] >> 32 == low >> 32:
            numbers.append(share[place] & LARGEST)
            place += 1
        return numbers

    def change(self, added: Pairs, removed: Pairs) -> None:
        """Remove pairs that are in the index, then add others, perhaps the same again."""
        new, old = _by_share(added), _by_share(removed)
        for number, pairs in enumerate(self._shares):
            if not len(new[number]) and not len(old[number]):
                continue
            pairs = np.sort(np.concatenate((pairs, new[number])), kind="stable")
            gone = np.searchsorted(pairs, old[number])
            gone = gone[gone < len(pairs)]
            pairs = np.delete(pairs, gone[np.isin(pairs[gone], old[number])])
            self._shares[number], self._views[number] = pairs, pairs.data

    def of_equal_hash(self) -> Iterator[list[int]]:
        """The numbers of URLs that share a hash, as pairs of neighbours."""
        for pairs in self._shares:
            for place in np.flatnonzero(np.diff(pairs >> np.uint64(32)) == 0):
                yield [int(pair) & LARGEST for pair in pairs[place : place + 2]]


def _by_share(pairs: Pairs) -> list[NDArray[np.uint64]]:
    packed = (pairs.hashes >> np.uint64(8) & np.uint64(LARGEST)) << np.uint64(32) | pairs.numbers
    shares = (pairs.hashes & np.uint64(0xFF)).astype(np.uint8)
    order = np.argsort(shares, kind="stable")
    ends = np.searchsorted(shares[order], np.arange(SHARES + 1))
    packed = packed[order]
    return [packed[start:end] for start, end in pairwise(ends)]
