"""A frontier in memory: one total order, hosts that rest, a bound, and no operation that scans all hosts.

Each host has a heap of its ripe candidates and one of those not yet due. A host that is awake and has a ripe candidate
posts its best one in a heap of awake hosts; every other host has a timer, the moment at which it will be ready. So a
`pop` costs a few heap steps however many hosts rest. The same holds for `best_resting`: from its first call on, resting
hosts have a heap too. Heaps are cleaned lazily and rebuilt when a part of one is stale, which keeps memory proportional
to what waits.
The next candidates to evict are known only while the frontier is full, and only for a sixteenth of it; the rest of the
order is scanned when those are used up.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush, nsmallest
from math import inf, isnan

from scenthound.model import Candidate, Url
from scenthound.ports import Eviction, Frontier, Popped
from scenthound.store.rediscovery import found_again, rounded
from scenthound.store.score_bins import BINS, bin_of, upper_edge
from scenthound.url import host as host_of

_MADE: Callable[..., Candidate] = tuple.__new__  # as `Candidate`, in half the time
SPARE = 16  # one entry in so many is known to be among the worst, while the frontier is full


class _Host:
    """One host: its candidates, until when it rests, and which one it has posted as its best."""

    __slots__ = ("live", "name", "parked", "posted", "resting", "ripe", "timer", "until")

    def __init__(self, name: str) -> None:
        self.name = name
        self.ripe: list[_Item] = []
        self.parked: list[tuple[float, int, _Item]] = []
        self.live = 0
        self.until = 0.0
        self.posted: _Item | None = None
        self.resting: _Item | None = None  # posted among the resting hosts
        self.timer = inf


# (-score, insertion number, version, host, candidate): sorts as rule 3 says. The version tells items of one number
# apart, those of an entry that was changed or came back; so no comparison ever reaches the host.
_Item = tuple[float, int, int, _Host, Candidate]


class MemoryFrontier(Frontier):
    """The `Frontier` port on heaps. Time only moves forward: an earlier `now` than the last counts as the last.

    `bound` is exact; `eviction` says who falls out (rule 7); `spread` is D of rule 11, 1 for none.
    """

    def __init__(self, bound: int | None = None, eviction: Eviction = "scored", spread: int = 1) -> None:
        if bound is not None and bound < 1:
            raise ValueError(f"a frontier's bound is at least 1, not {bound}")
        if eviction not in ("scored", "literal", "refuse"):
            raise ValueError(f"eviction is scored, literal or refuse, not {eviction}")
        if spread < 1:
            raise ValueError(f"a spread is at least 1, not {spread}")
        self.bound, self.eviction, self.spread = bound, eviction, spread
        self._entries: dict[Url, _Item] = {}
        self._hosts: dict[str, _Host] = {}
        self._hosts_waiting = 0
        self._awake: tuple[list[_Item], list[_Item]] = ([], [])  # hosts not used lately; hosts that were
        self._resting: list[_Item] | None = None  # the best ripe candidate of each host that rests until a known time
        self._later: list[_Item] = []  # candidates that are not due yet, best first
        self._most_later = 64
        self._timers: list[tuple[float, str]] = []
        self._idle: list[tuple[float, str]] = []  # resting hosts without candidates, to be forgotten in time
        self._worst: list[tuple[float, int, Url]] = []  # a heap of the last of the order, up to and with `_worst_upto`
        self._worst_upto: tuple[float, int] | None = None  # None: not kept, since nothing had to fall out lately
        self._worst_most = 0
        self._bins = [0] * BINS
        self._recent: deque[str] = deque()
        self._tired: dict[str, int] = {}
        self._now = 0.0
        self._next_number = 0
        self._next_version = 1
        self._in_flight: dict[Url, tuple[int, Candidate]] = {}
        self._fallen_number = -1

    # --- the port -----------------------------------------------------------------------------

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
        fallen = None
        if self.bound is not None and len(self._entries) >= self.bound:
            if self.eviction == "refuse":
                return candidate
            least, url = self._last()
            if self.eviction == "scored" and rounded(score) <= least:
                return candidate  # inserted first, it would be the last of the order: it has the highest number
            fallen = self._remove(url)
        self._insert(candidate)
        return fallen

    def matters(self, candidate: Candidate) -> bool:
        url, score, carry, _, _, _, _, _, due, rescored = candidate
        waiting = self._entries.get(url)
        return (
            waiting is None
            or not score <= -waiting[0]  # NaN is not <=: it is for `push` to refuse
            or rescored
            or (bool(carry) and carry != waiting[4].carry)
            or due > waiting[4].due
        )

    def rescore(self, candidates: Sequence[Candidate]) -> None:
        """As one push for each, but every heap is rebuilt once; single pushes would fill it with stale items."""
        self._rescore(candidates)

    def _rescore(self, offers: Sequence[Candidate]) -> bool:
        """True if any entry changed."""
        if wrong := [offer.url for offer in offers if isnan(offer.score)]:
            raise ValueError(f"a score must be a number: {wrong[0]}")
        entries, version, now = self._entries, self._next_version, self._now
        later: set[_Host] = set()
        fresh: dict[_Host, dict[Url, _Item]] = {}
        gone: list[float] = []
        keys: dict[float, float] = {}
        for offer in offers:
            url, score, carry, parts, parent, _, _, spelling, due, is_rescored = offer
            item = entries.get(url)
            if item is None:
                continue
            before, number, _, host, old = item
            _, _, carried, _, origin, anchor, depth, spelled, waits, _ = old
            if is_rescored and parent is None and not carry and not spelling and due <= waits:  # as `found_again` says
                merged = _MADE(Candidate, (url, score, carried, parts, origin, anchor, depth, spelled, waits, False))
            else:
                merged = found_again(old, offer)
                if merged is old:
                    continue
            version += 1
            if (key := keys.get(merged[1])) is None:  # links of the same parents are often worth the same
                key = keys[merged[1]] = -rounded(merged[1])
            entries[url] = made = (key, number, version, host, merged)
            items = fresh.get(host)
            if items is None:
                items = fresh[host] = {}
            if url not in items:  # an offer may stand there twice
                gone.append(before)
            items[url] = made
            if merged[8] > now:
                later.add(host)
        self._next_version = version
        self._count_anew(gone, [item[0] for items in fresh.values() for item in items.values()])
        for host, items in fresh.items():
            self._replace(host, items, host in later)
        if fresh:
            self._worst_upto = None
        return bool(fresh)

    def _count_anew(self, gone: list[float], come: list[float]) -> None:
        """Keep the bins in step with entries whose scores, here with the sign turned, were replaced."""
        if len(come) == len(self._entries):
            self._bins = [0] * BINS
        else:
            for score in gone:
                self._bins[bin_of(-score)] -= 1
        bins = self._bins
        for score in come:
            bins[bin_of(-score)] += 1

    def _replace(self, host: _Host, items: dict[Url, _Item], is_later: bool) -> None:
        """Put new items of a host where their old ones were; `is_later`: some of them are not due yet."""
        entries, now = self._entries, self._now
        ripe, parked = list(items.values()), []
        if is_later:
            parked = [(item[4].due, item[1], item) for item in ripe if item[4].due > now]
            for entry in parked:
                self._put_later(entry[2])
            ripe = [item for item in ripe if item[4].due <= now]
        if len(items) < host.live:
            ripe += [item for item in host.ripe if entries.get(item[4].url) is item]
            parked += [entry for entry in host.parked if entries.get(entry[2][4].url) is entry[2]]
        heapify(ripe)
        heapify(parked)
        host.ripe, host.parked = ripe, parked
        self._place(host)

    def rest(self, host: str, until: float) -> None:
        known = self._hosts.get(host)
        if known is None:
            if until <= self._now:
                return
            known = self._hosts[host] = _Host(host)
        known.until = until
        self._place(known)

    def pop(self, now: float) -> Popped | None:
        """The rank is as exact as the score bins: see `bin_of`."""
        if now > self._now:
            self._now = now
        self._wake()
        item = self._top()
        if item is None:
            return None
        candidate = self._remove(item[4].url)
        self._in_flight[candidate.url] = (item[1], candidate)
        if self.spread > 1:
            self._tire(item[3].name)
        return Popped(candidate, sum(self._bins[bin_of(-item[0]) + 1 :]) + 1, item[1])

    def best_resting(self, now: float) -> tuple[Candidate, float] | None:
        if now > self._now:
            self._now = now
        self._wake()
        later, asleep = self._best_later(), self._best_asleep()  # in this order: the first may change the second
        best = min((item for item in (asleep, later) if item is not None), default=None)
        return None if best is None else (best[4], max(best[4].due, best[3].until))

    def _best_asleep(self) -> _Item | None:
        heap = self._resting
        if heap is None:  # nobody has asked so far: from now on `_place` keeps it
            heap = self._resting = []
            for host in list(self._hosts.values()):
                self._place(host)
        while heap and heap[0][3].resting is not heap[0]:
            heappop(heap)
        return heap[0] if heap else None

    def _best_later(self) -> _Item | None:
        """The best candidate that is not due yet, on a host that wakes at a known time."""
        heap, passed = self._later, []
        found = None
        while heap:
            item = heap[0]
            if not self._is_current(item):
                heappop(heap)
            elif item[4].due <= self._now:  # due by now: its host has it among the ripe ones
                self._place(item[3])
                heappop(heap)
            elif item[3].until == inf:
                passed.append(heappop(heap))
            else:
                found = item
                break
        for item in passed:
            heappush(heap, item)
        return found

    def _put_later(self, item: _Item) -> None:
        heappush(self._later, item)
        if len(self._later) > self._most_later:
            self._later = [one for one in self._later if self._is_current(one) and one[4].due > self._now]
            heapify(self._later)
            self._most_later = 2 * len(self._later) + 64

    def ready_at(self) -> float | None:
        if self._top() is not None:
            return self._now
        timers = self._timers
        while timers:
            moment, name = timers[0]
            host = self._hosts.get(name)
            if host is not None and host.timer == moment:
                return moment
            heappop(timers)
        return inf if self._entries else None

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, url: object) -> bool:
        return url in self._entries

    def urls(self) -> Collection[Url]:
        return self._entries.keys()

    # --- in flight ----------------------------------------------------------------------------

    def take(self, url: Url) -> Candidate | None:
        found = self.entry(url)
        if found is None:
            return None
        self._in_flight[url] = found
        return self._remove(url)

    def give_back(self, popped: Popped) -> Candidate | None:
        candidate = popped.candidate
        self._in_flight.pop(candidate.url, None)
        host = self._host_for(candidate.url)
        self._enter(candidate, popped.number, host, self._version())
        self._place(host)
        return self._remove(self._last()[1]) if self.bound is not None and len(self) > self.bound else None

    def settle(self, url: Url) -> None:
        self._in_flight.pop(url, None)
        if url in self._entries:
            self._remove(url)

    def in_flight(self) -> Collection[Url]:
        return self._in_flight.keys()

    # --- for reports and for saving -----------------------------------------------------------

    def hosts(self) -> int:
        """How many hosts have candidates waiting."""
        return self._hosts_waiting

    def best(self, n: int) -> list[Candidate]:
        """The `n` best waiting candidates, resting hosts included; looks at every entry."""
        return [item[4] for item in nsmallest(n, self._entries.values())]

    def entry(self, url: Url) -> tuple[int, Candidate] | None:
        """Insertion number and candidate of a waiting URL."""
        found = self._entries.get(url)
        return None if found is None else (found[1], found[4])

    def entries(self) -> Iterator[tuple[int, Candidate]]:
        """Everything that waits with its insertion number, in no particular order."""
        return ((item[1], item[4]) for item in self._entries.values())

    def restore(self, entries: Iterable[tuple[int, Candidate]]) -> None:
        """Put saved entries back, each under its old number. The bound is not applied: they were within it."""
        collecting = gc.isenabled()
        gc.disable()  # millions of objects are made and none is dropped: looking through them takes a third of the time
        try:
            self._restore(entries)
        finally:
            if collecting:
                gc.enable()

    def _restore(self, entries: Iterable[tuple[int, Candidate]]) -> None:
        waiting, bins, now, hosts = self._entries, self._bins, self._now, self._hosts
        for number, candidate in entries:
            url = candidate.url
            score = rounded(candidate.score)
            name = host_of(url)
            host = hosts.get(name)
            if host is None:
                host = hosts[name] = _Host(name)
            host.live += 1
            item = waiting[url] = (-score, number, 0, host, candidate)
            bins[bin_of(score)] += 1
            if candidate.due > now:
                host.parked.append((candidate.due, number, item))
                self._put_later(item)
            else:
                host.ripe.append(item)
            if number >= self._next_number:
                self._next_number = number + 1
        for host in list(hosts.values()):
            heapify(host.ripe)
            heapify(host.parked)
            self._place(host)
        self._hosts_waiting = sum(host.live > 0 for host in hosts.values())
        self._worst_upto = None

    # --- entries ------------------------------------------------------------------------------

    def _insert(self, candidate: Candidate) -> None:
        host = self._host_for(candidate.url)
        self._enter(candidate, self._next_number, host, 0)
        self._next_number += 1
        if host.posted is None or host.parked or host.ripe[0] is not host.posted:  # else it stays where it is
            self._place(host)

    def _host_for(self, url: Url) -> _Host:
        """The host that one more candidate is entered for."""
        name = host_of(url)
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = _Host(name)
        if host.live == 0:
            self._hosts_waiting += 1
        host.live += 1
        return host

    def _version(self) -> int:
        self._next_version += 1
        return self._next_version

    def _enter(self, candidate: Candidate, number: int, host: _Host, version: int) -> None:
        score = rounded(candidate.score)
        item = self._entries[candidate.url] = (-score, number, version, host, candidate)
        self._bins[bin_of(score)] += 1
        if candidate.due > self._now:
            heappush(host.parked, (candidate.due, number, item))
            self._put_later(item)
        else:
            heappush(host.ripe, item)
        if self._worst_upto is not None and (score, -number) <= self._worst_upto:
            heappush(self._worst, (score, -number, candidate.url))
            if len(self._worst) > self._worst_most:
                self._worst_upto = None

    def _offer_again(self, item: _Item, offer: Candidate) -> None:
        merged = found_again(item[4], offer)
        if merged is item[4]:
            return
        self._bins[bin_of(-item[0])] -= 1
        self._enter(merged, item[1], item[3], self._version())
        self._tidy(item[3])
        self._place(item[3])

    def _remove(self, url: Url) -> Candidate:
        item = self._entries.pop(url)
        host = item[3]
        self._fallen_number = item[1]
        self._bins[bin_of(-item[0])] -= 1
        host.live -= 1
        if host.live == 0:
            self._hosts_waiting -= 1
            host.ripe.clear()
            host.parked.clear()
        self._tidy(host)
        self._place(host)
        return item[4]

    def _last(self) -> tuple[float, Url]:
        """Score and URL of the last of the order: the victim of eviction."""
        while True:
            worst = self._worst if self._worst_upto is not None else self._look_for_worst()
            while worst:
                score, number, url = worst[0]
                found = self._entries.get(url)
                if found is not None and found[1] == -number and found[0] == -score:
                    return score, url
                heappop(worst)
            self._worst_upto = None

    def _look_for_worst(self) -> list[tuple[float, int, Url]]:
        """Find the last of the order anew: so many at a time that looking at all pays. The bins say how far to go."""
        size, lowest, counted = max(len(self._entries) // SPARE, 1), 0, self._bins[0]
        while counted < size and lowest < BINS - 1:
            lowest += 1
            counted += self._bins[lowest]
        edge = -upper_edge(lowest)
        found = [(-item[0], -item[1], url) for url, item in self._entries.items() if item[0] >= edge]
        if not size <= len(found) <= 4 * size:  # rounding at the edge; or many of nearly the same score
            found = nsmallest(size, ((-item[0], -item[1], url) for url, item in self._entries.items()))
        found.sort()
        self._worst, self._worst_upto, self._worst_most = found, found[-1][:2], 2 * len(found) + 64
        return found

    # --- hosts --------------------------------------------------------------------------------

    def _place(self, host: _Host) -> None:
        """Put a host where it now belongs: among the awake, under a timer, or out of sight."""
        now, ripe, parked, entries = self._now, host.ripe, host.parked, self._entries
        while parked:
            due, _, item = parked[0]
            if entries.get(item[4].url) is not item:
                heappop(parked)
            elif due <= now:
                heappop(parked)
                heappush(ripe, item)
            else:
                break
        while ripe:
            if entries.get(ripe[0][4].url) is ripe[0]:
                break
            heappop(ripe)
        if ripe and host.until <= now:
            moment = parked[0][0] if parked else inf
            host.resting = None
            if host.posted is not ripe[0]:
                self._post(host, ripe[0])
        else:
            host.posted = None
            if ripe:
                moment = host.until
                if self._resting is not None and (host.resting is not ripe[0] or moment == inf):
                    self._post_resting(self._resting, host, ripe[0])
            elif parked:
                moment = max(host.until, parked[0][0])
            else:
                moment = inf
                self._forget_in_time(host)
            if not ripe:
                host.resting = None
        if moment != host.timer:
            host.timer = moment
            if moment < inf:
                heappush(self._timers, (moment, host.name))
                if len(self._timers) > 2 * len(self._hosts) + 64:
                    self._timers = [(h.timer, h.name) for h in self._hosts.values() if h.timer < inf]
                    heapify(self._timers)

    def _post(self, host: _Host, item: _Item) -> None:
        host.posted = item
        tired = host.name in self._tired
        heap = self._awake[tired]
        heappush(heap, item)
        if len(heap) > 2 * len(self._hosts) + 64:
            heap[:] = [h.posted for h in self._hosts.values() if h.posted and (h.name in self._tired) == tired]
            heapify(heap)

    def _post_resting(self, heap: list[_Item], host: _Host, item: _Item) -> None:
        if host.until == inf:  # nobody knows when it wakes
            host.resting = None
            return
        host.resting = item
        heappush(heap, item)
        if len(heap) > 2 * len(self._hosts) + 64:
            heap[:] = [h.resting for h in self._hosts.values() if h.resting is not None]
            heapify(heap)

    def _top(self) -> _Item | None:
        """The best candidate that may be given now: of a host not used lately if there is one (rule 11)."""
        for tired, heap in enumerate(self._awake):
            while heap:
                item = heap[0]
                if item[3].posted is item and (item[3].name in self._tired) == bool(tired):
                    return item
                heappop(heap)
        return None

    def _wake(self) -> None:
        now = self._now
        while self._timers and self._timers[0][0] <= now:
            moment, name = heappop(self._timers)
            host = self._hosts.get(name)
            if host is not None and host.timer == moment:
                host.timer = inf
                self._place(host)
        while self._idle and self._idle[0][0] <= now:
            name = heappop(self._idle)[1]
            host = self._hosts.get(name)
            if host is not None and host.live == 0 and host.until <= now:
                del self._hosts[name]

    def _forget_in_time(self, host: _Host) -> None:
        if host.until <= self._now:
            self._hosts.pop(host.name, None)
        elif host.until < inf:
            heappush(self._idle, (host.until, host.name))
            if len(self._idle) > 2 * len(self._hosts) + 64:
                self._idle = [(h.until, h.name) for h in self._hosts.values() if h.live == 0 and h.until < inf]
                heapify(self._idle)

    def _tidy(self, host: _Host) -> None:
        """Rebuild a host's heaps when a fifth of them is dead: dead items hold on to their candidates."""
        if len(host.ripe) + len(host.parked) > host.live + (host.live >> 2) + 8:
            host.ripe = [item for item in host.ripe if self._is_current(item)]
            heapify(host.ripe)
            host.parked = [entry for entry in host.parked if self._is_current(entry[2])]
            heapify(host.parked)

    def _is_current(self, item: _Item) -> bool:
        return self._entries.get(item[4].url) is item

    def _tire(self, name: str) -> None:
        """Remember a pick: its host is tired for the next D - 1 picks."""
        self._recent.append(name)
        self._tired[name] = self._tired.get(name, 0) + 1
        changed = [name]
        if len(self._recent) > self.spread - 1:
            rested = self._recent.popleft()
            self._tired[rested] -= 1
            if not self._tired[rested]:
                del self._tired[rested]
            changed.append(rested)
        for one in changed:
            host = self._hosts.get(one)
            if host is not None and host.posted is not None:
                host.posted = None
                self._place(host)
