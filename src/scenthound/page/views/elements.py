"""The text of the elements that contain a link: its parent, its grandparent and so on, up to the whole page.

`surroundings` has the words around each link for the strategy `reinforcement`: title, heading, parent element, anchor
and address.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import Link, Url
from scenthound.page.keyword_similarity import Query
from scenthound.page.record import Record
from scenthound.page.tree_columns import Numbers, fixed
from scenthound.page.views.anchors import PageTerms, anchor_counts, heading_leaves
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, term_frequencies

WHOLE_PAGE = sys.maxsize
"""A value for `up`: climb to the root, so that the element is the whole page."""
# Nested elements repeat the same text: 500 ancestors of 10 MB are 5 GB. Together, the elements of one level may have 64
# times the page's text. Of 3,000 recorded pages, with every ancestor of every link, the worst reached 6.7 times.
REPETITION = 64
REPETITION_AT_LEAST, REPETITION_AT_MOST = 100_000, 100_000_000


def elements_above(record: Record, up: int) -> Numbers:
    """The element `up` levels above each link (0 is the link itself), at most the root.

    >>> [record.elements.tags[record.elements.tag[element]] for element in elements_above(record, 1)]
    ['p', 'body']
    """
    parent, elements = record.elements.parent, record.elements.of_link
    for _ in range(up):
        above = parent[elements]
        if (above < 0).all():
            break
        elements = np.where(above < 0, elements, above)
    return elements


def tag_path(record: Record, link: Link) -> str:
    """The tags from the root to a link, each with its id and first class.

    >>> tag_path(record, chess)
    'html/body/p/a'
    """
    elements, steps = record.elements, []
    element = int(elements.of_link[link.position])
    while element >= 0:
        steps.append(elements.tags[elements.tag[element]])
        element = int(elements.parent[element])
    return "/".join(reversed(steps))


def element_counts(record: Record, link: Link, up: int, analyser: Analyser) -> Counts:
    """Term frequencies of all text in the element `up` levels above the link; 0 is the anchor, 1 its parent [BIZ].

    >>> element_counts(record, chess, 1, small)
    {'best': 1, 'chess': 1, 'club': 1, 'town': 1}
    """
    if not up:
        return anchor_counts(record, link, analyser)
    above = elements_above(record, up)
    if not is_within_limit(record, above)[link.position]:
        return Counts()
    begin, end = (int(column[link.position]) for column in token_spans(record, above))
    return term_frequencies(PageTerms(record, analyser).between(begin, end))


def element_similarities(record: Record, query: Query, up: int) -> list[float]:
    """The cosine between the query and the `element_counts` of each link.

    >>> [round(value, 3) for value in element_similarities(record, Query("chess", small), 1)]
    [0.5, 0.378]
    """
    if not up:
        return [query.text_similarity(link.anchor) for link in record.links]
    terms = PageTerms(record, query.analyser)
    hits = terms.hits(query)
    if not len(hits) or not record.links:
        return [0.0] * len(record.links)
    above = elements_above(record, up)
    begins, ends = token_spans(record, above)
    first, last = np.searchsorted(hits, begins), np.searchsorted(hits, ends)
    has_hit = (first < last) & is_within_limit(record, above)
    similarities: dict[int, float] = {}
    for position in np.flatnonzero(has_hit).tolist():
        element = int(above[position])
        if element not in similarities:
            inside = terms.between(int(begins[position]), int(ends[position]))
            similarities[element] = query.similarity(term_frequencies(inside))
    return [similarities.get(element, 0.0) for element in above.tolist()]


def climbed_similarities(record: Record, query: Query, up: int, min_words: int) -> list[float]:
    """The cosine between the query and an ancestor of each link.

    The ancestor is the first, from `up` levels above the link on, with at least `min_words` terms; else the root.

    >>> [round(value, 3) for value in climbed_similarities(record, Query("chess", small), 0, 3)]
    [0.5, 0.378]
    """
    climb = _Climb(record, query, min_words)
    similarities: list[float] = []
    for link, element in zip(record.links, elements_above(record, max(up, 1)).tolist(), strict=True):
        anchor = () if up else query.analyser.terms(link.anchor)
        is_enough = not up and len(anchor) >= min_words
        similarities.append(query.similarity(term_frequencies(anchor)) if is_enough else climb.similarity_from(element))
    return similarities


class _Climb:
    """Finds the first element with enough terms, upwards from an element. Each element is visited once."""

    def __init__(self, record: Record, query: Query, min_words: int) -> None:
        self._query, self._min_words = query, min_words
        self._parent: list[int] = record.elements.parent.tolist()
        self._terms = PageTerms(record, query.analyser)
        every = np.arange(len(self._parent), dtype=np.int32)
        self._begins, self._ends = (column.tolist() for column in token_spans(record, every))
        self._tokens_left = max(REPETITION * len(record.leaves.tokens), REPETITION_AT_LEAST)
        self._similarities: dict[int, float] = {}

    def similarity_from(self, element: int) -> float:
        """The cosine with the first element, upwards from this one, that has enough terms, or else with the root."""
        similarities, passed = self._similarities, list[int]()
        while element not in similarities:
            inside = self._inside(element)
            if len(inside) >= self._min_words or self._parent[element] < 0:
                similarities[element] = self._query.similarity(term_frequencies(inside))
            else:
                passed.append(element)
                element = self._parent[element]
        similarities.update(dict.fromkeys(passed, similarities[element]))
        return similarities[element]

    def _inside(self, element: int) -> Sequence[str]:
        if self._tokens_left <= 0:
            return ()
        begin, end = self._begins[element], self._ends[element]
        self._tokens_left -= end - begin
        return self._terms.between(begin, end)


def token_spans(record: Record, elements: Numbers) -> tuple[Numbers, Numbers]:
    """The tokens inside each of these elements, as slices of all tokens."""
    first_token, table = record.leaves.first_token, record.elements
    return first_token[table.first_leaf[elements]], first_token[table.end_leaf[elements]]


def is_within_limit(record: Record, elements: Numbers) -> npt.NDArray[np.bool_]:
    """Whether the text of each of these elements counts: elements beyond the limit of `REPETITION` have none."""
    leaves, table = record.leaves, record.elements
    if not len(elements) or not leaves.size:
        return np.ones(len(elements), dtype=np.bool_)
    distinct, first, inverse = np.unique(elements, return_index=True, return_inverse=True)
    begin, end = table.first_leaf[distinct], table.end_leaf[distinct]
    last = np.maximum(end - 1, 0)
    sizes = np.where(end > begin, leaves.end[last] - leaves.begin[np.minimum(begin, last)], 0).astype(np.int64)
    order = np.argsort(first)
    text_before = np.zeros(len(distinct), dtype=np.int64)
    text_before[order] = np.cumsum(sizes[order]) - sizes[order]
    text_size = int(leaves.end[-1])
    limit = min(max(REPETITION * text_size, REPETITION_AT_LEAST), REPETITION_AT_MOST)
    return (text_before < limit)[inverse]


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
