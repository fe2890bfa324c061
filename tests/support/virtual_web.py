"""A web on a virtual clock: literal replies, every request recorded with its time. No socket, no waiting."""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from scenthound import url as urls
from scenthound.hosts import AddressDelay
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Done, Fetch, Postponed, Result
from scenthound.loop.replies import Replies
from scenthound.model import Response
from scenthound.page.read import PageLimits
from scenthound.ports import Failure

REPLIES = Replies("scenthound", PageLimits())
Answer = Callable[[str], Response | Failure]


def reply(url: str, body: str = "", status: int = 200, kind: str = "text/html", location: str = "") -> Response:
    headers = (("Content-Type", kind), *([("Location", location)] if location else []))
    return Response(url, status, "", headers, body.encode())


@dataclass
class VirtualWeb:
    """Answers requests after `latency` seconds."""

    answer: Answer
    latency: float = 0.1
    concurrency: int = 32
    address_delay: AddressDelay | None = None
    address: Callable[[str], str] = field(default=lambda host: host)
    requests: list[tuple[float, str]] = field(default_factory=list)

    def crawl(self, crawl: Crawl, most: int = 10_000) -> str:
        """Run a started crawl to its end. Returns the reason."""
        now, flying = 0.0, list[tuple[float, int, Fetch]]()
        for _ in range(most):
            step = crawl.next(now) if len(flying) < self.concurrency else None
            if isinstance(step, Done):
                return step.reason
            if isinstance(step, Fetch):
                if (later := self._until(step, now)) > now:
                    crawl.postpone(Postponed(step.candidate, later), later)
                else:
                    self.requests.append((now, step.spelling))
                    heapq.heappush(flying, (now + self.latency, len(self.requests), step))
            elif step is not None and (not flying or step.until < flying[0][0]):
                now = max(now, step.until)
            else:
                now, _, landed = heapq.heappop(flying)
                crawl.landed(self._result(landed, now), now)
        raise AssertionError(f"{most} steps, and the crawl is not over")

    def _until(self, step: Fetch, now: float) -> float:
        host = urls.host(step.spelling)
        return now if self.address_delay is None else self.address_delay.ready_at(host, self.address(host), now)

    def _result(self, fetch: Fetch, now: float) -> Result:
        return REPLIES.result(fetch, self.answer(fetch.spelling), now)

    def gaps(self, key: Callable[[str], str] = urls.host) -> dict[str, list[float]]:
        """Seconds between two requests, by host or another key."""
        times = defaultdict[str, list[float]](list)
        for moment, url in self.requests:
            times[key(url)].append(moment)
        return {name: [later - before for before, later in itertools.pairwise(at)] for name, at in times.items()}

    def asked(self, host: str) -> list[str]:
        return [url for _, url in self.requests if urls.host(url) == host]
