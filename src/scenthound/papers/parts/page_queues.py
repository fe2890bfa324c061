"""The frontier of a crawler that queues pages, not links: the best page's links are taken in document order.

    order = score of the page descending, number of the page, position of the link in it

Used by `context-graph`. The next URL is the first remaining link, in document order, of the first page that has one;
pages are ordered by score, then by arrival. Since this is one order over all links, links on resting hosts are skipped
without losing their position. A URL that several pages link to has its position on the best of them. When the frontier
is full, the last URL in the order is dropped (rule 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scenthound.model import DECIMALS, Candidate, Url
from scenthound.papers.parts.strategy_frontier import HostQueues, StrategyFrontier, from_plain, plain
from scenthound.ports import Popped

PAGE, POSITION = "page", "place"
"""Keys in a candidate's `carry`: the number of the page with the link, and the link's position in the page."""

_Entry = tuple[float, int, int, Url]  # (-score, number of the page, position in the page, url)


class PageQueues(StrategyFrontier):
    """Links in the order of their pages. A URL in flight keeps its position until it is settled."""

    def __init__(self, bound: int | None = None) -> None:
        self._queues: HostQueues[_Entry] = HostQueues(is_bounded=bound is not None)
        super().__init__(bound)
        self.clear()

    def clear(self) -> None:
        self._forget_urls()
        self._queues.clear()
        self._strays = 0

    # ---- the order

    def _push(self, candidate: Candidate) -> Candidate | None:
        entry = self._entry(candidate)
        waiting = self._waiting.get(candidate.url)
        if waiting is not None:
            old, old_entry = waiting.candidate, self._queues.entry(candidate.url)
            due = max(old.due, candidate.due)
            if entry < old_entry or due > old.due:
                self._leave(candidate.url)
                better = candidate if entry < old_entry else old
                self._enter(better._replace(due=due), min(entry, old_entry))
            return None
        self._enter(candidate, entry)
        if self.bound is not None and len(self._waiting) > self.bound:
            return self._leave(self._queues.last()[3]).candidate
        return None

    def _pop(self) -> Popped | None:
        first = self._queues.first(self.host_clock)
        return None if first is None else self._launch(first[3], self._queues.first_later(self.host_clock))

    def _wake(self) -> None:
        self._queues.wake(self.host_clock.take_woken())

    def _leave(self, url: Url) -> Popped:
        self._queues.leave(url)
        return super()._leave(url)

    def give_back(self, popped: Popped) -> Candidate | None:
        """Push the candidate again; it carries its position."""
        return self.push(popped.candidate)

    def _entry(self, candidate: Candidate) -> _Entry:
        page: Any = candidate.carry.get(PAGE)
        position: Any = candidate.carry.get(POSITION)
        if not isinstance(page, int) or not isinstance(position, int):  # e.g. from a sitemap: after equal pages
            page, position = 1 << 62, self._strays
            self._strays += 1
        return -round(candidate.score, DECIMALS), page, position, candidate.url

    def _enter(self, candidate: Candidate, entry: _Entry) -> None:
        self._waiting[candidate.url] = Popped(candidate)
        self._queues.enter(entry, candidate.due)

    # ---- saving

    def save(self) -> dict[str, Any]:
        """The state as JSON. Requests in flight count as waiting."""
        waiting = (*self._waiting.values(), *self._flying())
        return {"waiting": [plain(popped.candidate) for popped in waiting], "strays": self._strays}

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear()
        for fields in state["waiting"]:
            candidate = from_plain(fields)
            self._enter(candidate, self._entry(candidate))
        self._strays = state["strays"]
