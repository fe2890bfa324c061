"""Tells dead hosts from an outage of our own connection.

If many hosts in a row give no answer, either they are all dead or our own connection is down. To find out, a host that
answered before is asked for its robots.txt again (a probe). If it answers, our connection is up and the silent hosts
are dead. If no probe is answered, our connection is down: failures are excused, and until a host answers only a few
requests are sent between two rounds of probes.

Excuses are counted: after `EXCUSES` of them a host's failures count like any other. So every candidate fails in the
end, whatever the state of our connection, and a crawl of dead hosts ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scenthound import url as urls
from scenthound.loop.messages import FOREVER, RobotsLanded, SitemapLanded
from scenthound.model import Miss, Url

HOSTS = 16  # hosts in a row without an answer that make us doubt our own connection
STRANGERS = 64  # the same, if no host has answered yet and there is none to probe
PROBES = 3  # hosts probed at once: one of them may have died meanwhile
REMEMBERED = 8  # hosts that answered last, which are probed
EXCUSES = 3  # failures of one host that are not counted
PAUSE = 15.0  # rest of a host after its first excuse, in seconds; doubled each time
LONGEST = 300.0
CLOSED = ("reset", "empty-reply")  # the connection was accepted and closed: our own is up


class Connectivity:
    """Receives every result; decides which failures are excused and which host to probe."""

    def __init__(self) -> None:
        self._silent: set[str] = set()
        self._is_down = False
        self._answering: dict[str, None] = {}  # origins, the latest last
        self._probed: set[str] = set()  # origins of this round of probes
        self._probes: set[Url] = set()  # those in flight
        self._excuses: dict[str, int] = {}
        self._pause = PAUSE  # if there is no host to probe
        self._until = 0.0  # the end of that pause; 0: there is none

    @property
    def doubts(self) -> bool:
        """True if so many hosts in a row gave no answer that our own connection may be down."""
        return len(self._silent) >= HOSTS

    def observe(self, result: Any) -> bool:
        """Take in a result. True: it is a failure that is excused, since our own connection may be down."""
        url = result.candidate.url
        was_probe = url in self._probes
        self._probes.discard(url)
        if isinstance(result, SitemapLanded):  # a sitemap that failed does not say why
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

    def excuse(self, host: str) -> float:
        """Excuse a failure of this host. Returns how long the host rests."""
        before = self._excuses.get(host, 0)
        self._excuses[host] = before + 1
        return min(PAUSE * 2.0**before, LONGEST)

    def probe(self, next_allowed: Callable[[str], float], now: float) -> Url | float:
        """While in doubt: the robots.txt to request as a probe, or the time until which nothing else is requested.

        That time is 0 if nothing can be found out: no host has answered yet, or those that did are being asked.
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
        """Until when nothing is requested; 0 once that is over, and as many new hosts as before may be tried."""
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
        """Our connection is down. Before the next round as many hosts as made us doubt may be tried, since those that
        answered once may have died."""
        self._is_down = True
        self._silent.clear()
        self._probed.clear()


def is_unanswered(result: Any) -> bool:
    """True for a request that brought no reply and may be tried again."""
    if isinstance(result, Miss):
        return result.status == 0 and result.retry_after is not None
    if isinstance(result, RobotsLanded):
        return result.rules is None and not result.hopeless and not result.answered
    return False


def _is_answer(result: Any) -> bool:
    """True for a reply of the host itself; an unknown host name is none."""
    if isinstance(result, Miss):
        return result.status > 0
    return not isinstance(result, RobotsLanded) or result.answered
