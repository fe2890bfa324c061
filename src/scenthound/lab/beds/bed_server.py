"""Serves a bed over HTTP, so that the live driver, or any other crawler, can crawl it.

The host comes from the `Host` header (any name may point at this address) or from the absolute URL that a client
sends to a forward proxy. There is no TLS: pages recorded under https are also served under http unless another page was
recorded there, and a `CONNECT` gets a 501 with the reason. With `as_http`, links and redirects to https are rewritten
to http, so that a crawler can follow them without trusting a certificate.

Random errors and delays are a function of seed number, URL and attempt, so that the same crawl gets the same errors.
Tests of politeness and of killed crawls read the access log: each line is on disk before the next request of that
connection is read. Its times are wall-clock seconds, so that they can be compared between processes.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import threading
import time
import zlib
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from scenthound.errors import BadConfig, NotAUrl, ScenthoundError
from scenthound.lab.beds.bed import Web
from scenthound.lab.generate.rng import stream
from scenthound.lab.generate.simple_pages import trap
from scenthound.model import Response
from scenthound.url import make

MAX_HEAD = 65_536  # bytes
_CACHE_BYTES = 64 << 20
_MAX_COUNTED_URLS = 1_000_000  # once attempts for this many URLs have been counted, all counts are reset
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "te", "trailer", "upgrade"}
_ROBOTS = {"allow": "User-agent: *\nDisallow:\n", "deny": "User-agent: *\nDisallow: /\n"}


class ServedRequest(NamedTuple):
    """One line of the access log. `end` is just before the response is sent; status 0: the client disconnected."""

    start: float
    end: float
    host: str
    path: str
    status: int


class _Request(NamedTuple):
    method: str
    scheme: str
    host: str
    path: str
    keep_alive: bool
    accepts_gzip: bool


class _Refused(Exception):
    """Raised for a request that gets an error status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """The options of a bed server."""

    latency: float = 0.0
    """Seconds before every response."""
    jitter: float = 0.0
    """Random extra delay, up to this many seconds."""
    error_rate: float = 0.0
    """Share of responses with status 503."""
    robots: str | None = None
    """None: as recorded; "allow", "deny" or the text of a robots.txt (several lines): the same for all hosts."""
    as_http: bool = False
    """Serve pages that were recorded under https under http, and rewrite links and redirects."""
    compress: bool = False
    """Send text as gzip to clients that accept it."""
    host: str = "127.0.0.1"
    """The address to listen on; by default only this machine can connect."""
    port: int = 0
    seed: int = 1
    log_file: str | Path | None = None
    log_size: int = 1_000_000

    def __post_init__(self) -> None:
        if not 0.0 <= self.error_rate <= 1.0 or self.latency < 0 or self.jitter < 0:
            raise BadConfig("latency and jitter must not be negative, and error_rate must be between 0 and 1")
        if self.robots is not None and self.robots not in _ROBOTS and "\n" not in self.robots:
            raise BadConfig(f"robots can't be `{self.robots}`", "give `allow`, `deny`, or the text of a robots.txt")


class BedServer:
    """Serves a web until it is stopped: `async with BedServer(bed) as server: server.address`."""

    def __init__(self, web: Web, options: ServerOptions | None = None) -> None:
        self.web, self.options = web, options or ServerOptions()
        self.port = self.options.port
        """The port of the options; once the server has started, the port that it listens on."""
        self.log: deque[ServedRequest] = deque(maxlen=self.options.log_size)
        """The latest requests, in the order in which they ended."""
        robots = self.options.robots
        self._robots = None if robots is None else _ROBOTS.get(robots, robots).encode()
        self._log_file = -1
        self._attempts: dict[str, int] = {}
        self._cache: OrderedDict[tuple[str, bool], tuple[int, bytes, bytes]] = OrderedDict()
        self._cached_bytes = 0
        self._server: asyncio.Server | None = None
        self._connections: set[_Connection] = set()

    @property
    def address(self) -> str:
        """`host:port`, as for a proxy setting."""
        return f"{self.options.host}:{self.port}"

    async def __aenter__(self) -> BedServer:
        loop = asyncio.get_running_loop()
        if self.options.log_file is not None:
            self._log_file = _open_log(self.options.log_file)
        self._server = await loop.create_server(lambda: _Connection(self), self.options.host, self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for connection in list(self._connections):
            connection.abort()
        await self._server.wait_closed()
        await asyncio.sleep(0)  # lets the aborted connections log their pending requests
        if self._log_file >= 0:
            os.close(self._log_file)
            self._log_file = -1

    def run_forever(self, ready: Callable[[str], None] | None = None) -> None:
        """Serve until Ctrl-C. `ready` is called with the address once the server accepts connections."""

        async def serve() -> None:
            async with self:
                if ready is not None:
                    ready(self.address)
                await asyncio.get_running_loop().create_future()

        try:
            asyncio.run(serve())
        except KeyboardInterrupt:
            return

    # Called by a connection

    def answer(self, request: _Request) -> tuple[int, bytes, bytes]:
        """Status, headers and body for a GET or HEAD."""
        url = f"{request.scheme}://{request.host}{request.path}"
        if self._robots is not None and request.path == "/robots.txt":
            return _http_response(200, [("Content-Type", "text/plain")], self._robots)
        key = (url, request.accepts_gzip)
        cached = self._cache.get(key)
        if cached is not None:
            self._cache.move_to_end(key)
            return cached
        try:
            recorded = self._find(url, request)
        except (ScenthoundError, OSError) as error:
            return _text_response(500, f"the bed could not be read: {error}")
        if recorded is None:
            return _text_response(404, f"this bed has nothing at {url}")
        reply = self._serve_recorded(recorded, request.accepts_gzip)
        self._add_to_cache(key, reply)
        return reply

    def draw_failure(self, request: _Request) -> tuple[bool, float]:
        """Whether this attempt fails, and how many seconds the response takes."""
        options = self.options
        if not options.error_rate and not options.jitter:
            return False, options.latency
        url = f"{request.host}{request.path}"
        if len(self._attempts) >= _MAX_COUNTED_URLS:
            self._attempts.clear()
        attempt = self._attempts[url] = self._attempts.get(url, 0) + 1
        draws = stream("serve", options.seed, url, attempt)
        fails = next(draws) < options.error_rate * 2**32
        return fails, options.latency + options.jitter * next(draws) / 2**32

    def log_request(self, served: ServedRequest) -> None:
        self.log.append(served)
        if self._log_file >= 0:
            os.write(self._log_file, (json.dumps(served._asdict()) + "\n").encode())

    def _find(self, url: str, request: _Request) -> Response | None:
        if request.host.partition(":")[0] in ("127.0.0.1", "localhost") and request.path == "/":
            return self._about()
        host = request.host.rpartition(":")[0] if request.host.rpartition(":")[2].isdigit() else request.host
        http_url = f"http://{host}{request.path}"
        for spelling in dict.fromkeys([url, http_url, f"https://{host}{request.path}"]):
            try:
                recorded = self.web.get(make(spelling))
            except NotAUrl:
                continue
            if recorded is not None and self.options.as_http:
                recorded = _with_http_links(recorded)
                if recorded.header("Location") == http_url:
                    continue  # a redirect between http and https would now lead to itself
            if recorded is not None:
                return recorded
        return trap(http_url) if self.web.traps else None

    def _about(self) -> Response:
        text = (
            f"This is the bed `{self.web.name}`, served by scenthound.\n"
            f"Use {self.address} as an HTTP proxy, or send a Host header.\n"
        )
        return Response("", 200, "OK", (("Content-Type", "text/plain; charset=utf-8"),), text.encode())

    def _serve_recorded(self, response: Response, accepts_gzip: bool) -> tuple[int, bytes, bytes]:
        headers = [(key, value) for key, value in response.headers if key.lower() not in _HOP_BY_HOP]
        body, encoding = response.body, response.header("Content-Encoding").strip().lower()
        if encoding in ("gzip", "x-gzip") and not accepts_gzip:
            body = _decompressed(body)
            headers = [(key, value) for key, value in headers if key.lower() != "content-encoding"]
        elif not encoding and accepts_gzip and self.options.compress and len(body) > 200:
            body = gzip.compress(body, 1, mtime=0)
            headers += [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
        return _http_response(response.status, headers, body, response.reason)

    def _add_to_cache(self, key: tuple[str, bool], reply: tuple[int, bytes, bytes]) -> None:
        self._cache[key] = reply
        self._cached_bytes += len(reply[1]) + len(reply[2])
        while self._cached_bytes > _CACHE_BYTES:
            _, (_, head, body) = self._cache.popitem(last=False)
            self._cached_bytes -= len(head) + len(body)


class _Connection(asyncio.Protocol):
    """The connection of one client. Its requests are answered one at a time, in order."""

    def __init__(self, server: BedServer) -> None:
        self.server = server
        self.transport: asyncio.Transport | None = None
        self.buffer = b""
        self.timer: asyncio.TimerHandle | None = None
        self.pending: tuple[_Request, float] | None = None
        self.blocked = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server._connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        self.server._connections.discard(self)
        if self.timer is not None:
            self.timer.cancel()
        if self.pending is not None:  # the request did arrive, so it is logged
            request, start = self.pending
            self.server.log_request(ServedRequest(start, time.time(), request.host, request.path, 0))
            self.pending = None

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        self._process_buffer()
        if len(self.buffer) > MAX_HEAD and self.transport is not None and (self.pending or self.blocked):
            self.transport.pause_reading()

    def pause_writing(self) -> None:
        self.blocked = True

    def resume_writing(self) -> None:
        self.blocked = False
        self._process_buffer()

    def _process_buffer(self) -> None:
        """Answer the complete requests in the buffer, unless a response is pending."""
        while self.transport is not None and self.pending is None and not self.blocked:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self.buffer) > MAX_HEAD:
                    self._refuse(431, "the request's head is too long")
                elif not self.transport.is_reading():
                    self.transport.resume_reading()
                return
            head, self.buffer = self.buffer[:end], self.buffer[end + 4 :]
            try:
                request = _parse(head)
            except _Refused as refused:
                self._refuse(refused.status, refused.message)
                return
            self._begin(request)

    def _begin(self, request: _Request) -> None:
        fails, delay = self.server.draw_failure(request)
        self.pending = (request, time.time())
        if delay > 0:
            self.timer = asyncio.get_running_loop().call_later(delay, self._reply_late, fails)
        else:
            self._reply(fails)

    def _reply_late(self, fails: bool) -> None:
        self.timer = None
        self._reply(fails)
        self._process_buffer()

    def _reply(self, fails: bool) -> None:
        assert self.pending is not None
        assert self.transport is not None
        request, start = self.pending
        if fails:
            status, head, body = _text_response(
                503, "a random error, as the server's error rate demands", ("Retry-After", "1")
            )
        else:
            status, head, body = self.server.answer(request)
        head_end = b"\r\n" if request.keep_alive else b"Connection: close\r\n\r\n"
        self.pending = None
        end = time.time()  # taken before writing: on a busy machine the next line may run much later
        self.transport.write(head + head_end + (b"" if request.method == "HEAD" else body))
        self.server.log_request(ServedRequest(start, end, request.host, request.path, status))
        if not request.keep_alive:
            self.transport.close()
            self.transport = None

    def _refuse(self, status: int, message: str) -> None:
        assert self.transport is not None
        _, head, body = _text_response(status, message)
        self.transport.write(head + b"Connection: close\r\n\r\n" + body)
        self.server.log_request(ServedRequest(time.time(), time.time(), "", "", status))
        self.transport.close()
        self.transport = None


def _parse(head: bytes) -> _Request:
    """Parse a request head without its empty line. Raises `_Refused` if this server can't answer it."""
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise _Refused(400, "not an HTTP/1 request")
    method, target, version = parts
    if method == "CONNECT":
        raise _Refused(
            501, "no tunnels: this server has no TLS. Use the http:// form of the URL, and `lab serve --as-http`"
        )
    if method not in ("GET", "HEAD"):
        raise _Refused(405, "a recorded web is read-only: use GET or HEAD")
    headers: dict[str, str] = {}
    for line in lines[1:]:
        key, _, value = line.partition(":")
        headers[key.lower()] = value.strip()
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        raise _Refused(413, "a request must not have a body")
    scheme, host, path = "http", headers.get("host", "").lower(), target
    if not target.startswith("/"):
        scheme, colon, rest = target.partition("://")
        scheme = scheme.lower()
        if not colon or scheme not in ("http", "https"):
            raise _Refused(400, "request /path or http://host/path")
        host_end = min((i for i in (rest.find("/"), rest.find("?")) if i >= 0), default=len(rest))
        host, path = rest[:host_end].rpartition("@")[2].lower(), rest[host_end:]
        path = path if path.startswith("/") else "/" + path
    if not host:
        raise _Refused(400, "no Host header")
    connection = headers.get("connection", headers.get("proxy-connection", "")).lower()
    keep_alive = "close" not in connection if version != "HTTP/1.0" else "keep-alive" in connection
    return _Request(method, scheme, host, path, keep_alive, "gzip" in headers.get("accept-encoding", "").lower())


def _http_response(
    status: int, headers: list[tuple[str, str]], body: bytes, reason: str = ""
) -> tuple[int, bytes, bytes]:
    """Status, head without its final empty line, and body. Line breaks in recorded headers become spaces."""
    lines = [f"HTTP/1.1 {status} {reason or _reason(status)}", *(f"{key}: {value}" for key, value in headers)]
    lines.append(f"Content-Length: {len(body)}")
    head = "".join(line.replace("\r", " ").replace("\n", " ") + "\r\n" for line in lines)
    return status, head.encode("utf-8", "replace"), body


def _text_response(status: int, message: str, *headers: tuple[str, str]) -> tuple[int, bytes, bytes]:
    printable = "".join(letter if letter.isprintable() else "?" for letter in message[:500])
    return _http_response(
        status, [("Content-Type", "text/plain; charset=utf-8"), *headers], (printable + "\n").encode("utf-8", "replace")
    )


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _with_http_links(response: Response) -> Response:
    """The response with every https:// in headers and text replaced by http://."""
    encoding = response.header("Content-Encoding").strip().lower()
    body = _decompressed(response.body) if encoding in ("gzip", "x-gzip") else response.body
    headers = tuple(
        (key, value.replace("https://", "http://"))
        for key, value in response.headers
        if body is response.body or key.lower() != "content-encoding"
    )
    if response.header("Content-Type").partition("/")[0].strip().lower() in ("text", "application"):
        body = body.replace(b"https://", b"http://")
    return replace(response, headers=headers, body=body)


def _decompressed(body: bytes, max_size: int = 64 << 20) -> bytes:
    """The readable part of a gzip body, up to `max_size`; the body itself if it is not gzip."""
    try:
        return zlib.decompressobj(47).decompress(body, max_size)
    except zlib.error:
        return body


def _open_log(path: str | Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise BadConfig(
            f"the log file {path} can't be written: {error.strerror}", "give a file in an existing folder"
        ) from None


@contextmanager
def serving(web: Web | BedServer) -> Iterator[str]:
    """Serve from a background thread: `with serving(bed) as address`. Pass a `BedServer` to set options."""
    server = web if isinstance(web, BedServer) else BedServer(web)
    loops: list[asyncio.AbstractEventLoop] = []
    stop = asyncio.Event()
    ready, errors = threading.Event(), list[BaseException]()

    async def serve() -> None:
        async with server:
            loops.append(asyncio.get_running_loop())
            ready.set()
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:  # raised again in the caller's thread
            errors.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="bed server", daemon=True)
    thread.start()
    ready.wait()
    if errors:
        raise errors[0]
    try:
        yield server.address
    finally:
        loops[0].call_soon_threadsafe(stop.set)
        thread.join()
