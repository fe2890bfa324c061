"""Read WARC files: gzip members in a file, records in a member or a whole file, a response in a record.

Files may be truncated, damaged or from any tool: plain or gzip, one member per record or one for all. So no length is
trusted, nothing is decompressed without a limit, and every complete record is returned, whatever is beside it.
"""

from __future__ import annotations

import mmap
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from scenthound.model import Response

LARGEST = 256 << 20  # bytes of one decompressed member or record; far above the limit for a page
MAGIC = b"\x1f\x8b\x08"
CUT_SHORT = "cut short"
TOO_LARGE = f"records of more than {LARGEST >> 20} MB skipped"
UNREAD = "damaged, and not read to the end"
_CHUNK = 32 << 10  # bytes of a gzip file that are decompressed at a time; the rest of each is copied for every member
_PIECE = 16 << 20  # decompressed bytes that are held at a time, unless a record is larger
_MAX_HEAD = 64 << 10
_MAX_DAMAGED = 1000  # damaged ranges skipped in one file
_START = re.compile(rb"WARC/[0-9]\.[0-9]{1,2}\r?\n")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_BLANK = re.compile(rb"[\r\n]*")
_NOT_PADDING = re.compile(rb"[^\0]")
_STATUS = re.compile(rb"HTTP/(\d(?:\.\d)?) +(\d{3})(?: +([^\r\n]*))?")
_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[^\r\n]{0,256}\r?\n")


class Member(NamedTuple):
    """One gzip member of a file, or a damaged range."""

    offset: int
    length: int
    data: bytes
    problem: str = ""


class WarcRecord(NamedTuple):
    """One WARC record: its headers by lower-case name, and its block."""

    headers: dict[str, str]
    block: bytes

    @property
    def kind(self) -> str:
        return self.headers.get("warc-type", "").lower()

    @property
    def target(self) -> str:
        return self.headers.get("warc-target-uri", "").strip("<>")


class PlacedRecord(NamedTuple):
    """A record and where it can be read again: its gzip member, or its own bytes in a plain file."""

    offset: int
    length: int
    """0 if the gzip member is too large to be read again for a single record."""
    record: WarcRecord
    read_to: int
    """How far the file was read."""


class Problem(NamedTuple):
    """A damaged or unreadable part of a file."""

    what: str
    offset: int
    target: str = ""
    """The URL of the record, if it is known."""


class _Piece(NamedTuple):
    """Decompressed bytes of a file: of the gzip member at `offset`, or of a plain file from there on."""

    offset: int
    data: bytes
    read_to: int
    """How far the file was read."""
    is_last: bool = True
    """Whether the member ends here."""
    is_plain: bool = False
    problem: str = ""
    """The damage that follows the data."""


def members(path: Path, start: int = 0) -> Iterator[Member]:
    """Every gzip member from `start` on, and every damaged range up to the next valid member."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size <= start:
            return
        holes = 0
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as file_bytes:
            offset = start
            while offset < size:
                member = member_at(file_bytes, offset)
                if member.problem:
                    holes += 1
                    member = (
                        _until_next_valid(file_bytes, member)
                        if holes < _MAX_DAMAGED
                        else member._replace(length=size - offset)
                    )
                yield member
                offset += member.length


def member_at(file_bytes: mmap.mmap | bytes, offset: int) -> Member:
    """The member at `offset`. An invalid member has a `problem`, and extends to the end of the file."""
    parts: list[bytes] = []
    size, rest = 0, len(file_bytes) - offset
    for piece in _inflated(file_bytes, offset):
        size += len(piece.data)
        if size > LARGEST:
            return Member(offset, rest, b"", f"a member of more than {LARGEST} bytes")
        if piece.problem:
            return Member(offset, rest, b"", piece.problem)
        parts.append(piece.data)
    return Member(offset, piece.read_to - offset, b"".join(parts))


def _until_next_valid(file_bytes: mmap.mmap, hole: Member) -> Member:
    """The damaged range up to the next valid member."""
    offset = hole.offset
    for _ in range(_MAX_DAMAGED):
        offset = file_bytes.find(MAGIC, offset + 1)
        if offset < 0:
            break
        member = member_at(file_bytes, offset)
        if not member.problem and member.data.startswith(b"WARC/"):
            return hole._replace(length=offset - hole.offset)
    return hole


def _inflated(file_bytes: mmap.mmap | bytes, offset: int) -> Iterator[_Piece]:
    """The gzip member at `offset`, in at least one piece."""
    inflate, position = zlib.decompressobj(31), offset
    parts: list[bytes] = []
    size, problem = 0, ""
    try:
        while not inflate.eof:
            raw = file_bytes[position : position + _CHUNK]
            part = inflate.decompress(raw, _PIECE)
            position += len(raw) - len(inflate.unconsumed_tail) - len(inflate.unused_data)
            if not raw and not part and not inflate.eof:
                problem = CUT_SHORT
                break
            if size and size + len(part) > _PIECE:
                yield _Piece(offset, b"".join(parts), position, is_last=False)
                parts, size = [], 0
            parts.append(part)
            size += len(part)
    except zlib.error as error:
        problem = f"not a gzip member: {error}"
    yield _Piece(offset, b"".join(parts), position, problem=problem)


def _pieces(file_bytes: mmap.mmap) -> Iterator[_Piece]:
    """The decompressed file. After damage it continues with what looks like the next gzip member."""
    size, offset = len(file_bytes), 0
    if file_bytes[: len(MAGIC)] != MAGIC:
        for offset in range(0, size, _PIECE):
            data = file_bytes[offset : offset + _PIECE]
            yield _Piece(offset, data, offset + len(data), is_plain=True)
        return
    while 0 <= offset < size:
        piece = None
        for piece in _inflated(file_bytes, offset):
            yield piece
        assert piece is not None
        offset = file_bytes.find(MAGIC, max(piece.read_to, offset + 1)) if piece.problem else piece.read_to
        if 0 <= offset < size and not file_bytes[offset]:  # some tools pad with zeros
            found = _NOT_PADDING.search(file_bytes, offset)
            offset = found.start() if found else size


def read_records(path: Path, report: Callable[[Problem], None]) -> Iterator[PlacedRecord]:
    """Every complete record of any WARC file, in order and in bounded memory. Problems are reported."""
    with path.open("rb") as file:
        if file.seek(0, 2):
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as file_bytes:
                yield from _RecordSplitter(_pieces(file_bytes), report)


def records(data: bytes) -> Iterator[WarcRecord]:
    """The records in decompressed data. Raises ValueError at the first invalid one."""
    return (placed.record for placed in _RecordSplitter((_Piece(0, data, 0),), _refuse))


def _refuse(problem: Problem) -> NoReturn:
    raise ValueError(problem.what)


class _RecordSplitter:
    """Splits decompressed pieces into records."""

    def __init__(self, pieces: Iterable[_Piece], report: Callable[[Problem], None]) -> None:
        self._pieces, self._report = iter(pieces), report
        self._buffer, self._at = b"", 0
        """Bytes of one or more pieces, and the offset of the first that was not used yet."""
        self._spans: list[tuple[int, _Piece]] = []
        """The pieces in the buffer, each with the offset at which it begins there."""
        self._damaged = 0
        self._at_damage = False
        """Whether a damaged part follows the bytes in the buffer."""

    def __iter__(self) -> Iterator[PlacedRecord]:
        while self._damaged < _MAX_DAMAGED:
            if self._skip_blank():
                placed = self._record()
                if placed is not None:
                    yield placed
            elif self._at_damage:
                self._at_damage = False
            else:
                return
        self._report(Problem(UNREAD, self._span()[1].offset))

    def _record(self) -> PlacedRecord | None:
        """The record that begins here. If there is none, skip to what looks like the start of one."""
        self._fill(16)
        if _START.match(self._buffer, self._at) is None:
            self._skip_damage("not a WARC record")
            return None
        head_end = self._head_end()
        if head_end is None:
            self._fill(_MAX_HEAD)
            head_end = self._head_end()
        if head_end is None:
            self._skip_damage("a WARC record without a valid head")
            return None
        head = self._buffer[self._at : head_end.start()].partition(b"\n")[2]
        headers = {name.lower(): value for name, value in header_lines(head)}
        length = headers.get("content-length", "")
        if "warc-type" not in headers or not (length.isascii() and length.isdigit() and len(length) < 16):
            self._skip_damage("a WARC record without a valid head")
            return None
        head_size = head_end.end() - self._at
        size = head_size + int(length)
        if int(length) > LARGEST:
            self._report(Problem(TOO_LARGE, self._span()[1].offset, headers.get("warc-target-uri", "")))
            self._discard(size)
            return None
        if not self._fill(size):
            self._skip_damage("a WARC record that is cut short")
            return None
        if not self._may_end_after(size):
            self._skip_damage("a WARC record whose length is wrong")
            return None
        record = WarcRecord(headers, self._buffer[self._at + head_size : self._at + size])
        placed = self._placed(record, size)
        self._at += size
        return placed

    def _head_end(self) -> re.Match[bytes] | None:
        return _HEAD_END.search(self._buffer, self._at, self._at + _MAX_HEAD)

    def _may_end_after(self, size: int) -> bool:
        """Whether a record may end here: before two line breaks, as it should, another record, or the file's end.

        Before damage it may not: the checksum of its member was not compared.
        """
        if not self._at_damage and self._buffer.startswith(b"\r\n\r\n", self._at + size):
            return True
        self._fill(size + 24)
        end = self._at + size
        blank = _BLANK.match(self._buffer, end, end + 8)
        rest = self._buffer[blank.end() if blank is not None else end : end + 24]
        return rest.startswith(b"WARC/"[: len(rest)]) if rest else not self._at_damage

    def _placed(self, record: WarcRecord, size: int) -> PlacedRecord:
        begin, piece = self._span()
        read_to = self._spans[-1][1].read_to
        if piece.is_plain:
            return PlacedRecord(piece.offset + self._at - begin, size, record, read_to)
        ends = (span.read_to for _, span in self._spans if span.offset == piece.offset and span.is_last)
        return PlacedRecord(piece.offset, next(ends, piece.offset) - piece.offset, record, read_to)

    def _span(self) -> tuple[int, _Piece]:
        """The piece that holds the next byte; forgets those before it."""
        while len(self._spans) > 1 and self._spans[1][0] <= self._at:
            del self._spans[0]
        return self._spans[0]

    def _skip_damage(self, what: str) -> None:
        """Report the damage and skip to the next start of a record."""
        self._damaged += 1
        self._report(Problem(what, self._span()[1].offset))
        self._at += 5
        skipped = 0
        while skipped < LARGEST:
            match = _START.search(self._buffer, self._at)
            if match is not None:
                self._at = match.start()
                return
            searched = max(self._at, len(self._buffer) - 16)  # a start may be split between two pieces
            skipped += searched - self._at
            self._at = searched
            if not self._fill(len(self._buffer) - self._at + 1):
                self._at = len(self._buffer)
                return
        self._damaged = _MAX_DAMAGED

    def _skip_blank(self) -> bool:
        """Skip line breaks. Return whether anything follows."""
        while self._fill(1):
            blank = _BLANK.match(self._buffer, self._at)
            assert blank is not None
            self._at = blank.end()
            if self._at < len(self._buffer):
                return True
        return False

    def _discard(self, size: int) -> None:
        while size and self._fill(1):
            dropped = min(size, len(self._buffer) - self._at)
            self._at += dropped
            size -= dropped

    def _fill(self, size: int) -> bool:
        """Have this many bytes in the buffer; return False if the file, or its undamaged part, ends earlier."""
        while len(self._buffer) - self._at < size and not self._at_damage:
            piece = next(self._pieces, None)
            if piece is None:
                return False
            self._append(piece)
            if piece.problem:
                self._damaged += 1
                self._at_damage = True
                self._report(Problem(piece.problem, piece.offset))
        return len(self._buffer) - self._at >= size

    def _append(self, piece: _Piece) -> None:
        if self._at >= len(self._buffer):
            self._buffer, self._at, self._spans = piece.data, 0, [(0, piece)]
            return
        self._span()
        rest = len(self._buffer) - self._at
        self._spans = [*((begin - self._at, span) for begin, span in self._spans), (rest, piece)]
        self._buffer, self._at = self._buffer[self._at :] + piece.data, 0


def header_lines(head: bytes) -> Iterator[tuple[str, str]]:
    """Header names and values in order. A folded line continues the one before; a line without a name is skipped."""
    name, value = "", ""
    for line in head.decode("utf-8", "surrogateescape").split("\n"):
        if name and line[:1] in (" ", "\t"):
            value = f"{value} {line.strip()}"
            continue
        if name:
            yield name, value
        name, colon, value = line.partition(":")
        name, value = (name.strip(), value.strip()) if colon else ("", "")
    if name:
        yield name, value


def response_of(record: WarcRecord) -> Response | None:
    """The response in a record; None if the record has another type. Raises ValueError if it is invalid.

    A `resource` record becomes a response with only a content type. Chunked bodies are joined, as a client does.
    """
    target = record.target
    if not target.lower().startswith(("http://", "https://")):
        return None
    if record.kind == "resource":
        content_type = record.headers.get("content-type", "application/octet-stream")
        return Response(target, 200, "OK", (("Content-Type", content_type),), record.block)
    if record.kind != "response":
        return None
    head, _, body = record.block.partition(b"\r\n\r\n")
    if not _ and b"\n\n" in record.block:
        head, _, body = record.block.partition(b"\n\n")
    status = _STATUS.match(head)
    if status is None:
        raise ValueError(f"not an HTTP response: {head[:40]!r}")
    headers = tuple(header_lines(head.partition(b"\n")[2]))
    if any(name.lower() == "transfer-encoding" and "chunked" in value.lower() for name, value in headers):
        body = unchunked(body)
    return Response(
        url=target,
        status=int(status[2]),
        reason=(status[3] or b"").decode("utf-8", "surrogateescape"),
        headers=headers,
        body=body,
        address=record.headers.get("warc-ip-address", ""),
        truncated=record.headers.get("warc-truncated", ""),
        http_version=status[1].decode(),
    )


def unchunked(body: bytes) -> bytes:
    """Join a chunked body. Other bodies are unchanged: many archives join the body but keep the header."""
    parts: list[bytes] = []
    offset = 0
    while offset < len(body):
        size = _SIZE.match(body, offset)
        if size is None:
            return b"".join(parts) if parts else body
        length = int(size[1], 16)
        if length == 0:
            break
        parts.append(body[size.end() : size.end() + length])
        offset = size.end() + length
        offset += 2 if body.startswith(b"\r\n", offset) else body.startswith(b"\n", offset)
    return b"".join(parts)
