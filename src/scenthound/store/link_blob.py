"""The links of a page as one compressed blob: one URL per line."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from scenthound.model import Url

LARGEST = 256 << 20  # bytes of an unpacked blob: the folder may come from a stranger


def pack_urls(urls: Sequence[Url]) -> bytes:
    """A canonical URL has no line break."""
    return zlib.compress("\n".join(urls).encode("utf-8", "replace"), 1)


def unpack_urls(data: bytes) -> list[Url]:
    """The inverse of `pack_urls`; ValueError for other bytes."""
    inflate = zlib.decompressobj()
    try:
        text = inflate.decompress(data, LARGEST)
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from error
    if not inflate.eof:
        raise ValueError("cut short, or larger than any page's links")
    return [Url(line) for line in text.decode("utf-8", "replace").split("\n")] if text else []
