"""A frontier that keeps a bounded part in memory and reads the rest from its store.

Up to `IN_MEMORY` entries, all are in memory, as in `MemoryFrontier`. Above that, the best stay in memory, with a limit
per host; of the others only order and hashes are known (`cold_entries`). Entries are popped in the same order as from a
`MemoryFrontier`: if a better entry may be on disk, the entries in memory are chosen again before the pop.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from heapq import nsmallest
from itertools import chain, islice
from math import isnan
from pathlib import Path

import numpy as np

from scenthound.errors import OurFault
from scenthound.model import Candidate, Url, merge_offer, rounded
from scenthound.ports import Eviction, Popped
from scenthound.store.cold_entries import ColdEntries, GatheredRows, choose, host_key
from scenthound.store.cold_order import Order, Records, as_records, is_in
from scenthound.store.host_schedule import Entry, Host
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.store.score_bins import bin_of
from scenthound.store.url_index import LARGEST, Pairs
from scenthound.url import host as host_of

IN_MEMORY = 100_000
"""The maximum number of entries in memory. It is the default bound of a frontier, so most crawls never spill."""
SHARE = 32
"""The initial limit of entries in memory per host."""
BATCH = 500_000
"""Entries per batch when entries are added to those on disk while a crawl is opened."""
AT_ONCE = 10_000
"""Rows read at a time when a crawl is opened."""
EVICTED_AT_ONCE = 100
"""Entries loaded at a time when entries on disk are evicted."""


class SpillingFrontier(MemoryFrontier):
    """A frontier whose subclass stores all entries. Candidates that are not yet due are always in memory."""

    def __init__(
        self, bound: int | None, eviction: Eviction, spread: int, in_memory: int = IN_MEMORY, folder: Path | None = None
    ) -> None:
        super().__init__(bound, eviction, spread)
        self._in_memory, self._share, self._pops = in_memory, SHARE, 0
        self._target = max(in_memory // 4, 1)  # entries to choose
        self._limit = in_memory  # with more entries in memory than this, `_choose` runs again
        self._cold = ColdEntries(folder)
        self._cold_from: Order | None = None
        """Where the entries on disk begin, except those beyond the limit of a host: see `Host.cold_from`."""

    # --- provided by the subclass --------------------------------------------------------------------

    @abstractmethod
    def _read(self, numbers: Sequence[int]) -> Iterator[tuple[int, Candidate]]:
        """The stored entries with these numbers."""

    @abstractmethod
    def _write_rows(self) -> None:
        """Store all changed entries."""

    @abstractmethod
    def _guarded(self) -> AbstractContextManager[None]:
        """Translate errors of the file system."""

    # --- the port -----------------------------------------------------------------------------

    def _matters_on_disk(self, candidate: Candidate) -> bool:
        entry = self._on_disk(candidate.url)
        return entry is None or isnan(candidate.score) or merge_offer(entry[1], candidate) is not entry[1]

    def rescore(self, candidates: Sequence[Candidate]) -> None:
        if not self._cold_count:
            self._rescore(candidates)
            return
        if not_numbers := [offer.url for offer in candidates if isnan(offer.score)]:
            raise ValueError(f"a score must be a number: {not_numbers[0]}")
        for start in range(0, len(candidates), self._in_memory):
            batch = candidates[start : start + self._in_memory]
            for candidate in batch:
                self._load_url(candidate.url)
            self._rescore(batch)
            self._trim()

    def pop(self, now: float) -> Popped | None:
        if self._cold_count:
            self._schedule.advance(now)
            self._find_best()
            self._pops += 1
        return super().pop(now)

    def take(self, url: Url) -> Candidate | None:
        self._load_url(url)
        return super().take(url)

    def settle(self, url: Url) -> None:
        self._load_url(url)
        super().settle(url)

    def __contains__(self, url: object) -> bool:
        return url in self._entries or (isinstance(url, str) and self._on_disk(Url(url)) is not None)

    def urls(self) -> Collection[Url]:
        return _WaitingUrls(self) if self._cold_count else super().urls()

    # --- for reports and for saving -----------------------------------------------------------

    def best(self, n: int) -> list[Candidate]:
        best = nsmallest(n, self.entries(), key=lambda entry: (-rounded(entry[1].score), entry[0]))
        return [candidate for _, candidate in best]

    def entry(self, url: Url) -> tuple[int, Candidate] | None:
        return super().entry(url) or self._on_disk(url)

    def entries(self) -> Iterator[tuple[int, Candidate]]:
        on_disk = (self._read(block["number"].tolist()) for block in self._cold.blocks())
        return chain(super().entries(), chain.from_iterable(on_disk))

    # --- entries on disk ----------------------------------------------------------------------

    def _on_disk(self, url: Url) -> tuple[int, Candidate] | None:
        """The entry of a URL if it waits on disk, else None."""
        if self._cold_count and (numbers := self._cold.find(url)):
            return next((entry for entry in self._read(numbers) if entry[1].url == url), None)
        return None

    def _load_url(self, url: Url) -> None:
        """Load the entry of a URL, if it waits on disk."""
        if self._cold_count and url not in self._entries and (entry := self._on_disk(url)) is not None:
            self._load(*entry)

    def _load(self, number: int, candidate: Candidate) -> None:
        self._cold.remove(candidate.url, number)
        self._cold_count -= 1
        self._add(number, candidate)
        if self._cold.left > self._in_memory:
            self._limit = 0

    def _add(self, number: int, candidate: Candidate) -> None:
        """Put an entry that is already counted in the bins into memory."""
        score, host = rounded(candidate.score), self._schedule.host_for(host_of(candidate.url))
        entry = self._entries[candidate.url] = (-score, number, self._version(), host, candidate)
        self._schedule.push(host, entry)
        self._worst.add(score, number, candidate.url)
        self._schedule.place(host)

    def _last(self) -> tuple[float, Url]:
        """Like the base method, but loads the last entry first if it is on disk, with others to be evicted next."""
        last = self._cold.last(EVICTED_AT_ONCE) if self._cold_count else []
        if last and (not self._entries or last[-1] > self._entries[super()._last()[1]][:2]):
            for number, candidate in self._read_all([number for _, number in last]):
                self._load(number, candidate)
        return super()._last()

    def _read_all(self, numbers: Sequence[int]) -> list[tuple[int, Candidate]]:
        read = list(self._read(numbers))
        if len(read) != len(numbers):
            raise OurFault("stored entries of the frontier are missing")
        return read

    # --- choosing what is in memory --------------------------------------------------------------------

    def _trim(self) -> None:
        """Choose again if too many entries are in memory."""
        if len(self._entries) > self._limit:
            self._choose(self._is_awake())

    def _find_best(self) -> None:
        """Make sure that no entry on disk comes before the entry that `pop` would return.

        The limit per host adapts to what was missing: more entries per host, or more hosts.
        """
        schedule, is_early = self._schedule, self._pops < self._target // 2
        best = schedule.best()
        if schedule.needs_cold():
            self._share = min(2 * self._share, self._in_memory) if is_early else self._share
            self._choose(self._is_awake())
        elif self._cold_from is not None and (
            best is None or best[:2] > self._cold_from or schedule.is_used(best[3].name)
        ):
            self._share = max(self._share // 2, 1) if is_early else self._share
            self._choose(self._is_awake())

    def _is_awake(self) -> Callable[[int], bool]:
        """A predicate on host keys: whether the host is ready and was not used recently."""
        asleep = {host_key(name) for name in chain(self.host_clock.not_ready(), self._schedule.recent)}
        return lambda key: key not in asleep

    def _choose(self, is_wanted: Callable[[int], bool]) -> None:
        """Choose which entries are in memory: load those that are missing, and drop the others."""
        self._write_rows()
        schedule = self._schedule
        hot = [entry for entry in self._entries.values() if entry[4].due <= schedule.now and entry[1] <= LARGEST]
        with self._guarded():
            share = min(
                self._share, max(self._target // max(len(self.host_clock.not_ready()), 1), 1)
            )  # every resting host will wake and need entries
            choice = choose(_records(hot), self._cold.blocks(), self._target, share, is_wanted)
        chosen = np.array(sorted(choice.numbers), np.int64)
        numbers = np.fromiter((entry[1] for entry in hot), np.int64, len(hot))
        loaded = self._read_all(np.setdiff1d(chosen, numbers).tolist())
        dropped = [entry for entry, is_kept in zip(hot, is_in(numbers, chosen), strict=True) if not is_kept]
        schedule.mark_cold({}, host_key)
        for number, candidate in loaded:
            self._load(number, candidate)
        self._drop(dropped)
        schedule.mark_cold(choice.passed_over, host_key)
        self._cold_from = choice.end
        self._worst.forget()
        self._pops, self._limit = 0, max(2 * self._target, len(self._entries) + self._target)

    def _drop(self, entries: Sequence[Entry]) -> None:
        """Remove stored entries from memory."""
        counts: Counter[Host] = Counter()
        for entry in entries:
            del self._entries[entry[4].url]
            counts[entry[3]] += 1
        for host, count in counts.items():
            self._schedule.remove_many(host, count)
        with self._guarded():
            self._cold.change(_records(entries), _pairs(entries))
        self._cold_count = len(self._cold)

    def _restore_cold(self, rows: Iterable[tuple[int, Url, float, float]]) -> Iterator[tuple[int, Url]]:
        """Like `restore`, but from (number, URL, score, due), and only the best entries are loaded.

        If damage has caused a URL to be stored twice, its second entry is yielded, and the caller deletes it.
        """
        in_memory: list[int] = []
        gathered, rows = GatheredRows(), iter(rows)
        while batch := list(islice(rows, AT_ONCE)):
            in_memory += self._gather(batch, gathered)
            if len(gathered) >= BATCH:
                self._store(gathered)
        self._store(gathered)
        for pair in self._cold.twins():
            (_, first), (number, other) = self._read_all(pair)
            if first.url == other.url:
                self._load(number, other)
                self._remove(other.url)
                yield number, other.url
        for number, candidate in self._read_all(in_memory):
            if candidate.url in self:
                self._bins[bin_of(rounded(candidate.score))] -= 1
                yield number, candidate.url
            else:
                self._add(number, candidate)
        self._choose(self._is_awake())

    def _gather(self, rows: Sequence[tuple[int, Url, float, float]], gathered: GatheredRows) -> list[int]:
        """Count and gather rows, and return the numbers of those that have to be in memory."""
        in_memory: list[int] = []
        keys: dict[int, float] = {}
        for number, _, score, due in rows:
            score = rounded(score)
            self._bins[bin_of(score)] += 1
            self._next_number = max(self._next_number, number + 1)
            if due > self._schedule.now or not 0 <= number <= LARGEST:
                in_memory.append(number)
            else:
                keys[number] = -score
        gathered.add(keys.values(), [row[1] for row in rows if row[0] in keys], keys)
        return in_memory

    def _store(self, gathered: GatheredRows) -> None:
        """Add gathered entries to those on disk."""
        with self._guarded():
            self._cold.change(*gathered.take())
        self._cold_count = len(self._cold)


def _records(entries: Collection[Entry]) -> Records:
    hosts, numbers = (host_key(entry[3].name) for entry in entries), (entry[1] for entry in entries)
    return as_records((entry[0] for entry in entries), hosts, numbers, len(entries))


def _pairs(entries: Collection[Entry]) -> Pairs:
    return Pairs.of((entry[4].url for entry in entries), (entry[1] for entry in entries), len(entries))


class _WaitingUrls(Collection[Url]):
    """The URLs of a frontier, read from disk during iteration."""

    def __init__(self, frontier: SpillingFrontier) -> None:
        self._frontier = frontier

    def __iter__(self) -> Iterator[Url]:
        return (candidate.url for _, candidate in self._frontier.entries())

    def __len__(self) -> int:
        return len(self._frontier)

    def __contains__(self, url: object) -> bool:
        return url in self._frontier
