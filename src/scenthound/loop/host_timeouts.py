"""Adapt the time-out for a page to how fast its host has answered so far.

    mean ← 7/8 mean + 1/8 seconds      deviation ← 3/4 deviation + 1/4 |mean - seconds|      after every reply
    time-out = mean + 4 deviation, limited to `least` … `most`; doubled after each time-out

This implements the "automatically changing timeout values" of [CHAP], section 2.3, with the rules for TCP's
retransmission timer (RFC 6298, section 2). A host that has not answered yet has `most` seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from scenthound.loop.settings import Settings
from scenthound.model import Response
from scenthound.ports import Failure

MOST_HOSTS = 50_000  # kept in memory


class ReplyTime(NamedTuple):
    """How fast a host answers: the mean time, its mean deviation, and the resulting time-out."""

    mean: float
    deviation: float
    timeout: float


@dataclass(slots=True)
class HostTimeouts:
    """The time-out of every host, from `least` to `most` seconds."""

    least: float
    most: float
    _reply_times: dict[str, ReplyTime] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> HostTimeouts | None:
        """The adaptive time-outs of a crawl; None if only `page_timeout` applies."""
        least, most = settings.adaptive_timeout, settings.page_timeout
        return cls(least, most) if 0.0 < least < most else None

    async def reply(
        self, host: str, request: Awaitable[Response | Failure], clock: Callable[[], float]
    ) -> Response | Failure:
        """Await a request and return the reply, or a failure if it takes too long. Adapts the host's time-out."""
        started = clock()
        try:
            async with asyncio.timeout(self.seconds(host)):
                reply = await request
        except TimeoutError:
            self.timed_out(host)
            return Failure("timeout", "slower than this host usually is", may_retry=True)
        if isinstance(reply, Response):
            self.answered(host, clock() - started)
        return reply

    def seconds(self, host: str) -> float:
        previous = self._reply_times.get(host)
        return self.most if previous is None else previous.timeout

    def answered(self, host: str, seconds: float) -> None:
        previous = self._reply_times.pop(host, None)
        if previous is None:
            mean, deviation = seconds, seconds / 2.0
            if len(self._reply_times) >= MOST_HOSTS:
                del self._reply_times[next(iter(self._reply_times))]
        else:
            mean = 0.875 * previous.mean + 0.125 * seconds
            deviation = 0.75 * previous.deviation + 0.25 * abs(previous.mean - seconds)
        timeout = min(self.most, max(self.least, mean + 4.0 * deviation))
        self._reply_times[host] = ReplyTime(mean, deviation, timeout)  # moved to the end, so that it is forgotten last

    def timed_out(self, host: str) -> None:
        previous = self._reply_times.get(host)
        if previous is not None:
            self._reply_times[host] = previous._replace(timeout=min(self.most, 2.0 * previous.timeout))
