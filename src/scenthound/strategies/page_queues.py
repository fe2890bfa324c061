"""The frontier of a crawler that queues pages, not links: the best page's links are taken in document order.

Not a strategy: `context-graph` brings it. The next URL is the first link, in document order, of the first page that has
one left; pages are ordered by their score, then by arrival. That is one order over all links, (score of the page,
number of the page, place in it), so links on hosts that rest are passed over without losing their place. A URL that
several pages link to has the place of the best of them. When full, the last of the order falls out (rule 7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from scenthound import url as urls
from scenthound.model import Candidate, Url

DECIMALS = 12  # rule 3: what is compared is rounded before
PAGE, PLACE = "page", "place"
"""What a candidate carries: the number of the page whose link it is, and its place among that page's links."""

_Place = tuple[float, int, int, Url]  # (-score, number of the page, place in the page, url)


class PageQueues:
    """Links in the order of their pages. What is on its way keeps its place until it is settled."""

    def __init__(self, bound: int | None = None) -> None:
        if bound is not None and bound < 1:
            raise ValueError(f"a frontier's bound is at least 1, not {bound}")
        self.bound = bound
        self._resting: dict[str, float] = {}
        self._now = 0.0
        self.clear()

    def clear(self) -> None:
        """Forget everything but which hosts rest."""
        self._waiting: dict[Url, tuple[Candidate, _Place]] = {}
        self._flying: dict[Url, Candidate] = {}
        self._lines: dict[str, list[_Place]] = {}  # by host, of those that are due
        self._live: dict[str, int] = {}  # by host, how many wait
        self._heads: list[_Place] = []  # the first of each line whose host is awake, and some that were
        self._timers: list[tuple[float, str]] = []  # when a host wakes
        self._parked: list[tuple[float, _Place]] = []  # not due before
        self._last: list[tuple[float, int, int, Url]] = []  # the order backwards, where there is a bound
        self._strays = 0

    # ---- the port

    def push(self, candidate: Candidate) -> Candidate | None:
        if math.isnan(candidate.score):
            raise ValueError(f"a score must be a number: {candidate.url}")
        place = self._place(candidate)
        known = self._waiting.get(candidate.url)
        if known is not None:
            old, before = known
            due = max(old.due, candidate.due)
            if place < before or due > old.due:
                self._leave(candidate.url)
                better = candidate if place < before else old
                self._enter(better._replace(due=due), min(place, before))
            return None
        self._flying.pop(candidate.url, None)
        self._enter(candidate, place)
        if self.bound is not None and len(self._waiting) > self.bound:
            return self._leave(self._worst())
        return None

    def rest(self, host: str, until: float) -> None:
        if until <= self._now:
            self._resting.pop(host, None)
            self._post(host)
            return
        self._resting[host] = until
        if host in self._lines:
            self._set_timer(host)

    def pop(self, now: float) -> Candidate | None:
        self._now = max(self._now, now)
        while self._parked and self._parked[0][0] <= self._now:
            place = heappop(self._parked)[1]
            if self._is_current(place):
                self._line_up(place)
        while self._timers and self._timers[0][0] <= self._now:
            until, host = heappop(self._timers)
            if self._resting.get(host) == until:
                self._post(host)
        head = self._head()
        return None if head is None else self._launch(head[3])

    def ready_at(self) -> float | None:
        if self._head() is not None:
            return self._now
        while self._parked and not self._is_current(self._parked[0][1]):
            heappop(self._parked)
        while self._timers and not self._is_timely(*self._timers[0]):
            heappop(self._timers)
        moments = [one[0][0] for one in (self._parked, self._timers) if one]
        return min(moments, default=math.inf) if self._waiting else None

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, url: object) -> bool:
        return url in self._waiting

    # ---- what the loop may ask beyond the port

    def settle(self, url: Url) -> None:
        """What became of a URL is known: it need not be kept any more."""
        self._flying.pop(url, None)
        if url in self._waiting:
            self._leave(url)

    def take(self, url: Url) -> Candidate | None:
        """Pop this very URL, rested or not; None if it does not wait."""
        return self._launch(url) if url in self._waiting else None

    def give_back(self, number: int, candidate: Candidate) -> Candidate | None:
        """Return a popped candidate to its old place, which it carries."""
        return self.push(candidate)

    def in_flight(self) -> list[Url]:
        """Popped and not yet settled, oldest first."""
        return list(self._flying)

    # ---- the order

    def _place(self, candidate: Candidate) -> _Place:
        page: Any = candidate.carry.get(PAGE)
        place: Any = candidate.carry.get(PLACE)
        if not isinstance(page, int) or not isinstance(place, int):  # of a sitemap, say: behind all pages so good
            page, place = 1 << 62, self._strays
            self._strays += 1
        return -round(candidate.score, DECIMALS), page, place, candidate.url

    def _enter(self, candidate: Candidate, place: _Place) -> None:
        self._waiting[candidate.url] = (candidate, place)
        host = urls.host(candidate.url)
        self._live[host] = self._live.get(host, 0) + 1
        if self.bound is not None:
            heappush(self._last, (-place[0], -place[1], -place[2], place[3]))
            if len(self._last) > 2 * len(self._waiting) + 64:
                self._last = [(-one[0], -one[1], -one[2], one[3]) for _, one in self._waiting.values()]
                heapify(self._last)
        if candidate.due > self._now:
            heappush(self._parked, (candidate.due, place))
        else:
            self._line_up(place)

    def _line_up(self, place: _Place) -> None:
        host = urls.host(place[3])
        line = self._lines.setdefault(host, [])
        heappush(line, place)
        if self._is_resting(host):
            self._set_timer(host)
        elif line[0] is place:
            self._show(place)

    def _launch(self, url: Url) -> Candidate:
        candidate = self._leave(url)
        self._flying[url] = candidate
        return candidate

    def _leave(self, url: Url) -> Candidate:
        candidate, _ = self._waiting.pop(url)
        host = urls.host(url)
        self._live[host] -= 1
        if not self._live[host]:
            del self._live[host]
        self._post(host)
        return candidate

    def _worst(self) -> Url:
        while True:
            score, page, place, url = self._last[0]
            found = self._waiting.get(url)
            if found is not None and found[1] == (-score, -page, -place, url):
                return url
            heappop(self._last)

    def _post(self, host: str) -> None:
        """Show the first in line of a host, if it is awake; a line without anybody is closed."""
        line = self._lines.get(host)
        if line is None:
            return
        if len(line) > 2 * self._live.get(host, 0) + 16:  # most of it is gone
            line[:] = [place for place in line if self._is_current(place)]
            heapify(line)
        while line and not self._is_current(line[0]):
            heappop(line)
        if not line:
            del self._lines[host]
        elif not self._is_resting(host):
            self._show(line[0])

    def _show(self, place: _Place) -> None:
        heappush(self._heads, place)
        if len(self._heads) > 2 * len(self._lines) + 64:
            self._heads = [line[0] for host, line in self._lines.items() if not self._is_resting(host)]
            heapify(self._heads)

    def _is_resting(self, host: str) -> bool:
        until = self._resting.get(host)
        if until is not None and until <= self._now:
            del self._resting[host]
            until = None
        return until is not None

    def _set_timer(self, host: str) -> None:
        if self._resting[host] < math.inf:
            heappush(self._timers, (self._resting[host], host))

    def _is_timely(self, until: float, host: str) -> bool:
        return self._resting.get(host) == until and host in self._lines

    def _head(self) -> _Place | None:
        """The first of the order on a host that is awake."""
        while self._heads:
            place = self._heads[0]
            host = urls.host(place[3])
            if self._is_current(place) and not self._is_resting(host) and self._lines[host][0] is place:
                return place
            heappop(self._heads)
        return None

    def _is_current(self, place: _Place) -> bool:
        found = self._waiting.get(place[3])
        return found is not None and found[1] is place

    # ---- what survives a restart

    def save(self) -> dict[str, Any]:
        """Plain JSON. What is on its way counts as waiting."""
        waiting = [candidate for candidate, _ in self._waiting.values()]
        return {"waiting": [_plain(one) for one in (*waiting, *self._flying.values())], "strays": self._strays}

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear()
        for fields in state["waiting"]:
            candidate = _candidate(fields)
            self._enter(candidate, self._place(candidate))
        self._strays = state["strays"]


def _plain(candidate: Candidate) -> list[Any]:
    """A candidate as JSON has it."""
    score = None if candidate.score == math.inf else candidate.score
    return [candidate.url, score, dict(candidate.carry), dict(candidate.parts), *candidate[4:9]]


def _candidate(fields: Sequence[Any]) -> Candidate:
    score = math.inf if fields[1] is None else float(fields[1])
    return Candidate(Url(fields[0]), score, *fields[2:9])
