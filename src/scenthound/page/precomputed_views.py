"""Views of a page that a worker process computes in advance, because the crawl's own process is the bottleneck.

Each is a pure function of the record that returns bytes, which can be sent as they are. `Page.view` returns the bytes
that were sent, or computes them if the page was read in the crawl's process.

Numbers are CRC-32 as uint32, the same in every process. Collisions among a few hundred pages are very rare.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from scenthound.page.record import Record
from scenthound.text.tokens import Analyser

MOST_LINKS = 500
"""The maximum number of outlinks of a page that get numbers."""
LAST_BYTES = 1024
"""Bytes of terms that `last_terms` looks at: about 130 terms."""
ANALYSER = Analyser()  # the analyser of every live crawl: its terms are already counted

AheadView = Callable[[Record], bytes]


def outlink_numbers(record: Record) -> bytes:
    """A number for the URL of each of the first outlinks.

    >>> from scenthound.testing import page_of
    >>> array("I", outlink_numbers(page_of("<a href=http://x.test/>", "http://y.test/").record)).tolist()
    [2607666525]
    """
    return numbers_of([link.url for link in record.outlinks[:MOST_LINKS]])


def title_term_numbers(record: Record) -> bytes:
    """A number for each term of the title."""
    return numbers_of(ANALYSER.terms(record.title))


def last_terms(record: Record) -> list[bytes]:
    """The terms whose first occurrence is latest in the page.

    They belong to its content: the terms of menus first occur at the top.

    >>> from scenthound.testing import page_of
    >>> last_terms(page_of("<p>chess club").record)
    [b'chess', b'club']
    """
    lines, _ = record.counts(ANALYSER).to_bytes()
    return lines[-LAST_BYTES:].split(b"\n")[1:-1]


def last_term_numbers(record: Record) -> bytes:
    """A number for each of `last_terms`."""
    return _packed(last_terms(record))


def numbers_of(texts: Sequence[str]) -> bytes:
    """A number for each URL or term; none may contain a line break.

    >>> array("I", numbers_of(["http://x.test/", "http://y.test/"])).tolist(), numbers_of([])
    ([2607666525, 1025171177], b'')
    """
    return _packed("\n".join(texts).encode("utf-8", "surrogatepass").split(b"\n")) if texts else b""


def _packed(texts: Sequence[bytes]) -> bytes:
    return array("I", map(zlib.crc32, texts)).tobytes()


AHEAD: Mapping[str, AheadView] = MappingProxyType(
    {"outlinks": outlink_numbers, "title": title_term_numbers, "last terms": last_term_numbers}
)
"""All views of this module, by the names used in messages."""
