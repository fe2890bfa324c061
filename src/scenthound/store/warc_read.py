"""Read WARC files: gzip members in a file, records in a member, a response in a record.

Files may be truncated, damaged or from others, so no length is trusted and nothing is decompressed without a limit.
"""

from __future__ import annotations

import mmap
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scenthound.model import Response

LARGEST = 256 << 20  # bytes of one decompressed member; far above the limit for a page
MAGIC = b"\x1f\x8b\x08"
_CHUNK = 32 << 10
_HOLES = 1000  # damaged ranges skipped in one file
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
                        if holes < _HOLES
                        else member._replace(length=size - offset)
                    )
                yield member
                offset += member.length


def member_at(file_bytes: mmap.mmap | bytes, offset: int, largest: int = LARGEST) -> Member:
    """The member at `offset`. An invalid member has a `problem`, and extends to the end of the file."""
    inflate = zlib.decompressobj(31)
    parts: list[bytes] = []
    bytes_left, position, rest = largest, offset, len(file_bytes) - offset
    try:
        while not inflate.eof and position < len(file_bytes):
            chunk = file_bytes[position : position + _CHUNK]
            while chunk and not inflate.eof:
                piece = inflate.decompress(chunk, bytes_left + 1)
                parts.append(piece)
                bytes_left -= len(piece)
                if bytes_left < 0:
                    return Member(offset, rest, b"", f"a member of more than {largest} bytes")
                position += len(chunk) - len(inflate.unconsumed_tail) - len(inflate.unused_data)
                chunk = inflate.unconsumed_tail
    except zlib.error as error:
        return Member(offset, rest, b"", f"not a gzip member: {error}")
    if not inflate.eof:
        return Member(offset, rest, b"", "cut short")
    return Member(offset, position - offset, b"".join(parts))


def _until_next_valid(file_bytes: mmap.mmap, hole: Member) -> Member:
    """The damaged range up to the next valid member."""
    offset = hole.offset
    for _ in range(_HOLES):
        offset = file_bytes.find(MAGIC, offset + 1)
        if offset < 0:
            break
        member = member_at(file_bytes, offset)
        if not member.problem and member.data.startswith(b"WARC/"):
            return hole._replace(length=offset - hole.offset)
    return hole


def records(data: bytes) -> Iterator[WarcRecord]:
    """The records in decompressed data. Raises ValueError at the first invalid one."""
    offset = 0
    while offset < len(data):
        end = data.find(b"\r\n\r\n", offset, offset + (64 << 10))
        if end < 0 or not data.startswith(b"WARC/", offset):
            raise ValueError("not a WARC record")
        headers = {name.lower(): value for name, value in header_lines(data[offset:end].partition(b"\r\n")[2])}
        length = headers.get("content-length", "")
        if not (length.isascii() and length.isdigit() and len(length) < 16):
            raise ValueError("a WARC record without a length")
        start, offset = end + 4, end + 4 + int(length)
        if data[offset : offset + 4] != b"\r\n\r\n":
            raise ValueError("a WARC record that is cut short, or whose length is wrong")
        yield WarcRecord(headers, data[start:offset])
        offset += 4


def header_lines(head: bytes) -> Iterator[tuple[str, str]]:
    """Header names and values in order. A folded line continues the one before; a line without a name is skipped."""
    name, value = "", ""
    for line in head.split(b"\n"):
        text = line.rstrip(b"\r").decode("utf-8", "surrogateescape")
        if text[:1] in (" ", "\t") and name:
            value = f"{value} {text.strip()}"
            continue
        if name:
            yield name, value
        name, colon, value = text.partition(":")
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
