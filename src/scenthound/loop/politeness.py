"""Decide when a host may be asked again, and whether a candidate may be fetched now.

Every host has a state: when it may next be asked, how often in a row it failed, how many pages it has sent. Every
origin has its robots rules, fetched before its first page and kept for at most a day (RFC 9309, 2.4). Only `Politeness`
changes these; `Admission` applies them, and the limits per host, to the candidate whose turn it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

from scenthound import url as urls
from scenthound.loop.messages import FOREVER, ROBOTS, HostBehaviour, Limits, Result, RobotsLanded
from scenthound.loop.suspended_urls import SuspendedUrls
from scenthound.loop.trap_watch import TrapWatch
from scenthound.model import Candidate, Miss
from scenthound.web.robots import ALLOW_ALL, REFUSE_ALL, RobotsRules, comparable

DAY = 86_400.0


class KnownHost(NamedTuple):
    """The state of one host."""

    next_allowed: float = 0.0
    failures: int = 0
    """Failures in a row."""
    barren: int = 0
    """Pages in a row that were not relevant."""
    pages: int = 0
    met: bool = False
    """Whether this process has sent a request to it."""
    silent: bool = False
    """Whether the last request of this process to it got no reply."""


@dataclass(frozen=True, slots=True)
class OriginRules:
    """The robots rules of one origin, until when they are valid, and how often they could not be fetched."""

    rules: RobotsRules
    until: float
    failures: int = 0
    why: str = "robots-unreachable"

    @property
    def weight(self) -> int:
        """Its size in memory, in lines of rules."""
        return 10 + len(self.rules.rules)


class Changes(NamedTuple):
    """The hosts and origins whose state has changed since the last call of `take_changes`."""

    hosts: Mapping[str, KnownHost]
    origins: Mapping[str, OriginRules]


@dataclass(slots=True)
class Politeness:
    """The state of all hosts and origins. All times are arguments; nothing here reads a clock."""

    delay: float = 1.0
    backoff: float = 10.0
    obey: bool = True
    robots_cache: float = 3600.0
    """Seconds for which robots rules are valid."""
    tries: int = 2
    """How often an unreachable robots.txt is requested before its origin is left alone for a day."""
    recall_host: Callable[[str], KnownHost | None] = field(default=lambda name: None)
    """Reads the state of a host that is not in memory."""
    recall_origin: Callable[[str], OriginRules | None] = field(default=lambda origin: None)
    most_hosts: int = 20_000
    """Hosts kept in memory."""
    most_rules: int = 200_000
    """Lines of robots.txt files kept in memory."""
    _resumed_at: float | None = None
    _hosts: dict[str, KnownHost] = field(default_factory=dict)
    _origins: dict[str, OriginRules] = field(default_factory=dict)
    _changed_hosts: set[str] = field(default_factory=set)
    _changed_origins: set[str] = field(default_factory=set)
    _rules_held: int = 0

    # ---- hosts

    def host(self, name: str) -> KnownHost:
        state = self._hosts.get(name)
        if state is None:
            state = self._hosts[name] = self.recall_host(name) or KnownHost()
            if len(self._hosts) > self.most_hosts:
                self._drop_old_hosts(name)
        return state

    def _drop_old_hosts(self, new: str) -> None:
        """Drop the oldest tenth, except hosts that are in flight or not saved yet."""
        for old in list(islice(self._hosts, self.most_hosts // 10)):
            if old not in self._changed_hosts and old != new and self._hosts[old].next_allowed < FOREVER:
                del self._hosts[old]

    def next_allowed(self, host: str) -> float:
        return self.host(host).next_allowed

    def resting(self, now: float) -> dict[str, float]:
        """The hosts in memory that may not be asked yet, and until when."""
        return {name: state.next_allowed for name, state in self._hosts.items() if state.next_allowed > now}

    def rest(self, host: str, until: float) -> None:
        """Do not ask this host before `until`."""
        self._hosts[host] = self.host(host)._replace(next_allowed=until)

    def launched(self, host: str) -> HostBehaviour:
        """Register a request. The host rests until `landed`. Returns how it has behaved so far."""
        state = self.host(host)
        self._hosts[host] = state._replace(next_allowed=FOREVER, met=True)
        return "silent" if state.silent else "proven" if state.pages else "new"

    def replied(self, host: str, is_silent: bool) -> None:
        """Store whether a request got a reply."""
        state = self.host(host)
        if state.silent != is_silent:
            self._hosts[host] = state._replace(silent=is_silent)

    def landed(self, result: Result, now: float) -> float:
        """Process a result. Returns when the host may be asked again, after its delay or back-off."""
        spelling = result.candidate.spelling or result.candidate.url
        origin = urls.origin(spelling)
        if isinstance(result, RobotsLanded):
            asked_for = result.candidate.carry.get(ROBOTS, origin)
            self.learn(asked_for, result.rules, now, result.hopeless, result.retry_after)
            if asked_for != origin and result.rules is not None and spelling == f"{origin}/robots.txt":
                self.learn(origin, result.rules, now)  # a redirect led to the file of another origin
        return self.rest_after_miss(result, origin, now) if isinstance(result, Miss) else self.rest_after(origin, now)

    def rest_after(self, origin: str, now: float) -> float:
        """Let a host that answered rest for one delay."""
        return self._rest(urls.host(origin), 0, now + self.delay_of(origin))

    def rest_after_miss(self, miss: Miss, origin: str, now: float) -> float:
        """Let a host rest for one delay after a failed request, or longer if the host itself is in trouble."""
        host, wait = urls.host(origin), self.delay_of(origin)
        failures = self.host(host).failures
        if miss.status and miss.status not in (429, 503):
            failures = 0  # any other status shows that the host works
        if miss.status in (429, 503) or (miss.status == 0 and miss.retry_after is not None):
            failures += 1
            doubled = self.backoff * 2 ** min(failures - 1, 8)
            wait = max(wait, min(miss.retry_after or doubled, DAY) if miss.status else doubled)
        return self._rest(host, failures, now + wait)

    def _rest(self, host: str, failures: int, until: float) -> float:
        self._changed_hosts.add(host)
        self._hosts[host] = self.host(host)._replace(failures=failures, next_allowed=until)
        return until

    def count_page(self, host: str, relevant: bool) -> None:
        """Count a page from this host."""
        self._changed_hosts.add(host)
        state = self.host(host)
        self._hosts[host] = state._replace(pages=state.pages + 1, barren=0 if relevant else state.barren + 1)

    # ---- after a restart

    def resume_at(self, now: float) -> None:
        """Set the time of the resume. When hosts were last asked is not known exactly."""
        self._resumed_at = now

    def due(self, origin: str) -> float:
        """When a host may first be asked after a restart (one whole delay later); 0 if it was asked since."""
        if self._resumed_at is None or self.host(urls.host(origin)).met:
            return 0.0
        return self._resumed_at + self.delay_of(origin)

    def take_changes(self) -> Changes:
        """Return what has changed since the last call. The caller saves it, so that it can be dropped from memory."""
        hosts = {name: self._hosts[name] for name in self._changed_hosts}
        origins = {name: self._origins[name] for name in self._changed_origins}
        self._changed_hosts.clear()
        self._changed_origins.clear()
        return Changes(hosts, origins)

    # ---- robots.txt

    def origin(self, name: str) -> OriginRules | None:
        rules = self._origins.get(name)
        if rules is None and (rules := self.recall_origin(name)) is not None:
            self._keep(name, rules)
        return rules

    def _keep(self, name: str, rules: OriginRules) -> None:
        """Keep an origin's rules in memory; drop the oldest if there are too many rules in total."""
        before = self._origins.pop(name, None)
        self._rules_held += rules.weight - (before.weight if before else 0)
        self._origins[name] = rules
        while self._rules_held > self.most_rules:
            old = next((old for old in self._origins if old not in self._changed_origins and old != name), None)
            if old is None:
                return
            self._rules_held -= self._origins.pop(old).weight

    def verdict(self, spelling: str, now: float) -> str:
        """Decide about a URL whose host is awake: `fetch`, `ask-robots`, or the reason not to fetch it."""
        if not self.obey:
            return "fetch"
        rules = self.origin(urls.origin(spelling))
        if rules is None or rules.until <= now:
            return "ask-robots"
        if rules.failures:
            return rules.why
        return "fetch" if rules.rules.may_fetch(comparable(spelling)) else "robots"

    def learn(
        self, origin: str, rules: RobotsRules | None, now: float, hopeless: str = "", retry_after: float = 0.0
    ) -> None:
        """Store an origin's rules. None means that they could not be fetched, which forbids everything for a while.

        `hopeless` is the reason why another request can't help: no such host, an address that is not allowed.
        """
        self._changed_origins.add(origin)
        if rules is not None:
            self._keep(origin, OriginRules(rules, now + min(self.robots_cache, DAY)))
            return
        before = self.origin(origin)
        failures = before.failures + 1 if before is not None else 1
        if hopeless or failures >= self.tries:
            self._keep(origin, OriginRules(REFUSE_ALL, now + DAY, self.tries, hopeless or "robots-unreachable"))
        else:
            wait = max(self.backoff * 2 ** (failures - 1), min(retry_after, DAY))
            self._keep(origin, OriginRules(REFUSE_ALL, now + wait, failures))

    def asks_again(self, origin: str) -> bool:
        """True while an unreachable robots.txt will be requested again soon."""
        rules = self.origin(origin)
        return rules is not None and 0 < rules.failures < self.tries

    def delay_of(self, origin: str) -> float:
        """The delay for an origin: ours, or the delay in its robots.txt if that is longer."""
        rules = self.origin(origin)
        robots_delay = rules.rules.delay if rules and self.obey else None
        return max(self.delay, robots_delay or 0.0)


__all__ = ["ALLOW_ALL", "DAY", "REFUSE_ALL", "Changes", "KnownHost", "OriginRules", "Politeness"]


HOST_FAILURES = 6  # failures in a row after which a host is no longer asked: two URLs, each tried three times


class Decision(NamedTuple):
    """A decision about a candidate.

    `fetch`: request it. `robots`: request the robots.txt of its origin first. `rest`: keep it pending, because its
    host rests until `until`. `suspend`: it looks like a trap, so it waits behind all others. `drop`: do not request it,
    or not before `until`. `lose`: record it as a miss.
    """

    do: Literal["fetch", "robots", "rest", "suspend", "drop", "lose"]
    reason: str = ""
    until: float | None = None


FETCH, ASK_ROBOTS, SUSPEND = Decision("fetch"), Decision("robots"), Decision("suspend")


class Admission:
    """Applies politeness and limits. Without politeness every candidate may be fetched at any time."""

    def __init__(
        self,
        politeness: Politeness | None,
        limits: Limits,
        traps: TrapWatch | None = None,
        suspended: SuspendedUrls | None = None,
    ) -> None:
        self._politeness, self._limits, self._traps = politeness, limits, traps
        self._suspended = SuspendedUrls() if suspended is None else suspended
        self.blocked: set[str] = set()
        """Hosts that the user has blocked."""

    def verdict(self, candidate: Candidate, now: float) -> Decision:
        """Decide about the candidate whose turn it is."""
        politeness = self._politeness
        url, parent = candidate.url, candidate.parent
        if self._traps is not None and parent is not None and not self._suspended.may_be_fetched(url):  # noqa: SIM102
            if self._traps.suspends(url, parent):
                return SUSPEND
        if politeness is None:
            return FETCH
        if reason := self.closed(urls.host(candidate.url)):
            return Decision("drop", reason)
        spelling = candidate.spelling or candidate.url
        origin = urls.origin(spelling)
        if (due := politeness.due(origin)) > now:
            return Decision("rest", until=due)
        verdict = politeness.verdict(spelling, now)
        if verdict == "fetch":
            return FETCH
        if verdict == "ask-robots":
            return ASK_ROBOTS
        rules = politeness.origin(origin)
        if politeness.asks_again(origin):
            return Decision("rest", until=rules.until if rules else now)
        if verdict == "robots-unreachable":  # forbidden for a day; perhaps allowed after that
            return Decision("drop", verdict, rules.until if rules else now)
        return Decision("lose", verdict)

    def closed(self, host: str) -> str | None:
        """Why nothing more is fetched from a host, or None: blocked, failing, over its budget, or never relevant."""
        if self._politeness is None:
            return None
        if host in self.blocked:
            return "blocked"
        state, limits = self._politeness.host(host), self._limits
        if limits.pages_per_host and state.pages >= limits.pages_per_host:
            return "host-budget"
        if state.failures >= HOST_FAILURES:
            return "host-failing"
        return "host-asleep" if limits.host_patience and state.barren >= limits.host_patience else None
