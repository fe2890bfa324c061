"""Decide whether a candidate may be fetched now: robots.txt, limits per host, hosts that fail, traps."""

from __future__ import annotations

from typing import Literal, NamedTuple

from scenthound import url as urls
from scenthound.hosts import HostClock
from scenthound.loop.messages import Limits
from scenthound.loop.suspended_urls import SuspendedUrls
from scenthound.loop.trap_watch import TrapWatch
from scenthound.model import Candidate

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
    """Applies robots.txt and limits. Without a host clock every candidate may be fetched at any time."""

    def __init__(
        self,
        host_clock: HostClock | None,
        limits: Limits,
        traps: TrapWatch | None = None,
        suspended: SuspendedUrls | None = None,
    ) -> None:
        self._host_clock, self._limits, self._traps = host_clock, limits, traps
        self._suspended = SuspendedUrls() if suspended is None else suspended
        self.blocked: set[str] = set()
        """Hosts that the user has blocked."""

    def verdict(self, candidate: Candidate, now: float) -> Decision:
        """Decide about the candidate whose turn it is."""
        host_clock = self._host_clock
        url, parent = candidate.url, candidate.parent
        if self._traps is not None and parent is not None and not self._suspended.may_be_fetched(url):  # noqa: SIM102
            if self._traps.suspends(url, parent):
                return SUSPEND
        if host_clock is None:
            return FETCH
        if reason := self.closed(urls.host(candidate.url)):
            return Decision("drop", reason)
        spelling = candidate.spelling or candidate.url
        origin = urls.origin(spelling)
        if (due := host_clock.due(origin)) > now:
            return Decision("rest", until=due)
        verdict = host_clock.verdict(spelling, now)
        if verdict == "fetch":
            return FETCH
        if verdict == "ask-robots":
            return ASK_ROBOTS
        rules = host_clock.origin(origin)
        if host_clock.asks_again(origin):
            return Decision("rest", until=rules.until if rules else now)
        if verdict == "robots-unreachable":  # forbidden for a day; perhaps allowed after that
            return Decision("drop", verdict, rules.until if rules else now)
        return Decision("lose", verdict)

    def closed(self, host: str) -> str | None:
        """Why nothing more is fetched from a host, or None: blocked, failing, over its budget, or never relevant."""
        if self._host_clock is None:
            return None
        if host in self.blocked:
            return "blocked"
        state, limits = self._host_clock.host(host), self._limits
        if limits.pages_per_host and state.pages >= limits.pages_per_host:
            return "host-budget"
        if state.failures >= HOST_FAILURES:
            return "host-failing"
        return "host-asleep" if limits.host_patience and state.barren >= limits.host_patience else None
