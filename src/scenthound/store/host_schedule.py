"""Decide which host of a frontier may be requested next.

Each host has a heap of candidates that are due and a heap of delayed ones. A host that is awake and has a due candidate
posts its best one in a heap of awake hosts; every other host has a timer for the time at which it will be ready. So
`best` takes a few heap steps, however many hosts are resting. The same is true of `best_resting`, because from its
first call on, resting hosts have a heap too. Heaps are cleaned lazily and rebuilt when too many of their items are
stale, which keeps memory proportional to the number of waiting candidates.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush
from math import inf

from scenthound.model import Candidate, Url


class Host:
    """A host: its candidates, the time until which it rests, and the candidate that it has posted as its best."""

    __slots__ = ("cold_from", "delayed", "live", "name", "posted", "ready", "resting", "timer", "until")

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready: list[Entry] = []
        self.delayed: list[tuple[float, int, Entry]] = []  # not due yet
        self.cold_from: tuple[float, int] | None = None  # key and number of the best candidate that is not in memory
        self.live = 0
        self.until = 0.0
        self.posted: Entry | None = None
        self.resting: Entry | None = None  # its entry in the heap of resting hosts
        self.timer = inf


Entry = tuple[float, int, int, Host, Candidate]
"""(-score, insertion number, version, host, candidate), which sorts as in rule 3.

The version tells entries with the same number apart (changed or given back), so no comparison reaches the host.
"""


FEW = 8
"""A host's heaps are rebuilt if at least one in `FEW` of its entries is replaced at once."""


class HostSchedule:
    """The hosts of a frontier. `entries`, kept by the frontier, are all that wait; other heap items are stale."""

    def __init__(self, entries: Mapping[Url, Entry], spread: int = 1) -> None:
        self.now = 0.0
        self.hosts_waiting = 0
        """The number of hosts with candidates."""
        self._maybe_cold: list[Host] = []  # hosts whose best candidate may be on disk
        self._entries, self._spread = entries, spread
        self._hosts: dict[str, Host] = {}
        self._awake: tuple[list[Entry], list[Entry]] = (
            [],
            [],
        )  # best entries of hosts not used recently, and of hosts used recently
        self._resting: list[Entry] | None = None  # the best ready candidate of each host that rests until a known time
        self._delayed: list[Entry] = []  # all candidates that are not due yet, best first
        self._most_delayed = 64
        self._timers: list[tuple[float, str]] = []
        self._idle: list[tuple[float, str]] = []  # resting hosts without candidates, which are forgotten when they wake
        self.recent: deque[str] = deque()
        """The hosts of the last D - 1 picks (rule 11), oldest first."""
        self._used: dict[str, int] = {}  # how often each host is among the recent ones

    # --- candidates ---------------------------------------------------------------------------

    def host_for(self, name: str) -> Host:
        """Return the host with this name and count one more candidate for it."""
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = Host(name)
        if host.live == 0:
            self.hosts_waiting += 1
        host.live += 1
        return host

    def push(self, host: Host, entry: Entry) -> None:
        """Add an entry; call `place` afterwards."""
        if entry[4].due > self.now:
            heappush(host.delayed, (entry[4].due, entry[1], entry))
            self._add_delayed(entry)
        else:
            heappush(host.ready, entry)

    def append(self, host: Host, entry: Entry) -> None:
        """Add one of many entries; call `rebuild` after the last."""
        if entry[4].due > self.now:
            host.delayed.append((entry[4].due, entry[1], entry))
            self._add_delayed(entry)
        else:
            host.ready.append(entry)

    def rebuild(self) -> None:
        for host in list(self._hosts.values()):
            heapify(host.ready)
            heapify(host.delayed)
            self.place(host)

    def replace(self, host: Host, changed: Mapping[Url, Entry], has_delayed: bool) -> None:
        """Replace entries of a host. `has_delayed` tells whether some of the new entries are not due yet."""
        if FEW * len(changed) < host.live:  # cheaper than rebuilding its heaps
            for entry in changed.values():
                self.push(host, entry)
            self.place(host)
            self.tidy(host)
            return
        entries, now = self._entries, self.now
        ready, delayed = list(changed.values()), []
        if has_delayed:
            delayed = [(entry[4].due, entry[1], entry) for entry in ready if entry[4].due > now]
            for item in delayed:
                self._add_delayed(item[2])
            ready = [entry for entry in ready if entry[4].due <= now]
        if len(changed) < host.live:
            ready += [entry for entry in host.ready if entries.get(entry[4].url) is entry]
            delayed += [item for item in host.delayed if entries.get(item[2][4].url) is item[2]]
        heapify(ready)
        heapify(delayed)
        host.ready, host.delayed = ready, delayed
        self.place(host)

    def remove_one(self, host: Host) -> None:
        """Account for a candidate of the host that was removed from the entries."""
        host.live -= 1
        if host.live == 0:
            self.hosts_waiting -= 1
            host.ready.clear()
            host.delayed.clear()
        self.place(host)
        self.tidy(host)

    def remove_many(self, host: Host, count: int) -> None:
        """Account for `count` candidates of the host that were removed from the entries."""
        host.live -= count - 1
        host.ready = [entry for entry in host.ready if self._is_current(entry)]
        heapify(host.ready)
        self.remove_one(host)

    def tidy(self, host: Host) -> None:
        """Rebuild a host's heaps when a fifth of their items is stale, since these keep old candidates in memory."""
        if len(host.ready) + len(host.delayed) > host.live + (host.live >> 2):
            host.ready = [entry for entry in host.ready if self._is_current(entry)]
            heapify(host.ready)
            host.delayed = [item for item in host.delayed if self._is_current(item[2])]
            heapify(host.delayed)

    def _is_current(self, entry: Entry) -> bool:
        return self._entries.get(entry[4].url) is entry

    def keys(self, holds: Callable[[Host], bool], key: Callable[[str], int]) -> set[int]:
        """The keys of the hosts that satisfy `holds`; `key` computes the key of a name."""
        return {key(host.name) for host in self._hosts.values() if holds(host)}

    def mark_cold(self, firsts: Mapping[int, tuple[float, int]], key: Callable[[str], int]) -> None:
        """Set where the candidates on disk begin, for each host; `firsts` maps host keys to these positions."""
        self._maybe_cold.clear()
        for host in list(self._hosts.values()):
            host.cold_from = firsts.get(key(host.name))
            if host.live == 0:
                self.place(host)  # to forget it when it wakes

    def needs_cold(self) -> bool:
        """Whether some host that may be requested now has its best candidate on disk."""
        while self._maybe_cold:
            host = self._maybe_cold[-1]
            if host.until <= self.now and _best_is_cold(host):
                return True
            self._maybe_cold.pop()  # a resting host is added again when it wakes
        return False

    def any_needs_cold(self) -> bool:
        """Like `needs_cold`, but for all hosts, including resting ones."""
        return any(map(_best_is_cold, self._hosts.values()))

    def resting(self) -> int:
        """The number of resting hosts."""
        return sum(host.until > self.now for host in self._hosts.values())

    # --- time ---------------------------------------------------------------------------------

    def advance(self, now: float) -> None:
        """Move the time forward and wake the hosts whose timer has run out."""
        if now > self.now:
            self.now = now
        now = self.now
        while self._timers and self._timers[0][0] <= now:
            moment, name = heappop(self._timers)
            host = self._hosts.get(name)
            if host is not None and host.timer == moment:
                host.timer = inf
                self.place(host)
        while self._idle and self._idle[0][0] <= now:
            name = heappop(self._idle)[1]
            host = self._hosts.get(name)
            if host is not None and host.live == 0 and host.until <= now:
                del self._hosts[name]

    def rest(self, name: str, until: float) -> None:
        host = self._hosts.get(name)
        if host is None:
            if until <= self.now:
                return
            host = self._hosts[name] = Host(name)
        host.until = until
        self.place(host)

    def ready_at(self) -> float | None:
        """The time at which the next candidate may be popped; infinity if it is unknown, None if nothing waits."""
        if self.best() is not None:
            return self.now
        while self._timers:
            moment, name = self._timers[0]
            host = self._hosts.get(name)
            if host is not None and host.timer == moment:
                return moment
            heappop(self._timers)
        return inf if self._entries else None

    # --- the best candidate -------------------------------------------------------------------

    def best(self) -> Entry | None:
        """The best candidate that may be popped now, preferably on a host not used recently (rule 11)."""
        for used, heap in enumerate(self._awake):
            while heap:
                entry = heap[0]
                if entry[3].posted is entry and (entry[3].name in self._used) == bool(used):
                    return entry
                heappop(heap)
        return None

    def best_resting(self) -> Entry | None:
        """The best candidate that has to wait until a known time, because of its own delay or its host's."""
        delayed, resting = (
            self._best_delayed(),
            self._best_of_resting(),
        )  # in this order: the first may change the second
        return min((entry for entry in (resting, delayed) if entry is not None), default=None)

    def is_used(self, name: str) -> bool:
        """Whether one of the last D - 1 picks was on this host."""
        return name in self._used

    def mark_used(self, name: str) -> None:
        """Record a pick: its host has the lowest priority for the next D - 1 picks."""
        self.recent.append(name)
        self._used[name] = self._used.get(name, 0) + 1
        changed = [name]
        if len(self.recent) > self._spread - 1:
            oldest = self.recent.popleft()
            self._used[oldest] -= 1
            if not self._used[oldest]:
                del self._used[oldest]
            changed.append(oldest)
        for changed_name in changed:
            host = self._hosts.get(changed_name)
            if host is not None and host.posted is not None:
                host.posted = None
                self.place(host)

    def _best_of_resting(self) -> Entry | None:
        heap = self._resting
        if heap is None:  # first call: from now on `place` maintains the heap
            heap = self._resting = []
            for host in list(self._hosts.values()):
                self.place(host)
        while heap and heap[0][3].resting is not heap[0]:
            heappop(heap)
        return heap[0] if heap else None

    def _best_delayed(self) -> Entry | None:
        """The best candidate that is not due yet, on a host that wakes at a known time."""
        heap, passed = self._delayed, []
        best = None
        while heap:
            entry = heap[0]
            if not self._is_current(entry):
                heappop(heap)
            elif entry[4].due <= self.now:  # now due: `place` moves it to the host's ready candidates
                self.place(entry[3])
                heappop(heap)
            elif entry[3].until == inf:
                passed.append(heappop(heap))
            else:
                best = entry
                break
        for entry in passed:
            heappush(heap, entry)
        return best

    def _add_delayed(self, entry: Entry) -> None:
        heappush(self._delayed, entry)
        if len(self._delayed) > self._most_delayed:
            self._delayed = [item for item in self._delayed if self._is_current(item) and item[4].due > self.now]
            heapify(self._delayed)
            self._most_delayed = 2 * len(self._delayed) + 64

    # --- hosts --------------------------------------------------------------------------------

    def place(self, host: Host) -> None:
        """Put a host where it now belongs: among the awake hosts, under a timer, or nowhere."""
        now, ready, delayed, entries = self.now, host.ready, host.delayed, self._entries
        while delayed:
            due, _, entry = delayed[0]
            if entries.get(entry[4].url) is not entry:
                heappop(delayed)
            elif due <= now:
                heappop(delayed)
                heappush(ready, entry)
            else:
                break
        while ready:
            if entries.get(ready[0][4].url) is ready[0]:
                break
            heappop(ready)
        is_cold = host.cold_from is not None and _best_is_cold(host)
        if is_cold and host.until <= now:
            self._maybe_cold.append(host)
        if ready and host.until <= now:
            moment = delayed[0][0] if delayed else inf
            host.resting = None
            if host.posted is not ready[0]:
                self._post(host, ready[0])
        else:
            host.posted = None
            if ready:
                moment = host.until
                if self._resting is not None and (host.resting is not ready[0] or moment == inf):
                    self._post_resting(self._resting, host, ready[0])
            elif is_cold:
                moment = host.until if host.until > now else inf
            elif delayed:
                moment = max(host.until, delayed[0][0])
            else:
                moment = inf
                self._forget_when_awake(host)
            if not ready:
                host.resting = None
        if moment != host.timer:
            host.timer = moment
            if moment < inf:
                heappush(self._timers, (moment, host.name))
                if len(self._timers) > 2 * len(self._hosts) + 64:
                    self._timers = [(h.timer, h.name) for h in self._hosts.values() if h.timer < inf]
                    heapify(self._timers)

    def _post(self, host: Host, entry: Entry) -> None:
        host.posted = entry
        used = host.name in self._used
        heap = self._awake[used]
        heappush(heap, entry)
        if len(heap) > 2 * len(self._hosts) + 64:
            heap[:] = [h.posted for h in self._hosts.values() if h.posted and (h.name in self._used) == used]
            heapify(heap)

    def _post_resting(self, heap: list[Entry], host: Host, entry: Entry) -> None:
        if host.until == inf:  # unknown when it wakes
            host.resting = None
            return
        host.resting = entry
        heappush(heap, entry)
        if len(heap) > 2 * len(self._hosts) + 64:
            heap[:] = [h.resting for h in self._hosts.values() if h.resting is not None]
            heapify(heap)

    def _forget_when_awake(self, host: Host) -> None:
        if host.until <= self.now:
            self._hosts.pop(host.name, None)
        elif host.until < inf:
            heappush(self._idle, (host.until, host.name))
            if len(self._idle) > 2 * len(self._hosts) + 64:
                self._idle = [(h.until, h.name) for h in self._hosts.values() if h.live == 0 and h.until < inf]
                heapify(self._idle)


def _best_is_cold(host: Host) -> bool:
    """Whether the host's best candidate is on disk."""
    return host.cold_from is not None and (not host.ready or host.ready[0][:2] > host.cold_from)
