"""Find the entry to evict next from a full frontier, the last in the order, without sorting all entries.

Only the lowest sixteenth of the entries is kept in order, and only while the frontier is full; when it is used up, all
entries are scanned again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush, nsmallest

from scenthound.model import Url
from scenthound.store.host_schedule import Entry
from scenthound.store.score_bins import BINS, bin_of, upper_edge

SHARE = 16  # one entry in 16 is kept in order


class WorstEntries:
    """A heap of the last entries in the order, as (score, -number, URL). Stale items are removed at the top."""

    def __init__(self, entries: Mapping[Url, Entry]) -> None:
        self._entries = entries
        self._heap: list[tuple[float, int, Url]] = []
        self.best_kept: tuple[float, int] | None = None
        """The best entry of the heap; None if the heap is unused, since nothing was evicted recently."""
        self._most = 0

    def forget(self) -> None:
        """Drop the heap; the next `last` scans again."""
        self.best_kept = None

    def add(self, score: float, number: int, url: Url) -> None:
        if self.best_kept is not None and (score, -number) <= self.best_kept:
            heappush(self._heap, (score, -number, url))
            if len(self._heap) > self._most:
                self.best_kept = None

    def last(self, bins: Sequence[int] | None) -> tuple[float, Url]:
        """Score and URL of the last entry in the order. `bins` counts entries by score; if None, it is computed."""
        while True:
            heap = self._heap if self.best_kept is not None else self._scan(bins)
            while heap:
                score, negative_number, url = heap[0]
                entry = self._entries.get(url)
                if entry is not None and entry[1] == -negative_number and entry[0] == -score:
                    return score, url
                heappop(heap)
            self.best_kept = None

    def _scan(self, bins: Sequence[int] | None) -> list[tuple[float, int, Url]]:
        """Build the heap from the last entries, enough to make the scan worthwhile. The bins limit their score."""
        if bins is None:
            counts = Counter(bin_of(-entry[0]) for entry in self._entries.values())
            bins = [counts[number] for number in range(BINS)]
        size, top_bin, count = max(len(self._entries) // SHARE, 1), 0, bins[0]
        while count < size and top_bin < BINS - 1:
            top_bin += 1
            count += bins[top_bin]
        edge = -upper_edge(top_bin)
        worst = [(-entry[0], -entry[1], url) for url, entry in self._entries.items() if entry[0] >= edge]
        if not size <= len(worst) <= 4 * size:  # rounding at the edge; or many of nearly the same score
            worst = nsmallest(size, ((-entry[0], -entry[1], url) for url, entry in self._entries.items()))
        worst.sort()
        self._heap, self.best_kept, self._most = worst, worst[-1][:2], 2 * len(worst) + 64
        return worst
