"""A bed over real HTTP, so that the live driver, and any other crawler, can crawl it.

The host comes from the `Host` header (any name may point at this address) or from the absolute URL that a client
sends to a forward proxy. There is no TLS: pages recorded under https are also served under http if http has no other
page for them, and a `CONNECT` is answered with 501 and the reason. With `as_http` links and redirects to https are
served as links to http, so that a crawler gets from page to page, and no certificate has to be trusted.

Random errors and delays are a function of seed number, URL and attempt, so that the same crawl meets the same errors.
Tests of politeness and of killed crawls read the access log: each line is on disk before the next request of that
connection is read. Its times are wall-clock seconds, to be comparable between processes.
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
from scenthound.lab.generate.crawler_traps import trap
from scenthound.lab.generate.rng import stream
from scenthound.model import Response
from scenthound.url import make

LONGEST_HEAD = 65_536
_CACHE_BYTES = 64 << 20
_MOST_ATTEMPTS = 1_000_000  # URLs whose attempts are counted; beyond that, counting starts again
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "te", "trailer", "upgrade"}
_ROBOTS = {"allow": "User-agent: *\nDisallow:\n", "deny": "User-agent: *\nDisallow: /\n"}


class ServedRequest(NamedTuple):
    """One line of the access log. `end` is just before the answer is sent. Status 0: the client left before that."""

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
    takes_gzip: bool


class _Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a bed is served."""

    latency: float = 0.0
    """Seconds that every answer takes."""
    jitter: float = 0.0
    """Up to this many seconds more, at random."""
    error_rate: float = 0.0
    """Share of answers that are 503."""
    robots: str | None = None
    """None: as recorded; "allow" or "deny": for all hosts; any other text of several lines: that robots.txt."""
    as_http: bool = False
    """Serve what was recorded under https under http, and write links and redirects so."""
    compress: bool = False
    """Send text as gzip to clients that accept it."""
    host: str = "127.0.0.1"
    """Only this machine is served unless it is another address."""
    port: int = 0
    seed: int = 1
    log_file: str | Path | None = None
    log_size: int = 1_000_000

    def __post_init__(self) -> None:
        if not 0.0 <= self.error_rate <= 1.0 or self.latency < 0 or self.jitter < 0:
            raise BadConfig("latency and jitter are seconds from 0, error_rate is a share between 0 and 1")
        if self.robots is not None and self.robots not in _ROBOTS and "\n" not in self.robots:
            raise BadConfig(f"robots `{self.robots}`", "give `allow`, `deny`, or the text of a robots.txt")


class BedServer:
    """Serves a web until it is stopped: `async with BedServer(bed) as server: server.address`."""

    def __init__(self, web: Web, options: ServerOptions | None = None) -> None:
        self.web, self.options = web, options or ServerOptions()
        self.port = self.options.port
        """Before the server is started, what the options say; then the port it got."""
        self.log: deque[ServedRequest] = deque(maxlen=self.options.log_size)
        """The latest visits, in the order in which they ended."""
        robots = self.options.robots
        self._robots = None if robots is None else _ROBOTS.get(robots, robots).encode()
        self._log_file = -1
        self._attempts: dict[str, int] = {}
        self._cache: OrderedDict[tuple[str, bool], tuple[int, bytes, bytes]] = OrderedDict()
        self._cached = 0
        self._server: asyncio.Server | None = None
        self._open: set[_Connection] = set()

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
        for connection in list(self._open):
            connection.abort()
        await self._server.wait_closed()
        await asyncio.sleep(0)  # let the aborted connections report what they were doing
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
            return _packed(200, [("Content-Type", "text/plain")], self._robots)
        key = (url, request.takes_gzip and self.options.compress)
        cached = self._cache.get(key)
        if cached is not None:
            self._cache.move_to_end(key)
            return cached
        try:
            recorded = self._find(url, request)
        except (ScenthoundError, OSError) as error:
            return _text(500, f"the bed could not be read: {error}")
        if recorded is None:
            return _text(404, f"this bed has nothing at {url}")
        packed = self._pack(recorded, request.takes_gzip)
        self._add_to_cache(key, packed)
        return packed

    def draw(self, request: _Request) -> tuple[bool, float]:
        """Whether this attempt fails, and how many seconds it takes."""
        options = self.options
        if not options.error_rate and not options.jitter:
            return False, options.latency
        url = f"{request.host}{request.path}"
        if len(self._attempts) >= _MOST_ATTEMPTS:
            self._attempts.clear()
        attempt = self._attempts[url] = self._attempts.get(url, 0) + 1
        numbers = stream("serve", options.seed, url, attempt)
        fails = next(numbers) < options.error_rate * 2**32
        return fails, options.latency + options.jitter * next(numbers) / 2**32

    def note(self, visit: ServedRequest) -> None:
        self.log.append(visit)
        if self._log_file >= 0:
            os.write(self._log_file, (json.dumps(visit._asdict()) + "\n").encode())

    def _find(self, url: str, request: _Request) -> Response | None:
        if request.host.partition(":")[0] in ("127.0.0.1", "localhost") and request.path == "/":
            return self._about()
        bare = request.host.rpartition(":")[0] if request.host.rpartition(":")[2].isdigit() else request.host
        plain = f"http://{bare}{request.path}"
        spellings = [url, plain, f"https://{bare}{request.path}"]
        for spelling in dict.fromkeys(spellings):
            try:
                recorded = self.web.get(make(spelling))
            except NotAUrl:
                continue
            if recorded is not None and self.options.as_http:
                recorded = _with_http_links(recorded)
                if recorded.header("Location") == plain:
                    continue  # it led from http to https, or back
            if recorded is not None:
                return recorded
        return trap(f"http://{bare}{request.path}") if self.web.traps else None

    def _about(self) -> Response:
        text = (
            f"This is the bed `{self.web.name}`, served by scenthound.\n"
            f"Use {self.address} as an HTTP proxy, or send a Host header.\n"
        )
        return Response("", 200, "OK", (("Content-Type", "text/plain; charset=utf-8"),), text.encode())

    def _pack(self, response: Response, takes_gzip: bool) -> tuple[int, bytes, bytes]:
        headers = [(key, value) for key, value in response.headers if key.lower() not in _HOP_BY_HOP]
        body, encoding = response.body, response.header("Content-Encoding").strip().lower()
        if encoding in ("gzip", "x-gzip") and not takes_gzip:
            body = _unzipped(body)
            headers = [(key, value) for key, value in headers if key.lower() != "content-encoding"]
        elif not encoding and takes_gzip and self.options.compress and len(body) > 200:
            body = gzip.compress(body, 1, mtime=0)
            headers += [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
        return _packed(response.status, headers, body, response.reason)

    def _add_to_cache(self, key: tuple[str, bool], packed: tuple[int, bytes, bytes]) -> None:
        self._cache[key] = packed
        self._cached += len(packed[1]) + len(packed[2])
        while self._cached > _CACHE_BYTES:
            _, (_, head, body) = self._cache.popitem(last=False)
            self._cached -= len(head) + len(body)


class _Connection(asyncio.Protocol):
    """One client. Its requests are answered one after the other, in their order."""

    def __init__(self, server: BedServer) -> None:
        self.server = server
        self.transport: asyncio.Transport | None = None
        self.buffer = b""
        self.waiting: asyncio.TimerHandle | None = None
        self.asked: tuple[_Request, float] | None = None
        self.blocked = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server._open.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        self.server._open.discard(self)
        if self.waiting is not None:
            self.waiting.cancel()
        if self.asked is not None:  # it did reach us, so it is logged
            request, start = self.asked
            self.server.note(ServedRequest(start, time.time(), request.host, request.path, 0))
            self.asked = None

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        self._go_on()
        if len(self.buffer) > LONGEST_HEAD and self.transport is not None and (self.asked or self.blocked):
            self.transport.pause_reading()

    def pause_writing(self) -> None:
        self.blocked = True

    def resume_writing(self) -> None:
        self.blocked = False
        self._go_on()

    def _go_on(self) -> None:
        """Answer complete requests in the buffer, unless an answer is pending."""
        while self.transport is not None and self.asked is None and not self.blocked:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self.buffer) > LONGEST_HEAD:
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
            self._take(request)

    def _take(self, request: _Request) -> None:
        fails, delay = self.server.draw(request)
        self.asked = (request, time.time())
        if delay > 0:
            self.waiting = asyncio.get_running_loop().call_later(delay, self._late, fails)
        else:
            self._reply(fails)

    def _late(self, fails: bool) -> None:
        self.waiting = None
        self._reply(fails)
        self._go_on()

    def _reply(self, fails: bool) -> None:
        assert self.asked is not None
        assert self.transport is not None
        request, start = self.asked
        if fails:
            status, head, body = _text(503, "this server fails at random, as its error rate says", ("Retry-After", "1"))
        else:
            status, head, body = self.server.answer(request)
        ending = b"\r\n" if request.keep_alive else b"Connection: close\r\n\r\n"
        self.asked = None
        end = time.time()  # before the client can have it: on a busy machine, later could be much later
        self.transport.write(head + ending + (b"" if request.method == "HEAD" else body))
        self.server.note(ServedRequest(start, end, request.host, request.path, status))
        if not request.keep_alive:
            self.transport.close()
            self.transport = None

    def _refuse(self, status: int, message: str) -> None:
        assert self.transport is not None
        _, head, body = _text(status, message)
        self.transport.write(head + b"Connection: close\r\n\r\n" + body)
        self.server.note(ServedRequest(time.time(), time.time(), "", "", status))
        self.transport.close()
        self.transport = None


def _parse(head: bytes) -> _Request:
    """Parse a request head without its empty line. Raises `_Refused` for what this server does not do."""
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
        raise _Refused(405, "a recorded web can only be read: GET and HEAD")
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
            raise _Refused(400, "ask for /path or http://host/path")
        cut = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
        host, path = rest[:cut].rpartition("@")[2].lower(), rest[cut:]
        path = path if path.startswith("/") else "/" + path
    if not host:
        raise _Refused(400, "no Host header")
    connection = headers.get("connection", headers.get("proxy-connection", "")).lower()
    keep_alive = "close" not in connection if version != "HTTP/1.0" else "keep-alive" in connection
    return _Request(method, scheme, host, path, keep_alive, "gzip" in headers.get("accept-encoding", "").lower())


def _packed(status: int, headers: list[tuple[str, str]], body: bytes, reason: str = "") -> tuple[int, bytes, bytes]:
    """A head without its last empty line, and a body. Line ends in recorded headers become spaces."""
    lines = [f"HTTP/1.1 {status} {reason or _reason(status)}", *(f"{key}: {value}" for key, value in headers)]
    lines.append(f"Content-Length: {len(body)}")
    head = "".join(line.replace("\r", " ").replace("\n", " ") + "\r\n" for line in lines)
    return status, head.encode("utf-8", "replace"), body


def _text(status: int, message: str, *headers: tuple[str, str]) -> tuple[int, bytes, bytes]:
    shown = "".join(letter if letter.isprintable() else "?" for letter in message[:500])
    return _packed(
        status, [("Content-Type", "text/plain; charset=utf-8"), *headers], (shown + "\n").encode("utf-8", "replace")
    )


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _with_http_links(response: Response) -> Response:
    """With http:// wherever it says https://, in its headers and its text."""
    encoding = response.header("Content-Encoding").strip().lower()
    body = _unzipped(response.body) if encoding in ("gzip", "x-gzip") else response.body
    headers = tuple(
        (key, value.replace("https://", "http://"))
        for key, value in response.headers
        if body is response.body or key.lower() != "content-encoding"
    )
    if response.header("Content-Type").partition("/")[0].strip().lower() in ("text", "application"):
        body = body.replace(b"https://", b"http://")
    return replace(response, headers=headers, body=body)


def _unzipped(body: bytes, most: int = 64 << 20) -> bytes:
    """The readable part of a gzip body, up to a limit; the body itself if it is not gzip."""
    try:
        return zlib.decompressobj(47).decompress(body, most)
    except zlib.error:
        return body


def _open_log(path: str | Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise BadConfig(
            f"the log file {path} can't be written: {error.strerror}", "name a file in an existing folder"
        ) from None


@contextmanager
def serving(web: Web | BedServer) -> Iterator[str]:
    """Serve from a thread: `with serving(bed) as address`. Pass a `BedServer` to set options."""
    server = web if isinstance(web, BedServer) else BedServer(web)
    started: list[asyncio.AbstractEventLoop] = []
    stop = asyncio.Event()
    ready, failed = threading.Event(), list[BaseException]()

    async def serve() -> None:
        async with server:
            started.append(asyncio.get_running_loop())
            ready.set()
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:  # raised again in the caller's thread
            failed.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="bed server", daemon=True)
    thread.start()
    ready.wait()
    if failed:
        raise failed[0]
    try:
        yield server.address
    finally:
        started[0].call_soon_threadsafe(stop.set)
        thread.join()
