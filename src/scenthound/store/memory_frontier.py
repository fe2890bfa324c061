"""A frontier in memory, with a total order of candidates and an exact bound.

`host_schedule` finds the best candidate on a host that is ready, so no operation scans all hosts. `worst_entries` finds
the entry to evict. This module keeps the entries themselves and implements the `Frontier` port.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import heappush, nsmallest
from math import isnan

from scenthound.hosts import HostClock
from scenthound.model import Candidate, Url, merge_offer, rounded
from scenthound.ports import Eviction, Frontier, Popped
from scenthound.store.host_schedule import Entry, Host, HostSchedule
from scenthound.store.score_bins import BINS, bin_of
from scenthound.store.worst_entries import WorstEntries
from scenthound.url import host as host_of

_new_candidate: Callable[..., Candidate] = tuple.__new__  # same as `Candidate(...)`, in half the time


class MemoryFrontier(Frontier):
    """The `Frontier` port on heaps.

    `bound` is the exact limit, `eviction` decides which entry is evicted (rule 7), `spread` is D of rule 11 (1: none).
    """

    def __init__(self, bound: int | None = None, eviction: Eviction = "scored", spread: int = 1) -> None:
        if bound is not None and bound < 1:
            raise ValueError(f"the bound of a frontier must be at least 1, not {bound}")
        if eviction not in ("scored", "literal", "refuse"):
            raise ValueError(f"eviction must be scored, literal or refuse, not {eviction}")
        if spread < 1:
            raise ValueError(f"the spread must be at least 1, not {spread}")
        self.bound, self.eviction, self.spread = bound, eviction, spread
        self._entries: dict[Url, Entry] = {}
        self._bins = [0] * BINS
        self._schedule = HostSchedule(self._entries, spread, HostClock())
        self._worst = WorstEntries(self._entries)
        self._next_number = 0
        self._next_version = 1
        self._in_flight: dict[Url, tuple[int, Candidate]] = {}
        self._removed_number = -1
        self._cold_count = 0  # waiting entries that a subclass keeps outside memory

    # --- the port -----------------------------------------------------------------------------

    @property
    def host_clock(self) -> HostClock:
        return self._schedule.host_clock

    @host_clock.setter
    def host_clock(self, host_clock: HostClock) -> None:
        self._schedule.use_clock(host_clock)

    def push(self, candidate: Candidate) -> Candidate | None:
        score = candidate.score
        if isnan(score):
            raise ValueError(f"a score must be a number: {candidate.url}")
        waiting = self._entries.get(candidate.url)
        if waiting is not None:
            if self.matters(candidate):
                self._offer_again(waiting, candidate)
            return None
        if self._in_flight:
            self._in_flight.pop(candidate.url, None)
        evicted = None
        if self.bound is not None and len(self._entries) + self._cold_count >= self.bound:
            if self.eviction == "refuse":
                return candidate
            lowest, url = self._last()
            if self.eviction == "scored" and rounded(score) <= lowest:
                return candidate  # it would be last, because equal scores are ordered by number
            evicted = self._remove(url)
        self._insert(candidate)
        return evicted

    def matters(self, candidate: Candidate) -> bool:
        waiting = self._entries.get(candidate.url)
        if waiting is None:
            return not self._cold_count or self._matters_on_disk(candidate)
        if not candidate.score <= -waiting[0] or candidate.rescored:  # NaN: `push` refuses it
            return True
        carry, old = candidate.carry, waiting[4]
        return (bool(carry) and carry != old.carry) or candidate.due > old.due

    def _matters_on_disk(self, candidate: Candidate) -> bool:
        """`matters` for a URL that is not in memory."""
        return True

    def rescore(self, candidates: Sequence[Candidate]) -> None:
        """Like one push per candidate, but each heap is rebuilt once instead of filling up with stale entries."""
        self._rescore(candidates)

    def _rescore(self, offers: Sequence[Candidate]) -> bool:
        """Rescore waiting entries, and return whether any changed."""
        if not_numbers := [offer.url for offer in offers if isnan(offer.score)]:
            raise ValueError(f"a score must be a number: {not_numbers[0]}")
        entries, version, now = self._entries, self._next_version, self._schedule.now
        hosts_with_delayed: set[Host] = set()
        changed: dict[Host, dict[Url, Entry]] = {}
        old_keys: list[float] = []
        keys: dict[float, float] = {}
        for offer in offers:
            url, score, carry, parts, parent, _, _, spelling, due, is_rescored = offer
            entry = entries.get(url)
            if entry is None:
                continue
            old_key, number, _, host, old = entry
            _, _, old_carry, _, old_parent, anchor, depth, old_spelling, old_due, _ = old
            if is_rescored and parent is None and not carry and not spelling and due <= old_due:  # as in `merge_offer`
                merged = _new_candidate(
                    Candidate, (url, score, old_carry, parts, old_parent, anchor, depth, old_spelling, old_due, False)
                )
            else:
                merged = merge_offer(old, offer)
                if merged is old:
                    continue
            version += 1
            if (key := keys.get(merged[1])) is None:  # links of the same parents often have the same score
                key = keys[merged[1]] = -rounded(merged[1])
            entries[url] = new = (key, number, version, host, merged)
            of_host = changed.get(host)
            if of_host is None:
                of_host = changed[host] = {}
            if url not in of_host:  # `offers` may contain a URL twice
                old_keys.append(old_key)
            of_host[url] = new
            if merged[8] > now:
                hosts_with_delayed.add(host)
        self._next_version = version
        self._recount(old_keys, [entry[0] for of_host in changed.values() for entry in of_host.values()])
        for host, of_host in changed.items():
            self._schedule.replace(host, of_host, host in hosts_with_delayed)
        if changed:
            self._worst.forget()
        return bool(changed)

    def _recount(self, old_keys: list[float], new_keys: list[float]) -> None:
        """Update the bins for entries with new scores. A key is the score with its sign changed."""
        if len(new_keys) == len(self):
            self._bins = [0] * BINS
        else:
            for key in old_keys:
                self._bins[bin_of(-key)] -= 1
        bins = self._bins
        for key in new_keys:
            bins[bin_of(-key)] += 1

    def pop(self, now: float) -> Popped | None:
        """See the port. The rank is only as exact as the score bins (`bin_of`)."""
        self._schedule.advance(now)
        entry = self._schedule.best()
        if entry is None:
            return None
        candidate = self._remove(entry[4].url)
        self._in_flight[candidate.url] = (entry[1], candidate)
        if self.spread > 1:
            self._schedule.mark_used(entry[3].name)
        return Popped(candidate, sum(self._bins[bin_of(-entry[0]) + 1 :]) + 1, entry[1])

    def __len__(self) -> int:
        return len(self._entries) + self._cold_count

    def __contains__(self, url: object) -> bool:
        return url in self._entries

    def urls(self) -> Collection[Url]:
        return self._entries.keys()

    # --- in flight ----------------------------------------------------------------------------

    def take(self, url: Url) -> Candidate | None:
        entry = self.entry(url)
        if entry is None:
            return None
        self._in_flight[url] = entry
        return self._remove(url)

    def give_back(self, popped: Popped) -> Candidate | None:
        candidate = popped.candidate
        self._in_flight.pop(candidate.url, None)
        host = self._schedule.host_for(host_of(candidate.url))
        self._enter(candidate, popped.number, host, self._version())
        self._schedule.place(host)
        is_full = self.bound is not None and len(self) > self.bound
        return self._remove(self._last()[1]) if is_full else None

    def settle(self, url: Url) -> None:
        self._in_flight.pop(url, None)
        if url in self._entries:
            self._remove(url)

    def in_flight(self) -> Collection[Url]:
        return self._in_flight.keys()

    # --- for reports and for saving -----------------------------------------------------------

    def hosts(self) -> int:
        """How many hosts have candidates waiting."""
        return self._schedule.hosts_waiting

    def best(self, n: int) -> list[Candidate]:
        """The `n` best waiting candidates, including those on resting hosts; scans all entries."""
        return [entry[4] for entry in nsmallest(n, self._entries.values())]

    def entry(self, url: Url) -> tuple[int, Candidate] | None:
        """Insertion number and candidate of a waiting URL."""
        entry = self._entries.get(url)
        return None if entry is None else (entry[1], entry[4])

    def entries(self) -> Iterator[tuple[int, Candidate]]:
        """All waiting candidates with their insertion numbers, in no particular order."""
        return ((entry[1], entry[4]) for entry in self._entries.values())

    def restore(self, entries: Iterable[tuple[int, Candidate]]) -> None:
        """Insert saved entries under their old numbers. The bound is not applied: they were within it."""
        collecting = gc.isenabled()
        gc.disable()  # none of the millions of new objects is garbage, and collection would take a third of the time
        try:
            self._restore(entries)
        finally:
            if collecting:
                gc.enable()

    def _restore(self, entries: Iterable[tuple[int, Candidate]]) -> None:
        waiting, bins, schedule = self._entries, self._bins, self._schedule
        for number, candidate in entries:
            score = rounded(candidate.score)
            host = schedule.host_for(host_of(candidate.url))
            entry = waiting[candidate.url] = (-score, number, 0, host, candidate)
            bins[bin_of(score)] += 1
            schedule.append(host, entry)
            if number >= self._next_number:
                self._next_number = number + 1
        schedule.rebuild()
        self._worst.forget()

    # --- entries ------------------------------------------------------------------------------

    def _insert(self, candidate: Candidate) -> None:
        host = self._schedule.host_for(host_of(candidate.url))
        self._enter(candidate, self._next_number, host, 0)
        self._next_number += 1
        if host.posted is None or host.delayed or host.ready[0] is not host.posted:  # else the host stays where it is
            self._schedule.place(host)

    def _last(self) -> tuple[float, Url]:
        """Score and URL of the last entry of the order."""
        return self._worst.last(None if self._cold_count else self._bins)

    def _version(self) -> int:
        self._next_version += 1
        return self._next_version

    def _enter(self, candidate: Candidate, number: int, host: Host, version: int) -> None:
        score = rounded(candidate.score)
        entry = self._entries[candidate.url] = (-score, number, version, host, candidate)
        self._bins[bin_of(score)] += 1
        if candidate.due and candidate.due > self._schedule.now:
            self._schedule.push(host, entry)
        else:
            heappush(host.ready, entry)  # same as `push`, without the call, because this runs for every new link
        if self._worst.best_kept is not None:
            self._worst.add(score, number, candidate.url)

    def _offer_again(self, entry: Entry, offer: Candidate) -> None:
        merged = merge_offer(entry[4], offer)
        if merged is entry[4]:
            return
        self._bins[bin_of(-entry[0])] -= 1
        self._enter(merged, entry[1], entry[3], self._version())
        self._schedule.tidy(entry[3])
        self._schedule.place(entry[3])

    def _remove(self, url: Url) -> Candidate:
        entry = self._entries.pop(url)
        self._removed_number = entry[1]
        self._bins[bin_of(-entry[0])] -= 1
        self._schedule.remove_one(entry[3])
        return entry[4]
