"""Reads WARC files from any tool as a stream of records of every kind, in bounded memory.

Plain or gzip, one member per record or one for all, wrong lengths, files that are truncated or damaged: every complete
record is returned, the rest is noted. `store.warc_read` reads the files that we wrote, at known offsets; here a file
may come from any tool, is read in order, and records without a response matter too.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from scenthound.errors import BadConfig, from_os_error
from scenthound.lab.importers.interface import Notes
from scenthound.store.warc_read import LARGEST, MAGIC, WarcRecord, header_lines

CHUNK = 1 << 18
GZIP_CHUNK = 32 << 10  # bytes of a gzip file read at a time; small, since the rest is copied for every member
MAX_HEAD = 64 << 10
MAX_DAMAGED = 1000  # damaged parts of one file after which reading stops
_START = re.compile(rb"WARC/[0-9]\.[0-9]{1,2}\r?\n")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_BLANK = re.compile(rb"[\r\n]*")
_OTHER_FORMATS = {
    b"\x28\xb5\x2f\xfd": "it is compressed with zstd; decompress it first",
    b"\x04\x22\x4d\x18": "it is compressed with lz4; decompress it first",
    b"filedesc:": "it is an ARC file, the format before WARC; convert it first",
    b"PK\x03\x04": "it is a zip archive (WACZ?); its WARC files are in the folder `archive` inside",
}


def check_start(path: Path) -> bool:
    """Return False if the file is empty. Raises `BadConfig` if it is not a WARC file."""
    try:
        with path.open("rb") as file:
            raw = file.read(CHUNK)
    except OSError as error:
        raise from_os_error(error, path, BadConfig(f"{path} can't be read: {error.strerror or error}")) from None
    if not raw:
        return False
    start = raw
    if raw.startswith(MAGIC):
        try:
            start = zlib.decompressobj(31).decompress(raw, 1 << 16)
        except zlib.error:
            start = b""
    if _START.match(start.lstrip(b"\r\n")) is None:
        hint = next(
            (hint for magic, hint in _OTHER_FORMATS.items() if raw.startswith(magic) or start.startswith(magic)), ""
        )
        raise BadConfig(f"{path} is not a WARC file", hint or "such a file, decompressed, begins with `WARC/1.`")
    return True


def records_in(path: Path, notes: Notes, before: int = 0, total: int = 0) -> Iterator[WarcRecord]:
    """Every complete record of a file, in order. `before` and `total` are bytes, for reporting progress."""
    with path.open("rb") as file:
        yield from _Records(file, path.name, notes, before, total)


class _Records:
    """Splits the decompressed bytes of one file into records."""

    def __init__(self, file: BinaryIO, name: str, notes: Notes, before: int, total: int) -> None:
        self.file, self.name, self.notes = file, name, notes
        self.before, self.total = before, total
        self.buffer = bytearray()
        self.pieces = self._pieces()
        self.damaged = 0
        self.at_damage = False
        """Whether a damaged part follows the bytes in the buffer."""

    def __iter__(self) -> Iterator[WarcRecord]:
        while self.damaged < MAX_DAMAGED:
            self._skip_blank()
            if not self._fill(1):
                if not self.at_damage:
                    return
                self.at_damage = False
                continue
            record = self._record()
            if record is not None:
                yield record
        self.notes.count("damaged WARC files not read to the end", self.name)

    def _record(self) -> WarcRecord | None:
        """The record at the start of the buffer; if there is none, skip to the next start of a record."""
        start = _START.match(self.buffer) if self._fill(16) or self.buffer else None
        if start is None:
            self._skip_damage("not a record")
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
            self._skip_damage("a record without a valid head")
            return None
        size, block_start = int(length), end[1]
        if size > LARGEST:
            self.notes.count(f"records of more than {LARGEST >> 20} MB skipped", headers.get("warc-target-uri", ""))
            self._discard(block_start + size)
            return None
        if not self._fill(block_start + size):
            self._skip_damage("a record that is cut short")
            return None
        block = bytes(self.buffer[block_start : block_start + size])
        if not self._ends_at(block_start + size):
            self._skip_damage("a record with a wrong length")
            return None
        del self.buffer[: block_start + size]
        return WarcRecord(headers, block)

    def _ends_at(self, offset: int) -> bool:
        """Whether a record may end here: before two line breaks, as it should, another record, or the file's end."""
        self._fill(offset + 24)
        if self.buffer.startswith(b"\r\n\r\n", offset):
            return True
        blank = _BLANK.match(self.buffer, offset, offset + 8)
        rest = self.buffer[blank.end() if blank is not None else offset : offset + 24]
        return not rest or rest.startswith(b"WARC/"[: len(rest)])

    def _find_head_end(self) -> tuple[int, int] | None:
        size = 4096
        while True:
            is_filled = self._fill(size)
            match = _HEAD_END.search(self.buffer, 0, MAX_HEAD)
            if match is not None:
                return match.span()
            if not is_filled or size >= MAX_HEAD:
                return None
            size *= 4

    def _skip_damage(self, what: str) -> None:
        """Note the damage and skip to the next start of a record."""
        self.damaged += 1
        self.notes.count(f"damaged parts of {self.name} ({what})")
        del self.buffer[:5]
        skipped = 0
        while skipped < LARGEST:
            match = _START.search(self.buffer)
            if match is not None:
                del self.buffer[: match.start()]
                return
            skipped += len(self.buffer)
            searched = len(self.buffer) - 16  # the start of a record may be split between two pieces
            if searched > 0:
                del self.buffer[:searched]
            if not self._fill(len(self.buffer) + 1):
                self.buffer.clear()
                return
        self.damaged = MAX_DAMAGED

    def _skip_blank(self) -> None:
        while self._fill(1):
            blank = _BLANK.match(self.buffer)
            assert blank is not None
            del self.buffer[: blank.end()]
            if self.buffer:
                return

    def _discard(self, size: int) -> None:
        while size and self._fill(1):
            dropped = min(size, len(self.buffer))
            del self.buffer[:dropped]
            size -= dropped

    def _fill(self, size: int) -> bool:
        """Fill the buffer up to this many bytes; return False if the file, or its undamaged part, ends earlier."""
        while len(self.buffer) < size and not self.at_damage:
            piece = next(self.pieces, b"")
            if piece is None:
                self.at_damage = True
            elif not piece:
                return False
            else:
                self.buffer += piece
        return len(self.buffer) >= size

    def _pieces(self) -> Iterator[bytes | None]:
        """The decompressed file, piece by piece; None for a damaged part."""
        is_gzip = self.file.read(len(MAGIC)) == MAGIC
        self.file.seek(0)
        if is_gzip:
            yield from self._decompressed()
            return
        while raw := self._read():
            yield raw

    def _decompressed(self) -> Iterator[bytes | None]:
        raw = self._skip_padding()
        while raw:
            decompressor = zlib.decompressobj(31)
            try:
                while not decompressor.eof:
                    piece = decompressor.decompress(raw, CHUNK)
                    if decompressor.eof:
                        raw = decompressor.unused_data
                    elif len(piece) == CHUNK:
                        raw = decompressor.unconsumed_tail  # even if it is empty: zlib may have more output
                    elif not (raw := self._read(GZIP_CHUNK)):
                        self.notes.count("WARC files cut short", self.name)
                        yield piece or None
                        return
                    if piece:
                        yield piece
            except zlib.error:
                self.damaged += 1
                self.notes.count(f"damaged parts of {self.name} (not gzip)")
                yield None
                raw = self._next_member(raw[1:]) if self.damaged < MAX_DAMAGED else b""
                continue
            raw = self._skip_padding(raw)

    def _skip_padding(self, raw: bytes = b"") -> bytes:
        """The bytes after a member, without the zeros that some tools add as padding."""
        raw = raw.lstrip(b"\0")
        while not raw and (more := self._read(GZIP_CHUNK)):
            raw = more.lstrip(b"\0")
        return raw

    def _next_member(self, raw: bytes) -> bytes:
        """The bytes from the start of the next gzip member on."""
        while True:
            start = raw.find(MAGIC)
            if start >= 0:
                return raw[start:]
            more = self._read(GZIP_CHUNK)
            if not more:
                return b""
            raw = raw[-2:] + more

    def _read(self, size: int = CHUNK) -> bytes:
        raw = self.file.read(size)
        self.notes.progress(self.before + self.file.tell(), self.total)
        return raw
