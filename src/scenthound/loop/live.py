"""The live driver: the loop over real HTTP, on asyncio. The only place in `crawl` that reads a clock.

A slot is taken when a request goes out and given back when what it brought is durable, so whatever a
`kill -9` undoes was in flight by our own count. Landed pages are committed in groups. A request that is slow gives its
slot back earlier, to somebody who can use it: see `slots`.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol

from scenthound import url as urls
from scenthound.errors import NotAUrl, Unreadable
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Done, Fetch, RobotsLanded, SitemapLanded, Wait
from scenthound.loop.slots import Slots
from scenthound.model import Candidate, Miss, Moved, Response
from scenthound.page.landing import PageLimits, land
from scenthound.page.page import Page
from scenthound.page.record import EVERYTHING, Parts
from scenthound.ports import Failure, Fetcher
from scenthound.web.decode import decompress
from scenthound.web.robots import ALLOW_ALL, parse, verdict_for_status
from scenthound.web.sitemap import read_sitemap

ROBOTS_REDIRECTS = 5  # RFC 9309, 2.3.1.2
BUSY = 6  # replies that wait to be read at one moment, from which on a reader is called …
AT_ONCE = 8  # replies taken in before others are looked after: requests that are due, and a reader that wants work
OWN = 4  # so many of these is one that has to be read here first
SETTLED = 50  # … once so many pages are recorded: a smaller crawl is over before a reader is ready
ROBOTS_BYTES = 512 * 1024  # as much of a robots.txt as is read; the RFC asks for 500 KiB at least
Result = Page | Miss | Moved | RobotsLanded | SitemapLanded


class Durable(Protocol):
    """Whoever makes a group of landed pages permanent."""

    def commit(self, now: float) -> None: ...


class Reader(Protocol):
    """Whoever reads pages beside the crawl's own process."""

    def start(self) -> None:
        """There is more to read than one process can: get ready. May be said again and again."""
        ...

    def takes(self, response: Response | Failure) -> bool:
        """Whether there is room for it now."""
        ...

    def read(
        self, candidate: Candidate, response: Response, then: Callable[[Page | Miss | Moved | None], None]
    ) -> None:
        """Have a reply read; `then` is told, later, what it means. None: read it yourself."""
        ...


class _Landed(NamedTuple):
    """What a request brought, and when; `result` where a reader has said what it means."""

    fetch: Fetch
    reply: Response | Failure
    ended: float
    result: Result | None = None


@dataclass(eq=False, slots=True)
class _Flight:
    """A request on its way, and the deadline by which it can be given up."""

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
    agent: str
    """The product token that robots.txt and X-Robots-Tag are read for."""
    page_limits: PageLimits
    concurrency: int = 32
    slow_requests: int = 128
    """Requests beside these that only wait for a slow host."""
    group_pages: int = 8
    group_time: float = 0.25
    obey_robots: bool = True
    delay: float = 1.0
    reader: Reader | None = None
    clock: Callable[[], float] = field(default_factory=Clock)
    tick: Callable[[], None] | None = None
    """Called now and then, at least a few times a second, for whoever shows progress."""
    parts: Parts = EVERYTHING
    """What of each page is read."""
    listen: Callable[[], None] | None = None
    """Called now and then while all that has landed is durable, for whoever has something to tell the strategy."""
    interrupted: int = 0
    _wake: asyncio.Event | None = None
    _being_read: int = 0
    """Replies that the reader has taken and not yet told of."""

    def interrupt(self) -> None:
        self.interrupted += 1
        self.crawl.stop("interrupted")
        if self._wake is not None:
            self._wake.set()

    async def run(self) -> str:
        """Run to the end and say why it ended. Whatever happens, what has landed is committed first."""
        wake = self._wake = asyncio.Event()
        landed: deque[_Landed] = deque()
        unread: deque[_Landed] = deque()  # replies that a reader may take; we do when there is nothing else to do
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
            except Exception as error:  # a fetcher's own fault must not leave its host waiting for ever
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
                except Exception:  # its own fault: we read the page ourselves
                    landed.append(one)
                else:
                    self._being_read += 1

        def was_read(one: _Landed, result: Result | None) -> None:
            self._being_read -= 1
            if result is None:  # for whoever is free next
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
        spelling, most = fetch.spelling, ROBOTS_BYTES if fetch.kind == "robots" else None
        for _ in range(ROBOTS_REDIRECTS + 1):
            reply = await self.fetcher.fetch(spelling, most)
            if isinstance(reply, Failure) or not 300 <= reply.status < 400 or not reply.header("location"):
                return reply
            try:
                target = urls.resolve(reply.header("location"), spelling)
            except NotAUrl:
                return reply
            if fetch.kind == "sitemap" and urls.host(target) != urls.host(spelling):
                return reply  # a sitemap speaks for its own host only
            spelling = target
            await asyncio.sleep(self.delay)
        return reply

    def _readable(self, fetch: Fetch, reply: Response | Failure) -> bool:
        return self.reader is not None and fetch.kind == "page" and isinstance(reply, Response) and reply.status == 200

    def _land(self, fetch: Fetch, reply: Response | Failure, ended: float, read: Result | None) -> None:
        now = self.clock()
        result = read or self._meaning(fetch, reply, now)
        kept = None if isinstance(reply, Failure) or _unwanted(result) else reply
        self.crawl.landed(result, now, kept, ended)

    def _meaning(self, fetch: Fetch, reply: Response | Failure, now: float) -> Result:
        if fetch.kind == "robots":
            return self._robots(fetch, reply, now)
        if fetch.kind == "sitemap":
            return self._listing(fetch, reply)
        if isinstance(reply, Failure):
            again = 0.0 if reply.may_retry else None
            return Miss(fetch.candidate, reply.reason, reply.detail, size=reply.size, retry_after=again)
        agent = self.agent if self.obey_robots else ""
        try:
            return land(fetch.candidate, reply, self.page_limits, self.parts, agent=agent, now=now)
        except Exception as error:  # it promises not to; if it does, one page must not stop the crawl for good
            return Miss(fetch.candidate, "unreadable", f"{type(error).__name__}: {error}"[:200], reply.status)

    def _robots(self, fetch: Fetch, reply: Response | Failure, now: float) -> RobotsLanded:
        """What a robots.txt says. One that was cut short by trouble is as good as none: unreachable."""
        if isinstance(reply, Failure):
            hopeless = "" if reply.may_retry else reply.reason
            return RobotsLanded(fetch.candidate, None, hopeless, reason=reply.reason)
        match verdict_for_status(reply.status):
            case "allow":
                return RobotsLanded(fetch.candidate, ALLOW_ALL, answered=True)
            case "parse" if reply.truncated not in ("time", "disconnect"):
                body = _unpacked(reply, ROBOTS_BYTES)
                rules = None if body is None else parse(body, self.agent)
                return RobotsLanded(fetch.candidate, rules, answered=True)
        said = land(fetch.candidate, reply, self.page_limits, Parts(), now=now)
        wait = said.retry_after if isinstance(said, Miss) and said.retry_after else 0.0
        return RobotsLanded(fetch.candidate, None, retry_after=wait, answered=True)

    def _listing(self, fetch: Fetch, reply: Response | Failure) -> SitemapLanded:
        if isinstance(reply, Failure) or reply.status != 200:
            return SitemapLanded(fetch.candidate)
        found = read_sitemap(_unpacked(reply, self.page_limits.unpacked) or b"", fetch.spelling)
        listed = []
        for entry in found.urls:
            try:
                listed.append((urls.canonical(entry.url, self.page_limits.url_length), entry.url))
            except NotAUrl:
                continue
        return SitemapLanded(fetch.candidate, listed, found.children)


def _unwanted(result: Result) -> bool:
    """True for a page whose author asks that it be in no collection: its links count, its content is not kept."""
    return isinstance(result, Page) and result.record.noindex


def _unpacked(reply: Response, most: int) -> bytes | None:
    """The body without its content encoding, cut at `most` bytes; None where it can't be unpacked."""
    try:
        return decompress(reply.body, reply.header("content-encoding"), limit=most, ratio=1000).data
    except Unreadable:
        return None
