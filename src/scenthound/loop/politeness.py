"""When a host may be asked again, and for what. robots.txt is a fact; waiting is a decision.

Every host has one state: when it may next be asked, and how often it failed lately. Every origin has
its rules, learned before its first page and kept for a day at most (RFC 9309).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

from scenthound import url as urls
from scenthound.model import Miss
from scenthound.web.robots import ALLOW_ALL, REFUSE_ALL, Rules

DAY = 86_400.0
FOREVER = float("inf")


@dataclass(slots=True)
class HostState:
    """What we owe one host."""

    next_allowed: float = 0.0
    failures: int = 0
    barren: int = 0
    """Pages in a row that held nothing relevant."""
    pages: int = 0
    met: bool = False
    """Asked for anything since this process started."""
    silent: bool = False
    """Gave no reply when it was last asked, in this process."""


@dataclass(slots=True)
class OriginRules:
    """What one origin's robots.txt says, until when it holds, and how often it could not be had."""

    rules: Rules
    until: float
    failures: int = 0
    why: str = "robots-unreachable"

    @property
    def weight(self) -> int:
        """What it costs to hold."""
        return 10 + len(self.rules.rules)


@dataclass(slots=True)
class Manners:
    """Who is asked when. All times are given; nothing here reads a clock."""

    delay: float = 1.0
    backoff: float = 10.0
    obey: bool = True
    tries: int = 2
    """How often a robots.txt that can't be had is asked for before its origin is given up for a day."""
    hosts: dict[str, HostState] = field(default_factory=dict)
    origins: dict[str, OriginRules] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    """Hosts and origins whose state has changed since somebody last wrote it down and cleared this."""
    resumed_at: float | None = None
    """When a crawl was taken up again: what its hosts were asked just before is not known exactly."""
    recall_host: Callable[[str], HostState | None] = field(default=lambda name: None)
    recall_origin: Callable[[str], OriginRules | None] = field(default=lambda origin: None)
    """Where to look for what is no longer held in memory: what was written down."""
    kept: int = 20_000
    """So many hosts are held in memory."""
    rules_kept: int = 200_000
    """So many lines of robots.txt files are held in memory."""
    rules_held: int = 0

    def host(self, name: str) -> HostState:
        state = self.hosts.get(name)
        if state is None:
            state = self.hosts[name] = self.recall_host(name) or HostState()
            if len(self.hosts) > self.kept:  # let go of the oldest tenth, but for hosts in use or not yet written down
                for old in list(islice(self.hosts, self.kept // 10)):
                    if old not in self.touched and old != name and self.hosts[old].next_allowed < FOREVER:
                        del self.hosts[old]
        return state

    def origin(self, name: str) -> OriginRules | None:
        known = self.origins.get(name)
        if known is None and (known := self.recall_origin(name)) is not None:
            self._keep(name, known)
        return known

    def _keep(self, name: str, rules: OriginRules) -> None:
        """Hold an origin's rules in memory, and let go of the oldest where there are too many rules in all."""
        before = self.origins.pop(name, None)
        self.rules_held += rules.weight - (before.weight if before else 0)
        self.origins[name] = rules
        while self.rules_held > self.rules_kept:
            old = next((old for old in self.origins if old not in self.touched and old != name), None)
            if old is None:
                return
            self.rules_held -= self.origins.pop(old).weight

    def due(self, origin: str) -> float:
        """When a host may first be asked after a restart: a whole delay after it, whatever it was asked before."""
        if self.resumed_at is None or self.host(urls.host(origin)).met:
            return 0.0
        return self.resumed_at + self.delay_of(origin)

    def verdict(self, spelling: str, now: float) -> str:
        """What to do about a URL whose host is awake: `fetch`, `ask-robots`, or the reason for leaving it alone."""
        if not self.obey:
            return "fetch"
        known = self.origin(urls.origin(spelling))
        if known is None or known.until <= now:
            return "ask-robots"
        if known.failures:
            return known.why
        return "fetch" if known.rules.may_fetch(spelling) else "robots"

    def learn(self, origin: str, rules: Rules | None, now: float, hopeless: str = "", retry_after: float = 0.0) -> None:
        """The origin's rules arrived; None: they could not be had, which means no, for a while.

        `hopeless` is the reason where asking again can't help: no such host, an address that is not allowed.
        """
        self.touched.add(origin)
        if rules is not None:
            self._keep(origin, OriginRules(rules, now + DAY))
            return
        before = self.origin(origin)
        failures = before.failures + 1 if before is not None else 1
        if hopeless or failures >= self.tries:
            self._keep(origin, OriginRules(REFUSE_ALL, now + DAY, self.tries, hopeless or "robots-unreachable"))
        else:
            wait = max(self.backoff * 2 ** (failures - 1), min(retry_after, DAY))
            self._keep(origin, OriginRules(REFUSE_ALL, now + wait, failures))

    def asks_again(self, origin: str) -> bool:
        """True while an unreachable robots.txt will be asked for again before its origin is given up."""
        known = self.origin(origin)
        return known is not None and 0 < known.failures < self.tries

    def rest_after(self, origin: str, now: float) -> float:
        """When the host may be asked again after a reply that was in order."""
        state = self._touch(urls.host(origin))
        state.failures = 0
        state.next_allowed = now + self.delay_of(origin)
        return state.next_allowed

    def rest_after_miss(self, miss: Miss, origin: str, now: float) -> float:
        """When the host may be asked again after a failure: back off where the host itself is in trouble."""
        state = self._touch(urls.host(origin))
        wait = self.delay_of(origin)
        if miss.status and miss.status not in (429, 503):
            state.failures = 0  # an answer is an answer
        if miss.status in (429, 503) or (miss.status == 0 and miss.retry_after is not None):
            state.failures += 1
            doubled = self.backoff * 2 ** min(state.failures - 1, 8)
            wait = max(wait, min(miss.retry_after or doubled, DAY) if miss.status else doubled)
        state.next_allowed = now + wait
        return state.next_allowed

    def _touch(self, name: str) -> HostState:
        self.touched.add(name)
        return self.host(name)

    def delay_of(self, origin: str) -> float:
        """The longer of our delay and the one that robots.txt asks for."""
        known = self.origin(origin)
        asked = known.rules.delay if known and self.obey else None
        return max(self.delay, asked or 0.0)


__all__ = ["ALLOW_ALL", "DAY", "REFUSE_ALL", "HostState", "Manners", "OriginRules"]
