"""Reads the WARC files of any tool as a stream of records of every kind, in bounded memory.

Plain or gzip, one member per record or one for all, wrong lengths, files that are cut or damaged: every complete record
is returned, the rest is noted. `store.warc_read` reads the files that we wrote; here a file may come from any tool,
only the order of its records counts, and records without a response matter, too.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from scenthound.errors import BadConfig, of_system
from scenthound.lab.importers.interface import Notes
from scenthound.store.warc_read import LARGEST, MAGIC, WarcRecord, header_lines

CHUNK = 1 << 18
PACKED = 32 << 10  # bytes of a gzip file read at a time: the rest of them is copied for every member
LONGEST_HEAD = 64 << 10
HOLES = 1000  # damaged parts of one file after which reading stops
_START = re.compile(rb"WARC/[0-9]\.[0-9]{1,2}\r?\n")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_BLANK = re.compile(rb"[\r\n]*")
_OTHERS = {
    b"\x28\xb5\x2f\xfd": "it is compressed with zstd; unpack it first",
    b"\x04\x22\x4d\x18": "it is compressed with lz4; unpack it first",
    b"filedesc:": "it is an ARC file, the format before WARC; convert it first",
    b"PK\x03\x04": "it is a zip archive (WACZ?); its WARC files are in the folder `archive` inside",
}


def check_start(path: Path) -> bool:
    """Whether the file is not empty. Raises `BadConfig` that names a file which is not WARC."""
    try:
        with path.open("rb") as file:
            raw = file.read(CHUNK)
    except OSError as error:
        raise of_system(error, path, BadConfig(f"{path} can't be read: {error.strerror or error}")) from None
    if not raw:
        return False
    start = raw
    if raw.startswith(MAGIC):
        try:
            start = zlib.decompressobj(31).decompress(raw, 1 << 16)
        except zlib.error:
            start = b""
    if _START.match(start.lstrip(b"\r\n")) is None:
        hint = next((hint for magic, hint in _OTHERS.items() if raw.startswith(magic) or start.startswith(magic)), "")
        raise BadConfig(f"{path} is not a WARC file", hint or "such a file, unpacked, begins with `WARC/1.`")
    return True


def records_in(path: Path, notes: Notes, before: int = 0, total: int = 0) -> Iterator[WarcRecord]:
    """Every complete record of a file, in order. `before` and `total` are bytes, for the progress."""
    with path.open("rb") as file:
        yield from _Records(file, path.name, notes, before, total)


class _Records:
    """Splits the decompressed bytes of one file into records."""

    def __init__(self, file: BinaryIO, name: str, notes: Notes, before: int, total: int) -> None:
        self.file, self.name, self.notes = file, name, notes
        self.before, self.total = before, total
        self.buffer = bytearray()
        self.pieces = self._pieces()
        self.holes = 0
        self.torn = False
        """A damaged part follows the bytes in the buffer."""

    def __iter__(self) -> Iterator[WarcRecord]:
        while self.holes < HOLES:
            self._skip_blank()
            if not self._have(1):
                if not self.torn:
                    return
                self.torn = False
                continue
            record = self._record()
            if record is not None:
                yield record
        self.notes.count("damaged WARC files not read to their end", self.name)

    def _record(self) -> WarcRecord | None:
        """The record that begins here; otherwise skip to the next start of a record."""
        start = _START.match(self.buffer) if self._have(16) or self.buffer else None
        if start is None:
            self._hole("something that is no record")
            return None
        end = self._find_head_end()
        headers: dict[str, str] = {}
        if end is not None:
            head = bytes(self.buffer[start.end() : end[0]])
            headers = {name.lower(): value for name, value in header_lines(head)}
        length = headers.get("content-length", "")
        if (
            end is None
            or "warc-type" not in headers
            or not (length.isascii() and length.isdigit() and len(length) < 16)
        ):
            self._hole("a record without a proper head")
            return None
        size, first = int(length), end[1]
        if size > LARGEST:
            self.notes.count(f"records of more than {LARGEST >> 20} MB skipped", headers.get("warc-target-uri", ""))
            self._discard(first + size)
            return None
        if not self._have(first + size):
            self._hole("a record that is cut short")
            return None
        block = bytes(self.buffer[first : first + size])
        if not self._ends_at(first + size):
            self._hole("a record of another length than it says")
            return None
        del self.buffer[: first + size]
        return WarcRecord(headers, block)

    def _ends_at(self, at: int) -> bool:
        """Whether a record may end here: before two line ends, as it should, before another record, or at the end."""
        self._have(at + 24)
        if self.buffer.startswith(b"\r\n\r\n", at):
            return True
        blank = _BLANK.match(self.buffer, at, at + 8)
        behind = self.buffer[blank.end() if blank is not None else at : at + 24]
        return not behind or behind.startswith(b"WARC/"[: len(behind)])

    def _find_head_end(self) -> tuple[int, int] | None:
        wanted = 4096
        while True:
            is_filled = self._have(wanted)
            match = _HEAD_END.search(self.buffer, 0, LONGEST_HEAD)
            if match is not None:
                return match.span()
            if not is_filled or wanted >= LONGEST_HEAD:
                return None
            wanted *= 4

    def _hole(self, what: str) -> None:
        """Note the damage and skip to the next start of a record."""
        self.holes += 1
        self.notes.count(f"damaged places in {self.name} ({what})")
        del self.buffer[:5]
        passed = 0
        while passed < LARGEST:
            match = _START.search(self.buffer)
            if match is not None:
                del self.buffer[: match.start()]
                return
            passed += len(self.buffer)
            rest = len(self.buffer) - 16  # a start may be split between two pieces
            if rest > 0:
                del self.buffer[:rest]
            if not self._have(len(self.buffer) + 1):
                self.buffer.clear()
                return
        self.holes = HOLES

    def _skip_blank(self) -> None:
        while self._have(1):
            blank = _BLANK.match(self.buffer)
            assert blank is not None
            del self.buffer[: blank.end()]
            if self.buffer:
                return

    def _discard(self, size: int) -> None:
        while size and self._have(1):
            dropped = min(size, len(self.buffer))
            del self.buffer[:dropped]
            size -= dropped

    def _have(self, size: int) -> bool:
        """Fill the buffer up to this many bytes; False if the file, or its undamaged part, ends before."""
        while len(self.buffer) < size and not self.torn:
            piece = next(self.pieces, b"")
            if piece is None:
                self.torn = True
            elif not piece:
                return False
            else:
                self.buffer += piece
        return len(self.buffer) >= size

    def _pieces(self) -> Iterator[bytes | None]:
        """The file decompressed, piece by piece; None where something is missing."""
        packed = self.file.read(len(MAGIC)) == MAGIC
        self.file.seek(0)
        if packed:
            yield from self._inflated()
            return
        while raw := self._read():
            yield raw

    def _inflated(self) -> Iterator[bytes | None]:
        raw = self._between()
        while raw:
            inflate = zlib.decompressobj(31)
            try:
                while not inflate.eof:
                    piece = inflate.decompress(raw, CHUNK)
                    if inflate.eof:
                        raw = inflate.unused_data
                    elif len(piece) == CHUNK:
                        raw = inflate.unconsumed_tail  # even if that is empty: zlib may have more output
                    elif not (raw := self._read(PACKED)):
                        self.notes.count("WARC files cut short", self.name)
                        yield piece or None
                        return
                    if piece:
                        yield piece
            except zlib.error:
                self.holes += 1
                self.notes.count(f"damaged places in {self.name} (no gzip)")
                yield None
                raw = self._next_member(raw[1:]) if self.holes < HOLES else b""
                continue
            raw = self._between(raw)

    def _between(self, raw: bytes = b"") -> bytes:
        """The bytes after a member, without the zeros that some tools pad with."""
        raw = raw.lstrip(b"\0")
        while not raw and (more := self._read(PACKED)):
            raw = more.lstrip(b"\0")
        return raw

    def _next_member(self, raw: bytes) -> bytes:
        """The bytes from the next start of a gzip member on."""
        while True:
            at = raw.find(MAGIC)
            if at >= 0:
                return raw[at:]
            more = self._read(PACKED)
            if not more:
                return b""
            raw = raw[-2:] + more

    def _read(self, size: int = CHUNK) -> bytes:
        raw = self.file.read(size)
        self.notes.progress(self.before + self.file.tell(), self.total)
        return raw
