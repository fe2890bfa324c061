"""The frontier of an economy: URLs wait until an auction needs them.

The loop never pushes URLs that it excludes (scope, robots.txt); if an auction needs such a URL, it is skipped and the
next decision is made. Seeds come first. A needed URL on a resting host is promised: it is popped as soon as that host
is awake. At most `AHEAD` URLs are promised at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from scenthound import url as urls
from scenthound.model import Candidate, Url
from scenthound.papers.parts.strategy_frontier import StrategyFrontier, from_plain, plain
from scenthound.ports import Popped

AHEAD = 8


class AuctionFrontier(StrategyFrontier):
    """The URLs that are promised (`_waiting`), those that no auction needs yet (`_later`), and those in flight.

    `want` returns the next candidate that an auction needs, or None; `is_held` tells whether nothing can be decided
    before all requests in flight have landed.
    """

    def __init__(self, bound: int | None, want: Callable[[], Candidate | None], is_held: Callable[[], bool]) -> None:
        super().__init__(bound)
        self._want, self._is_held = want, is_held
        self.clear()

    def clear(self) -> None:
        self._forget_urls()
        self._numbers = 0

    # ---- the order

    def _push(self, candidate: Candidate) -> Candidate | None:
        if candidate.url in self:
            return None
        if self._refuses(candidate):
            return candidate
        if "asked" in candidate.carry:
            self._promise(candidate)
        else:
            self._later[candidate.url] = candidate
        return None

    def _pop(self) -> Popped | None:
        while True:
            for url in self._waiting:
                if self._is_ready(url):
                    return self._launch(url, self._first_later())
            if len(self._waiting) >= AHEAD or ((self._waiting or self._in_flight) and self._is_held()):
                return None
            if not self.decide():
                break
        if not self._in_flight and not self._waiting:  # no auction needs the remaining URLs: pop the oldest
            for url, candidate in self._later.items():
                if self._is_ready(url):
                    del self._later[url]
                    self._promise(candidate._replace(carry={"asked": url}))
                    return self._launch(url)
        return None

    def _is_ready(self, url: Url) -> bool:
        return self.host_clock.is_ready(urls.host(url))

    def _first_later(self) -> Url | None:
        """The first promised URL that can be popped at a known time; no other URL is needed yet."""
        clock = self.host_clock
        return next((url for url in self._waiting if clock.now < clock.ready_at(urls.host(url)) < math.inf), None)

    def _promise(self, candidate: Candidate) -> None:
        self._waiting[candidate.url] = Popped(candidate)

    def _launch(self, url: Url, later: Url | None = None) -> Popped:
        self._numbers += 1
        return super()._launch(url, later)._replace(number=self._numbers)

    def decide(self, after: Url | None = None) -> bool:
        """Make the next decision, and promise the URL that it needs if it waits.

        Returns False if no URL is needed. On resume, decisions are repeated up to the page that is read `after` them.
        """
        wanted = self._want()
        if wanted is None:
            return False
        waiting = self._later.pop(wanted.url, None)
        if waiting is not None and wanted.url != after:
            self._promise(waiting._replace(score=wanted.score, carry=wanted.carry, parts=wanted.parts))
        return True

    def take(self, url: Url) -> Candidate | None:
        """Pop this URL if it waits; otherwise it is the target of a redirect."""
        if (candidate := self._later.pop(url, None)) is not None:
            self._promise(candidate)
        elif url not in self._waiting and self._is_running:
            self._in_flight[url] = None
        return super().take(url)

    def give_back(self, popped: Popped) -> Candidate | None:
        """Promise the URL again, before all others."""
        self._in_flight.pop(popped.candidate.url, None)
        self._waiting = {popped.candidate.url: popped, **self._waiting}
        return None

    # ---- saving

    def save(self) -> dict[str, Any]:
        """The state as JSON. Requests in flight count as promised."""
        promised = (*self._flying(), *self._waiting.values())
        return {
            "waiting": [plain(candidate)[:8] for candidate in self._later.values()],
            "promised": [plain(popped.candidate)[:8] for popped in promised],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear()
        self._later = {candidate.url: candidate for candidate in map(from_plain, state["waiting"])}
        for fields in state["promised"]:
            self._promise(from_plain(fields))
