"""Whether a candidate whose turn it is may be asked for: robots.txt, rests, and hosts that had enough."""

from __future__ import annotations

from typing import Literal, NamedTuple

from scenthound import url as urls
from scenthound.loop.messages import Limits, RobotsLanded, SitemapLanded
from scenthound.loop.politeness import Manners
from scenthound.model import Candidate, Miss, Moved, Url
from scenthound.page.page import Page

HOST_FAILURES = 6  # failures in a row after which a host is left alone: two URLs, each tried three times


class Verdict(NamedTuple):
    """What to do with a candidate.

    `fetch` it; ask for the `robots` file of its origin first; let its host `rest` until then, and hold it; `drop` it,
    if `until` is given only until then; or `lose` it: it will never be asked for.
    """

    do: Literal["fetch", "robots", "rest", "drop", "lose"]
    reason: str = ""
    until: float | None = None


FETCH, ROBOTS = Verdict("fetch"), Verdict("robots")


class Gate:
    """Manners and limits. Without manners everything may pass at any time."""

    def __init__(self, manners: Manners | None, limits: Limits) -> None:
        self._manners, self._limits = manners, limits

    def verdict(self, candidate: Candidate, now: float) -> Verdict:
        manners = self._manners
        if manners is None:
            return FETCH
        if reason := self.closed(urls.host(candidate.url)):
            return Verdict("drop", reason)
        spelling = candidate.spelling or candidate.url
        origin = urls.origin(spelling)
        if (due := manners.due(origin)) > now:  # what it was last asked before a restart is not known
            return Verdict("rest", until=due)
        said = manners.verdict(spelling, now)
        if said == "fetch":
            return FETCH
        if said == "ask-robots":
            return ROBOTS
        known = manners.origin(origin)
        if manners.asks_again(origin):
            return Verdict("rest", until=known.until if known else now)
        if said == "robots-unreachable":  # no, for a day; perhaps yes after that
            return Verdict("drop", said, known.until if known else now)
        return Verdict("lose", said)

    def closed(self, host: str) -> str | None:
        """Why nothing more is wanted of a host, if so: its budget is spent, or it has given nothing for long."""
        if self._manners is None:
            return None
        state, limits = self._manners.host(host), self._limits
        if limits.pages_per_host and state.pages >= limits.pages_per_host:
            return "host-budget"
        if state.failures >= HOST_FAILURES:
            return "host-failing"
        return "host-asleep" if limits.host_patience and state.barren >= limits.host_patience else None

    def rest_after(self, result: Page | Miss | Moved | RobotsLanded | SitemapLanded, now: float) -> float:
        """When the host may be asked again after this reply; rules that came with it hold from now on."""
        assert self._manners is not None
        origin = urls.origin(result.candidate.spelling or result.candidate.url)
        if isinstance(result, RobotsLanded):
            self._manners.learn(origin, result.rules, now, result.hopeless, result.retry_after)
        if isinstance(result, Miss):
            return self._manners.rest_after_miss(result, origin, now)
        return self._manners.rest_after(origin, now)

    def gave(self, url: Url, relevant: bool) -> None:
        """A host gave a page."""
        if self._manners is not None:
            host = self._manners.host(urls.host(url))
            host.pages += 1
            host.barren = 0 if relevant else host.barren + 1
