"""Fetch pages over HTTP: one GET, no redirect followed, within every limit. The only sockets of the crawler.

`web.http_reply` reads replies, `web.connection` watches times and sizes, `web.new_connections` connects to allowed
addresses. Between requests a connection is kept for its host; when too many are idle, the oldest is closed. Whatever a
server does ends as a `Response` or a `Failure`; only a cancellation is raised.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import NamedTuple, Self

from scenthound.errors import BadConfig
from scenthound.formats import replace_unprintable
from scenthound.model import Response
from scenthound.ports import Failure
from scenthound.web.addresses import Network, forbidden_name
from scenthound.web.connection import Connection, FetchLimits
from scenthound.web.http_reply import FetchError, ReplyReader
from scenthound.web.new_connections import Connector, Proxy, Resolver, WebServer
from scenthound.web.request_headers import request_headers

_TRUNCATED = {"timeout": "time", "reset": "disconnect", "empty-reply": "disconnect", "too-large": "length"}
_WIRE_URL = re.compile(
    r"""(https?)://(?:[^/?#]*@)?(\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+,;=%-]+)(?::([0-9]{1,5}))?((?:[/?][!"$-~]*)?)""",
    re.IGNORECASE,
)


class _Wire(NamedTuple):
    """A URL as it is requested."""

    server: WebServer
    authority: str
    path: str
    """With the query."""


class HttpFetcher:
    """Fetches over HTTP; use it as `async with HttpFetcher(...) as fetcher`. See `ports.Fetcher`.

    It keeps no cookies, sends no credentials and no Referer, and follows no redirect. A proxy looks up names itself:
    then only hosts written as addresses and internal names can be refused, the proxy's own address is not checked,
    and `Response.address` is empty, since nobody here knows it.
    """

    def __init__(
        self,
        limits: FetchLimits,
        user_agent: str,
        allow_private: Sequence[Network] = (),
        proxy: str | None = None,
        *,
        verify_tls: bool = True,
        resolver: Resolver | None = None,
    ) -> None:
        if not user_agent.strip() or not user_agent.isascii() or not user_agent.isprintable():
            raise BadConfig(
                f"not a User-Agent: {user_agent!r}", "use printable ASCII, as `name/1.0 (+mailto:you@here)`"
            )
        self.limits = limits
        self._allowed = tuple(allow_private)
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in request_headers(user_agent))
        self._proxy = None if proxy is None else Proxy.parse(proxy)
        self._verify_tls, self._resolver = verify_tls, resolver
        self._connector: Connector | None = None
        self._idle: dict[Connection, WebServer] = {}  # the one idle for longest first
        self._idle_of: dict[WebServer, list[Connection]] = {}
        self._large = asyncio.Semaphore(limits.large_bodies)

    async def __aenter__(self) -> Self:
        self._connector = Connector(self.limits, self._allowed, self._proxy, self._verify_tls, self._resolver)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection. Safe to call twice."""
        connector, self._connector = self._connector, None
        if connector is not None:
            for connection in list(self._idle):
                connection.close()
            await connector.close()
            await asyncio.sleep(0)  # so that the transports are closed before the loop is

    async def address(self, host: str) -> str:
        """An address of this host; empty if it has none, or if a proxy looks it up."""
        if self._proxy is not None or self._connector is None:
            return ""
        try:
            async with asyncio.timeout(self.limits.connect):
                return min(await self._connector.addresses(host))
        except (FetchError, TimeoutError):
            return ""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        """The reply to `GET url`, cut at `most` bytes. Only a cancellation is raised."""
        if self._connector is None:
            raise RuntimeError("the fetcher is closed: use it inside `async with`")
        wire = _wire(url)
        if wire is None:
            return Failure("bad-url", one_line(url))
        host = wire.server.host
        if self._proxy is not None and (why := forbidden_name(host, self._allowed)) is not None:
            return Failure("refused-address", f"{host}: {why}")
        request, key, most = self._request(wire), self._server(wire), min(most or self.limits.bytes, self.limits.bytes)
        ends = asyncio.get_running_loop().time() + self.limits.total
        connection = self._take_idle(key)
        if connection is not None:
            reply = await self._reply(connection, key, url, request, most, ends)
            if connection.received or not isinstance(reply, Failure) or reply.reason not in ("empty-reply", "reset"):
                return reply
            # The server had closed the idle connection: it never saw the request.
        try:
            connection = await self._connector.connect(wire.server, ends)
        except FetchError as error:
            return Failure(error.reason, one_line(str(error)), 0, error.may_retry)
        return await self._reply(connection, key, url, request, most, ends)

    def _server(self, wire: _Wire) -> WebServer:
        """What a connection is kept for: a server; or the proxy, which is asked for pages of all servers."""
        proxy = self._proxy
        if proxy is None or proxy.is_socks or wire.server.is_tls:
            return wire.server
        return WebServer(False, proxy.host, proxy.port)

    def _request(self, wire: _Wire) -> bytes:
        target, more = wire.path, ""
        if self._proxy is not None and not self._proxy.is_socks and not wire.server.is_tls:
            target, more = f"http://{wire.authority}{wire.path}", self._proxy.authorization
        return f"GET {target} HTTP/1.1\r\nHost: {wire.authority}\r\n{self._headers}{more}\r\n".encode("ascii")

    async def _reply(
        self, connection: Connection, server: WebServer, url: str, request: bytes, most: int, ends: float
    ) -> Response | Failure:
        limits = self.limits
        reader, truncated = ReplyReader(limits.header_bytes, limits.header_count), ""
        try:
            await connection.exchange(request, reader, most, ends, self._large)
            if reader.status == 101:
                raise FetchError("bad-http", "101 without a request to switch")
        except FetchError as error:
            truncated = _TRUNCATED.get(error.reason, "") if reader.has_head else ""
            useful = reader.size > 0 or reader.status >= 300  # of a redirect or an error the head is enough
            if not truncated or not useful:
                return Failure(error.reason, one_line(str(error)), connection.received, error.may_retry)
        body = reader.body
        if len(body) > most:
            truncated, body = "length", body[:most]
        elif reader.is_complete and connection.is_open:
            self._keep(connection, server)
        return Response(
            url=url,
            status=reader.status,
            reason=reader.reason,
            headers=reader.headers,
            body=body,
            address=connection.address,
            truncated=truncated,
            http_version=reader.http_version,
        )

    # ---- idle connections

    def _keep(self, connection: Connection, server: WebServer) -> None:
        connection.idle_since = now = asyncio.get_running_loop().time()
        connection.when_closed = self._forget
        self._idle[connection] = server
        self._idle_of.setdefault(server, []).append(connection)
        oldest = next(iter(self._idle))
        if len(self._idle) > self.limits.idle_connections or oldest.idle_since + self.limits.keep_alive < now:
            self._forget(oldest)
            oldest.close()

    def _take_idle(self, server: WebServer) -> Connection | None:
        """The connection to a server that was idle for the shortest time, if it can still be used."""
        now = asyncio.get_running_loop().time()
        while waiting := self._idle_of.get(server):
            connection = waiting[-1]
            self._forget(connection)
            if connection.is_open and connection.idle_since + self.limits.keep_alive >= now:
                return connection
            connection.close()
        return None

    def _forget(self, connection: Connection) -> None:
        connection.when_closed = None
        server = self._idle.pop(connection, None)
        if server is not None:
            waiting = self._idle_of[server]
            waiting.remove(connection)
            if not waiting:
                del self._idle_of[server]


def _wire(url: str) -> _Wire | None:
    """The URL as it is sent: unchanged except for credentials, and with nothing that could split a request."""
    match = _WIRE_URL.match(url)
    if match is None or not (match.end() == len(url) or url[match.end()] == "#"):
        return None
    scheme, host, port, rest = match.groups()
    is_tls, usual = scheme.lower() == "https", 443 if scheme.lower() == "https" else 80
    number = int(port) if port else usual
    if not 0 < number < 65_536:
        return None
    authority = host.lower() if number == usual else f"{host.lower()}:{number}"
    path = rest if rest.startswith("/") else f"/{rest}"
    return _Wire(WebServer(is_tls, host.lower().strip("[]"), number), authority, path)


def one_line(text: str) -> str:
    """Text from the web for a log: printable, one line, at most 200 characters."""
    return replace_unprintable(" ".join(text[:1000].split())[:200], 200)
