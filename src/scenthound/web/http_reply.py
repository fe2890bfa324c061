"""Reads HTTP/1.1 replies (RFC 9112): bytes of a connection in, status, headers and body out. No socket, no clock.

It is as lenient as browsers are where that does no harm (LF alone ends a line, obsolete folding, any reason phrase),
and strict about what says where a reply ends: two different lengths, a length that is no number, or both a length and
chunks are refused, since whoever reads them differently sees another reply.
"""

from __future__ import annotations

import re
from typing import Literal

HEADER_BYTES = 65_536
HEADER_COUNT = 200
_HEAD_END = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rb"HTTP/(0\.9|1\.[01]|2\.0) ([1-9][0-9]{2})(?:[ \t]([^\r\n\0]*))?")
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?")
_NO_BODY = frozenset((204, 304))
Headers = tuple[tuple[str, str], ...]


class FetchError(Exception):
    """Why there is no whole reply; `reason` is one word to count by, as that of `ports.Failure`."""

    def __init__(self, reason: str, detail: str, may_retry: bool = False) -> None:
        super().__init__(detail)
        self.reason, self.may_retry = reason, may_retry


class ReplyReader:
    """Reads one reply. `feed` until `is_complete`; `end` when the connection ends before.

    >>> reader = ReplyReader()
    >>> reader.feed(b"HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\n\\r\\nbees")
    >>> reader.status, reader.headers, reader.body, reader.is_complete
    (200, (('Content-Length', '4'),), b'bees', True)
    """

    __slots__ = (
        "_buffer",
        "_head_bytes",
        "_left",
        "_pieces",
        "_searched",
        "_state",
        "_trailer",
        "can_continue",
        "headers",
        "http_version",
        "most_head_bytes",
        "most_headers",
        "reason",
        "size",
        "status",
        "without_body",
    )  # fmt: skip

    def __init__(
        self, header_bytes: int = HEADER_BYTES, header_count: int = HEADER_COUNT, *, without_body: bool = False
    ) -> None:
        """`without_body`: the reply to a CONNECT has none."""
        self.most_head_bytes, self.most_headers, self.without_body = header_bytes, header_count, without_body
        self.status, self.reason, self.http_version = 0, "", ""
        self.headers: Headers = ()
        self.size = 0
        """Bytes of the body so far."""
        self.can_continue = False
        """Whether the connection may be used for another request, once the reply is complete."""
        self._state: Literal["head", "length", "chunk size", "chunk", "trailer", "until end", "complete"] = "head"
        self._buffer, self._searched, self._head_bytes, self._left = b"", 0, 0, 0
        self._trailer = 0
        self._pieces: list[bytes] = []

    @property
    def is_complete(self) -> bool:
        return self._state == "complete"

    @property
    def has_head(self) -> bool:
        return self.http_version != ""

    @property
    def body(self) -> bytes:
        """What has come of the body."""
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def feed(self, data: bytes) -> None:
        """Take what arrived. Raises `FetchError` for what is no HTTP, or for too much of it."""
        if self._state == "head":
            rest = self._read_heads(data)
            if rest is None:
                return
            data = rest
        if self._state == "length":
            self._take(data[: self._left])
            self._left -= len(data)
            if self._left <= 0:
                self._complete(self._left == 0)
        elif self._state == "until end":
            self._take(data)
        elif self._state == "complete":
            self.can_continue = self.can_continue and not data
        else:
            self._read_chunks(data)

    def end(self) -> None:
        """The connection has ended. Raises `FetchError` unless that is the end of the reply."""
        if self._state == "until end":
            self._complete(False)
        elif self._state == "head" and not self._buffer and not self._head_bytes:
            raise FetchError("empty-reply", "closed without a reply", may_retry=True)
        elif self._state != "complete":
            where = "head" if self._state == "head" else "body"
            raise FetchError("reset", f"closed in the middle of the {where}", may_retry=True)

    def _take(self, data: bytes) -> None:
        if data:
            self._pieces.append(data)
            self.size += len(data)

    def _complete(self, can_continue: bool) -> None:
        self._state = "complete"
        self.can_continue = self.can_continue and can_continue

    # ---- the head

    def _read_heads(self, data: bytes) -> bytes | None:
        """Read the head, and informational replies before it; what follows it, or None if more has to come."""
        buffer = self._buffer + data if self._buffer else data
        while self._state == "head":
            buffer = buffer.lstrip(b"\r\n") if not self._searched else buffer
            found = _HEAD_END.search(buffer, max(0, self._searched - 3))
            size = len(buffer) if found is None else found.end()
            if self._head_bytes + size > self.most_head_bytes:
                raise FetchError("header-bomb", f"more than {self.most_head_bytes} bytes of headers")
            if found is None:
                _check_start(buffer)
                self._buffer, self._searched = buffer, size
                return None
            self._head_bytes += size
            head, buffer, self._searched = buffer[:size], buffer[size:], 0
            self._read_head(head)
        self._buffer = b""
        return buffer

    def _read_head(self, head: bytes) -> None:
        first, *lines = head.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n")
        status = _STATUS.fullmatch(first)
        if status is None:
            raise FetchError("bad-http", f"no status line: {first[:80].decode('latin-1')}")
        self.status = int(status[2])
        if 100 <= self.status < 200 and self.status != 101:
            return  # the real one follows
        if len(lines) > self.most_headers:
            raise FetchError("header-bomb", f"more than {self.most_headers} headers")
        self.http_version = status[1].decode()
        self.reason = text_of((status[3] or b"").strip())
        self.headers = _headers(lines)
        self._begin_body()

    def _begin_body(self) -> None:
        lengths, codings, connection = [], [], ""
        for name, value in self.headers:
            match name.lower():
                case "content-length":
                    lengths.append(value)
                case "transfer-encoding":
                    codings += [coding.strip().lower() for coding in value.split(",")]
                case "connection":
                    connection += "," + value.lower()
        said = {word.strip() for word in connection.split(",")}
        self.can_continue = "close" not in said and (self.http_version >= "1.1" or "keep-alive" in said)
        if len(set(lengths)) > 1 or not all(length.isascii() and length.isdigit() for length in lengths):
            raise FetchError("bad-http", f"Content-Length: {', '.join(lengths)[:80]}")
        if lengths and codings:
            raise FetchError("bad-http", "both Content-Length and Transfer-Encoding")
        if self.without_body:
            self.can_continue = True  # as a tunnel, whatever the proxy says about connections
        if self.without_body or self.status in _NO_BODY or self.status == 101:
            self._complete(True)
        elif codings and codings[-1] == "chunked":
            self._state = "chunk size"
        elif lengths and not codings:
            if len(lengths[0]) > 18:
                raise FetchError("bad-http", f"Content-Length: {lengths[0][:80]}")
            self._state, self._left = "length", int(lengths[0])
        else:
            self._state = "until end"

    # ---- chunks

    def _read_chunks(self, data: bytes) -> None:
        buffer, at = (self._buffer + data if self._buffer else data), 0
        pieces: list[bytes] = []
        while self._state != "complete":
            if self._state == "chunk":
                piece = buffer[at : at + self._left]
                pieces.append(piece)
                at, self._left = at + len(piece), self._left - len(piece)
                if self._left:
                    break
                self._state = "chunk size"
                self._trailer = -1  # the line break behind a chunk comes first
            end = buffer.find(b"\n", at)
            if end < 0:
                break
            line, at = buffer[at:end].removesuffix(b"\r"), end + 1
            self._read_line(line)
        self._take(b"".join(pieces))  # chunks may have a single byte
        self._buffer = buffer[at:]
        if self._state == "complete":
            self.can_continue = self.can_continue and not self._buffer
        elif len(self._buffer) > self.most_head_bytes:
            what = "header-bomb" if self._state == "trailer" else "too-large"
            raise FetchError(what, f"a line of more than {self.most_head_bytes} bytes between chunks")

    def _read_line(self, line: bytes) -> None:
        """A line between chunks: the break behind one, the size of the next, or a trailer."""
        if self._trailer < 0:
            if line:
                raise FetchError("bad-http", "a chunk that is longer than its size")
            self._trailer = 0
        elif self._state == "chunk size":
            size = _CHUNK_SIZE.fullmatch(line)
            if size is None:
                raise FetchError("bad-http", f"no size of a chunk: {line[:80].decode('latin-1')}")
            self._left = int(size[1], 16)
            self._state = "chunk" if self._left else "trailer"
        elif line:
            self._trailer += len(line) + 2
            if self._trailer > self.most_head_bytes:
                raise FetchError("header-bomb", f"more than {self.most_head_bytes} bytes of trailers")
        else:
            self._complete(True)


def _check_start(buffer: bytes) -> None:
    """Raise for what can't become a status line, without waiting for the end of a head."""
    if not b"HTTP/".startswith(buffer[:5]):
        raise FetchError("bad-http", f"no status line: {buffer[:80].decode('latin-1')}")


def _headers(lines: list[bytes]) -> Headers:
    headers: list[tuple[str, str]] = []
    for line in lines:
        if line[:1] in (b" ", b"\t") and headers:  # obsolete folding
            name, value = headers[-1]
            headers[-1] = (name, f"{value} {text_of(line.strip())}".strip())
            continue
        key, colon, raw = line.partition(b":")
        if not colon or _NAME.fullmatch(key) is None or b"\0" in raw or b"\r" in raw:
            raise FetchError("bad-http", f"no header: {line[:80].decode('latin-1')}")
        headers.append((key.decode("ascii"), text_of(raw.strip(b" \t"))))
    return tuple(headers)


def text_of(value: bytes) -> str:
    """A header's text: UTF-8, or else Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
