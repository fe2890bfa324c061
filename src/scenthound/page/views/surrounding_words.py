"""The words around each link: title, heading, parent element, anchor and address (for the strategy `reinforcement`)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from scenthound.model import Url
from scenthound.page.record import Record
from scenthound.page.tree_columns import Numbers, fixed
from scenthound.page.views.anchors import heading_leaves
from scenthound.page.views.elements import elements_above, is_within_limit, token_spans
from scenthound.page.views.terms import PageTerms
from scenthound.text.tokens import Analyser

MOST_WORDS_AROUND = 500_000  # words around all links of a page
PIECES = 5  # pieces of text per link


class Surroundings(NamedTuple):
    """The words around links, in pieces that links may share. A word in two pieces of a link counts twice."""

    names: tuple[str, ...]
    """The distinct terms, in order of first occurrence."""
    flat: Numbers
    """The index in `names` of every word, piece after piece."""
    starts: Numbers
    """Where in `flat` each piece begins, and where the last one ends."""
    rows: Numbers
    """A row for each link: the numbers of its pieces (title, heading, parent element, anchor, address)."""

    def of(self, position: int) -> list[str]:
        """All words around a link."""
        spans = (self.flat[self.starts[piece] : self.starts[piece + 1]].tolist() for piece in self.rows[position])
        return [self.names[index] for span in spans for index in span]


def surroundings(record: Record, analyser: Analyser) -> Surroundings:
    """The words of title, nearest heading, parent element, anchor and address of each link.

    >>> surroundings(record, small).of(1)
    ['club', 'club', 'best', 'chess', 'club', 'town', 'golf', 'page', 'test']
    """
    pieces = _Pieces(record, analyser)
    title = pieces.text(record.title) if record.links else 0
    above = elements_above(record, 1)
    begins, ends = (column.tolist() for column in token_spans(record, above))
    is_counted = is_within_limit(record, above).tolist()
    first_token, rows = record.leaves.first_token.tolist(), []
    for link, heading, element in zip(record.links, heading_leaves(record), above.tolist(), strict=True):
        position = link.position
        rows.append(
            (
                title,
                pieces.tokens(("heading", heading), first_token[heading[0]], first_token[heading[1]]),
                pieces.tokens(
                    ("element", element), begins[position], ends[position] if is_counted[position] else begins[position]
                ),
                pieces.text(link.anchor),
                pieces.text(url_text(link.url)),
            )
        )
    return pieces.gathered(rows)


class _Pieces:
    """Collects distinct pieces of text; beyond `MOST_WORDS_AROUND` words they stay empty."""

    def __init__(self, record: Record, analyser: Analyser) -> None:
        self._analyser = analyser
        self._terms = PageTerms(record, analyser)
        self._names: dict[str, int] = {}
        self._numbers: dict[object, int] = {}
        self._flat: list[int] = []
        self._starts = [0]

    def text(self, text: str) -> int:
        """The number of a piece given as text."""
        return self._piece(text, lambda: self._analyser.terms(text))

    def tokens(self, key: object, begin: int, end: int) -> int:
        """The number of a piece that is a run of the page's tokens."""
        return self._piece(key, lambda: self._terms.between(begin, end))

    def _piece(self, key: object, find_terms: Callable[[], Sequence[str]]) -> int:
        piece = self._numbers.get(key)
        if piece is not None:
            return piece
        if len(self._flat) < MOST_WORDS_AROUND:
            names = self._names
            self._flat += [names.setdefault(term, len(names)) for term in find_terms()]
        self._starts.append(len(self._flat))
        self._numbers[key] = len(self._starts) - 2
        return self._numbers[key]

    def gathered(self, rows: Sequence[tuple[int, ...]]) -> Surroundings:
        columns = (np.array(column, dtype=np.int32) for column in (self._flat, self._starts, rows))
        flat, starts, table = map(fixed, columns)
        names = tuple(map(sys.intern, self._names))  # a bed keeps the names of many pages
        return Surroundings(names, flat, starts, table.reshape(-1, PIECES))


def url_text(url: Url) -> str:
    """The informative part of a URL: everything but the scheme and `www`.

    >>> url_text("http://www.reef.test/coral-fish/")
    'reef.test/coral-fish/'
    """
    return url.partition("://")[2].removeprefix("www.")
