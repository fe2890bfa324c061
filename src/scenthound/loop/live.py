"""The live driver: the loop over HTTP, on asyncio. The only file of `loop` that reads a clock.

A request holds a slot from its start until its result is durable, so whatever a `kill -9` undoes was in flight by our
own count. Results are committed in groups. A slow request gives its slot back earlier: see `slots`.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol

from scenthound.loop.core import Crawl
from scenthound.loop.messages import Done, Fetch, Result, Wait
from scenthound.loop.replies import REDIRECTS, Replies, kept, most_bytes, next_hop
from scenthound.loop.slots import Slots
from scenthound.model import Candidate, Miss, Moved, Response
from scenthound.page.page import Page
from scenthound.ports import Failure, Fetcher

BUSY = 6  # replies that wait to be read at one moment, from which on worker processes are started …
SETTLED = 50  # … once so many pages are recorded: a smaller crawl is over before a worker is ready
AT_ONCE = 8  # replies taken in before new requests are sent and workers are supplied
OWN = 4  # a reply that has to be read here first counts as so many of these


class Durable(Protocol):
    """Makes a group of landed pages permanent: the crawl folder."""

    def commit(self, now: float) -> None: ...


class Reader(Protocol):
    """Reads pages in worker processes."""

    def start(self) -> None:
        """Start the workers: there is more to read than one process can. May be called again."""

    def takes(self, response: Response | Failure) -> bool:
        """Whether there is room for it now."""

    def read(
        self, candidate: Candidate, response: Response, then: Callable[[Page | Miss | Moved | None], None]
    ) -> None:
        """Read a reply and call `then` with the result, later; with None if the caller has to read it."""


class _Landed(NamedTuple):
    """The reply to a request, and when it came; `result` if a worker has read it."""

    fetch: Fetch
    reply: Response | Failure
    ended: float
    result: Result | None = None


@dataclass(eq=False, slots=True)
class _Flight:
    """A request in flight, and the deadline by which it can be cancelled."""

    fetch: Fetch
    deadline: asyncio.Timeout


class Clock:
    """Wall-clock seconds that never jump: a later call is never earlier."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() + self._offset


class _Idle:
    """How long the driver has been idle so far: the time inside its `with` blocks."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._sum, self._since = clock, 0.0, 0.0

    def __call__(self) -> float:
        return self._sum + (self._clock() - self._since if self._since else 0.0)

    def __enter__(self) -> None:
        self._since = self._clock()

    def __exit__(self, *_: object) -> None:
        self._sum, self._since = self(), 0.0


@dataclass(slots=True)
class LiveRun:
    """One live run of a crawl. `interrupt()` once: finish what is in flight; twice: stop now."""

    crawl: Crawl
    fetcher: Fetcher
    durable: Durable
    replies: Replies
    concurrency: int = 32
    slow_requests: int = 128
    """Requests, in addition to these, that wait for a slow host."""
    group_pages: int = 8
    group_time: float = 0.25
    delay: float = 1.0
    reader: Reader | None = None
    clock: Callable[[], float] = field(default_factory=Clock)
    tick: Callable[[], None] | None = None
    """Called at least a few times a second, to show progress."""
    listen: Callable[[], None] | None = None
    """Called when all that has landed is durable, to tell the strategy of new labels."""
    interrupted: int = 0
    _wake: asyncio.Event | None = None
    _being_read: int = 0
    """Replies that the workers are reading."""

    def interrupt(self) -> None:
        self.interrupted += 1
        self.crawl.stop("interrupted")
        if self._wake is not None:
            self._wake.set()

    async def run(self) -> str:
        """Run to the end and return the reason. Whatever happens, what has landed is committed first."""
        wake = self._wake = asyncio.Event()
        landed: deque[_Landed] = deque()
        unread: deque[_Landed] = deque()  # replies that a worker may take; read here if there is nothing else to do
        tasks: set[asyncio.Task[None]] = set()
        uncommitted, since = 0, self.clock()
        idle, slots = _Idle(self.clock), Slots[_Flight](self.concurrency, self.slow_requests)

        async def bring(flight: _Flight) -> None:
            fetch = flight.fetch
            try:
                async with flight.deadline:
                    reply = await self._fetch(fetch)
            except TimeoutError:
                reply = Failure("timeout", "slow, and others were waiting", may_retry=True)
            except Exception as error:  # a bug of the fetcher must not leave its host waiting for ever
                reply = Failure("client-error", f"{type(error).__name__}: {error}"[:200])
            slots.end(flight, idle(), fetch.kind == "page" and isinstance(reply, Response))
            (unread if self._readable(fetch, reply) else landed).append(_Landed(fetch, reply, self.clock()))
            wake.set()
            hand_out()

        def hand_out() -> None:
            while self.reader is not None and unread and self.reader.takes(unread[0].reply):
                one = unread.popleft()
                assert isinstance(one.reply, Response)
                try:
                    self.reader.read(one.fetch.candidate, one.reply, partial(was_read, one))
                except Exception:  # its own bug: read the page here
                    landed.append(one)
                else:
                    self._being_read += 1

        def was_read(one: _Landed, result: Result | None) -> None:
            self._being_read -= 1
            if result is None:  # for the next free worker
                unread.appendleft(one)
            else:
                landed.append(one._replace(result=result))
            wake.set()
            hand_out()

        try:
            while self.interrupted < 2:
                now = self.clock()
                step: Fetch | Wait | Done = Wait(now)
                taken = len(landed) + len(unread) + self._being_read + uncommitted
                while slots.held(idle()) + taken < self.concurrency:
                    slow = [flight.fetch for flight in slots.slow]
                    if not isinstance(step := self.crawl.next(now, slow), Fetch):
                        break
                    flight = _Flight(step, asyncio.timeout(None))
                    slots.begin(flight, idle(), step.host)
                    task = asyncio.create_task(bring(flight))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
                if isinstance(step, Done):
                    return step.reason
                full = slots.held(idle()) + taken >= self.concurrency
                if full and (given_up := slots.give_way(idle())) is not None:
                    given_up.deadline.reschedule(0.0)
                until = step.until if isinstance(step, Wait) and not full else now + self.group_time
                latest = since + self.group_time if uncommitted else now + 0.2
                rest = min(until, latest) - now
                rest = max(min(rest, slots.held_for(idle())), 0.001) if full else max(rest, 0.0)
                if landed or unread:
                    await self._sleep(wake, 0.0)
                else:
                    with idle:
                        await self._sleep(wake, rest)
                if self.reader is not None and len(unread) >= BUSY and self.crawl.pages >= SETTLED:
                    self.reader.start()
                room = AT_ONCE
                while room > 0 and (landed or unread):
                    room -= 1 if landed else OWN
                    self._land(*(landed or unread).popleft())
                    uncommitted += 1
                now = self.clock()
                due = uncommitted >= self.group_pages or now - since >= self.group_time
                if uncommitted and (due or not (slots.held(idle()) or unread or self._being_read)):
                    self.durable.commit(now)
                    uncommitted = 0
                if not uncommitted:
                    since = now
                    if self.listen is not None:
                        self.listen()
                if self.tick is not None:
                    self.tick()
            return "interrupted"
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.durable.commit(self.clock())

    @staticmethod
    async def _sleep(wake: asyncio.Event, seconds: float) -> None:
        if seconds > 0:
            try:
                await asyncio.wait_for(wake.wait(), seconds)
            except TimeoutError:
                return
        else:
            await asyncio.sleep(0)
        wake.clear()

    # ---- one request

    async def _fetch(self, fetch: Fetch) -> Response | Failure:
        """One request; for robots.txt and sitemaps the redirects too, a delay apart, since no page waits for them."""
        if fetch.kind == "page":
            return await self.fetcher.fetch(fetch.spelling)
        spelling, most = fetch.spelling, most_bytes(fetch)
        for _ in range(REDIRECTS + 1):
            reply = await self.fetcher.fetch(spelling, most)
            if (target := next_hop(fetch, reply, spelling)) is None:
                return reply
            spelling = target
            await asyncio.sleep(self.delay)
        return reply

    def _readable(self, fetch: Fetch, reply: Response | Failure) -> bool:
        return self.reader is not None and fetch.kind == "page" and isinstance(reply, Response) and reply.status == 200

    def _land(self, fetch: Fetch, reply: Response | Failure, ended: float, read: Result | None) -> None:
        now = self.clock()
        result = read or self.replies.result(fetch, reply, now)
        self.crawl.landed(result, now, kept(result, reply), ended)
