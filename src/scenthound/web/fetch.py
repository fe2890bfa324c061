"""The only socket: one GET, one hop, within every cap.

A connection is born in `_connector`, which asks `web.addresses` about the very address it is about to
connect to; there `_Meter`, our layer over aiohttp's protocol, counts what arrives. Between requests it
rests among the idle ones, of which the oldest is closed when they become too many. Whatever a server
does ends as a `Response` or a `Failure`; nothing but a cancellation is ever raised.

aiohttp is used through its public names except for four: `TCPConnector._factory` (to put the meter
in), `ClientSession._retry_connection` (it would silently ask a dying server twice),
`StreamReader._buffer` (bytes that arrived before a disconnect) and `ResponseHandler._payload`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import re
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import aiohttp
from aiohttp import hdrs
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from scenthound.errors import BadConfig
from scenthound.model import Response
from scenthound.ports import Failure
from scenthound.web.addresses import Network, forbidden, forbidden_name

ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5"
_HEAD_END = re.compile(rb"\n\r?\n")
_WIRE_URL = re.compile(
    r"""(https?)://(?:[^/?#]*@)?((?:\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+,;=%-]+)(?::[0-9]{1,5})?)((?:[/?][!"$-~]*)?)""",
    re.IGNORECASE,
)
_NOT_ALLOWED = "address not allowed"


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one request may cost. Sizes in bytes, times in seconds."""

    bytes: int = 10_000_000
    """Of body, as it came over the wire; a longer one is cut and flagged `length`."""
    header_bytes: int = 65_536
    header_count: int = 200
    connect: float = 10.0
    """For the name lookup, the connection and the TLS handshake together."""
    first_byte: float = 15.0
    """From the request to the first byte of the reply."""
    rate: float = 100.0
    """Bytes per second that a reply brings at least, over every `rate_time`; 0: it may be as slow as it likes."""
    rate_time: float = 15.0
    idle: float = 20.0
    """Between two arrivals of bytes."""
    total: float = 60.0
    """For everything: lookup, connection, head and body."""
    keep_alive: float = 15.0
    """How long an idle connection is kept for the next request to its host."""
    idle_connections: int = 256
    """So many are kept; above it the one idle for longest is closed."""
    lookups: int = 256
    """Name lookups at the same time, each a thread that is started when it is needed. A lookup can't be given up, and
    one of a dead name server takes half a minute: so many more than there are requests that usually run at once."""
    names_kept: float = 300.0
    """How long the answer of a name lookup is believed. Addresses are checked at every connection anyway."""


class HttpFetcher:
    """Fetches over HTTP; use it as `async with HttpFetcher(...) as fetcher`. See `ports.Fetcher`.

    It keeps no cookies, sends no credentials and no Referer, and follows no redirect. With a proxy it is the
    proxy that looks up names: then only hosts written as addresses (and `localhost`) can be checked, the
    proxy's own address is not checked at all, and `Response.address` is the proxy's.
    """

    def __init__(
        self,
        limits: FetchLimits,
        user_agent: str,
        allow_private: Sequence[Network] = (),
        proxy: str | None = None,
        *,
        verify_tls: bool = True,
        resolver: AbstractResolver | None = None,
    ) -> None:
        if not user_agent.strip() or not user_agent.isascii() or not user_agent.isprintable():
            raise BadConfig(
                f"not a User-Agent: {user_agent!r}", "use printable ASCII, as `name/1.0 (+mailto:you@here)`"
            )
        self.limits = limits
        self._allowed = tuple(allow_private)
        self._headers = {
            hdrs.USER_AGENT: user_agent,
            hdrs.ACCEPT: ACCEPT,
            hdrs.ACCEPT_ENCODING: "gzip, deflate, br" if importlib.util.find_spec("brotli") else "gzip, deflate",
        }
        self._http_proxy, self._socks = _parsed_proxy(proxy)
        self._proxied = proxy is not None
        self._verify_tls = verify_tls
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None
        self._idle: dict[_Meter, None] = {}

    async def __aenter__(self) -> Self:
        limits = self.limits
        if self._resolver is None:
            self._resolver = _Lookup(limits.lookups)
        self._session = session = aiohttp.ClientSession(
            connector=self._connector(self._resolver),
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=limits.total, connect=limits.connect, sock_connect=limits.connect, sock_read=limits.idle
            ),
            auto_decompress=False,
            response_class=_Reply,
            proxy=self._http_proxy,
            trust_env=False,
            max_field_size=limits.header_bytes,
            max_headers=limits.header_count,
        )
        session._retry_connection = False
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection. Safe to call twice."""
        session, self._session = self._session, None
        resolver, self._resolver = self._resolver, None
        if session is not None:
            await session.close()
        if resolver is not None:
            await resolver.close()

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        """What the server answers to `GET url`, spelt so, cut at `most` bytes. Only a cancellation is raised."""
        if self._session is None:
            raise RuntimeError("the fetcher is closed: use it inside `async with`")
        wire = self._wire(url)
        if isinstance(wire, Failure):
            return wire
        try:
            try:
                reply = await self._session.get(wire, allow_redirects=False)
            except _Stale:  # the server hung up on an idle connection: it never saw the request
                reply = await self._session.get(wire, allow_redirects=False)
        except Exception as error:
            return _failure(error, through_proxy=self._proxied)
        try:
            return await self._read(url, reply, min(most or self.limits.bytes, self.limits.bytes))  # type: ignore[arg-type]
        finally:
            if not reply.closed:
                reply.close()

    def _wire(self, url: str) -> URL | Failure:
        """The URL as yarl's, untouched but for credentials, and free of anything that could split a request."""
        match = _WIRE_URL.match(url)
        if match is None or not (match.end() == len(url) or url[match.end()] == "#"):
            return Failure("bad-url", _clean(url))
        scheme, authority, rest = match.groups()
        try:
            # All behind the host as the path: taken apart, yarl would lose the `?` of an empty query.
            target = rest if rest.startswith("/") else f"/{rest}"
            wire = URL.build(scheme=scheme.lower(), authority=authority, path=target, encoded=True)
            host = wire.raw_host or ""
        except ValueError:  # a port out of range, say
            return Failure("bad-url", _clean(url))
        why = forbidden_name(host, self._allowed) if self._proxied else None
        return wire if why is None else Failure("refused-address", f"{host}: {why}")

    async def _read(self, url: str, reply: _Reply, cap: int) -> Response | Failure:
        limits, meter, status = self.limits, reply.meter, reply.status
        if meter.received > limits.header_bytes and reply.head_size() > limits.header_bytes:
            return Failure("header-bomb", f"{reply.head_size()} bytes of headers", meter.received)
        if status == 101:
            return Failure("bad-http", "101 without having been asked", meter.received)
        body: list[bytes] = []
        size, truncated, content = 0, "", reply.content
        try:
            while chunk := await content.readany():
                size += len(chunk)
                body.append(chunk)
                if size > cap:
                    break
        except Exception as error:
            unread = b"".join(getattr(content, "_buffer", ()))
            body.append(unread)
            size += len(unread)
            failure = _failure(error, through_proxy=False)
            truncated = _TRUNCATED.get(failure.reason, "")
            useful = size > 0 or status >= 300  # a redirect or an error says enough by its head
            if not truncated or not useful:
                return failure._replace(size=meter.received)
        whole = b"".join(body)
        if size > cap:
            truncated, whole = "length", whole[:cap]
        meter.unwatch()
        if not truncated:
            self._rest(meter)
        version = reply.version
        return Response(
            url=url,
            status=status,
            reason=_text(reply.reason or ""),
            headers=reply.lines(),
            body=whole,
            address=meter.peer,
            truncated=truncated,
            http_version="1.1" if version is None else f"{version.major}.{version.minor}",
        )

    def _rest(self, meter: _Meter) -> None:
        if meter.is_connected():
            self._idle[meter] = None
        if len(self._idle) > self.limits.idle_connections:
            oldest = next(iter(self._idle))
            del self._idle[oldest]
            oldest.close()

    def _connector(self, resolver: AbstractResolver) -> aiohttp.TCPConnector:
        settings: dict[str, Any] = {
            "limit": 0,  # how many requests run at once is for the loop to say
            "keepalive_timeout": self.limits.keep_alive,
            "ttl_dns_cache": self.limits.names_kept,
            "ssl": self._verify_tls,
        }
        if self._socks is not None:
            connector = _socks_connector(self._socks, settings)
        elif self._http_proxy is not None:
            connector = aiohttp.TCPConnector(resolver=resolver, **settings)
        else:
            connector = aiohttp.TCPConnector(resolver=resolver, socket_factory=self._checked_socket, **settings)
        meter = partial(_Meter, asyncio.get_running_loop(), self.limits, self._idle)
        connector._factory = meter  # type: ignore[assignment]
        return connector

    def _checked_socket(self, info: Any) -> socket.socket:
        """A socket for the address that is connected to next, whoever named it: a resolver, a rebinding one, a URL."""
        family, kind, protocol, _, address = info
        why = forbidden(address[0], self._allowed)
        if why is not None:
            raise PermissionError(f"{_NOT_ALLOWED}: {address[0]} is {why}")
        return socket.socket(family=family, type=kind, proto=protocol)


class _Over(aiohttp.ClientError):
    """More came than one request may cost."""


class _Stale(aiohttp.ClientConnectionError):
    """An idle connection turned out to be closed."""


class _Meter(ResponseHandler):
    """aiohttp's protocol, counting every byte that arrives and closing on the one too many.

    aiohttp alone bounds header lines and their number, but neither the sum, nor informational
    replies, nor what chunk extensions and trailers cost.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: FetchLimits, idle: dict[_Meter, None]) -> None:
        super().__init__(loop=loop)
        self.received = 0
        self.requests = 0
        self.peer = ""
        self.keeps: object = None
        self._limits, self._idle_ones = limits, idle
        self._in_head, self._last = True, b""
        self._began = 0.0  # when the request went out, then when the first byte of the reply came
        self._counted = 0  # bytes that had come when the rate was last looked at
        self._watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.peer = str(peer[0]).partition("%")[0] if peer else ""

    def connection_lost(self, error: BaseException | None) -> None:
        self._idle_ones.pop(self, None)
        self.unwatch()
        super().connection_lost(error)

    def set_response_params(self, **settings: Any) -> None:
        self._idle_ones.pop(self, None)
        self.received, self._in_head, self._last = 0, True, b""
        self.requests += 1
        self._began, self._counted = self._loop.time(), 0
        self._look_in(min(self._limits.first_byte, self._limits.rate_time))
        super().set_response_params(**settings)

    def feed_data(self, message: Any, size: int = 0) -> None:
        code = message[0].code
        self._in_head = 100 <= code < 200 and code != 101
        super().feed_data(message, size)

    def data_received(self, data: bytes) -> None:
        if self in self._idle_ones:
            self.close()  # nobody asked: whatever this is, it must not be taken for the next answer
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
                self._stop(_Over(f"more than {limits.header_bytes} bytes of headers"))
            elif self.received > limits.bytes + limits.header_bytes:
                self._stop(_Over(f"more than {limits.bytes} bytes"))

    def _head_received(self, data: bytes) -> None:
        """Hand over head and rest one after the other.

        The parser forgets a message whose head comes with broken bytes behind it in one piece, so that
        the outcome would hang on how the network cut the stream.
        """
        for _ in range(20):  # informational replies before the real one; a flood of them goes in as it came
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
        """The reply is complete, or will never be."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _look_in(self, seconds: float) -> None:
        self.unwatch()
        self._watch = self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        """Give up a reply that has not begun in time, or comes too slowly.

        One timer for both, so that a reply that comes at once costs no more than to start it.
        """
        self._watch = None
        limits, transport = self._limits, self.transport
        if transport is None or transport.get_protocol() is not self:
            return  # closed; or a tunnel through a proxy, in which another protocol goes on
        now = self._loop.time()
        left = self._began + (limits.rate_time if self.received else limits.first_byte) - now
        if left > 0:
            self._look_in(left)
        elif not self.received:
            self._stop(aiohttp.SocketTimeoutError(f"no reply within {limits.first_byte:g} s"))
        elif self.received - self._counted < limits.rate * limits.rate_time:
            self._stop(aiohttp.SocketTimeoutError(f"less than {limits.rate:g} bytes a second"))
        else:
            self._began, self._counted = now, self.received
            self._look_in(limits.rate_time)

    def set_exception(self, error: BaseException, *cause: BaseException) -> None:
        super().set_exception(error, *cause)
        payload = self._payload
        if payload is not None and not payload.is_eof() and payload.exception() is None:
            payload.set_exception(error)  # else a reader of a body with broken framing waits for its timeout

    def _stop(self, error: aiohttp.ClientError) -> None:
        self.set_exception(error)
        if self.transport is not None:
            self.transport.abort()


class _Reply(aiohttp.ClientResponse):
    """aiohttp's response, remembering its connection after that was given back."""

    meter: _Meter

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        self.meter = meter = connection.protocol
        try:
            return await super().start(connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            if meter.received == 0 and meter.requests > 1:
                raise _Stale from error
            raise

    def head_size(self) -> int:
        return sum(len(name) + len(value) + 4 for name, value in self.raw_headers)

    def lines(self) -> tuple[tuple[str, str], ...]:
        return tuple((name.decode("latin-1"), _decoded(value)) for name, value in self.raw_headers)


class _Lookup(AbstractResolver):
    """The system's resolver in threads of its own, so that slow names hold up nobody else's work."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="lookup")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        ask = partial(
            socket.getaddrinfo, host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
        )
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        except UnicodeError:
            raise OSError("no host name") from None
        if not found:
            raise OSError("no address")
        flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return [
            ResolveResult(
                hostname=host, host=str(address[0]), port=int(address[1]), family=kind, proto=protocol, flags=flags
            )
            for kind, _, protocol, _, address in found
        ]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


_TRUNCATED = {"timeout": "time", "reset": "disconnect", "empty-reply": "disconnect", "too-large": "length"}


def _failure(error: BaseException, through_proxy: bool) -> Failure:
    """The word for what went wrong, the most telling test first."""
    message = getattr(error, "message", None) or str(error) or type(error).__name__
    detail = _clean(message) if isinstance(message, str) else "closed in the middle of the head"
    for kind, judge in _WORDS:
        if isinstance(error, kind):
            reason, may_retry = judge(error)
            if through_proxy and reason in ("dns", "connect"):
                reason = "proxy"  # names and servers are the proxy's business: what failed was reaching it
            return Failure(reason, detail, 0, may_retry)
    if through_proxy and type(error).__module__.partition(".")[0] in ("aiohttp_socks", "python_socks"):
        return Failure("proxy", detail, 0, True)
    return Failure("client-error", _clean(f"{type(error).__name__}: {detail}"))


def _connect_word(error: Any) -> tuple[str, bool]:
    return ("refused-address", False) if _NOT_ALLOWED in str(error.os_error) else ("connect", True)


def _protocol_word(error: Any) -> tuple[str, bool]:
    too_much = str(error.message).startswith(("Got more than", "Too many headers"))
    return ("header-bomb" if too_much else "bad-http"), False


def _disconnect_word(error: Any) -> tuple[str, bool]:
    return ("empty-reply" if isinstance(error.message, str) else "reset"), True


_WORDS: tuple[tuple[type[BaseException], Callable[[Any], tuple[str, bool]]], ...] = (
    (_Over, lambda error: ("header-bomb" if "header" in str(error) else "too-large", False)),
    (aiohttp.ClientHttpProxyError, lambda error: ("proxy", error.status >= 500)),
    (aiohttp.ClientProxyConnectionError, lambda error: ("proxy", True)),
    (aiohttp.ClientConnectorDNSError, lambda error: ("dns", error.os_error.errno == socket.EAI_AGAIN)),
    (aiohttp.ClientSSLError, lambda error: ("tls", False)),
    (aiohttp.ClientConnectorError, _connect_word),
    (TimeoutError, lambda error: ("timeout", True)),
    (_Stale, lambda error: ("empty-reply", True)),
    (aiohttp.ServerDisconnectedError, _disconnect_word),
    (aiohttp.ClientPayloadError, lambda error: ("reset", True)),
    (aiohttp.ClientResponseError, _protocol_word),
    (HttpProcessingError, _protocol_word),
    (aiohttp.InvalidURL, lambda error: ("bad-url", False)),
    (OSError, lambda error: ("reset", True)),
    (aiohttp.ClientConnectionError, lambda error: ("reset", True)),
    (ValueError, lambda error: ("bad-url", False)),
)


def _decoded(value: bytes) -> str:
    with contextlib.suppress(UnicodeDecodeError):
        return value.decode()
    return value.decode("latin-1")


def _text(value: str) -> str:
    """Text without lone surrogates, which aiohttp makes of bytes that are not UTF-8."""
    return value if value.isascii() else _decoded(value.encode("utf-8", "surrogateescape"))


def _clean(text: str) -> str:
    """Words from the web made fit for a log: printable, one line, at most 200 characters."""
    shown = " ".join(text[:1000].split())[:200]
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in shown)


def _parsed_proxy(proxy: str | None) -> tuple[URL | None, str | None]:
    """(an HTTP proxy, None), (None, a SOCKS proxy) or (None, None)."""
    if proxy is None:
        return None, None
    way_out = "write http://host:port, http://user:password@host:port or socks5://host:port"
    try:
        url = URL(proxy if "://" in proxy else f"http://{proxy}")
        if not url.host or not url.port:
            raise ValueError("no host or port")
    except ValueError:
        raise BadConfig("not a usable proxy address", way_out) from None  # it may hold a password: not shown
    if url.scheme in ("http", "https"):
        return url, None
    if url.scheme not in ("socks4", "socks4a", "socks5", "socks5h"):
        raise BadConfig(f"no proxy of the kind `{url.scheme}`", way_out)
    if importlib.util.find_spec("aiohttp_socks") is None:
        raise BadConfig("a SOCKS proxy needs the package aiohttp_socks", "pip install scenthound[socks]")
    return None, str(url.with_scheme(url.scheme.rstrip("ah")))


def _socks_connector(proxy: str, settings: dict[str, Any]) -> aiohttp.TCPConnector:
    from aiohttp_socks import ProxyConnector

    class Connector(ProxyConnector):
        """The SOCKS connector, with our meter in the place of its protocol."""

        async def _wrap_create_connection(self, *words: Any, **more: Any) -> tuple[asyncio.Transport, ResponseHandler]:
            transport, theirs = await super()._wrap_create_connection(*words, **more)
            meter: Any = self._factory()
            meter.keeps = theirs  # it holds the writer, whose end would close the transport
            transport.set_protocol(meter)
            meter.connection_made(transport)
            return transport, meter

    made: aiohttp.TCPConnector = Connector.from_url(proxy, rdns=True, **settings)
    return made
