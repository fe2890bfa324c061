"""Which host of a frontier may be asked next.

Each host has a heap of its ripe candidates and one of those not yet due. A host that is awake and has a ripe candidate
posts its best one in a heap of awake hosts; every other host has a timer, the moment at which it will be ready. So
`best` takes a few heap steps however many hosts rest. So does `best_resting`: from its first call on, resting hosts
have a heap too. Heaps are cleaned lazily and rebuilt when a part of one is stale, which keeps memory proportional to
what waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush
from math import inf

from scenthound.model import Candidate, Url


class Host:
    """One host: its candidates, until when it rests, and which one it has posted as its best."""

    __slots__ = ("cold_from", "live", "name", "parked", "posted", "resting", "ripe", "timer", "until")

    def __init__(self, name: str) -> None:
        self.name = name
        self.ripe: list[Entry] = []
        self.parked: list[tuple[float, int, Entry]] = []  # not due yet
        self.cold_from: tuple[float, int] | None = None  # key and number of the best candidate that is not in memory
        self.live = 0
        self.until = 0.0
        self.posted: Entry | None = None
        self.resting: Entry | None = None  # posted among the resting hosts
        self.timer = inf


Entry = tuple[float, int, int, Host, Candidate]
"""(-score, insertion number, version, host, candidate): sorts as rule 3 says.

The version tells entries of one number apart: one that was changed, or came back. So no comparison reaches the host.
"""


FEW = 8
"""A host's heaps are built again if one in so many of its entries, or more, is replaced at once."""


class HostSchedule:
    """The hosts of a frontier. `entries` are what waits, kept by the frontier: a heap item not among them is stale."""

    def __init__(self, entries: Mapping[Url, Entry], spread: int = 1) -> None:
        self.now = 0.0
        self.hosts_waiting = 0
        """Hosts that have a candidate."""
        self._short: list[Host] = []  # hosts that may need their candidates on disk
        self._entries, self._spread = entries, spread
        self._hosts: dict[str, Host] = {}
        self._awake: tuple[list[Entry], list[Entry]] = ([], [])  # hosts not used lately; hosts that were
        self._resting: list[Entry] | None = None  # the best ripe candidate of each host that rests until a known time
        self._later: list[Entry] = []  # candidates that are not due yet, best first
        self._most_later = 64
        self._timers: list[tuple[float, str]] = []
        self._idle: list[tuple[float, str]] = []  # resting hosts without candidates, to be forgotten in time
        self.recent: deque[str] = deque()
        """The hosts of the last D - 1 picks (rule 11), oldest first."""
        self._used: dict[str, int] = {}  # how often each host is among the recent ones

    # --- candidates ---------------------------------------------------------------------------

    def host_for(self, name: str) -> Host:
        """The host that one more candidate is entered for."""
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
            heappush(host.parked, (entry[4].due, entry[1], entry))
            self._put_later(entry)
        else:
            heappush(host.ripe, entry)

    def append(self, host: Host, entry: Entry) -> None:
        """Add one of many entries; call `rebuild` after the last."""
        if entry[4].due > self.now:
            host.parked.append((entry[4].due, entry[1], entry))
            self._put_later(entry)
        else:
            host.ripe.append(entry)

    def rebuild(self) -> None:
        for host in list(self._hosts.values()):
            heapify(host.ripe)
            heapify(host.parked)
            self.place(host)

    def replace(self, host: Host, changed: Mapping[Url, Entry], has_parked: bool) -> None:
        """Replace entries of a host; `has_parked`: some of them are not due yet."""
        if FEW * len(changed) < host.live:  # cheaper than to build its heaps again
            for entry in changed.values():
                self.push(host, entry)
            self.place(host)
            self.tidy(host)
            return
        entries, now = self._entries, self.now
        ripe, parked = list(changed.values()), []
        if has_parked:
            parked = [(entry[4].due, entry[1], entry) for entry in ripe if entry[4].due > now]
            for item in parked:
                self._put_later(item[2])
            ripe = [entry for entry in ripe if entry[4].due <= now]
        if len(changed) < host.live:
            ripe += [entry for entry in host.ripe if entries.get(entry[4].url) is entry]
            parked += [item for item in host.parked if entries.get(item[2][4].url) is item[2]]
        heapify(ripe)
        heapify(parked)
        host.ripe, host.parked = ripe, parked
        self.place(host)

    def remove_one(self, host: Host) -> None:
        """A candidate of the host has left the entries."""
        host.live -= 1
        if host.live == 0:
            self.hosts_waiting -= 1
            host.ripe.clear()
            host.parked.clear()
        self.place(host)
        self.tidy(host)

    def remove_many(self, host: Host, count: int) -> None:
        """So many candidates of the host have left the entries."""
        host.live -= count - 1
        host.ripe = [entry for entry in host.ripe if self._is_current(entry)]
        heapify(host.ripe)
        self.remove_one(host)

    def tidy(self, host: Host) -> None:
        """Rebuild a host's heaps when a fifth of them is stale: stale entries keep their candidates in memory."""
        if len(host.ripe) + len(host.parked) > host.live + (host.live >> 2):
            host.ripe = [entry for entry in host.ripe if self._is_current(entry)]
            heapify(host.ripe)
            host.parked = [item for item in host.parked if self._is_current(item[2])]
            heapify(host.parked)

    def _is_current(self, entry: Entry) -> bool:
        return self._entries.get(entry[4].url) is entry

    def keys(self, holds: Callable[[Host], bool], key: Callable[[str], int]) -> set[int]:
        """The keys of the names of the hosts for which something holds."""
        return {key(host.name) for host in self._hosts.values() if holds(host)}

    def mark_cold(self, firsts: Mapping[int, tuple[float, int]], key: Callable[[str], int]) -> None:
        """Tell each host by its key where its candidates on disk begin."""
        self._short.clear()
        for host in list(self._hosts.values()):
            host.cold_from = firsts.get(key(host.name))
            if host.live == 0:
                self.place(host)  # it is forgotten in time

    def needs_cold(self) -> bool:
        """Whether a host that may be asked now has no candidate in memory that comes before its best on disk."""
        while self._short:
            host = self._short[-1]
            if host.until <= self.now and _is_short(host):
                return True
            self._short.pop()  # if it rests, it comes back when it wakes
        return False

    def is_any_short(self) -> bool:
        """The same of all hosts, those that rest included."""
        return any(map(_is_short, self._hosts.values()))

    def resting(self) -> int:
        """How many hosts rest."""
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
        """When the next candidate may be popped; infinity if no host has a known time, None if nothing waits."""
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
        """The best candidate that may be popped now: of a host not used lately if there is one (rule 11)."""
        for used, heap in enumerate(self._awake):
            while heap:
                entry = heap[0]
                if entry[3].posted is entry and (entry[3].name in self._used) == bool(used):
                    return entry
                heappop(heap)
        return None

    def best_resting(self) -> Entry | None:
        """The best candidate that has to wait, for its own time or for its host, until a known moment."""
        later, resting = self._best_later(), self._best_of_resting()  # in this order: the first may change the second
        return min((entry for entry in (resting, later) if entry is not None), default=None)

    def is_used(self, name: str) -> bool:
        """Whether the host was used for one of the last D - 1 picks."""
        return name in self._used

    def mark_used(self, name: str) -> None:
        """Remember a pick: its host comes last for the next D - 1 picks."""
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
        if heap is None:  # the first call: from now on `place` keeps it
            heap = self._resting = []
            for host in list(self._hosts.values()):
                self.place(host)
        while heap and heap[0][3].resting is not heap[0]:
            heappop(heap)
        return heap[0] if heap else None

    def _best_later(self) -> Entry | None:
        """The best candidate that is not due yet, on a host that wakes at a known time."""
        heap, passed = self._later, []
        best = None
        while heap:
            entry = heap[0]
            if not self._is_current(entry):
                heappop(heap)
            elif entry[4].due <= self.now:  # due by now: its host has it among the ripe ones
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

    def _put_later(self, entry: Entry) -> None:
        heappush(self._later, entry)
        if len(self._later) > self._most_later:
            self._later = [later for later in self._later if self._is_current(later) and later[4].due > self.now]
            heapify(self._later)
            self._most_later = 2 * len(self._later) + 64

    # --- hosts --------------------------------------------------------------------------------

    def place(self, host: Host) -> None:
        """Put a host where it now belongs: among the awake, under a timer, or nowhere."""
        now, ripe, parked, entries = self.now, host.ripe, host.parked, self._entries
        while parked:
            due, _, entry = parked[0]
            if entries.get(entry[4].url) is not entry:
                heappop(parked)
            elif due <= now:
                heappop(parked)
                heappush(ripe, entry)
            else:
                break
        while ripe:
            if entries.get(ripe[0][4].url) is ripe[0]:
                break
            heappop(ripe)
        is_short = host.cold_from is not None and _is_short(host)
        if is_short and host.until <= now:
            self._short.append(host)
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
            elif is_short:
                moment = host.until if host.until > now else inf
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

    def _post(self, host: Host, entry: Entry) -> None:
        host.posted = entry
        used = host.name in self._used
        heap = self._awake[used]
        heappush(heap, entry)
        if len(heap) > 2 * len(self._hosts) + 64:
            heap[:] = [h.posted for h in self._hosts.values() if h.posted and (h.name in self._used) == used]
            heapify(heap)

    def _post_resting(self, heap: list[Entry], host: Host, entry: Entry) -> None:
        if host.until == inf:  # it is not known when it wakes
            host.resting = None
            return
        host.resting = entry
        heappush(heap, entry)
        if len(heap) > 2 * len(self._hosts) + 64:
            heap[:] = [h.resting for h in self._hosts.values() if h.resting is not None]
            heapify(heap)

    def _forget_in_time(self, host: Host) -> None:
        if host.until <= self.now:
            self._hosts.pop(host.name, None)
        elif host.until < inf:
            heappush(self._idle, (host.until, host.name))
            if len(self._idle) > 2 * len(self._hosts) + 64:
                self._idle = [(h.until, h.name) for h in self._hosts.values() if h.live == 0 and h.until < inf]
                heapify(self._idle)


def _is_short(host: Host) -> bool:
    """Whether its best candidate is on disk."""
    return host.cold_from is not None and (not host.ripe or host.ripe[0][:2] > host.cold_from)
