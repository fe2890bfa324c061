"""A web server that misbehaves in every way we have heard of, one path for each. Loopback only.

    with HostileServer() as server:
        server.url("/endless")      # an address to fetch
        server.requests             # what was asked so far, with time and Host header

`BEHAVIOURS` lists the paths. Big bodies are made piece by piece, so that the server stays small
whatever it sends; `server.sent` says how much of each path's body went out before the client hung up.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
import struct
import threading
import time
import zlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

MEGABYTE = 1 << 20
PLENTY = 200 * MEGABYTE  # where "endless" ends, should a client really read on


class Everywhere:
    """A name server by which every name is this machine."""

    async def resolve(self, host: str) -> list[str]:
        return ["127.0.0.1"]

    async def close(self) -> None:
        return


@dataclass(frozen=True)
class Request:
    """One request as it arrived."""

    time: float
    method: str
    target: str
    host: str
    headers: tuple[tuple[str, str], ...]

    @property
    def path(self) -> str:
        """The target without scheme and host (a proxy is sent both) and without query."""
        rest = self.target.partition("://")[2]
        return ("/" + rest.partition("/")[2] if rest else self.target).partition("?")[0]

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass
class Exchange:
    """A request and the connection to answer it on."""

    request: Request
    server: HostileServer
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.server.sent[self.request.path] = self.server.sent.get(self.request.path, 0) + len(piece)
            self.writer.write(piece)
            await self.writer.drain()

    async def reply(self, body: bytes = b"", head: str = "", status: str = "200 OK") -> bool:
        """A well-formed answer; the connection may be used again."""
        kind = "" if "content-type" in head.lower() else "Content-Type: text/html; charset=utf-8\r\n"
        lines = f"HTTP/1.1 {status}\r\n{kind}{head}Content-Length: {len(body)}\r\n\r\n"
        await self.send(lines.encode("latin-1") + body)
        return True


Behaviour = Callable[[Exchange], Awaitable[bool | None]]
"""Answers one request; True: the connection may be used for another."""


@dataclass
class HostileServer:
    """The server, in a thread of its own, on a free port of 127.0.0.1, for as long as the `with` block lasts."""

    drip: float = 0.05
    """Seconds between the bytes of `/slow-drip`."""
    robots: bytes | str = b"User-agent: *\nDisallow:\n"
    """What `/robots.txt` says; as text, the path of the behaviour that answers for it."""
    requests: list[Request] = field(default_factory=list)
    sent: dict[str, int] = field(default_factory=dict)
    connections: int = 0
    port: int = 0

    def __post_init__(self) -> None:
        self._behaviours: dict[str, Behaviour] = dict(_BEHAVIOURS)
        self._hosts: dict[str, Behaviour] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hostile", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def serve(self, path: str, behaviour: Behaviour) -> None:
        """Answer `path` so; a path that ends in `*` speaks for all that begin like it."""
        self._behaviours[path] = behaviour

    def serve_hosts(self, prefix: str, behaviour: Behaviour) -> None:
        """Answer everything so, robots.txt included, on hosts whose names begin like this."""
        self._hosts[prefix] = behaviour

    def asked(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._main())
        finally:
            self._loop.close()

    async def _main(self) -> None:
        self._over = asyncio.Event()
        server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        _bomb()  # now, so that no client waits for it
        self._ready.set()
        await self._over.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._loop.shutdown_asyncgens()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while (request := await _request(reader)) is not None:
                self.requests.append(request)
                if not await self._find(request)(Exchange(request, self, reader, writer)):
                    break
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the client hung up, or speaks no HTTP
        except asyncio.CancelledError:
            writer.transport.abort()  # the test is over: wait for nobody to read the rest
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    def _find(self, request: Request) -> Behaviour:
        path = request.path
        for prefix, behaviour in self._hosts.items():
            if request.host.startswith(prefix):
                return behaviour
        if path == "/robots.txt":
            if isinstance(self.robots, str):
                return self._behaviours[self.robots]
            return whole(self.robots, "Content-Type: text/plain\r\n")
        if path in self._behaviours:
            return self._behaviours[path]
        families = (known for known in self._behaviours if known.endswith("*") and path.startswith(known[:-1]))
        return self._behaviours.get(max(families, key=len, default=""), _missing)


async def _request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ")
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
    host = next((value for name, value in headers if name.lower() == "host"), "")
    return Request(time.monotonic(), method, target, host, headers)


def whole(body: bytes, head: str = "", status: str = "200 OK") -> Behaviour:
    """A well-behaved answer."""

    async def answer(exchange: Exchange) -> bool:
        return await exchange.reply(body, head, status)

    return answer


def raw(*pieces: bytes, pause: float = 0.0) -> Behaviour:
    """Exactly these bytes, and the end of the connection."""

    async def answer(exchange: Exchange) -> None:
        for piece in pieces:
            await exchange.send(piece)
            await asyncio.sleep(pause)

    return answer


def streamed(head: bytes, pieces: Callable[[], Iterator[bytes]]) -> Behaviour:
    """A head, then pieces made one at a time, and the end of the connection."""

    async def answer(exchange: Exchange) -> None:
        exchange.writer.write(head)
        for piece in pieces():
            await exchange.send(piece)

    return answer


async def _missing(exchange: Exchange) -> bool:
    return await exchange.reply(b"<title>nothing here</title>", status="404 Not Found")


_BEHAVIOURS: dict[str, Behaviour] = {}
BEHAVIOURS: dict[str, str] = {}
"""Path -> what it is. Where the path ends in `*`, everything that begins so."""


def _add(path: str, story: str, behaviour: Behaviour) -> None:
    _BEHAVIOURS[path], BEHAVIOURS[path] = behaviour, story


HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
FILLER = (b"<p>bees and honey " + b"x" * 1000) * 64


def _repeat(piece: bytes, total: int) -> Iterator[bytes]:
    for _ in range(0, total, len(piece)):
        yield piece


def _chunked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
    yield b"0\r\n\r\n"


def _numbered(piece: str, count: int) -> Iterator[bytes]:
    for start in range(0, count, 1000):
        yield "".join(piece.format(n) for n in range(start, start + 1000)).encode()


@lru_cache(maxsize=1)
def _bomb() -> bytes:
    """100 MB of spaces as one gzip member of some 100 KB."""
    pack = zlib.compressobj(6, wbits=31)
    return b"".join([pack.compress(b" " * MEGABYTE) for _ in range(100)]) + pack.flush()


async def _index(exchange: Exchange) -> bool:
    links = "".join(f'<li><a href="{path.rstrip("*")}">{story}</a>\n' for path, story in BEHAVIOURS.items())
    return await exchange.reply(f"<title>bad company</title><ul>{links}</ul>".encode())


async def _slow_drip(exchange: Exchange) -> None:
    await exchange.send(HTML + b"Content-Length: 100000\r\n\r\n")
    for _ in range(100_000):
        await exchange.send(b"d")
        await asyncio.sleep(exchange.server.drip)


async def _slow_head(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    for _ in range(10_000):
        await exchange.send(b"h")
        await asyncio.sleep(exchange.server.drip)


async def _stalls(exchange: Exchange) -> None:
    await exchange.send(HTML + b"Content-Length: 1000\r\n\r\n<title>half a page</title>")
    await exchange.reader.read()


async def _hangs(exchange: Exchange) -> None:
    await exchange.reader.read()


async def _closes(exchange: Exchange) -> None:
    return None


def _reset(*pieces: bytes) -> Behaviour:
    async def answer(exchange: Exchange) -> None:
        await exchange.send(*pieces)
        await asyncio.sleep(0.05 if pieces else 0)
        linger = struct.pack("ii", 1, 0)  # on, for no time: the connection ends with RST
        exchange.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        exchange.writer.transport.abort()

    return answer


def _redirect(location: str) -> Behaviour:
    return whole(b"", f"Location: {location}\r\n", "302 Found")


async def _calendar(exchange: Exchange) -> bool:
    """Every month of all time, each with links to the days around it and to the next month."""
    _, _, year, month = (exchange.request.path.rstrip("/") + "/2024/1").split("/")[:4]
    months = int(year) * 12 + int(month) if year.isdigit() and month.isdigit() else 2024 * 12
    spots = [f"/calendar/{(months + step) // 12}/{(months + step) % 12 + 1}" for step in (-2, 0, 1, 12, 120)]
    links = "".join(f'<a href="{spot}">{spot}</a> ' for spot in spots)
    return await exchange.reply(f"<title>{exchange.request.path}</title>{links}".encode())


async def _deeper(exchange: Exchange) -> bool:
    return await exchange.reply(b'<title>deeper</title><a href="a/b/">on</a> <a href="a/b/?s=1">and on</a>')


def _links() -> Iterator[bytes]:
    yield b"<title>all links</title>"
    yield from _numbered('<a href="/leaf/{0}">leaf {0}</a>\n', 100_000)


STRANGE_LINKS = """<title>strange links</title>
<a href="javascript:alert(1)">js</a> <a href="JaVaScRiPt:alert(1)">js</a> <a href="java&#10;script:alert(1)">js</a>
<a href="data:text/html,<script>alert(1)</script>">data</a> <a href="file:///etc/passwd">file</a>
<a href="ftp://example.org/x">ftp</a> <a href="mailto:a@b.example">mail</a> <a href="gopher://127.0.0.1:70/1">gopher</a>
<a href="http://user:secret@127.0.0.1/credentials">credentials</a> <a href="//127.0.0.1@evil.example/">fake host</a>
<a href="http://b\u00fccher.example/">IDN</a> <a href="http://xn--a/">bad punycode</a> <a href="http://\u0430pple.example/">look</a>
<a href="http://2130706433/">number</a> <a href="http://0x7f.1/">hex</a> <a href="http://[::ffff:7f00:1]/">mapped</a>
<a href="http://169.254.169.254/latest/meta-data/">metadata</a> <a href="http://[::1]/">six</a> <a href="http://">none</a>
<a href="http://[">broken</a> <a href="http://a b/">space</a> <a href="/ok\x01\x02">control</a>
<a href="%zz%">percent</a> <a href="/leaf/fine">fine</a>"""
ESCAPES = "<title>\x1b[2J\x1b]0;owned\x07 red \x1b[31m \x9b31m \r\n \x00 \u202eevil\u202c</title><p>=cmd|' /C calc'!A0"


def _register() -> None:
    chunked = HTML + b"Transfer-Encoding: chunked\r\n\r\n"
    plain = HTML + b"\r\n"
    _add("/fine", "a page like any other", whole(b"<title>fine</title><p>bees and honey"))
    _add("/leaf/*", "a small page for every name", whole(b"<title>leaf</title><p>a leaf"))
    _add("/endless", "a body that does not end", streamed(plain, lambda: _repeat(FILLER, PLENTY)))
    _add("/endless-chunked", "chunks that do not end", streamed(chunked, lambda: _chunked(_repeat(FILLER, PLENTY))))
    _add(
        "/tiny-chunks",
        "10 MB in chunks of one byte",
        streamed(chunked, lambda: _repeat(b"1\r\nx\r\n" * 10_000, 60_000_000)),
    )
    _add(
        "/chunk-extension",
        "a chunk whose extension does not end",
        streamed(chunked + b"1;", lambda: _repeat(b"e" * 65536, PLENTY)),
    )
    _add(
        "/trailer",
        "a chunked trailer that does not end",
        streamed(chunked + b"0\r\n", lambda: _numbered("X-T{0}: t\r\n", 10**7)),
    )
    _add(
        "/trailer-line",
        "a trailer of one endless line",
        streamed(chunked + b"0\r\nX-T: ", lambda: _repeat(b"t" * 65536, PLENTY)),
    )
    _add(
        "/continue",
        "an endless row of 100 Continue",
        streamed(b"", lambda: _repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, PLENTY)),
    )
    _add("/gzip-bomb", "100 KB that unpack to 100 MB", lambda e: e.reply(_bomb(), "Content-Encoding: gzip\r\n"))
    _add("/gzip", "a gzipped page", whole(gzip.compress(b"<title>packed</title>"), "Content-Encoding: gzip\r\n"))
    _add("/gzip-lie", "says gzip and is not", whole(b"<title>not packed</title>", "Content-Encoding: gzip\r\n"))
    _add("/slow-drip", "a byte at a time", _slow_drip)
    _add("/slow-head", "a head that comes a byte at a time", _slow_head)
    _add("/stalls", "half a body, then silence", _stalls)
    _add(
        "/length-too-long",
        "Content-Length above the body",
        raw(HTML + b"Content-Length: 1000\r\n\r\n<title>short</title>"),
    )
    _add(
        "/length-too-short",
        "Content-Length below the body",
        raw(HTML + b"Content-Length: 7\r\n\r\n<title>long</title>"),
    )
    _add("/length-nonsense", "Content-Length that is no number", raw(HTML + b"Content-Length: ten\r\n\r\n0123456789"))
    _add("/length-twice", "two Content-Lengths", raw(HTML + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n012345"))
    _add("/nothing-of-it", "a head that promises a body, and the end", raw(HTML + b"Content-Length: 10\r\n\r\n"))
    _add(
        "/header-huge",
        "one header of 100 MB",
        streamed(b"HTTP/1.1 200 OK\r\nX-Big: ", lambda: _repeat(b"h" * 65536, 100 * MEGABYTE)),
    )
    _add(
        "/header-many", "100,000 headers", streamed(b"HTTP/1.1 200 OK\r\n", lambda: _numbered("X-{0}: y\r\n", 100_000))
    )
    _add(
        "/header-sum",
        "150 headers of 8 KB",
        raw(b"HTTP/1.1 200 OK\r\n" + (b"X: " + b"s" * 8000 + b"\r\n") * 150 + b"\r\n"),
    )
    _add(
        "/header-bytes",
        "headers that are not UTF-8",
        raw(HTML + b"X-Raw: caf\xe9\r\nX-Good: caf\xc3\xa9\r\nContent-Length: 2\r\n\r\nok"),
    )
    _add("/redirect-loop", "a redirect to itself", _redirect("/redirect-loop"))
    _add(
        "/redirect-pair/*",
        "redirects that never settle",
        lambda e: e.reply(
            b"", f"Location: /redirect-pair/{len(e.request.path)}/{'x' * (len(e.request.path) % 50)}\r\n", "302 Found"
        ),
    )
    _add("/redirect-private", "a redirect to a private address", _redirect("http://10.0.0.1/admin"))
    _add("/redirect-metadata", "a redirect to cloud metadata", _redirect("http://169.254.169.254/latest/meta-data/"))
    _add("/redirect-file", "a redirect to a file", _redirect("file:///etc/passwd"))
    _add("/redirect-javascript", "a redirect to a script", _redirect("javascript:alert(1)"))
    _add("/redirect-nowhere", "a redirect without Location", whole(b"", "", "301 Moved Permanently"))
    _add("/links", "100,000 links", streamed(plain, _links))
    _add("/one-line", "50 MB on one line", streamed(plain, lambda: _repeat(b"bees honey " * 6000, 50 * MEGABYTE)))
    _add(
        "/nul", "NUL bytes", whole(b"<title>n\x00u\x00l</title>\x00<a href='/leaf/\x00nul'>\x00</a>" + b"\x00" * 10_000)
    )
    _add(
        "/wrong-charset",
        "UTF-8 that says it is UTF-16",
        whole("<title>caf\u00e9</title>".encode(), "Content-Type: text/html; charset=utf-16\r\n"),
    )
    _add(
        "/no-such-charset",
        "a charset nobody knows",
        whole(b"<title>x</title>", "Content-Type: text/html; charset=klingon\r\n"),
    )
    _add("/strange-links", "javascript:, data:, file:, IDN, credentials", whole(STRANGE_LINKS.encode()))
    _add("/escapes", "terminal escape sequences in the title", whole(ESCAPES.encode()))
    _add(
        "/huge-robots",
        "a robots.txt of 100 MB",
        streamed(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n",
            lambda: _repeat(b"User-agent: *\nDisallow: /private\n" * 2000, 100 * MEGABYTE),
        ),
    )
    _add("/calendar/*", "endless generated pages", _calendar)
    _add("/deeper/*", "a relative link that grows for ever", _deeper)
    _add("/hangs", "accepts and says nothing", _hangs)
    _add("/resets", "resets the connection at once", _reset())
    _add(
        "/resets-late",
        "resets in the middle of the body",
        _reset(HTML + b"Content-Length: 1000\r\n\r\n<title>cut</title>"),
    )
    _add("/closes", "closes at once", _closes)
    _add("/half-status", "half a status line", raw(b"HTTP/1.1 20"))
    _add("/half-head", "half a head", raw(b"HTTP/1.1 200 OK\r\nContent-Ty"))
    _add("/http09", "a page and nothing else, as in HTTP/0.9", raw(b"<html><title>old</title></html>"))
    _add("/bad-chunk", "a chunk size that is no number", raw(chunked + b"5\r\nhello\r\nzz\r\nworld\r\n0\r\n\r\n"))
    _add("/huge-chunk", "a chunk size beyond all numbers", raw(chunked + b"f" * 40 + b"\r\nx"))
    _add("/cut-chunk", "a chunk cut short", raw(chunked + b"20\r\n<title>cut</title>"))
    _add(
        "/switch",
        "101 nobody asked for",
        raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: tea\r\nConnection: upgrade\r\n\r\nhi"),
    )
    _add("/set-cookie", "gives a cookie", whole(b"<title>cookie</title>", "Set-Cookie: id=1; Path=/\r\n"))
    _BEHAVIOURS["/"] = _index


_register()
