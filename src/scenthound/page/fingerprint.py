"""The last terms of a page as numbers, by which pages are compared in bulk: a pure function of the record.

The terms that occur first on the last lines of a page belong to its content; those of its menus occur first at the top.
"""

from __future__ import annotations

import zlib

from scenthound.page.record import Record
from scenthound.text.tokens import Analyser

LONGEST = 1024  # bytes of terms that are looked at: some 130 of them


ANALYSER = Analyser()  # that of every live crawl: its terms are at hand


def last_terms(record: Record) -> dict[int, bytes]:
    """The terms that occur last for the first time, by their CRC-32: the same number in every process.

    >>> from scenthound.page.read import read_html
    >>> sorted(last_terms(read_html("<p>chess club", "http://x.test/")).values())
    [b'chess', b'club']
    """
    lines, _ = record.counts(ANALYSER).to_bytes()
    terms = lines[-LONGEST:].split(b"\n")[1:-1]
    return dict(zip(map(zlib.crc32, terms), terms, strict=True))
