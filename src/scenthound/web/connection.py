"""One connection to a web server: a request goes out, its reply comes back within all limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from scenthound.web.http_reply import FetchError, ReplyReader


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of one request. Sizes in bytes, times in seconds."""

    bytes: int = 10_000_000
    """Of the body before decompression; a longer one is cut and marked `length`."""
    small: int = 500_000
    """Of a body; what is longer has to wait until it is one of `large_bodies`, with the connection paused."""
    large_bodies: int = 6
    """Bodies above `small` that are read at a time: so memory is bounded however many requests are in flight."""
    header_bytes: int = 65_536
    header_count: int = 200
    connect: float = 10.0
    """For the name lookup, the connection and the TLS handshake together."""
    first_byte: float = 15.0
    """From the request to the first byte of the reply."""
    rate: float = 100.0
    """Minimum bytes per second over every `rate_time`; 0: no minimum."""
    rate_time: float = 15.0
    idle: float = 20.0
    """Between two arrivals of bytes."""
    total: float = 60.0
    """For everything: lookup, connection, head and body."""
    keep_alive: float = 15.0
    """How long an idle connection is kept for the next request to its host."""
    idle_connections: int = 256
    """Above this number the one idle for longest is closed."""
    lookups: int = 256
    """Name lookups at a time, each a thread started on demand. A lookup can't be cancelled, and one with a dead name
    server takes half a minute: so there are many more than requests usually run at once."""
    names_kept: float = 300.0
    """How long the answer of a name lookup is cached. Addresses are checked at every connection anyway."""


class Connection(asyncio.Protocol):
    """A connection that one request at a time may use."""

    def __init__(self, limits: FetchLimits, address: str = "") -> None:
        self.address = address
        """What it is connected to; empty if a proxy chooses it."""
        self.requests = 0
        self.received = 0
        """Bytes that have arrived for the latest request."""
        self.idle_since = 0.0
        self.when_closed: Callable[[Connection], None] | None = None
        self.reader: ReplyReader | None = None
        self._limits, self._loop = limits, asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._most, self._has_room = 0, False
        self._ends = self._last = self._rate_since = 0.0
        self._counted = 0  # bytes received when the rate was last checked

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def transport(self) -> asyncio.Transport:
        assert self._transport is not None
        return self._transport

    async def exchange(
        self, request: bytes, reader: ReplyReader, most: int, ends: float, room: asyncio.Semaphore
    ) -> None:
        """Send a request and have its reply read, up to `most` bytes of body and until the moment `ends`.

        `room` is held while a body of more than `FetchLimits.small` bytes is read. Raises `FetchError` if the reply is
        not complete; what came of it is in the reader.
        """
        limits, now = self._limits, self._loop.time()
        self.requests, self.received, self.reader = self.requests + 1, 0, reader
        self._most, self._has_room, self._ends, self._counted = most, False, ends, 0
        self._last = self._rate_since = now
        self._waiter = self._loop.create_future()
        try:
            if not self.is_open:
                raise FetchError("empty-reply", "closed without a reply", may_retry=True)
            self.transport.write(request)
            self._check_at(min(now + min(limits.first_byte, limits.idle, limits.rate_time), ends))
            await self._waiter
            if not reader.is_complete and reader.size <= most:  # a large body: it has to wait for room
                await self._wait_for(room)
                await self._waiter
        finally:
            self._waiter = self.reader = None
            if self._has_room:
                room.release()
            if self._watch is not None:
                self._watch.cancel()
                self._watch = None
            if not (reader.is_complete and reader.can_continue and reader.size <= most):
                self.close()

    async def _wait_for(self, room: asyncio.Semaphore) -> None:
        """Read on as soon as there is room."""
        try:
            await asyncio.wait_for(room.acquire(), self._ends - self._loop.time())
        except TimeoutError:
            raise FetchError("timeout", "too many large bodies at once", may_retry=True) from None
        self._has_room = True
        if not self.is_open:
            raise FetchError("timeout", "not complete in time", may_retry=True)
        self._waiter, now = self._loop.create_future(), self._loop.time()
        self._last, self._rate_since, self._counted = now, now, self.received
        if self._watch is not None:
            self._watch.cancel()
        self._check_at(min(now + min(self._limits.idle, self._limits.rate_time), self._ends))
        self.transport.resume_reading()

    def close(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    # ---- callbacks of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        reader, limits = self.reader, self._limits
        if reader is None or self._waiter is None or self._waiter.done():
            self.close()  # nothing was requested: it must not be taken for the next reply
            return
        self.received += len(data)
        self._last = self._loop.time()
        try:
            reader.feed(data)
            if not reader.is_complete and self.received > limits.bytes + limits.header_bytes:
                raise FetchError("too-large", f"more than {limits.bytes} bytes")
        except FetchError as error:
            self._fail(error)
            return
        if reader.is_complete or reader.size > self._most:
            self._waiter.set_result(None)
        elif reader.size > limits.small and not self._has_room:
            self.transport.pause_reading()
            self._waiter.set_result(None)

    def eof_received(self) -> None:
        return None  # so that asyncio closes the transport

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        if self.when_closed is not None:
            self.when_closed(self)
        reader = self.reader
        if reader is None or self._waiter is None or self._waiter.done():
            return
        try:
            if error is not None:
                raise FetchError("reset", str(error) or type(error).__name__, may_retry=True)
            reader.end()
        except FetchError as failure:
            self._fail(failure)
        else:
            self._waiter.set_result(None)

    # ---- time

    def _check_at(self, moment: float) -> None:
        self._watch = self._loop.call_at(moment, self._check)

    def _check(self) -> None:
        """Give up a reply that has not begun in time, or is too slow. One timer for all keeps a quick reply cheap."""
        limits, now = self._limits, self._loop.time()
        rate_at = self._rate_since + limits.rate_time
        arrival = self._last + (limits.idle if self.received else min(limits.idle, limits.first_byte))
        if now >= self._ends:
            self._fail(FetchError("timeout", f"not complete within {limits.total:g} s", may_retry=True))
        elif self._waiter is None or self._waiter.done():
            self._check_at(self._ends)  # it waits for room: the server is not to blame
        elif now >= arrival and not self.received:
            self._fail(FetchError("timeout", f"no reply within {limits.first_byte:g} s", may_retry=True))
        elif now >= arrival:
            self._fail(FetchError("timeout", f"nothing for {limits.idle:g} s", may_retry=True))
        elif now >= rate_at and self.received and self.received - self._counted < limits.rate * limits.rate_time:
            self._fail(FetchError("timeout", f"less than {limits.rate:g} bytes a second", may_retry=True))
        else:
            if now >= rate_at:
                self._rate_since, self._counted = now, self.received
            self._check_at(min(arrival, self._rate_since + limits.rate_time, self._ends))

    def _fail(self, error: FetchError) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)
        self.close()
