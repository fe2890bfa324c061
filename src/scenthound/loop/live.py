"""The live driver: runs the loop over HTTP on asyncio. Only this file of `loop` reads a clock.

A request holds a slot from its start until its result is committed, so a `kill -9` undoes no more requests than we
count as in flight. Results are committed in groups. A slow request gives its slot back earlier: see `Slots`.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

from scenthound import url as urls
from scenthound.loop.address_delay import AddressDelay, KnowsAddresses
from scenthound.loop.core import Crawl
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.host_timeouts import HostTimeouts
from scenthound.loop.messages import FOREVER, Done, Fetch, HostBehaviour, Postponed, Result, Wait
from scenthound.loop.replies import Replies, most_bytes, response_to_store
from scenthound.model import Candidate, Miss, Moved, Response
from scenthound.page.page import Page
from scenthound.page.pdf.convert import as_html, is_converted
from scenthound.ports import Failure, Fetcher, TakesLabels
from scenthound.store.label_table import Labels

BUSY = 6  # start the workers when this many replies are waiting to be read …
SETTLED = 150  # … and at least this many pages are still to come: starting a worker takes as long as reading them
AT_ONCE = 8  # replies processed before new requests are sent and workers get new replies
MOST_WAITING = 64_000_000  # bytes of unprocessed replies above which nothing new is requested
OWN = 4  # a reply that this process has to read itself counts as this many of `AT_ONCE`


class Durable(Protocol):
    """Saves a group of landed pages permanently: the crawl folder."""

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
    ended: float
    """When it arrived."""
    result: Result | None = None
    """The result, if a worker has read the reply."""


@dataclass(eq=False, slots=True)
class _Flight:
    """A request in flight, and the deadline by which it can be cancelled."""

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


@dataclass(slots=True)
class LiveRun:
    """One live run of a crawl. The first `interrupt()` lets requests in flight finish; the second stops at once."""

    crawl: Crawl
    fetcher: Fetcher
    durable: Durable
    replies: Replies
    concurrency: int = 32
    slow_requests: int = 128
    """Requests to slow hosts that may be in flight in addition to `concurrency`."""
    group_pages: int = 8
    group_time: float = 0.25
    address_delay: AddressDelay | None = None
    """Spaces out the requests to one IP address, if the fetcher `KnowsAddresses`."""
    timeouts: HostTimeouts | None = None
    """Ends requests that take much longer than their host usually does."""
    reader: PageReader | None = None
    clock: Callable[[], float] = field(default_factory=Clock)
    tick: Callable[[], None] | None = None
    """Called at least a few times a second, to show progress."""
    listen: Callable[[], None] | None = None
    """Called when all that has landed is committed, to sync it, and to pass on new labels and orders."""
    deliver: Callable[[], Awaitable[None]] | None = None
    """Awaited when all that has landed is committed, to pass new pages to a consumer."""
    interrupted: int = 0
    _wake: asyncio.Event | None = None
    _being_read: int = 0
    """Replies that the workers are reading."""
    _waiting: int = 0
    """Bytes of the replies that are not processed yet."""
    _converting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    def interrupt(self) -> None:
        self.interrupted += 1
        self.crawl.stop("interrupted")
        if self._wake is not None:
            self._wake.set()

    async def run(self) -> str:
        """Run to the end and return the reason. Even after an error, all that has landed is committed."""
        wake = self._wake = asyncio.Event()
        landed: deque[_Landed] = deque()
        unread: deque[_Landed] = deque()  # replies for the workers; read here if there is nothing else to do
        tasks: set[asyncio.Task[None]] = set()
        uncommitted, since = 0, self.clock()
        idle, slots = _Idle(self.clock), Slots[_Flight](self.concurrency, self.slow_requests)

        async def request(flight: _Flight) -> None:
            fetch = flight.fetch
            reply: Response | Failure | Postponed
            try:
                async with flight.deadline:
                    reply = await self._fetch(fetch)
            except TimeoutError:
                reply = Failure("timeout", "slow, and others were waiting", may_retry=True)
            except Exception as error:  # a bug in the fetcher must not leave its host in flight for ever
                reply = Failure("client-error", f"{type(error).__name__}: {error}"[:200])
            slots.end(flight, idle(), fetch.kind == "page" and isinstance(reply, Response))
            self._waiting += _size(reply)
            ended, as_html = self.clock(), await self._converted(fetch, reply)
            queue = unread if self._is_for_worker(fetch, as_html) else landed
            queue.append(_Landed(fetch, reply, as_html, ended))
            wake.set()
            supply_workers()

        def supply_workers() -> None:
            while self.reader is not None and unread:
                reply = unread[0].as_html
                assert isinstance(reply, Response)
                if not self.reader.takes(reply):
                    return
                landed_reply = unread.popleft()
                try:
                    self.reader.read(landed_reply.fetch.candidate, reply, partial(was_read, landed_reply))
                except Exception:  # a bug in the reader: read the page here
                    landed.append(landed_reply)
                else:
                    self._being_read += 1

        def was_read(landed_reply: _Landed, result: Result | None) -> None:
            self._being_read -= 1
            if result is None:  # not read: leave it to the next free worker
                unread.appendleft(landed_reply)
            else:
                landed.append(landed_reply._replace(result=result))
            wake.set()
            supply_workers()

        try:
            while self.interrupted < 2:
                now = self.clock()
                step: Fetch | Wait | Done = Wait(now)
                taken = len(landed) + len(unread) + self._being_read + uncommitted
                while slots.in_use(idle()) + taken < self.concurrency and self._waiting < MOST_WAITING:
                    slow = [flight.fetch for flight in slots.slow]
                    if not isinstance(step := self.crawl.next(now, slow), Fetch):
                        break
                    flight = _Flight(step, asyncio.timeout(None))
                    slots.begin(flight, idle(), step.host)
                    task = asyncio.create_task(request(flight))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
                if isinstance(step, Done):
                    return step.reason
                full = slots.in_use(idle()) + taken >= self.concurrency
                if full and (slowest := slots.to_cancel(idle())) is not None:
                    slowest.deadline.reschedule(0.0)
                until = step.until if isinstance(step, Wait) and not full else now + self.group_time
                latest = since + self.group_time if uncommitted else now + 0.2
                rest = min(until, latest) - now
                rest = max(min(rest, slots.free_in(idle())), 0.001) if full else max(rest, 0.0)
                if landed or unread:
                    await self._sleep(wake, 0.0)
                else:
                    with idle:
                        await self._sleep(wake, rest)
                if self.reader is not None and len(unread) >= BUSY and self._to_come() >= SETTLED:
                    self.reader.start()
                room = AT_ONCE
                while room > 0 and (landed or unread):
                    room -= 1 if landed else OWN
                    self._land((landed or unread).popleft())
                    uncommitted += 1
                now = self.clock()
                due = uncommitted >= self.group_pages or now - since >= self.group_time
                if uncommitted and (due or not (slots.in_use(idle()) or unread or self._being_read)):
                    self.durable.commit(now)
                    uncommitted = 0
                if not uncommitted:
                    since = now
                    if self.listen is not None:
                        self.listen()
                    if self.deliver is not None:
                        await self.deliver()
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
                async with asyncio.timeout(seconds):  # `wait_for` of Python 3.11 can swallow a cancellation
                    await wake.wait()
            except TimeoutError:
                return
        else:
            await asyncio.sleep(0)
        wake.clear()

    def _to_come(self) -> int:
        """The number of pages in flight or waiting, as far as the budget allows them."""
        crawl = self.crawl
        return min(crawl.in_flight + len(crawl.frontier), crawl.limits.pages - crawl.pages)

    # ---- one request

    async def _fetch(self, fetch: Fetch) -> Response | Failure | Postponed:
        if self.address_delay is not None and isinstance(self.fetcher, KnowsAddresses):
            host = urls.host(fetch.spelling)
            address, now = await self.fetcher.address(host), self.clock()
            if address and (until := self.address_delay.ready_at(host, address, now)) > now:
                return Postponed(fetch.candidate, until)
        if fetch.kind == "page":
            request = self.fetcher.fetch(fetch.spelling)
            if self.timeouts is None:
                return await request
            return await self.timeouts.reply(urls.host(fetch.spelling), request, self.clock)
        return await self.fetcher.fetch(fetch.spelling, most_bytes(fetch))

    def _is_for_worker(self, fetch: Fetch, reply: Response | Failure | Postponed) -> bool:
        return self.reader is not None and fetch.kind == "page" and isinstance(reply, Response) and reply.status == 200

    async def _converted(self, fetch: Fetch, reply: Response | Failure | Postponed) -> Response | Failure | Postponed:
        """The reply, or the text of a PDF file as HTML. Another process converts it, one file at a time."""
        limits = self.replies.page_limits
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
        result = landed.result or self.replies.result(landed.fetch, landed.as_html, now)
        self.crawl.landed(result, now, response_to_store(result, reply), landed.ended)


def _size(reply: Response | Failure | Postponed) -> int:
    return len(reply.body) if isinstance(reply, Response) else 0


class LabelListener:
    """Passes the labels that users give during a crawl to its strategy and judge."""

    def __init__(self, folder: CrawlFolder, crawl: Crawl) -> None:
        self._folder, self._crawl = folder, crawl
        self._labels = Labels(folder.database)
        takes_labels = isinstance(crawl.strategy, TakesLabels)  # slow, and needed after every commit
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


# ---- slots

FACTOR = 3.0  # a request is slow if it takes this many times the usual time
QUICKEST = 0.002  # seconds per slot before which a request is never slow: the fewer slots, the more each is needed
ENOUGH = 0.05  # seconds: the upper limit of that, however many slots there are
PROVEN = 0.25  # seconds before which a host that has sent pages is never slow
FEW = 8  # replies before which the usual time is unknown …
FIRST = 0.5  # … and a request is slow after this many seconds, a quarter of it after each slow request …
LEAST = 0.05  # … but not less. So hosts that hang at the start cost little, and replies a second away are waited for
LONGEST = 1.0  # seconds as which one of the first replies counts at most
SMOOTHING = 0.125  # the weight of a new reply; alpha of RFC 6298
PATIENCE = 2.0  # seconds that a slow request has before it may be cancelled


R = TypeVar("R", bound=Hashable)


class Slots(Generic[R]):
    """The requests in flight: those that hold one of the driver's slots, and slow ones that hold none.

    A request holds a slot for a few times as long as requests usually take. Then it is slow: it moves to a second,
    bounded pool, and its slot is free. So a host that hangs blocks a slot for a moment and not for its whole time-out,
    with one slot just as with 64. When the pool is full, the request that has been slow for longest is cancelled once
    it has had `PATIENCE`. A host that has sent pages gets a little more time; a host that did not reply last time is
    slow from the start.

    Slots limit the work done at once, and a request that only waits is not work. The usual time is learned from the
    replies, like a retransmission time-out (RFC 6298, 2.3). A slow reply counts as one at the limit, so a few slow
    hosts can't raise the usual time; a connection that is always slow raises it within a few dozen replies. A request
    that is wrongly considered slow loses nothing: it continues.

    Times are measured in `idle`, the time that the driver has been idle so far. While the driver is busy, replies that
    have arrived wait for it, which is not the fault of their hosts.
    """

    def __init__(self, count: int, slow: int) -> None:
        self._most_slow = slow
        self._quickest = min(QUICKEST * count, ENOUGH)
        self._usual = 0.0  # seconds, smoothed
        self._replies = 0
        self._called_slow = 0
        self._new: dict[R, float] = {}  # requests and when they began; the oldest first. Also in the next two
        self._proven: dict[R, float] = {}
        self._slow: dict[R, float] = {}

    @property
    def bound(self) -> float:
        """How long a request to a new host holds a slot."""
        learned = max(self._quickest, FACTOR * self._usual)
        return learned if self._replies >= FEW else max(learned, LEAST, FIRST * 0.25 ** min(self._called_slow, 8))

    @property
    def slow(self) -> Iterable[R]:
        return self._slow.keys()

    def begin(self, request: R, idle: float, host: HostBehaviour = "new") -> None:
        """Add a request. To a silent host it is slow from the start, if there is room."""
        if host == "silent" and not self._is_full:
            self._slow[request] = idle
        else:
            (self._proven if host == "proven" else self._new)[request] = idle

    def end(self, request: R, idle: float, is_reply: bool) -> None:
        """Remove a request. If it got a reply, learn from its time."""
        group = next(group for group in (self._new, self._proven, self._slow) if request in group)
        took = min(idle - group.pop(request), self.bound if self._replies >= FEW else LONGEST)
        if is_reply:
            self._usual += (SMOOTHING if self._replies else 1.0) * (took - self._usual)
            self._replies += 1

    def in_use(self, idle: float) -> int:
        """The number of slots held now."""
        for group, bound in self._bounds():
            while group and not self._is_full:
                request, began = _oldest(group)
                if idle - began < bound:
                    break
                self._slow[request] = group.pop(request)
                self._called_slow += 1
        return len(self._new) + len(self._proven)

    def free_in(self, idle: float) -> float:
        """The time until a slot becomes free because its request is slow."""
        wait = min((_oldest(group)[1] + bound - idle for group, bound in self._bounds() if group), default=FOREVER)
        return max(wait, _oldest(self._slow)[1] + PATIENCE - idle) if self._is_full else wait

    def to_cancel(self, idle: float) -> R | None:
        """The slow request to cancel, if the pool is full and a request that holds a slot has become slow, too."""
        return _oldest(self._slow)[0] if self._is_full and self.free_in(idle) <= 0 else None

    def _bounds(self) -> tuple[tuple[dict[R, float], float], ...]:
        return (self._new, self.bound), (self._proven, max(PROVEN, self.bound))

    @property
    def _is_full(self) -> bool:
        return len(self._slow) >= self._most_slow


def _oldest(requests: dict[R, float]) -> tuple[R, float]:
    return next(iter(requests.items()))
