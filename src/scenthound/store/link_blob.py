"""A page's links as one small blob: the URLs, one a line, deflated."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from scenthound.model import Url

LARGEST = 256 << 20  # of an unpacked blob: a folder may come from a stranger


def pack_urls(urls: Sequence[Url]) -> bytes:
    """A canonical URL holds no line break, so a line each is enough."""
    return zlib.compress("\n".join(urls).encode("utf-8", "replace"), 1)


def unpack_urls(data: bytes) -> list[Url]:
    """What `pack_urls` was given; ValueError if the bytes are not of its making."""
    inflate = zlib.decompressobj()
    try:
        text = inflate.decompress(data, LARGEST)
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from error
    if not inflate.eof:
        raise ValueError("cut short, or larger than any page's links")
    return [Url(line) for line in text.decode("utf-8", "replace").split("\n")] if text else []
