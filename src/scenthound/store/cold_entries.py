"""Those entries of a large frontier that are not in memory: their URLs (as hashes) and their order.

Their candidates are rows of the frontier's table. `choose` decides which entries are loaded into memory: the best, but
only a limited number per host, since a host that rests after every page needs only its next few.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scenthound.model import Url
from scenthound.store.cold_order import NONE, ColdOrder, Order, Records, as_records, is_in, merge
from scenthound.store.url_index import NO_PAIRS, Pairs, UrlIndex
from scenthound.url import host as host_of


class ColdEntries:
    """The entries on disk. A removed entry is only marked until the next `change`, which removes many at a time."""

    def __init__(self, folder: Path | None) -> None:
        self._index, self._order = UrlIndex(), ColdOrder(folder)
        self.close = self._order.close
        self._left: dict[int, Url] = {}

    def __len__(self) -> int:
        return len(self._index) - len(self._left)

    @property
    def left(self) -> int:
        """The number of entries removed since the last `change`."""
        return len(self._left)

    def find(self, url: str) -> list[int]:
        """Entry numbers that this URL may have. Hashes can collide, so compare the URL with the row."""
        return [number for number in self._index.find(url) if number not in self._left]

    def last(self, count: int) -> list[Order]:
        """Up to `count` of the lowest entries, in order, always including the very last."""
        return self._order.last(count, self._left)

    def blocks(self) -> Iterator[Records]:
        """All entries in order, in blocks."""
        left = np.array(sorted(self._left), np.uint32)
        return (block[~is_in(block["number"], left)] for block in self._order)

    def remove(self, url: Url, number: int) -> None:
        """Mark an entry as removed, because it was loaded into memory or deleted."""
        self._left[number] = url

    def change(self, added: Records, urls: Pairs) -> None:
        """Add entries, with the URL of each number, and drop the removed ones."""
        self._order.change(added, np.array(sorted(self._left), np.uint32))
        self._index.change(urls, Pairs.of(self._left.values(), self._left, len(self._left)))
        self._left.clear()

    def twins(self) -> Iterator[list[int]]:
        """Pairs of entry numbers that may have the same URL."""
        return self._index.of_equal_hash()


class GatheredRows:
    """Entries collected to be added to `ColdEntries` in one batch, which is faster: arrays of 36 bytes per entry."""

    def __init__(self) -> None:
        self._records, self._pairs = [NONE], [NO_PAIRS]

    def __len__(self) -> int:
        return sum(map(len, self._records))

    def add(self, keys: Collection[float], urls: Collection[Url], numbers: Collection[int]) -> None:
        hosts, count = (host_key(host_of(url)) for url in urls), len(keys)
        self._records.append(as_records(keys, hosts, numbers, count))
        self._pairs.append(Pairs.of(urls, numbers, count))

    def take(self) -> tuple[Records, Pairs]:
        """Return the collected entries and clear them."""
        records, pairs = np.concatenate(self._records), Pairs(*map(np.concatenate, zip(*self._pairs, strict=True)))
        self._records, self._pairs = [NONE], [NO_PAIRS]
        return records, pairs


LOOKED = 16
"""`choose` looks at up to this many times the number of entries to choose, then stops."""


class ColdChoice(NamedTuple):
    """Which entries to keep in memory."""

    numbers: list[int]
    passed_over: dict[int, Order]
    """For each host key, the first entry before `end` that was not chosen."""
    end: Order | None
    """The first entry that was not looked at; None if there is none."""


def choose(
    in_memory: Records, on_disk: Iterator[Records], most: int, share: int, is_wanted: Callable[[int], bool]
) -> ColdChoice:
    """Choose the first `most` entries of the order, but at most `share` of each host: fewer if few hosts come first.

    If none of them is of a wanted host, the search goes on, with one entry per further host, until one is found.
    """
    numbers: list[int] = []
    counts: dict[int, int] = {}
    passed_over: dict[int, Order] = {}
    is_found, looked, full = False, 0, np.empty(0, np.uint64)
    for block in merge(in_memory, on_disk):
        if is_found and looked > LOOKED * most:
            return ColdChoice(numbers, passed_over, (float(block["key"][0]), int(block["number"][0])))
        looked += len(block)
        if len(full) < len(passed_over):
            full = np.array(sorted(passed_over), np.uint64)
        for key, host, number in block[~is_in(block["host"], full)].tolist():
            is_enough = len(numbers) >= most
            if is_enough and is_found:
                return ColdChoice(numbers, passed_over, (key, number))
            count = counts.get(host, 0)
            if count < (1 if is_enough else share):
                counts[host] = count + 1
                numbers.append(number)
                is_found = is_found or is_wanted(host)
            elif host not in passed_over:
                passed_over[host] = (key, number)
    return ColdChoice(numbers, passed_over, None)


def host_key(name: str) -> int:
    """A hash of a host name. If two hosts collide, one waits for the other; with a million hosts, this happens in 3 of
    100 million crawls."""
    return hash(name) & 0xFFFF_FFFF_FFFF_FFFF
