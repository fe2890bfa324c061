"""Our layer on top of aiohttp's connections: limits on what arrives, the system's resolver in threads, SOCKS.

aiohttp is used through its public names except for `StreamReader._buffer` (bytes that arrived before a disconnect) and
`ResponseHandler._payload`.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler

_HEAD_END = re.compile(rb"\n\r?\n")


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The limits of requests. Sizes are in bytes, times in seconds."""

    bytes: int = 10_000_000
    """Size of the body before decompression. A longer body is cut and marked `length`."""
    small: int = 500_000
    """Size up to which a body is read immediately. Beyond that the connection is paused until the body is one of
    `large_bodies`."""
    large_bodies: int = 6
    """Number of bodies above `small` that are read at a time. It bounds memory however many requests are in flight."""
    header_bytes: int = 65_536
    header_count: int = 200
    connect: float = 10.0
    """Time for the name lookup, the connection and the TLS handshake together."""
    first_byte: float = 15.0
    """Time from the request to the first byte of the reply."""
    rate: float = 100.0
    """Minimum bytes per second over every `rate_time`; 0: no minimum."""
    rate_time: float = 15.0
    idle: float = 20.0
    """Time without any bytes during a reply."""
    total: float = 60.0
    """Time for everything: lookup, connection, head and body."""
    keep_alive: float = 15.0
    """How long an idle connection is kept for the next request to its host."""
    idle_connections: int = 256
    """Number of idle connections. Above this, the connection that has been idle for longest is closed."""
    lookups: int = 256
    """Number of name lookups at a time, each in a thread that is started on demand. It is much larger than the number
    of requests in flight, because a lookup can't be cancelled and takes half a minute if the name server is dead."""
    dns_cache: float = 300.0
    """How long the result of a name lookup is cached. Addresses are checked at every connection anyway."""


class TooMuch(aiohttp.ClientError):
    """A reply is larger than allowed; `reason` is `header-bomb` or `too-large`."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class StaleConnection(aiohttp.ClientConnectionError):
    """An idle connection turned out to be closed."""


class Meter(ResponseHandler):
    """aiohttp's protocol, extended to count the bytes that arrive and to close the connection above the limit.

    aiohttp itself limits the length and number of header lines, but not their total size, nor informational replies,
    chunk extensions and trailers.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: FetchLimits, idle: dict[Meter, None]) -> None:
        super().__init__(loop=loop)
        self.received = 0
        self.requests = 0
        self.peer = ""
        self.keeps: object = None
        self._limits, self._idle = limits, idle
        self._in_head, self._last = True, b""
        self._began = 0.0  # when the request was sent; later, when the first byte of the reply arrived
        self._counted = 0  # bytes received when the rate was last checked
        self._watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.peer = str(peer[0]).partition("%")[0] if peer else ""

    def connection_lost(self, error: BaseException | None) -> None:
        self._idle.pop(self, None)
        self.unwatch()
        super().connection_lost(error)

    def set_response_params(self, **settings: Any) -> None:
        self._idle.pop(self, None)
        self.received, self._in_head, self._last = 0, True, b""
        self.requests += 1
        self._began, self._counted = self._loop.time(), 0
        self._check_in(min(self._limits.first_byte, self._limits.rate_time))
        super().set_response_params(**settings)

    def feed_data(self, message: Any, size: int = 0) -> None:
        code = message[0].code
        self._in_head = 100 <= code < 200 and code != 101
        super().feed_data(message, size)

    def data_received(self, data: bytes) -> None:
        if self in self._idle:
            self.close()  # nothing was requested, so this must not be mistaken for the next reply
            return
        if not self.received:
            self._began = self._loop.time()
        self.received += len(data)
        if self._in_head:
            self._head_received(data)
        else:
            super().data_received(data)
        limits = self._limits
        if self.received > limits.header_bytes:
            if self._in_head:
                self._stop(TooMuch(f"more than {limits.header_bytes} bytes of headers", "header-bomb"))
            elif self.received > limits.bytes + limits.header_bytes:
                self._stop(TooMuch(f"more than {limits.bytes} bytes", "too-large"))

    def _head_received(self, data: bytes) -> None:
        """Pass the head and the rest to the parser separately.

        The parser drops a message whose head arrives together with invalid bytes, so the result would depend on how
        the network splits the stream.
        """
        for _ in range(20):  # informational replies before the real one; after that the rest is passed on unsplit
            end = _HEAD_END.search(self._last + data)
            if end is None or not self._in_head:
                break
            cut = end.end() - len(self._last)
            self._last = b""
            super().data_received(data[:cut])
            data = data[cut:]
        if data:
            self._last = (self._last + data)[-2:]
            super().data_received(data)

    def unwatch(self) -> None:
        """Stop the timer, because the reply is complete or never will be."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _check_in(self, seconds: float) -> None:
        self.unwatch()
        self._watch = self._loop.call_later(seconds, self._check)

    def _check(self) -> None:
        """Give up a reply that has not begun in time or is too slow. One timer for both keeps fast replies cheap."""
        self._watch = None
        limits, transport = self._limits, self.transport
        if transport is None or transport.get_protocol() is not self:
            return  # closed, or a tunnel through a proxy, which uses another protocol
        now = self._loop.time()
        left = self._began + (limits.rate_time if self.received else limits.first_byte) - now
        if left > 0:
            self._check_in(left)
        elif not self.received:
            self._stop(aiohttp.SocketTimeoutError(f"no reply within {limits.first_byte:g} s"))
        elif self.received - self._counted < limits.rate * limits.rate_time:
            self._stop(aiohttp.SocketTimeoutError(f"less than {limits.rate:g} bytes a second"))
        else:
            self._began, self._counted = now, self.received
            self._check_in(limits.rate_time)

    def set_exception(self, error: BaseException, *cause: BaseException) -> None:
        super().set_exception(error, *cause)
        payload = self._payload
        if payload is not None and not payload.is_eof() and payload.exception() is None:
            payload.set_exception(error)  # otherwise reading a body with broken framing would wait for the timeout

    def _stop(self, error: aiohttp.ClientError) -> None:
        self.set_exception(error)
        if self.transport is not None:
            self.transport.abort()


class Reply(aiohttp.ClientResponse):
    """aiohttp's response with its connection, which remains available after its release."""

    meter: Meter

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        self.meter = meter = connection.protocol
        try:
            return await super().start(connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            if meter.received == 0 and meter.requests > 1:
                raise StaleConnection from error
            raise

    def head_size(self) -> int:
        return sum(len(name) + len(value) + 4 for name, value in self.raw_headers)

    def lines(self) -> tuple[tuple[str, str], ...]:
        return tuple((name.decode("latin-1"), decode_header(value)) for name, value in self.raw_headers)


class ThreadedResolver(AbstractResolver):
    """The system's resolver in separate threads, so that slow lookups do not delay other work."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="lookup")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        look_up = partial(
            socket.getaddrinfo, host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
        )
        try:
            addresses = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        except UnicodeError:
            raise OSError("not a host name") from None
        if not addresses:
            raise OSError("no address")
        flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return [
            ResolveResult(
                hostname=host, host=str(address[0]), port=int(address[1]), family=kind, proto=protocol, flags=flags
            )
            for kind, _, protocol, _, address in addresses
        ]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def decode_header(value: bytes) -> str:
    """A header value as text: UTF-8 if it is valid, else Latin-1."""
    with contextlib.suppress(UnicodeDecodeError):
        return value.decode()
    return value.decode("latin-1")


def socks_connector(proxy: str, settings: dict[str, Any]) -> aiohttp.TCPConnector:
    """A connector for a SOCKS proxy, which looks up host names itself."""
    from aiohttp_socks import ProxyConnector

    class Connector(ProxyConnector):
        """The SOCKS connector with our meter as its protocol."""

        async def _wrap_create_connection(
            self, *arguments: Any, **options: Any
        ) -> tuple[asyncio.Transport, ResponseHandler]:
            transport, original = await super()._wrap_create_connection(*arguments, **options)
            meter: Any = self._factory()
            meter.keeps = original  # it owns the writer, which closes the transport when it is deleted
            transport.set_protocol(meter)
            meter.connection_made(transport)
            return transport, meter

    connector: aiohttp.TCPConnector = Connector.from_url(proxy, rdns=True, **settings)
    return connector
