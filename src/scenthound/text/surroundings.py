"""The words around each link of a page: of the title, the nearest heading, the parent element, the anchor, the address.

Known under `(SURROUNDINGS, analyser)`, see `text.contexts`. Links share most of what stands around them, and pages
repeat their words, so both are kept once: who looks words up does it once a page.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from scenthound.model import Link, Page, Url
from scenthound.text.contexts import headings_of, url_text
from scenthound.text.lasting import SURROUNDINGS, SURROUNDINGS_BY_NUMBER
from scenthound.text.numbers import Numbers
from scenthound.text.register import WORDS, Registered, fresh
from scenthound.text.tokens import Analyser

MOST_AROUND = 500_000  # words around all links of a page: elements in one another repeat the same words
PIECES = 5
SHORT = 200  # characters
Span = tuple[int, int]
Place = TypeVar("Place", Span, int, str, Url)


class Surroundings(NamedTuple):
    """The words around links, in pieces that links may share. A word said by two pieces of a link counts twice.

    Crawls of one process may share it, so nothing in it can be changed.
    """

    terms: tuple[str, ...]
    """Each once, in order of first mention."""
    flat: memoryview[int]
    """The places in `terms` of all words, piece after piece."""
    starts: memoryview[int]
    """Where in `flat` each piece begins; one more for where the last ends."""
    rows: memoryview[int]
    """For each of `page.links` the numbers of its pieces: title, heading, parent element, anchor, address."""

    def of(self, number: int) -> list[str]:
        """All words around a link."""
        pieces = self.rows[PIECES * number : PIECES * (number + 1)]
        spans = (self.flat[self.starts[one] : self.starts[one + 1]] for one in pieces)
        return [self.terms[place] for span in spans for place in span]


def surroundings(page: Page, analyser: Analyser) -> Surroundings:
    """The words around each link."""
    return page.derived((SURROUNDINGS, analyser), lambda: _surroundings(page, analyser))


def numbered(page: Page, analyser: Analyser) -> Registered:
    """The numbers that the terms around the links of a page have in `WORDS`, now."""

    def read() -> Registered:
        return registered(surroundings(page, analyser))

    return fresh(page, (SURROUNDINGS_BY_NUMBER, analyser), read, WORDS)


def registered(around: Surroundings) -> Registered:
    """The numbers that its terms have in `WORDS`, now."""
    return WORDS.of(around.terms)


def read_only(numbers: array[int]) -> memoryview[int]:
    """The same numbers on bytes of their own, which nobody can change."""
    if not numbers:
        return memoryview(array("i")).toreadonly()  # an empty view can't be cast
    return memoryview(numbers.tobytes()).cast("i")


def gather(
    links: Sequence[Link],
    title: str,
    headings: Sequence[Span],
    elements: Sequence[int],
    of_heading: Callable[[Span], list[str]],
    of_element: Callable[[int], list[str]],
    analyser: Analyser,
) -> Surroundings:
    """From the heading and the element of each link, and what these say: they are asked for it once each, and no more
    when `MOST_AROUND` words have been found."""
    numbers = Numbers(sys.maxsize)
    flat, starts, rows = array("i"), array("i", [0]), array("i")

    def piece(terms_of: Callable[[Place], Sequence[str]], place: Place) -> int:
        if len(flat) < MOST_AROUND:
            flat.extend(numbers.of(terms_of(place)))
        starts.append(len(flat))
        return len(starts) - 2

    def of_text(text: str) -> Sequence[str]:
        return _short(analyser, text) if len(text) <= SHORT else analyser.terms(text)

    def of_url(url: Url) -> Sequence[str]:
        return of_text(url_text(url))

    first = piece(analyser.terms, title) if links else 0
    by_heading: dict[Span, int] = {}
    by_element: dict[int, int] = {}
    by_text: dict[str, int] = {}
    by_url: dict[Url, int] = {}
    for (url, anchor, *_), heading, element in zip(links, headings, elements, strict=True):
        if heading not in by_heading:
            by_heading[heading] = piece(of_heading, heading)
        if element not in by_element:
            by_element[element] = piece(of_element, element)
        if anchor not in by_text:
            by_text[anchor] = piece(of_text, anchor)
        if url not in by_url:
            by_url[url] = piece(of_url, url)
        rows.extend((first, by_heading[heading], by_element[element], by_text[anchor], by_url[url]))
    return Surroundings(tuple(numbers), read_only(flat), read_only(starts), read_only(rows))


def _surroundings(page: Page, analyser: Analyser) -> Surroundings:
    document, links = page.document, page.links
    leaves = document.leaves
    headings = headings_of([leaf.anchor for leaf in leaves], [leaf.heading for leaf in leaves], len(links))
    elements, said = [], dict[int, str]()
    for link in links:
        element, text = document.under(link, 1)
        elements.append(element)
        said.setdefault(element, text)

    def of_heading(span: Span) -> list[str]:
        return analyser.terms(" ".join(leaf.text for leaf in leaves[slice(*span)]))

    return gather(
        links, page.title, headings, elements, of_heading, lambda element: analyser.terms(said[element]), analyser
    )


@lru_cache(maxsize=1 << 14)
def _short(analyser: Analyser, text: str) -> Sequence[str]:
    """Anchors and addresses are those of menus, mostly: the same on all pages of a site."""
    return tuple(analyser.terms(text))
