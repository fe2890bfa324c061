"""The frontier of a crawler that queues pages, not links: the best page's links are taken in document order.

    order = score of the page descending, number of the page, position of the link in it

Used by `context-graph`. The next URL is the first remaining link, in document order, of the first page that has one;
pages are ordered by score, then by arrival. Since this is one order over all links, links on resting hosts are skipped
without losing their position. A URL that several pages link to has its position on the best of them. When the frontier
is full, the last URL in the order is dropped (rule 7).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from heapq import heapify, heappop, heappush
from typing import Any

from scenthound.model import DECIMALS, Candidate, Url
from scenthound.papers.parts.host_queues import HostQueues
from scenthound.papers.parts.saved_candidates import from_plain, plain
from scenthound.ports import Frontier, Popped

PAGE, POSITION = "page", "place"
"""Keys in a candidate's `carry`: the number of the page with the link, and the link's position in the page."""

_Entry = tuple[float, int, int, Url]  # (-score, number of the page, position in the page, url)


class PageQueues(Frontier):
    """Links in the order of their pages. A URL in flight keeps its position until it is settled."""

    def __init__(self, bound: int | None = None) -> None:
        if bound is not None and bound < 1:
            raise ValueError(f"a frontier's bound is at least 1, not {bound}")
        self.bound = bound
        self._queues: HostQueues[_Entry] = HostQueues()  # entries that are due
        self.clear()

    def clear(self) -> None:
        """Forget everything except which hosts rest."""
        self._waiting: dict[Url, tuple[Candidate, _Entry]] = {}
        self._in_flight: dict[Url, Candidate] = {}
        self._queues.clear()
        self._parked: list[tuple[float, _Entry]] = []  # (due, entry) of candidates not due yet
        self._later: list[_Entry] = []  # the same entries in frontier order, and some that are due by now
        self._last: list[tuple[float, int, int, Url]] = []  # all entries in reverse order, if there is a bound
        self._strays = 0

    # ---- the port

    def push(self, candidate: Candidate) -> Candidate | None:
        if math.isnan(candidate.score):
            raise ValueError(f"a score must be a number: {candidate.url}")
        entry = self._entry(candidate)
        waiting = self._waiting.get(candidate.url)
        if waiting is not None:
            old, old_entry = waiting
            due = max(old.due, candidate.due)
            if entry < old_entry or due > old.due:
                self._leave(candidate.url)
                better = candidate if entry < old_entry else old
                self._enter(better._replace(due=due), min(entry, old_entry))
            return None
        self._in_flight.pop(candidate.url, None)
        self._enter(candidate, entry)
        if self.bound is not None and len(self._waiting) > self.bound:
            return self._leave(self._worst())
        return None

    def rest(self, host: str, until: float) -> None:
        self._queues.rest(host, until)

    def pop(self, now: float) -> Popped | None:
        self._wake(now)
        first = self._queues.first()
        return None if first is None else Popped(self._launch(first[3]))

    def best_resting(self, now: float) -> tuple[Candidate, float] | None:
        self._wake(now)
        later = self._first_later()
        resting = self._queues.first_resting()
        if resting is None or (later is not None and later[0] < resting[0]):
            resting = later
        return None if resting is None else (self._waiting[resting[0][3]][0], resting[1])

    def _wake(self, now: float) -> None:
        self._queues.wake(now)
        while self._parked and self._parked[0][0] <= self._queues.now:
            entry = heappop(self._parked)[1]
            if self._is_current(entry):
                self._queues.enter(entry)

    def _first_later(self) -> tuple[_Entry, float] | None:
        """The first entry that is not due yet and can be popped at a known time, with that time."""
        endless, first = [], None
        while self._later:
            entry = self._later[0]
            due = self._waiting[entry[3]][0].due if self._is_current(entry) else 0.0
            ready = max(due, self._queues.rests_until(entry[3]))
            if due <= self._queues.now:
                heappop(self._later)
            elif ready == math.inf:
                endless.append(heappop(self._later))
            else:
                first = entry, ready
                break
        for entry in endless:
            heappush(self._later, entry)
        return first

    def ready_at(self) -> float | None:
        while self._parked and not self._is_current(self._parked[0][1]):
            heappop(self._parked)
        parked = self._parked[0][0] if self._parked else math.inf
        return min(parked, self._queues.ready_at()) if self._waiting else None

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, url: object) -> bool:
        return url in self._waiting

    def urls(self) -> Collection[Url]:
        return self._waiting.keys()

    # ---- in flight

    def settle(self, url: Url) -> None:
        self._in_flight.pop(url, None)
        if url in self._waiting:
            self._leave(url)

    def take(self, url: Url) -> Candidate | None:
        return self._launch(url) if url in self._waiting else None

    def give_back(self, popped: Popped) -> Candidate | None:
        """Push the candidate again; it carries its position."""
        return self.push(popped.candidate)

    def in_flight(self) -> Collection[Url]:
        return self._in_flight.keys()

    # ---- the order

    def _entry(self, candidate: Candidate) -> _Entry:
        page: Any = candidate.carry.get(PAGE)
        position: Any = candidate.carry.get(POSITION)
        if not isinstance(page, int) or not isinstance(position, int):  # e.g. from a sitemap: after equal pages
            page, position = 1 << 62, self._strays
            self._strays += 1
        return -round(candidate.score, DECIMALS), page, position, candidate.url

    def _enter(self, candidate: Candidate, entry: _Entry) -> None:
        self._waiting[candidate.url] = (candidate, entry)
        if self.bound is not None:
            heappush(self._last, (-entry[0], -entry[1], -entry[2], entry[3]))
            if len(self._last) > 2 * len(self._waiting) + 64:
                self._last = [(-other[0], -other[1], -other[2], other[3]) for _, other in self._waiting.values()]
                heapify(self._last)
        if candidate.due > self._queues.now:
            heappush(self._parked, (candidate.due, entry))
            heappush(self._later, entry)
            if len(self._later) > 2 * len(self._waiting) + 64:
                self._later = [other for other in self._later if self._is_current(other)]
                heapify(self._later)
        else:
            self._queues.enter(entry)

    def _launch(self, url: Url) -> Candidate:
        candidate = self._leave(url)
        self._in_flight[url] = candidate
        return candidate

    def _leave(self, url: Url) -> Candidate:
        candidate, _ = self._waiting.pop(url)
        self._queues.leave(url)
        return candidate

    def _worst(self) -> Url:
        while True:
            score, page, position, url = self._last[0]
            waiting = self._waiting.get(url)
            if waiting is not None and waiting[1] == (-score, -page, -position, url):
                return url
            heappop(self._last)

    def _is_current(self, entry: _Entry) -> bool:
        waiting = self._waiting.get(entry[3])
        return waiting is not None and waiting[1] is entry

    # ---- saving

    def save(self) -> dict[str, Any]:
        """The state as JSON. Requests in flight count as waiting."""
        waiting = [candidate for candidate, _ in self._waiting.values()]
        return {
            "waiting": [plain(candidate) for candidate in (*waiting, *self._in_flight.values())],
            "strays": self._strays,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear()
        for fields in state["waiting"]:
            candidate = from_plain(fields)
            self._enter(candidate, self._entry(candidate))
        self._strays = state["strays"]
