"""Distinguish dead hosts from an outage of our own connection.

If many hosts in a row do not answer, either they are all dead or our own connection is down. To find out, a host that
answered before is asked for its robots.txt again (a probe). If it answers, our connection is up and the silent hosts
are dead. If no probe is answered, our connection is down: failures are excused, and until a host answers only a few
requests are sent between two rounds of probes.

Each host has at most `EXCUSES` excuses; after that its failures count as usual. So every candidate fails in the end,
whatever the state of our connection, and a crawl of dead hosts ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scenthound import url as urls
from scenthound.loop.messages import FOREVER, RobotsLanded, SitemapLanded
from scenthound.model import Miss, Url

HOSTS = 16  # silent hosts in a row after which we doubt our own connection
STRANGERS = 64  # the same if no host has answered yet, so there is no host to probe
PROBES = 3  # hosts probed per round: one of them may have died in the meantime
REMEMBERED = 8  # hosts to choose probes from: those that answered most recently
EXCUSES = 3  # failures of one host that are not counted
PAUSE = 15.0  # seconds that a host rests after its first excuse; doubled with each further one
LONGEST = 300.0  # maximum seconds that a host rests after an excuse
CLOSED = ("reset", "empty-reply")  # a server accepted the connection and closed it, so ours is up


class Connectivity:
    """Receives every result; decides which failures are excused and which host to probe."""

    def __init__(self) -> None:
        self._silent: set[str] = set()
        self._is_down = False
        self._answering: dict[str, None] = {}  # origins, the most recent last
        self._probed: set[str] = set()  # origins probed in this round
        self._probes: set[Url] = set()  # probes in flight
        self._excuses: dict[str, int] = {}
        self._pause = PAUSE  # length of the next pause if there is no host to probe
        self._until = 0.0  # the end of the current pause; 0: no pause

    @property
    def doubts(self) -> bool:
        """True if our own connection may be down: at least `HOSTS` hosts in a row did not answer."""
        return len(self._silent) >= HOSTS

    def observe(self, result: Any) -> bool:
        """Process a result. True if it is a failure to excuse, because our own connection may be down."""
        url = result.candidate.url
        was_probe = url in self._probes
        self._probes.discard(url)
        if isinstance(result, SitemapLanded):  # it does not contain the reason for a failure
            return False
        if is_unanswered(result) and result.reason not in CLOSED:
            self._silent.add(urls.host(url))
            in_doubt = self._is_down or self.doubts
            if was_probe and not self._probes:
                self._round_failed()
            return was_probe or (in_doubt and self._excuses.get(urls.host(url), 0) < EXCUSES)
        if _is_answer(result):
            self._remember(urls.origin(result.candidate.spelling or url))
        if self._silent or self._is_down:
            self._silent.clear()
            self._probed.clear()
            self._is_down, self._pause, self._until = False, PAUSE, 0.0
        return False

    def excuse_failure(self, host: str) -> float:
        """Excuse a failure of this host. Returns how long the host rests."""
        before = self._excuses.get(host, 0)
        self._excuses[host] = before + 1
        return min(PAUSE * 2.0**before, LONGEST)

    def probe(self, next_allowed: Callable[[str], float], now: float) -> Url | float:
        """While in doubt: the robots.txt to request as a probe, or the time before which nothing else is requested.

        The time is 0 if no probe is possible: no host has answered yet, or those that did may not be asked now.
        """
        if len(self._probed) < PROBES:
            for origin in reversed(self._answering):
                if origin not in self._probed and next_allowed(urls.host(origin)) <= now:
                    self._probed.add(origin)
                    self._probes.add(url := Url(origin + "/robots.txt"))
                    return url
        if self._probes:
            return FOREVER
        if self._answering:
            first = min(next_allowed(urls.host(origin)) for origin in self._answering)
            return first if now < first < FOREVER else 0.0
        if len(self._silent) < STRANGERS:
            return 0.0
        return self._paused(now)

    def _paused(self, now: float) -> float:
        """The end of the current pause, beginning one if necessary. 0 once it is over; counting then starts again."""
        if not self._until:
            self._until, self._pause = now + self._pause, min(2 * self._pause, LONGEST)
        if now < self._until:
            return self._until
        self._until, self._is_down = 0.0, True
        self._silent.clear()
        return 0.0

    def _remember(self, origin: str) -> None:
        self._excuses.pop(urls.host(origin), None)
        self._answering.pop(origin, None)
        self._answering[origin] = None
        if len(self._answering) > REMEMBERED:
            del self._answering[next(iter(self._answering))]

    def _round_failed(self) -> None:
        """Conclude that our connection is down. `HOSTS` other hosts may be tried before the next round, as the hosts
        that answered once may have died."""
        self._is_down = True
        self._silent.clear()
        self._probed.clear()


def is_unanswered(result: Any) -> bool:
    """True for a request that got no reply and may be repeated."""
    if isinstance(result, Miss):
        return result.status == 0 and result.retry_after is not None
    if isinstance(result, RobotsLanded):
        return result.rules is None and not result.hopeless and not result.answered
    return False


def _is_answer(result: Any) -> bool:
    """True for a reply from the host itself, unlike the failed lookup of a host name."""
    if isinstance(result, Miss):
        return result.status > 0
    return not isinstance(result, RobotsLanded) or result.answered
