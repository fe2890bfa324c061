"""Find the best candidate of a frontier on a host that is ready.

Each host has a heap of candidates that are due and a heap of delayed ones. A host with a due candidate posts its best
one. If that comes first and the host clock says that the host rests, it is taken down until the clock names the host
among those that have woken. So `best` takes a few heap steps, however many hosts are resting. Heaps are cleaned lazily
and rebuilt when too many of their items are stale, which keeps memory proportional to the number of waiting candidates.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
from math import inf

from scenthound.hosts import HostClock
from scenthound.model import Candidate, Url


class Host:
    """A host: its candidates, and the one that it has posted as its best."""

    __slots__ = ("cold_from", "delayed", "due", "live", "name", "posted", "ready", "rests")

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready: list[Entry] = []
        self.delayed: list[tuple[float, int, Entry]] = []  # not due yet
        self.cold_from: tuple[float, int] | None = None  # key and number of the best candidate that is not in memory
        self.live = 0
        self.posted: Entry | None = None
        self.rests = False  # whether the clock said so; it will name the host
        self.due = inf  # when the clock will name the host because of a delayed candidate


Entry = tuple[float, int, int, Host, Candidate]
"""(-score, insertion number, version, host, candidate), which sorts as in rule 3.

The version tells entries with the same number apart (changed or given back), so no comparison reaches the host.
"""


FEW = 8
"""A host's heaps are rebuilt if at least one in `FEW` of its entries is replaced at once."""


class HostSchedule:
    """The hosts of a frontier. `entries`, kept by the frontier, are all that wait; other heap items are stale."""

    def __init__(self, entries: Mapping[Url, Entry], spread: int, host_clock: HostClock) -> None:
        self.host_clock = host_clock
        self.hosts_waiting = 0
        """The number of hosts with candidates."""
        self._maybe_cold: list[Host] = []  # hosts whose best candidate may be on disk
        self._entries, self._spread = entries, spread
        self._hosts: dict[str, Host] = {}
        self._posted: tuple[list[Entry], list[Entry]] = ([], [])  # best entries of hosts, and of hosts used recently
        self.recent: deque[str] = deque()
        """The hosts of the last D - 1 picks (rule 11), oldest first."""
        self._used: dict[str, int] = {}  # how often each host is among the recent ones

    @property
    def now(self) -> float:
        return self.host_clock.now

    def use_clock(self, host_clock: HostClock) -> None:
        """Ask this clock from now on."""
        self.host_clock = host_clock
        self.wake(list(self._hosts))

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
        else:
            heappush(host.ready, entry)

    def append(self, host: Host, entry: Entry) -> None:
        """Add one of many entries; call `rebuild` after the last."""
        if entry[4].due > self.now:
            host.delayed.append((entry[4].due, entry[1], entry))
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

    def mark_cold(self, firsts: Mapping[int, tuple[float, int]], key: Callable[[str], int]) -> None:
        """Set where the candidates on disk begin, for each host; `firsts` maps host keys to these positions."""
        self._maybe_cold.clear()
        for host in list(self._hosts.values()):
            host.cold_from = firsts.get(key(host.name))
            if host.live == 0:
                self.place(host)  # to forget it

    def needs_cold(self) -> bool:
        """Whether some host that is ready has its best candidate on disk."""
        while self._maybe_cold:
            host = self._maybe_cold[-1]
            if _best_is_cold(host) and self._is_ready(host):
                return True
            self._maybe_cold.pop()  # a resting host is added again when it wakes
        return False

    # --- time ---------------------------------------------------------------------------------

    def advance(self, now: float) -> None:
        """Move the time forward, and place the hosts that have woken."""
        self.host_clock.advance(now)
        if woken := self.host_clock.take_woken():
            self.wake(woken)

    def wake(self, names: Iterable[str]) -> None:
        """Place these hosts, which may be ready."""
        for name in names:
            if (host := self._hosts.get(name)) is not None:
                host.rests, host.due = False, inf
                self.place(host)

    def _is_ready(self, host: Host) -> bool:
        if self.host_clock.is_ready(host.name):
            return True
        host.rests, host.posted, host.due = True, None, inf
        return False

    # --- the best candidate -------------------------------------------------------------------

    def best(self) -> Entry | None:
        """The best candidate that may be popped now, preferably on a host not used recently (rule 11)."""
        for used, heap in enumerate(self._posted):
            while heap:
                entry = heap[0]
                host = entry[3]
                if host.posted is entry and (host.name in self._used) == bool(used) and self._is_ready(host):
                    return entry
                heappop(heap)
        return None

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

    # --- hosts --------------------------------------------------------------------------------

    def place(self, host: Host) -> None:
        """Post the best candidate of a host, and let the clock name the host when a delayed one is due."""
        now, ready, delayed, entries = self.host_clock.now, host.ready, host.delayed, self._entries
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
        if not ready:
            host.posted = None
            if not is_cold:
                host.rests = False
        if host.rests:
            return
        if is_cold:
            self._maybe_cold.append(host)
        if ready and host.posted is not ready[0]:
            self._post(host, ready[0])
        due = delayed[0][0] if delayed else inf
        if not (ready or is_cold or delayed):
            self._hosts.pop(host.name, None)
            self.host_clock.forget(host.name)
        elif due != host.due:
            host.due = due
            self.host_clock.forget(host.name)
            if due < inf:
                self.host_clock.want(host.name, due)

    def _post(self, host: Host, entry: Entry) -> None:
        host.posted = entry
        used = host.name in self._used
        heap = self._posted[used]
        heappush(heap, entry)
        if len(heap) > 2 * len(self._hosts) + 64:
            heap[:] = [h.posted for h in self._hosts.values() if h.posted and (h.name in self._used) == used]
            heapify(heap)


def _best_is_cold(host: Host) -> bool:
    """Whether the host's best candidate is on disk."""
    return host.cold_from is not None and (not host.ready or host.ready[0][:2] > host.cold_from)
