"""Fetch pages over HTTP: one GET request, within all limits, without following redirects. The only client socket.

`web.addresses` checks the exact address of each connection. `web.connection.Meter` counts what arrives. Between
requests a connection is kept for its host; when too many are idle, the oldest is closed. Whatever a server does, the
result is a `Response` or a `Failure` with a short reason that can be counted; only a cancellation is raised.

aiohttp is used through its public names except for `TCPConnector._factory` (to insert the meter) and
`ClientSession._retry_connection` (which would silently repeat a request to a dying server).
"""

from __future__ import annotations

import asyncio
import importlib.util
import re
import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from scenthound.errors import BadConfig
from scenthound.formats import replace_unprintable
from scenthound.model import Response
from scenthound.ports import Failure
from scenthound.web.addresses import Network, forbidden, forbidden_name, literal
from scenthound.web.connection import (
    FetchLimits,
    Meter,
    Reply,
    StaleConnection,
    ThreadedResolver,
    TooMuch,
    decode_header,
    socks_connector,
)
from scenthound.web.content_type import request_headers

ADDRESS_NOT_ALLOWED = (
    "address not allowed"  # searched for in messages, because aiohttp joins the errors of all addresses
)


def failure_of(error: BaseException, through_proxy: bool) -> Failure:
    """The failure for an error, according to its most specific class."""
    message = getattr(error, "message", None) or str(error) or type(error).__name__
    detail = one_line(message) if isinstance(message, str) else "closed in the middle of the headers"
    for kind, reason_of in _REASONS:
        if isinstance(error, kind):
            reason, may_retry = reason_of(error)
            if through_proxy and reason in ("dns", "connect"):
                reason = "proxy"  # the proxy looks up and connects to the server, so we failed to reach the proxy
            return Failure(reason, detail, 0, may_retry)
    if through_proxy and type(error).__module__.partition(".")[0] in ("aiohttp_socks", "python_socks"):
        return Failure("proxy", detail, 0, True)
    return Failure("client-error", one_line(f"{type(error).__name__}: {detail}"))


def _connect_reason(error: Any) -> tuple[str, bool]:
    return ("refused-address", False) if ADDRESS_NOT_ALLOWED in str(error.os_error) else ("connect", True)


def _protocol_reason(error: Any) -> tuple[str, bool]:
    too_much = str(error.message).startswith(("Got more than", "Too many headers"))
    return ("header-bomb" if too_much else "bad-http"), False


def _disconnect_reason(error: Any) -> tuple[str, bool]:
    return ("empty-reply" if isinstance(error.message, str) else "reset"), True


_REASONS: tuple[tuple[type[BaseException], Callable[[Any], tuple[str, bool]]], ...] = (
    (TooMuch, lambda error: (error.reason, False)),
    (aiohttp.ClientHttpProxyError, lambda error: ("proxy", error.status >= 500)),
    (aiohttp.ClientProxyConnectionError, lambda error: ("proxy", True)),
    (aiohttp.ClientConnectorDNSError, lambda error: ("dns", error.os_error.errno == socket.EAI_AGAIN)),
    (aiohttp.ClientSSLError, lambda error: ("tls", False)),
    (aiohttp.ClientConnectorError, _connect_reason),
    (TimeoutError, lambda error: ("timeout", True)),
    (StaleConnection, lambda error: ("empty-reply", True)),
    (aiohttp.ServerDisconnectedError, _disconnect_reason),
    (aiohttp.ClientPayloadError, lambda error: ("reset", True)),
    (aiohttp.ClientResponseError, _protocol_reason),
    (HttpProcessingError, _protocol_reason),
    (aiohttp.InvalidURL, lambda error: ("bad-url", False)),
    (OSError, lambda error: ("reset", True)),
    (aiohttp.ClientConnectionError, lambda error: ("reset", True)),
    (ValueError, lambda error: ("bad-url", False)),
)


def one_line(text: str) -> str:
    """Text from the web, for a log: one printable line of at most 200 characters."""
    return replace_unprintable(" ".join(text[:1000].split())[:200], 200)


MOST_ADDRESSES = 50_000  # addresses of hosts kept in memory
_TRUNCATED = {"timeout": "time", "reset": "disconnect", "empty-reply": "disconnect", "too-large": "length"}
_WIRE_URL = re.compile(
    r"""(https?)://(?:[^/?#]*@)?((?:\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+,;=%-]+)(?::[0-9]{1,5})?)((?:[/?][!"$-~]*)?)""",
    re.IGNORECASE,
)


class HttpFetcher:
    """Implements `ports.Fetcher` over HTTP. Use it as `async with HttpFetcher(...) as fetcher`.

    It keeps no cookies, sends no credentials and no Referer, and follows no redirects. A proxy looks up names itself,
    so only addresses, internal names and names that spell out an address can be refused (`forbidden_name`), the proxy's
    own address is not checked, and `Response.address`, which is unknown, is empty.
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
                f"not a User-Agent: {user_agent!r}", "use printable ASCII, such as `name/1.0 (+mailto:you@here)`"
            )
        self.limits = limits
        self._allowed = tuple(allow_private)
        self._headers = dict(request_headers(user_agent))
        self._http_proxy, self._socks = _parsed_proxy(proxy)
        self._proxied = proxy is not None
        self._verify_tls = verify_tls
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None
        self._idle: dict[Meter, None] = {}
        self._large = asyncio.Semaphore(limits.large_bodies)
        self._addresses: dict[str, str] = {}  # by host

    async def __aenter__(self) -> Self:
        limits = self.limits
        if self._resolver is None:
            self._resolver = ThreadedResolver(limits.lookups)
        self._session = session = aiohttp.ClientSession(
            connector=self._connector(self._resolver),
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=limits.total, connect=limits.connect, sock_connect=limits.connect, sock_read=limits.idle
            ),
            auto_decompress=False,
            response_class=Reply,
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

    async def address(self, host: str) -> str:
        """An address of this host; empty if it has none, or if a proxy looks it up."""
        if self._proxied or self._resolver is None:
            return ""
        address = literal(host) or self._addresses.get(host)
        if address is None:
            try:
                lookup = self._resolver.resolve(host, 0, socket.AF_UNSPEC)
                entries = await asyncio.wait_for(lookup, self.limits.connect)
            except (OSError, TimeoutError):
                return ""
            if len(self._addresses) >= MOST_ADDRESSES:
                del self._addresses[next(iter(self._addresses))]
            address = self._addresses[host] = min((entry["host"] for entry in entries), default="")
        return address

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        """The reply to `GET url`, its body cut at `most` bytes. Raises nothing except a cancellation."""
        if self._session is None:
            raise RuntimeError("the fetcher is closed: use it inside `async with`")
        wire = self._wire(url)
        if isinstance(wire, Failure):
            return wire
        try:
            try:
                reply = await self._session.get(wire, allow_redirects=False)
            except StaleConnection:  # the server closed an idle connection and never saw the request
                reply = await self._session.get(wire, allow_redirects=False)
        except Exception as error:
            return failure_of(error, through_proxy=self._proxied)
        try:
            return await self._read(url, reply, min(most or self.limits.bytes, self.limits.bytes))  # type: ignore[arg-type]
        finally:
            if not reply.closed:
                reply.close()

    def _wire(self, url: str) -> URL | Failure:
        """The URL to request, unchanged except for removed credentials; a failure if it could split a request."""
        match = _WIRE_URL.match(url)
        if match is None or not (match.end() == len(url) or url[match.end()] == "#"):
            return Failure("bad-url", one_line(url))
        scheme, authority, rest = match.groups()
        try:
            # Path and query are passed together, because yarl would lose the `?` of an empty query.
            target = rest if rest.startswith("/") else f"/{rest}"
            wire = URL.build(scheme=scheme.lower(), authority=authority, path=target, encoded=True)
            host = wire.raw_host or ""
        except ValueError:  # such as a port out of range
            return Failure("bad-url", one_line(url))
        reason = forbidden_name(host, self._allowed) if self._proxied else None
        return wire if reason is None else Failure("refused-address", f"{host}: {reason}")

    async def _read(self, url: str, reply: Reply, most: int) -> Response | Failure:
        """Read the body of a reply up to `most` bytes."""
        limits, meter, status = self.limits, reply.meter, reply.status
        if meter.received > limits.header_bytes and reply.head_size() > limits.header_bytes:
            return Failure("header-bomb", f"{reply.head_size()} bytes of headers", meter.received)
        if status == 101:
            return Failure("bad-http", "101 without a request to switch", meter.received)
        body: list[bytes] = []
        size, truncated, content, is_large = 0, "", reply.content, False
        try:
            while chunk := await content.readany():
                size += len(chunk)
                body.append(chunk)
                if size > most:
                    break
                if size > limits.small and not is_large:
                    await asyncio.wait_for(self._large.acquire(), limits.total)
                    is_large = True
        except Exception as error:
            unread = b"".join(getattr(content, "_buffer", ()))
            body.append(unread)
            size += len(unread)
            failure = failure_of(error, through_proxy=False)
            truncated = _TRUNCATED.get(failure.reason, "")
            is_useful = size > 0 or status >= 300  # for a redirect or an error the head is enough
            if not truncated or not is_useful:
                return failure._replace(size=meter.received)
        finally:
            if is_large:
                self._large.release()
        if size > most:
            truncated, body[-1] = "length", body[-1][: len(body[-1]) - (size - most)]
        whole = b"".join(body)
        body.clear()
        meter.unwatch()
        if not truncated:
            self._keep_alive(meter)
        version = reply.version
        return Response(
            url=url,
            status=status,
            reason=_text(reply.reason or ""),
            headers=reply.lines(),
            body=whole,
            address="" if self._proxied else meter.peer,
            truncated=truncated,
            http_version="1.1" if version is None else f"{version.major}.{version.minor}",
        )

    def _keep_alive(self, meter: Meter) -> None:
        if meter.is_connected():
            self._idle[meter] = None
        if len(self._idle) > self.limits.idle_connections:
            oldest = next(iter(self._idle))
            del self._idle[oldest]
            oldest.close()

    def _connector(self, resolver: AbstractResolver) -> aiohttp.TCPConnector:
        settings: dict[str, Any] = {
            "limit": 0,  # the loop limits the number of requests
            "keepalive_timeout": self.limits.keep_alive,
            "ttl_dns_cache": self.limits.dns_cache,
            "ssl": self._verify_tls,
        }
        if self._socks is not None:
            connector = socks_connector(self._socks, settings)
        elif self._http_proxy is not None:
            connector = aiohttp.TCPConnector(resolver=resolver, **settings)
        else:
            connector = aiohttp.TCPConnector(resolver=resolver, socket_factory=self._checked_socket, **settings)
        meter = partial(Meter, asyncio.get_running_loop(), self.limits, self._idle)
        connector._factory = meter  # type: ignore[assignment]
        return connector

    def _checked_socket(self, info: Any) -> socket.socket:
        """A socket for an address from a resolver or a URL. Raises `PermissionError` if the address is forbidden."""
        family, kind, protocol, _, address = info
        reason = forbidden(address[0], self._allowed)
        if reason is not None:
            raise PermissionError(f"{ADDRESS_NOT_ALLOWED}: {address[0]} is {reason}")
        return socket.socket(family=family, type=kind, proto=protocol)


def _text(value: str) -> str:
    """Text without the lone surrogates into which aiohttp decodes bytes that are not UTF-8."""
    return value if value.isascii() else decode_header(value.encode("utf-8", "surrogateescape"))


def _parsed_proxy(proxy: str | None) -> tuple[URL | None, str | None]:
    """The HTTP proxy and the SOCKS proxy; at least one of them is None."""
    if proxy is None:
        return None, None
    hint = "write http://host:port, http://user:password@host:port or socks5://host:port"
    try:
        url = URL(proxy if "://" in proxy else f"http://{proxy}")
        if "://" not in proxy and url.explicit_port is None:
            raise ValueError("neither a scheme nor a port")
        if not url.host or not url.port:
            raise ValueError("no host or port")
    except ValueError:
        raise BadConfig("not a usable proxy address", hint) from None  # not shown, because it may contain a password
    if url.scheme in ("http", "https"):
        return url, None
    if url.scheme not in ("socks4", "socks4a", "socks5", "socks5h"):
        raise BadConfig(f"a proxy of the kind `{url.scheme}` is not supported", hint)
    if importlib.util.find_spec("aiohttp_socks") is None:
        raise BadConfig("a SOCKS proxy needs the package aiohttp_socks", "pip install scenthound[socks]")
    return None, str(url.with_scheme(url.scheme.rstrip("ah")))
