"""The frontier of an economy: URLs wait until an auction needs them.

The loop never pushes URLs that it excludes (scope, robots.txt); if an auction needs such a URL, it is skipped and the
next decision is made. Seeds come first. A needed URL on a resting host is promised: it is popped as soon as that host
is awake. At most `AHEAD` URLs are promised at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from scenthound import url as urls
from scenthound.model import Candidate, Url
from scenthound.papers.parts.saved_candidates import from_plain, plain
from scenthound.ports import Frontier, Popped

AHEAD = 8


class AuctionFrontier(Frontier):
    """The URLs that are waiting, promised or in flight.

    `want` returns the next candidate that an auction needs, or None; `is_held` tells whether nothing can be decided
    before all requests in flight have landed.
    """

    def __init__(self, bound: int | None, want: Callable[[], Candidate | None], is_held: Callable[[], bool]) -> None:
        if bound is not None and bound < 1:
            raise ValueError(f"a frontier's bound is at least 1, not {bound}")
        self.bound, self._want, self._is_held = bound, want, is_held
        self._resting: dict[str, float] = {}
        self._now = 0.0
        self.clear()

    def clear(self) -> None:
        """Forget everything except which hosts rest."""
        self._waiting: dict[Url, Candidate] = {}
        self._promised: dict[Url, Candidate] = {}
        self._in_flight: dict[Url, Candidate | None] = {}  # None: the target of a redirect
        self._is_running = False
        self._numbers = 0

    # ---- the port

    def push(self, candidate: Candidate) -> Candidate | None:
        if math.isnan(candidate.score):
            raise ValueError(f"a score must be a number: {candidate.url}")
        self._in_flight.pop(candidate.url, None)
        if candidate.url in self:
            return None
        if candidate.due > self._now or (self.bound is not None and len(self) >= self.bound):
            return candidate
        (self._promised if "asked" in candidate.carry else self._waiting)[candidate.url] = candidate
        return None

    def rest(self, host: str, until: float) -> None:
        if until <= self._now:
            self._resting.pop(host, None)
        else:
            self._resting[host] = until

    def pop(self, now: float) -> Popped | None:
        self._is_running = True
        self._now = max(self._now, now)
        while True:
            for url in self._promised:
                if self._is_awake(url):
                    return self._launch(url)
            if len(self._promised) >= AHEAD or ((self._promised or self._in_flight) and self._is_held()):
                return None
            if not self.decide():
                break
        if not self._in_flight and not self._promised:  # no auction needs the remaining URLs: pop the oldest
            for url, candidate in self._waiting.items():
                if self._is_awake(url):
                    self._promised[url] = candidate._replace(carry={"asked": url})
                    return self._launch(url)
        return None

    def best_resting(self, now: float) -> tuple[Candidate, float] | None:
        """The first promised URL whose host rests; no other URL is needed yet."""
        self._now = max(self._now, now)
        for url, candidate in self._promised.items():
            until = self._resting.get(urls.host(url), 0.0)
            if self._now < until < math.inf:
                return candidate, until
        return None

    def decide(self, after: Url | None = None) -> bool:
        """Make the next decision, and promise the URL that it needs if it waits.

        Returns False if no URL is needed. On resume, decisions are repeated up to the page that is read `after` them.
        """
        wanted = self._want()
        if wanted is None:
            return False
        waiting = self._waiting.pop(wanted.url, None)
        if waiting is not None and wanted.url != after:
            self._promised[wanted.url] = waiting._replace(score=wanted.score, carry=wanted.carry, parts=wanted.parts)
        return True

    def ready_at(self) -> float | None:
        candidates = self._promised or self._waiting
        if not candidates:
            return None
        if self._in_flight and not self._promised:  # the next decision needs a result
            return math.inf
        hosts = {urls.host(url) for url in candidates}
        return max(self._now, min(self._resting.get(host, self._now) for host in hosts))

    def __len__(self) -> int:
        return len(self._waiting) + len(self._promised)

    def __contains__(self, url: object) -> bool:
        return url in self._waiting or url in self._promised

    def urls(self) -> Collection[Url]:
        return [*self._waiting, *self._promised]

    # ---- in flight

    def settle(self, url: Url) -> None:
        for group in (self._in_flight, self._waiting, self._promised):
            group.pop(url, None)

    def take(self, url: Url) -> Candidate | None:
        """Pop this URL if it waits; otherwise it is the target of a redirect."""
        candidate = self._promised.get(url) or self._waiting.pop(url, None)
        if candidate is not None:
            self._promised[url] = candidate
            return self._launch(url).candidate
        if self._is_running:  # before the first pop this is a restart
            self._in_flight[url] = None
        return None

    def give_back(self, popped: Popped) -> Candidate | None:
        """Promise the URL again, before all others."""
        self._in_flight.pop(popped.candidate.url, None)
        self._promised = {popped.candidate.url: popped.candidate, **self._promised}
        return None

    def in_flight(self) -> Collection[Url]:
        return self._in_flight.keys()

    def _launch(self, url: Url) -> Popped:
        candidate = self._in_flight[url] = self._promised.pop(url)
        self._numbers += 1
        return Popped(candidate, number=self._numbers)

    def _is_awake(self, url: Url) -> bool:
        return self._resting.get(urls.host(url), 0.0) <= self._now

    # ---- saving

    def save(self) -> dict[str, Any]:
        """The state as JSON. Requests in flight count as promised."""
        in_flight = [candidate for candidate in self._in_flight.values() if candidate is not None]
        return {
            "waiting": [plain(candidate)[:8] for candidate in self._waiting.values()],
            "promised": [plain(candidate)[:8] for candidate in (*in_flight, *self._promised.values())],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear()
        self._waiting = {candidate.url: candidate for candidate in map(from_plain, state["waiting"])}
        self._promised = {candidate.url: candidate for candidate in map(from_plain, state["promised"])}
