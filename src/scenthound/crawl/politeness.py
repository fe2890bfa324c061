"""When a host may be asked again, and for what. robots.txt is a fact; waiting is a decision.

Every host has one state: when it may next be asked, and how often it failed lately. Every origin has
its rules, learned before its first page and kept for a day at most (RFC 9309).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from scenthound import url as urls
from scenthound.model import Miss
from scenthound.web.robots import ALLOW_ALL, REFUSE_ALL, Rules

DAY = 86_400.0


@dataclass(slots=True)
class HostState:
    """What we owe one host."""

    next_allowed: float = 0.0
    failures: int = 0
    barren: int = 0
    """Pages in a row that held nothing relevant."""
    pages: int = 0


@dataclass(slots=True)
class OriginRules:
    """What one origin's robots.txt says, until when it holds, and how often it could not be had."""

    rules: Rules
    until: float
    failures: int = 0
    why: str = "robots-unreachable"


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
    recall_host: Callable[[str], HostState | None] = field(default=lambda name: None)
    recall_origin: Callable[[str], OriginRules | None] = field(default=lambda origin: None)
    """Where to look for what is no longer held in memory: what was written down."""
    kept: int = 20_000
    """So many hosts, and so many origins, are held in memory."""

    def host(self, name: str) -> HostState:
        state = self.hosts.get(name)
        if state is None:
            state = self.hosts[name] = self.recall_host(name) or HostState()
            self._forget(self.hosts)
        return state

    def origin(self, name: str) -> OriginRules | None:
        known = self.origins.get(name)
        if known is None and (known := self.recall_origin(name)) is not None:
            self.origins[name] = known
            self._forget(self.origins)
        return known

    def _forget(self, table: dict[str, Any]) -> None:
        """Let go of the tenth that came first where too many are held, but for those not yet written down."""
        if len(table) > self.kept:
            for name in [name for name in islice(table, self.kept // 10) if name not in self.touched]:
                del table[name]

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

    def learn(self, origin: str, rules: Rules | None, now: float, hopeless: str = "") -> None:
        """The origin's rules arrived; None: they could not be had, which means no, for a while.

        `hopeless` is the reason where asking again can't help: no such host, an address that is not allowed.
        """
        self.touched.add(origin)
        if rules is not None:
            self.origins[origin] = OriginRules(rules, now + DAY)
            self._forget(self.origins)
            return
        before = self.origin(origin)
        failures = before.failures + 1 if before is not None else 1
        if hopeless or failures >= self.tries:
            self.origins[origin] = OriginRules(REFUSE_ALL, now + DAY, self.tries, hopeless or "robots-unreachable")
        else:
            self.origins[origin] = OriginRules(REFUSE_ALL, now + self.backoff * 2 ** (failures - 1), failures)

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
