"""Replay on a virtual clock: hosts rest, replies take time, robots.txt is fetched, several requests are in flight.

The loop and strategies are those of `loop.replay`, which has no delays. Here the fetch order of a live crawl can be
studied without a network, and an hour of crawling takes a second. The time until a reply is

    latency = median * exp(sigma * z),  z ~ N(0, 1),  at most `LONGEST`

where z depends only on the seed number and the URL: a request takes equally long in every crawl, whenever it is made.
Nothing else is random, and time passes only while the crawl waits, so a crawl is the same in every run.

Ours: robots.txt costs a request and a delay for every host, as in a live crawl, but its rules are not applied, as in
any replay.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from statistics import NormalDist

from scenthound.errors import BadConfig
from scenthound.hosts import HostClock
from scenthound.loop.core import Crawl
from scenthound.loop.fetch_order import ORDERS, WINDOW, Order, OrderRule
from scenthound.loop.messages import Done, Fetch, Result, RobotsLanded, SitemapLanded
from scenthound.loop.replay import Landing
from scenthound.loop.settings import Settings
from scenthound.model import Candidate
from scenthound.web.robots import ALLOW_ALL

LONGEST = 30.0  # seconds: a live request times out soon after
_LIVE = Settings()


@dataclass(frozen=True, slots=True)
class PoliteLimits:
    """Politeness towards hosts, and how fast they reply. The defaults are those of a live crawl."""

    delay: float = _LIVE.delay
    """Seconds that a host rests after each request."""
    latency: float = 0.2
    """Median seconds until a reply."""
    sigma: float = 0.5
    """Spread of the logarithm of the latency; 0: all replies take the same time."""
    concurrency: int = _LIVE.concurrency
    """Requests in flight at once."""
    order: Order = "auto"
    """The fetch order, as in `crawl --order`."""
    seconds: float = 0.0
    """The crawl ends at this virtual time; 0: no limit."""

    def __post_init__(self) -> None:
        for name in ("delay", "latency", "sigma", "seconds"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise BadConfig(f"`{name}` of a polite replay can't be {value}", "give a number, 0 or more")
        if self.concurrency < 1:
            raise BadConfig(f"`concurrency` of a polite replay can't be {self.concurrency}", "give 1 or more")
        if self.order not in ORDERS:
            raise BadConfig(f"`order` of a polite replay can't be {self.order!r}", f"give one of {', '.join(ORDERS)}")

    def latency_of(self, url: str, seed_number: int = 0) -> float:
        """Seconds until the reply to a request for this URL."""
        if not self.sigma:
            return min(self.latency, LONGEST)
        digest = hashlib.sha256(f"{seed_number}:{url}".encode("utf-8", "surrogatepass")).digest()
        uniform = (int.from_bytes(digest[:8], "big") + 0.5) / 2**64
        return min(self.latency * math.exp(self.sigma * _NORMAL.inv_cdf(uniform)), LONGEST)

    @property
    def ends_at(self) -> float:
        return self.seconds or math.inf

    @property
    def rule(self) -> OrderRule:
        return OrderRule(self.order, min(self.concurrency, WINDOW), delay=self.delay)

    def host_clock(self) -> HostClock:
        return HostClock(self.delay, _LIVE.backoff)


_NORMAL = NormalDist()


def polite_replay(
    crawl: Crawl, fetch: Callable[[Candidate], Landing], limits: PoliteLimits, seed_number: int = 0
) -> tuple[str, float]:
    """Run a started crawl to its end. Returns the reason and the virtual seconds that it took."""
    now, requests = 0.0, 0
    in_flight: list[tuple[float, int, Fetch]] = []  # a heap, ordered by the time of the reply
    while True:
        step = None
        while len(in_flight) < limits.concurrency and isinstance(step := crawl.next(now), Fetch):
            requests += 1
            heappush(in_flight, (now + limits.latency_of(step.spelling, seed_number), requests, step))
        if isinstance(step, Done):
            return step.reason, now
        wake_time = math.inf if step is None or isinstance(step, Fetch) else step.until
        if in_flight and in_flight[0][0] <= wake_time:
            now, _, request = heappop(in_flight)
            crawl.landed(_result(request, fetch), now)
        else:
            assert now < wake_time < math.inf, "the loop waits for nothing"
            now = wake_time


def _result(request: Fetch, fetch: Callable[[Candidate], Landing]) -> Result:
    if request.kind == "robots":
        return RobotsLanded(request.candidate, ALLOW_ALL, answered=True)
    return SitemapLanded(request.candidate) if request.kind == "sitemap" else fetch(request.candidate)
