"""Decompress bodies up to a limit: gzip, deflate, brotli, zstd, and chains of them.

Bytes from the web may be a bomb: 28 KB of gzip or 34 bytes of brotli can decompress to 11 MB. So everything is
decompressed in pieces, up to `limit` bytes. If a stream is cut off, or followed by garbage, the data before that is
returned.
"""

from __future__ import annotations

import importlib
import io
import zlib
from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple

from scenthound.errors import Unreadable

try:
    import isal.isal_zlib as _zlib  # the same functions, three times as fast
except ImportError:  # not available for every processor
    _zlib = zlib  # type: ignore[misc]
_errors: tuple[Any, ...] = (zlib.error, _zlib.error)

CHAIN = 3  # maximum codings on top of each other; RFC 9110 has no limit, but no server needs four
MEMBERS = 1000  # maximum gzip members of one body; each needs a new decoder
PIECE = 1 << 16
HARMLESS = 1 << 20  # bytes below which the ratio does not matter, because blank pages compress a thousandfold
ZSTD_WINDOW = 8 << 20  # the largest window that RFC 9659 allows for content coding zstd

# Codings that we can't decode. Other unknown words in the header are not codings.
_UNSUPPORTED = frozenset(
    ("compress", "x-compress", "exi", "pack200-gzip", "dcb", "dcz", "bzip2", "x-bzip2", "lzma", "xz")
)


class Decoded(NamedTuple):
    """Decompressed bytes."""

    data: bytes
    truncated: str = ""
    """Why they are incomplete: `length` (the limit) or `damaged` (invalid or cut off); empty if they are complete."""


class Undecodable(Unreadable):
    """A body that can't be decompressed; `reason` is a word that can be counted: `bomb`, `coding` or `damaged`."""

    def __init__(self, message: str, hint: str = "", url: str = "", reason: str = "damaged") -> None:
        super().__init__(message, hint, url)
        self.args = (message, hint, url, reason)
        self.reason = reason


class _Damage(Exception):
    """The stream is invalid from here on; the data before this point is used."""


Pieces = Iterator[tuple[bytes, int]]
"""Pieces of output (about PIECE bytes at most), each with the number of input bytes used so far."""


def decompress(body: bytes, content_encoding: str, *, limit: int, ratio: int) -> Decoded:
    """The body without its content codings, cut at `limit` bytes. Raises `Undecodable` and nothing else.

    A body is a bomb if it decompresses to more than a megabyte and to more than `ratio` times the input. A word in the
    header that is not a coding (`utf-8`, `none`) is ignored, as in browsers.

    >>> import gzip
    >>> decompress(gzip.compress(b"bees") + b"rubbish", "GZIP", limit=100, ratio=200)
    Decoded(data=b'bees', truncated='')
    """
    codings = [word for part in content_encoding.lower().split(",") if (word := part.strip())]
    codings = [word for word in codings if word in _UNPACK or word in _UNSUPPORTED]
    if len(codings) > CHAIN:
        raise Undecodable(f"{len(codings)} content codings on top of each other", f"at most {CHAIN}", reason="coding")
    truncated = "length" if len(body) > limit and not codings else ""
    data = body[:limit] if truncated else body
    for coding in reversed(codings):
        if not data:
            break
        data, ended = _unpack(data, coding, limit, ratio)
        truncated = truncated or ended
    return Decoded(data, truncated)


def _unpack(data: bytes, coding: str, limit: int, ratio: int) -> Decoded:
    unpack = _UNPACK.get(coding)
    if unpack is None:
        raise Undecodable(f"content coding `{coding}` is not supported", reason="coding")
    pieces: list[bytes] = []
    size = 0
    truncated = ""
    try:
        for piece, used in unpack(data):
            pieces.append(piece)
            size += len(piece)
            if size > HARMLESS and size > ratio * used:
                raise Undecodable(f"{used} bytes of {coding} decompress to {size} or more", reason="bomb")
            if size > limit:
                truncated = "length"
                pieces[-1] = piece[: len(piece) - (size - limit)]
                break
    except _Damage as damage:
        if not size:
            raise Undecodable(f"not {coding}: {damage}", reason="damaged") from None
        truncated = "damaged"
    return Decoded(b"".join(pieces), truncated)


def _gzip(data: bytes) -> Pieces:
    """Decompress all members; zero bytes or other garbage end the body."""
    start = 0
    for _ in range(MEMBERS):
        start = yield from _inflate(data, start, wbits=31)
        if data[start : start + 2] != b"\x1f\x8b":
            return
    raise _Damage(f"more than {MEMBERS} members")


def _deflate(data: bytes) -> Pieces:
    """Decompress a stream with zlib's header, as the standard requires, or without it, as some servers send it."""
    has_header = len(data) > 1 and data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
    if not has_header:
        yield from _inflate(data, 0, wbits=-15)
        return
    began = False
    try:
        for piece, used in _inflate(data, 0, wbits=15):
            began = began or bool(piece)
            yield piece, used
    except _Damage:
        if began:
            raise
        yield from _inflate(data, 0, wbits=-15)  # two bytes that only looked like a header


def _inflate(data: bytes, start: int, wbits: int) -> Generator[tuple[bytes, int], None, int]:
    """Decompress one zlib stream from `start`. Returns where it ends."""
    decoder = _zlib.decompressobj(wbits=wbits)
    fed = start
    waiting = b""
    while not decoder.eof:
        if not waiting:
            waiting = data[fed : fed + PIECE]
            fed += len(waiting)
        try:
            piece = decoder.decompress(waiting, PIECE)
        except _errors as error:
            raise _Damage(str(error)) from None
        if not (piece or waiting or decoder.eof):  # no input is left, and there was no output
            raise _Damage("it is cut off")
        waiting = decoder.unconsumed_tail
        yield piece, fed - len(waiting) - len(decoder.unused_data)
    return fed - len(decoder.unused_data)


def _brotli(data: bytes) -> Pieces:
    brotli = _optional("brotli", "br")
    if not hasattr(brotli.Decompressor, "can_accept_more_data"):  # before 1.2 one byte may decompress to gigabytes
        raise Undecodable("brotli is too old to be bounded", "install brotli 1.2 or newer", reason="coding")
    yielded = used = 0
    try:
        for piece, used in _unbrotli(brotli, data, PIECE):
            yielded += len(piece)
            yield piece, used
    except brotli.error:
        # On garbage after the end brotli fails and drops the output before it. So start again, and feed it byte by
        # byte near the end.
        repeated = 0
        try:
            for piece, now_used in _unbrotli(brotli, data, 1, max(0, used - PIECE)):
                repeated += len(piece)
                if repeated > yielded:
                    yield piece[yielded - repeated :], now_used
                    yielded = repeated
        except brotli.error as error:
            raise _Damage(str(error)) from None


def _unbrotli(brotli: Any, data: bytes, step: int, slowly_from: int = 0) -> Pieces:
    decoder = brotli.Decompressor()
    fed = 0
    while not decoder.is_finished():
        chunk = b""
        if decoder.can_accept_more_data():
            chunk = data[fed:slowly_from] if fed < slowly_from else data[fed : fed + step]
            chunk = chunk[:PIECE]
            fed += len(chunk)
        piece = decoder.process(chunk, output_buffer_limit=PIECE)
        if not piece and not chunk and not decoder.is_finished():
            raise _Damage("it is cut off")
        yield piece, fed


def _zstd(data: bytes) -> Pieces:
    zstandard = _optional("zstandard", "zstd")
    source = io.BytesIO(data)
    decoder = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    reader = decoder.stream_reader(source, read_size=PIECE, read_across_frames=True)
    if data[:4] != b"\x28\xb5\x2f\xfd" and not (data[1:4] == b"\x2a\x4d\x18" and data[0] & 0xF0 == 0x50):
        raise _Damage("no frame")
    while True:
        try:
            piece = reader.read1(PIECE)  # `read` would lose a frame that is followed by garbage
        except zstandard.ZstdError as error:
            raise _Damage(str(error)) from None
        if not piece:
            return
        yield piece, source.tell()


def _identity(data: bytes) -> Pieces:
    yield data, len(data)


def _optional(module: str, coding: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Undecodable(
            f"content coding `{coding}` needs the package `{module}`", f"pip install {module}", reason="coding"
        ) from None


_UNPACK: dict[str, Callable[[bytes], Pieces]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "x-deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
    "identity": _identity,
}
