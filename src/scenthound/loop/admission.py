"""May a candidate whose turn it is be fetched: robots.txt, resting hosts, and limits per host."""

from __future__ import annotations

from typing import Literal, NamedTuple

from scenthound import url as urls
from scenthound.loop.messages import Limits
from scenthound.loop.politeness import Politeness
from scenthound.model import Candidate

HOST_FAILURES = 6  # failures in a row after which a host is given up: two URLs, each tried three times


class Verdict(NamedTuple):
    """What to do with a candidate.

    `fetch`: request it. `robots`: request the robots.txt of its origin first. `rest`: its host rests until then, and
    the candidate is pending. `drop`: leave it out, if `until` is given only until then. `lose`: never request it.
    """

    do: Literal["fetch", "robots", "rest", "drop", "lose"]
    reason: str = ""
    until: float | None = None


FETCH, ROBOTS = Verdict("fetch"), Verdict("robots")


class Admission:
    """Applies politeness and limits. Without politeness every candidate may be fetched at any time."""

    def __init__(self, politeness: Politeness | None, limits: Limits) -> None:
        self._politeness, self._limits = politeness, limits

    def verdict(self, candidate: Candidate, now: float) -> Verdict:
        politeness = self._politeness
        if politeness is None:
            return FETCH
        if reason := self.closed(urls.host(candidate.url)):
            return Verdict("drop", reason)
        spelling = candidate.spelling or candidate.url
        origin = urls.origin(spelling)
        if (due := politeness.due(origin)) > now:
            return Verdict("rest", until=due)
        said = politeness.verdict(spelling, now)
        if said == "fetch":
            return FETCH
        if said == "ask-robots":
            return ROBOTS
        known = politeness.origin(origin)
        if politeness.asks_again(origin):
            return Verdict("rest", until=known.until if known else now)
        if said == "robots-unreachable":  # forbidden for a day; perhaps allowed after that
            return Verdict("drop", said, known.until if known else now)
        return Verdict("lose", said)

    def closed(self, host: str) -> str | None:
        """Why nothing more is fetched from a host, if so: it failed, its budget is spent, or its pages are useless."""
        if self._politeness is None:
            return None
        state, limits = self._politeness.host(host), self._limits
        if limits.pages_per_host and state.pages >= limits.pages_per_host:
            return "host-budget"
        if state.failures >= HOST_FAILURES:
            return "host-failing"
        return "host-asleep" if limits.host_patience and state.barren >= limits.host_patience else None
