"""How long to wait for a page, by how fast its host has answered so far.

    mean ← 7/8 mean + 1/8 seconds      deviation ← 3/4 deviation + 1/4 |mean - seconds|      after every reply
    time-out = mean + 4 deviation, kept between `least` and `most`; after a time-out twice what it was

"Automatically changing timeout values" ([CHAP] section 2.3), by the rules of TCP for its retransmission timer (RFC
6298, section 2). A host that has not answered yet has `most` seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from scenthound.model import Response
from scenthound.ports import Failure

MOST_HOSTS = 50_000  # kept in memory


class Habit(NamedTuple):
    """How a host answers: the mean time, its mean deviation, and the time-out that follows."""

    mean: float
    deviation: float
    timeout: float


@dataclass(slots=True)
class HostTimeouts:
    """The time-out of every host, from `least` to `most` seconds."""

    least: float
    most: float
    _habits: dict[str, Habit] = field(default_factory=dict)

    async def reply(
        self, host: str, asked: Awaitable[Response | Failure], clock: Callable[[], float]
    ) -> Response | Failure:
        """The reply to a request, or a failure if it takes too long; what the host showed is remembered."""
        started = clock()
        try:
            async with asyncio.timeout(self.seconds(host)):
                reply = await asked
        except TimeoutError:
            self.timed_out(host)
            return Failure("timeout", "slower than this host usually is", may_retry=True)
        if isinstance(reply, Response):
            self.answered(host, clock() - started)
        return reply

    def seconds(self, host: str) -> float:
        habit = self._habits.get(host)
        return self.most if habit is None else habit.timeout

    def answered(self, host: str, seconds: float) -> None:
        habit = self._habits.pop(host, None)
        if habit is None:
            mean, deviation = seconds, seconds / 2.0
            if len(self._habits) >= MOST_HOSTS:
                del self._habits[next(iter(self._habits))]
        else:
            mean = 0.875 * habit.mean + 0.125 * seconds
            deviation = 0.75 * habit.deviation + 0.25 * abs(habit.mean - seconds)
        timeout = min(self.most, max(self.least, mean + 4.0 * deviation))
        self._habits[host] = Habit(mean, deviation, timeout)  # the host heard of last is forgotten last

    def timed_out(self, host: str) -> None:
        habit = self._habits.get(host)
        if habit is not None:
            self._habits[host] = habit._replace(timeout=min(self.most, 2.0 * habit.timeout))
