"""What stands around the links of a page, on its way from a worker: the counts of each link's context.

Contexts are short, many, and the same on all pages of a site; so each is put into bytes once and remembered by its
text. They travel as columns, contexts that links share once, and become `Counts` when a strategy asks for the first.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from scenthound.model import Page
from scenthound.text.contexts import Around
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, term_frequencies

MOST_TERMS = 100_000  # of all contexts of a page: a page that has more is read again by whoever wants them
REMEMBERED = 1 << 14
LONGEST = 400  # characters of a text that may be remembered
COLUMNS = 5
"""Parts of a message for what stands around the links in one way."""


class _Packed(NamedTuple):
    """One context in bytes."""

    words: bytes
    numbers: bytes
    terms: int
    square: int


class Packer:
    """A worker's memory of contexts."""

    def __init__(self) -> None:
        self._known: dict[tuple[Analyser, str], _Packed] = {}

    def columns(self, page: Page, wanted: Around) -> list[bytes]:
        """The contexts of all links: which each link has, sizes, squares, words, numbers. Nothing for too much."""
        places: dict[object, int] = {}
        rows: list[_Packed] = []
        of_link = array("I")
        terms = 0
        for key, piece in wanted.pieces(page):
            place = places.get(key)
            if place is None:
                place = places[key] = len(rows)
                rows.append(self._packed(wanted.analyser, piece))
                terms += rows[-1].terms
                if terms > MOST_TERMS:
                    return [b""] * COLUMNS
            of_link.append(place)
        return [
            of_link.tobytes(),
            array("I", [row.terms for row in rows]).tobytes(),
            array("Q", [row.square for row in rows]).tobytes(),
            b"\n".join([row.words for row in rows if row.terms]),
            b"".join([row.numbers for row in rows]),
        ]

    def _packed(self, analyser: Analyser, piece: str | list[str]) -> _Packed:
        if not isinstance(piece, str):
            return _pack(term_frequencies(analyser.terms_of(piece)))
        if len(piece) > LONGEST:
            return _pack(analyser.counts(piece))
        found = self._known.get((analyser, piece))
        if found is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            found = self._known[analyser, piece] = _pack(analyser.counts(piece))
        return found


def _pack(counts: Counts) -> _Packed:
    words = "\n".join(counts).encode("utf-8", "surrogatepass")
    return _Packed(words, array("I", counts.values()).tobytes(), len(counts), counts.square)


class Told(Sequence[Counts]):
    """The contexts of the links, in step with `page.links`, as a worker told them; see `contexts.Surveyed`."""

    def __init__(self, columns: Sequence[bytes], links: int) -> None:
        """ValueError for columns that do not belong together: whoever sent them is out of its mind."""
        of_link, sizes, squares, words, numbers = columns
        self._of_link, self._sizes, self._squares = _numbers("I", of_link), _numbers("I", sizes), squares
        self._words, self._often = words, numbers
        rows, terms = len(self._sizes), sum(self._sizes)
        if (len(self._of_link), len(squares), len(numbers)) != (links, 8 * rows, 4 * terms):
            raise ValueError("columns of other lengths than they should have")
        if max(self._of_link, default=-1) >= rows:
            raise ValueError("links of contexts that were not sent")
        if words.count(b"\n") != max(terms - 1, 0) or bool(words) != bool(terms):
            raise ValueError("other words than were counted")
        self._counts: list[Counts] | None = None

    def __len__(self) -> int:
        return len(self._opened())

    def __getitem__(self, number):  # type: ignore[no-untyped-def]  # as a list does
        return self._opened()[number]

    def __iter__(self) -> Iterator[Counts]:
        return iter(self._opened())

    def similarities(self, query: Counts) -> list[float]:
        """The cosine of the query with each context. Only the words of the query are looked at."""
        dots: dict[int, int] = {}
        ends = list(accumulate(self._sizes))
        often = memoryview(self._often).cast("I")
        for place, term in enumerate(self._terms()):
            if term in query:
                row = bisect_right(ends, place)
                dots[row] = dots.get(row, 0) + query[term] * often[place]
        squares = memoryview(self._squares).cast("Q")
        found = {row: min(1.0, dot / math.sqrt(query.square * squares[row])) for row, dot in dots.items() if dot}
        return [found.get(row, 0.0) for row in self._of_link] if found else [0.0] * len(self._of_link)

    def _terms(self) -> list[str]:
        return self._words.decode("utf-8", "surrogatepass").split("\n") if self._words else []

    def _opened(self) -> list[Counts]:
        if self._counts is None:
            terms, often = self._terms(), _numbers("I", self._often)
            made = []
            spans = pairwise([0, *accumulate(self._sizes)])
            for (begin, end), square in zip(spans, _numbers("Q", self._squares), strict=True):
                counts = Counts(zip(terms[begin:end], often[begin:end], strict=True))
                counts._square = square
                made.append(counts)
            self._counts = list(map(made.__getitem__, self._of_link))
        return self._counts


def _numbers(kind: str, part: bytes) -> list[int]:
    found = array(kind)
    found.frombytes(part)
    return found.tolist()
