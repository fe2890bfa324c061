"""The live driver: runs the loop over HTTP on asyncio. It is the only file of `loop` that reads a clock.

A request holds a slot from its start until its result is committed, so a `kill -9` undoes no more requests than we
count as in flight. Results are committed in groups. A slow request gives its slot back earlier (see `Slots`).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

from scenthound import url as urls
from scenthound.loop.core import Crawl
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.host_timeouts import HostTimeouts
from scenthound.loop.messages import Done, Fetch, Postponed, Result, Wait
from scenthound.loop.replies import Replies, most_bytes, response_to_store
from scenthound.loop.settings import Settings
from scenthound.loop.slots import Slots
from scenthound.model import Candidate, Miss, Moved, Response
from scenthound.page.page import Page
from scenthound.page.pdf import as_html, is_converted
from scenthound.page.record import EVERYTHING, Parts
from scenthound.ports import Failure, Fetcher, TakesLabels
from scenthound.store.label_table import Labels

BUSY = 6  # start the workers when this many replies are waiting to be read …
SETTLED = 150  # … and at least this many pages are still to come; starting a worker takes as long as reading them
GROUP_TIME = 0.25  # seconds that a processed reply waits to be committed, at most
AT_ONCE = 8  # replies processed before new requests are sent and workers get new replies
MOST_WAITING = 64_000_000  # bytes of unprocessed replies above which nothing new is requested
OWN = 4  # a reply that this process has to read itself counts as this many of `AT_ONCE`


class Durable(Protocol):
    """Saves a group of results permanently; implemented by the crawl folder."""

    def commit(self, now: float) -> None: ...


class PageReader(Protocol):
    """Reads pages in worker processes."""

    def start(self) -> None:
        """Start the workers, because one process can't read fast enough. May be called repeatedly."""

    def takes(self, response: Response | Failure) -> bool:
        """Whether a worker can take this reply now."""

    def read(
        self, candidate: Candidate, response: Response, then: Callable[[Page | Miss | Moved | None], None]
    ) -> None:
        """Read a reply and later call `then` with the result, or with None if the caller has to read it again."""


class _Landed(NamedTuple):
    """A reply that is waiting to be processed."""

    fetch: Fetch
    reply: Response | Failure | Postponed
    as_html: Response | Failure | Postponed
    """The reply, or the text of a PDF file as HTML."""
    finished_at: float
    """When it arrived."""
    result: Result | None = None
    """The result, if a worker has read the reply."""


@dataclass(eq=False, slots=True)
class _Flight:
    """A request in flight, and the deadline through which it can be cancelled."""

    fetch: Fetch
    deadline: asyncio.Timeout


class Clock:
    """Wall-clock seconds that never go backwards, even if the system clock is set back."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() + self._offset


class _Idle:
    """Measures how long the driver has been idle: the time inside its `with` blocks."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._sum, self._since = clock, 0.0, 0.0

    def __call__(self) -> float:
        return self._sum + (self._clock() - self._since if self._since else 0.0)

    def __enter__(self) -> None:
        self._since = self._clock()

    def __exit__(self, *_: object) -> None:
        self._sum, self._since = self(), 0.0


@runtime_checkable
class KnowsAddresses(Protocol):
    """A fetcher that can look up the IP address of a host before it sends a request."""

    async def address(self, host: str) -> str:
        """An address of this host; empty if it has none, or if a proxy looks it up."""


@dataclass(slots=True)
class LiveRun:
    """One live run of a crawl. The first `interrupt()` lets requests in flight finish; the second stops at once."""

    crawl: Crawl
    fetcher: Fetcher
    durable: Durable
    settings: Settings
    parts: Parts = EVERYTHING
    """The parts of a page to read."""
    reader: PageReader | None = None
    clock: Callable[[], float] = field(default_factory=Clock)
    tick: Callable[[], None] | None = None
    """Called at least a few times a second, to show progress."""
    listen: Callable[[], None] | None = None
    """Called when all results are committed, to sync them and to pass on new labels and orders."""
    deliver: Callable[[], Awaitable[None]] | None = None
    """Awaited when all results are committed, to pass new pages to a consumer."""
    interrupted: int = 0
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _landed: deque[_Landed] = field(default_factory=deque)
    _unread: deque[_Landed] = field(default_factory=deque)
    """Replies for the workers; this process reads them if it has nothing else to do."""
    _being_read: int = 0
    """The number of replies that the workers are reading."""
    _waiting: int = 0
    """Bytes of the replies that are not processed yet."""
    _uncommitted: int = 0
    """Replies processed since the last commit."""
    _committed_at: float = 0.0
    _converting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    _replies: Replies = field(init=False)
    _timeouts: HostTimeouts | None = field(init=False)
    """Ends requests that take much longer than their host usually does."""
    _group_pages: int = field(init=False)
    _idle: _Idle = field(init=False)
    _slots: Slots[_Flight] = field(init=False)

    def __post_init__(self) -> None:
        settings = self.settings
        self._replies, self._timeouts = Replies.of(settings, self.parts), HostTimeouts.of(settings)
        self._group_pages = settings.group_pages or max(1, settings.concurrency // 4)
        self._idle, self._slots = _Idle(self.clock), Slots(settings.concurrency, settings.slow_requests)

    def interrupt(self) -> None:
        self.interrupted += 1
        self.crawl.stop("interrupted")
        self._wake.set()

    async def run(self) -> str:
        """Run to the end and return the reason. All processed results are committed, even after an error."""
        self._committed_at = self.clock()
        try:
            while self.interrupted < 2:
                now = self.clock()
                step = self._send_requests(now)
                if isinstance(step, Done):
                    return step.reason
                await self._wait_for_replies(step, now)
                self._process_replies()
                await self._commit_if_due(self.clock())
                if self.tick is not None:
                    self.tick()
            return "interrupted"
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self.durable.commit(self.clock())

    # ---- the steps of a round

    @property
    def _is_full(self) -> bool:
        """Whether every slot is held, by a request or by a reply that is not committed yet."""
        replies = len(self._landed) + len(self._unread) + self._being_read + self._uncommitted
        return self._slots.in_use(self._idle()) + replies >= self.settings.concurrency

    @property
    def _is_busy(self) -> bool:
        """Whether more replies are on their way."""
        return bool(self._slots.in_use(self._idle()) or self._unread or self._being_read)

    def _send_requests(self, now: float) -> Wait | Done:
        """Send requests until the crawl has no more for now, or there is no free slot."""
        while not self._is_full and self._waiting < MOST_WAITING:
            step = self.crawl.next(now, [flight.fetch for flight in self._slots.slow])
            if not isinstance(step, Fetch):
                return step
            flight = _Flight(step, asyncio.timeout(None))
            self._slots.begin(flight, self._idle(), step.host)
            task = asyncio.create_task(self._request(flight))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return Wait(now + GROUP_TIME)

    async def _wait_for_replies(self, step: Wait, now: float) -> None:
        """Sleep until a reply arrives, a request can be sent, or a commit is due. Cancel a slow request if need be."""
        is_full, idle = self._is_full, self._idle
        if is_full and (slowest := self._slots.to_cancel(idle())) is not None:
            slowest.deadline.reschedule(0.0)
        until = step.until if not is_full else now + GROUP_TIME
        latest = self._committed_at + GROUP_TIME if self._uncommitted else now + 0.2
        seconds = min(until, latest) - now
        seconds = max(min(seconds, self._slots.free_in(idle())), 0.001) if is_full else max(seconds, 0.0)
        if self._landed or self._unread:
            await self._sleep(0.0)
        else:
            with idle:
                await self._sleep(seconds)

    def _process_replies(self) -> None:
        """Process some of the replies; start the workers if too many are waiting to be read."""
        if self.reader is not None and len(self._unread) >= BUSY and self._to_come() >= SETTLED:
            self.reader.start()
        capacity = AT_ONCE
        while capacity > 0 and (self._landed or self._unread):
            capacity -= 1 if self._landed else OWN
            self._land((self._landed or self._unread).popleft())
            self._uncommitted += 1

    async def _commit_if_due(self, now: float) -> None:
        """Commit a group of results when it is large or old enough, or when nothing else is under way."""
        is_due = self._uncommitted >= self._group_pages or now - self._committed_at >= GROUP_TIME
        if self._uncommitted and (is_due or not self._is_busy):
            self.durable.commit(now)
            self._uncommitted = 0
        if not self._uncommitted:
            self._committed_at = now
            if self.listen is not None:
                self.listen()
            if self.deliver is not None:
                await self.deliver()

    async def _sleep(self, seconds: float) -> None:
        if seconds > 0:
            try:
                async with asyncio.timeout(seconds):  # `wait_for` of Python 3.11 can swallow a cancellation
                    await self._wake.wait()
            except TimeoutError:
                return
        else:
            await asyncio.sleep(0)
        self._wake.clear()

    def _to_come(self) -> int:
        """The number of pages in flight or waiting, limited to the rest of the budget."""
        crawl = self.crawl
        return min(crawl.in_flight + len(crawl.frontier), crawl.limits.pages - crawl.pages)

    # ---- one request

    async def _request(self, flight: _Flight) -> None:
        """Send a request and queue its reply, for the workers or for this process."""
        fetch = flight.fetch
        reply: Response | Failure | Postponed
        try:
            async with flight.deadline:
                reply = await self._fetch(fetch)
        except TimeoutError:
            reply = Failure("timeout", "slow, and others were waiting", may_retry=True)
        except Exception as error:  # a bug in the fetcher must not leave its host in flight for ever
            reply = Failure("client-error", f"{type(error).__name__}: {error}"[:200])
        self._slots.end(flight, self._idle(), fetch.kind == "page" and isinstance(reply, Response))
        self._waiting += _size(reply)
        finished_at, as_html = self.clock(), await self._converted(fetch, reply)
        queue = self._unread if self._is_for_worker(fetch, as_html) else self._landed
        queue.append(_Landed(fetch, reply, as_html, finished_at))
        self._wake.set()
        self._supply_workers()

    def _supply_workers(self) -> None:
        """Pass replies to the workers until they take no more."""
        while self.reader is not None and self._unread:
            reply = self._unread[0].as_html
            assert isinstance(reply, Response)
            if not self.reader.takes(reply):
                return
            landed = self._unread.popleft()
            try:
                self.reader.read(landed.fetch.candidate, reply, partial(self._was_read, landed))
            except Exception:  # a bug in the reader: read the page here
                self._landed.append(landed)
            else:
                self._being_read += 1

    def _was_read(self, landed: _Landed, result: Result | None) -> None:
        """Take the result of a worker. If it is None, the next free worker gets the reply."""
        self._being_read -= 1
        if result is None:
            self._unread.appendleft(landed)
        else:
            self._landed.append(landed._replace(result=result))
        self._wake.set()
        self._supply_workers()

    async def _fetch(self, fetch: Fetch) -> Response | Failure | Postponed:
        addresses = self.crawl.host_clock.addresses if self.crawl.host_clock is not None else None
        if addresses is not None and isinstance(self.fetcher, KnowsAddresses):
            host = urls.host(fetch.spelling)
            address, now = await self.fetcher.address(host), self.clock()
            if address and (until := addresses.ready_at(host, address, now)) > now:
                return Postponed(fetch.candidate, until)
        if fetch.kind == "page":
            request = self.fetcher.fetch(fetch.spelling)
            if self._timeouts is None:
                return await request
            return await self._timeouts.reply(urls.host(fetch.spelling), request, self.clock)
        return await self.fetcher.fetch(fetch.spelling, most_bytes(fetch))

    def _is_for_worker(self, fetch: Fetch, reply: Response | Failure | Postponed) -> bool:
        return self.reader is not None and fetch.kind == "page" and isinstance(reply, Response) and reply.status == 200

    async def _converted(self, fetch: Fetch, reply: Response | Failure | Postponed) -> Response | Failure | Postponed:
        """The reply, or the text of a PDF file as HTML. Another process converts it, one file at a time."""
        limits = self._replies.page_limits
        if fetch.kind != "page" or not isinstance(reply, Response) or not is_converted(reply, limits):
            return reply
        self._being_read += 1
        try:
            async with self._converting:
                return await asyncio.to_thread(as_html, reply, limits)
        finally:
            self._being_read -= 1

    def _land(self, landed: _Landed) -> None:
        now, reply = self.clock(), landed.reply
        self._waiting -= _size(reply)
        if isinstance(reply, Postponed):
            self.crawl.postpone(reply, reply.until)
            return
        assert not isinstance(landed.as_html, Postponed)
        result = landed.result or self._replies.result(landed.fetch, landed.as_html, now)
        self.crawl.landed(result, now, response_to_store(result, reply), landed.finished_at)


def _size(reply: Response | Failure | Postponed) -> int:
    return len(reply.body) if isinstance(reply, Response) else 0


class LabelListener:
    """Passes the labels that users give during a crawl to its strategy and judge."""

    def __init__(self, folder: CrawlFolder, crawl: Crawl) -> None:
        self._folder, self._crawl = folder, crawl
        self._labels = Labels(folder.database)
        takes_labels = isinstance(
            crawl.strategy, TakesLabels
        )  # computed once: it is slow, and needed after every commit
        self._listens = takes_labels or crawl.judging.hears_labels

    def listen(self) -> int:
        """Pass on new labels and add the strategy's new scores to the frontier. Returns the number of labels.

        Call this between commits. The next commit records the labels as delivered.
        """
        if not self._listens:
            return 0
        new = self._labels.undelivered()
        event = self._folder.history.last_event() if new else 0
        for label in new:
            self._crawl.judging.take_label(label.url, label.on_topic)
            with self._crawl.stopwatch:
                for candidate in self._crawl.calls.take_label(label.url, label.on_topic):
                    self._crawl.candidates.add(candidate)
            self._labels.record_delivery(label, event)
        return len(new)
