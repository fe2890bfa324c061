"""What a page says about each of its links: pure functions of a record, an analyser and a link (sheet 10.5).

A *window* is the anchor with some tokens on each side. An *element* is what an ancestor of the link contains. A
*heading* is the one that the link stands in or after. *Leaves* are the runs of text between tags.

A view that a strategy asks for on every visit goes through `Page.view`, which works it out once per page. Those in
`KEPT` do not depend on the crawl; a prepared bed keeps them for the next crawl in the same process.

The examples use this page:

>>> from scenthound.testing import page_of
>>> page = page_of("<h1>Clubs</h1><p>The best <a href=/c>chess club</a> in town</p><a href=/g><img alt='golf'></a>")
>>> record, small = page.record, Analyser("small")
>>> chess, golf = record.links
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import Link, Url
from scenthound.page.anchors import OutlinkAnchors, outlink_anchors
from scenthound.page.record import Numbers, Record, fixed
from scenthound.text.query import Query
from scenthound.text.term_counts import find_term, pack_terms
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, term_frequencies

WHOLE_PAGE = sys.maxsize
"""As `up`: climb to the root. The element is then the page."""
# Nested elements repeat the same text: 500 ancestors of 10 MB are 5 GB. Together the elements of one level may say 64
# times what the page says. Of 3,000 recorded pages, with every ancestor of every link, the worst reached 6.7.
REPETITION = 64
REPETITION_AT_LEAST, REPETITION_AT_MOST = 100_000, 100_000_000
MOST_WORDS_AROUND = 500_000  # words around all links of a page

Whole = npt.NDArray[np.int64]
Span = tuple[int, int]


# ---- terms of the page


def page_similarity(record: Record, query: Query) -> float:
    """The cosine of the query with the whole page.

    >>> round(page_similarity(record, Query("chess", small)), 3)
    0.378
    """
    return query.similarity(record.counts(query.analyser))


def token_terms(record: Record, analyser: Analyser) -> Numbers:
    """For every token of the page the index of its term in `record.counts(analyser).terms`; -1 for a stop word.

    >>> token_terms(record, small).tolist()
    [0, -1, 1, 2, 0, -1, 3]
    """
    of_word = record.analysed(analyser).of_word
    assert of_word is not None
    return of_word.take(record.leaves.tokens)


class TermSequence(NamedTuple):
    """The terms of a page in the order of its tokens."""

    lines: bytes
    """The distinct terms, as `text.term_counts.pack_terms` packs them."""
    of_token: Numbers
    """For every token the index of its term; -1 for a stop word."""


def term_sequence(record: Record, analyser: Analyser) -> TermSequence:
    """
    >>> term_sequence(record, small).lines
    b'\\nclub\\nbest\\nchess\\ntown\\n'
    """
    counts, of_word = record.analysed(analyser)
    assert of_word is not None
    return TermSequence(counts.to_bytes()[0], fixed(of_word.take(record.leaves.tokens)))


# ---- where the links stand


def anchor_leaves(record: Record) -> tuple[Numbers, Numbers]:
    """The leaf at which each link's anchor begins, and the one after its last.

    An anchor without text, as of a picture, has an empty span before the next anchor with text: a picture is mostly
    followed by the headline that it belongs to.

    >>> [column.tolist() for column in anchor_leaves(record)]
    [[2, 4], [3, 4]]
    """
    anchors, links = record.leaves.anchor, len(record.links)
    places = np.flatnonzero((anchors >= 0) & (anchors < links)).astype(np.int32)
    begins, ends = np.full(links + 1, len(anchors), dtype=np.int32), np.full(links, -1, dtype=np.int32)
    begins[anchors[places[::-1]]] = places[::-1]  # the last one written stays: the first leaf of each anchor
    ends[anchors[places]] = places + 1
    is_empty = ends < 0
    following = np.where(is_empty, links, np.arange(links))
    following = np.minimum.accumulate(following[::-1])[::-1]
    begins = begins[following]
    return begins, np.where(is_empty, begins, ends)


def anchor_tokens(record: Record) -> list[Span]:
    """The tokens of each link's anchor, as a slice of all tokens; empty for an anchor without text.

    >>> anchor_tokens(record)
    [(3, 5), (7, 7)]
    """
    first_token = record.leaves.first_token
    begins, ends = anchor_leaves(record)
    return list(zip(first_token[begins].tolist(), first_token[ends].tolist(), strict=True))


def heading_leaves(record: Record) -> list[Span]:
    """The leaves of the heading that each link stands in or, in document order, after; (0, 0): none.

    >>> heading_leaves(record)
    [(0, 1), (0, 1)]
    """
    headings = record.leaves.heading.tolist()
    runs: list[Span] = []  # the last heading up to and including each leaf; a heading inside another ends it
    begin = end = 0
    for place, heading in enumerate(headings):
        if heading >= 0:
            begin = begin if place and headings[place - 1] == heading else place
            end = place + 1
        runs.append((begin, end))
    whole = dict(runs)  # the link may stand in the middle of its heading
    found: list[Span] = []
    for first, behind in zip(*(column.tolist() for column in anchor_leaves(record)), strict=True):
        begin, end = runs[first] if behind > first else runs[first - 1] if first else (0, 0)
        found.append((begin, whole[begin]) if end else (0, 0))
    return found


# ---- anchors and windows


def anchor_counts(record: Record, link: Link, analyser: Analyser) -> Counts:
    """Term frequencies of the anchor; of an image link those of its `alt` text.

    >>> anchor_counts(record, chess, small), anchor_counts(record, golf, small)
    ({'chess': 1, 'club': 1}, {'golf': 1})
    """
    return analyser.counts(link.anchor)


def window_counts(record: Record, link: Link, width: int, analyser: Analyser) -> Counts:
    """Term frequencies of the anchor and of `width` raw tokens before and after it.

    Stop words take up room in the window and are dropped afterwards. It crosses element borders and is clipped at the
    ends of the page.

    >>> window_counts(record, chess, 1, small), window_counts(record, golf, 1, small)
    ({'best': 1, 'chess': 1, 'club': 1}, {'town': 1, 'golf': 1})
    """
    span = anchor_tokens(record)[link.position]
    return term_frequencies(_window_terms(_PageTerms(record, analyser), link, span, width))


def _window_terms(every: _PageTerms, link: Link, span: Span, width: int) -> list[str]:
    start, end = span
    inside = every.between(start, end) if end > start else every.analyser.terms(link.anchor)
    return every.between(max(0, start - width), start) + inside + every.between(end, end + width)


class _PageTerms:
    """The terms of a page, to be read in slices of its tokens."""

    def __init__(self, record: Record, analyser: Analyser) -> None:
        self.analyser = analyser
        self.counts = record.analysed(analyser).counts
        self.indices = token_terms(record, analyser)
        self._names = self.counts.terms

    def between(self, begin: int, end: int) -> list[str]:
        """The terms of some tokens, stop words left out."""
        names = self._names
        return [names[index] for index in self.indices[begin:end].tolist() if index >= 0]

    def hits(self, query: Query) -> Whole:
        """The places of all tokens whose term is in the query."""
        wanted = [place for term in query.counts if (place := self.counts.index(term)) >= 0]
        return np.flatnonzero(np.isin(self.indices, wanted)) if wanted else np.zeros(0, dtype=np.int64)


def window_similarities(record: Record, query: Query, width: int) -> list[float]:
    """The cosine of the query with the window of each link.

    >>> [round(value, 3) for value in window_similarities(record, Query("golf town", small), 1)]
    [0.0, 1.0]
    """
    every, spans, found = _PageTerms(record, query.analyser), anchor_tokens(record), []
    hits = every.hits(query)
    width = min(width, len(every.indices))
    first, last = np.searchsorted(hits, [[begin - width, end + width] for begin, end in spans]).reshape(-1, 2).T
    for link, span, has_hit in zip(record.links, spans, (first < last).tolist(), strict=True):
        if has_hit or (span[0] == span[1] and link.anchor):
            found.append(query.similarity(term_frequencies(_window_terms(every, link, span, width))))
        else:
            found.append(0.0)
    return found


# ---- elements


def elements_above(record: Record, up: int) -> Numbers:
    """The element `up` levels above each link's own (0: itself), at most the root.

    >>> [record.elements.tags[record.elements.tag[element]] for element in elements_above(record, 1)]
    ['p', 'body']
    """
    parent, found = record.elements.parent, record.elements.of_link
    for _ in range(up):
        above = parent[found]
        if (above < 0).all():
            break
        found = np.where(above < 0, found, above)
    return found


def tag_path(record: Record, link: Link) -> str:
    """Tags from the root, each with its id and first class.

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
    if not _is_within_limit(record, above)[link.position]:
        return Counts()
    begin, end = (int(column[link.position]) for column in _token_spans(record, above))
    return term_frequencies(_PageTerms(record, analyser).between(begin, end))


def element_similarities(record: Record, query: Query, up: int) -> list[float]:
    """The cosine of the query with `element_counts` of each link.

    >>> [round(value, 3) for value in element_similarities(record, Query("chess", small), 1)]
    [0.5, 0.378]
    """
    if not up:
        return [query.text_similarity(link.anchor) for link in record.links]
    every = _PageTerms(record, query.analyser)
    hits = every.hits(query)
    if not len(hits) or not record.links:
        return [0.0] * len(record.links)
    above = elements_above(record, up)
    begins, ends = _token_spans(record, above)
    first, last = np.searchsorted(hits, begins), np.searchsorted(hits, ends)
    has_hit = (first < last) & _is_within_limit(record, above)
    similarities: dict[int, float] = {}
    for position in np.flatnonzero(has_hit).tolist():
        element = int(above[position])
        if element not in similarities:
            inside = every.between(int(begins[position]), int(ends[position]))
            similarities[element] = query.similarity(term_frequencies(inside))
    return [similarities.get(element, 0.0) for element in above.tolist()]


def climbed_similarities(record: Record, query: Query, up: int, min_words: int) -> list[float]:
    """The cosine of the query with the first element, from `up` levels above each link on, with `min_words` terms.

    The root, if no element has that many.

    >>> [round(value, 3) for value in climbed_similarities(record, Query("chess", small), 0, 3)]
    [0.5, 0.378]
    """
    climb = _Climb(record, query, min_words)
    found: list[float] = []
    for link, element in zip(record.links, elements_above(record, max(up, 1)).tolist(), strict=True):
        anchor = () if up else query.analyser.terms(link.anchor)
        is_enough = not up and len(anchor) >= min_words
        found.append(query.similarity(term_frequencies(anchor)) if is_enough else climb.similarity_from(element))
    return found


class _Climb:
    """From elements to the first one above them with enough terms. Each element is looked at once."""

    def __init__(self, record: Record, query: Query, min_words: int) -> None:
        self._query, self._min_words = query, min_words
        self._parent: list[int] = record.elements.parent.tolist()
        self._terms = _PageTerms(record, query.analyser)
        every = np.arange(len(self._parent), dtype=np.int32)
        self._begins, self._ends = (column.tolist() for column in _token_spans(record, every))
        self._tokens_left = max(REPETITION * len(record.leaves.tokens), REPETITION_AT_LEAST)
        self._similarities: dict[int, float] = {}

    def similarity_from(self, element: int) -> float:
        """The cosine with the first element that has enough terms, from this one upwards; else with the root."""
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


def _token_spans(record: Record, elements: Numbers) -> tuple[Numbers, Numbers]:
    """The tokens inside each of these elements, as slices of all tokens."""
    first_token, table = record.leaves.first_token, record.elements
    return first_token[table.first_leaf[elements]], first_token[table.end_leaf[elements]]


def _is_within_limit(record: Record, elements: Numbers) -> npt.NDArray[np.bool_]:
    """Whether the text of each of these elements counts: those after the limit of `REPETITION` have none."""
    leaves, table = record.leaves, record.elements
    if not len(elements) or not leaves.size:
        return np.ones(len(elements), dtype=np.bool_)
    distinct, first, inverse = np.unique(elements, return_index=True, return_inverse=True)
    begin, end = table.first_leaf[distinct], table.end_leaf[distinct]
    last = np.maximum(end - 1, 0)
    sizes = np.where(end > begin, leaves.end[last] - leaves.begin[np.minimum(begin, last)], 0).astype(np.int64)
    order = np.argsort(first)
    before = np.zeros(len(distinct), dtype=np.int64)
    before[order] = np.cumsum(sizes[order]) - sizes[order]
    text = int(leaves.end[-1])
    most = min(max(REPETITION * text, REPETITION_AT_LEAST), REPETITION_AT_MOST)
    return (before < most)[inverse]


# ---- leaves with their links (apprentice)


class LinkLeaves(NamedTuple):
    """The terms of every leaf, and where the links stand among the leaves."""

    flat: Numbers
    """Every term of the page, leaf after leaf, as an index into `record.counts(analyser).terms`."""
    starts: Numbers
    """Where in `flat` each leaf begins, and where the last one ends."""
    begins: Numbers
    """The leaf at which the anchor of each link begins."""
    ends: Numbers
    """The leaf after its last."""
    alternatives: Mapping[int, tuple[str, ...]]
    """The terms of the `alt` text of links without text, by position of the link; those that say nothing left out."""
    positions: Numbers
    """The positions of the links to each of `record.outlinks`, one outlink after the other."""
    outlinks: Numbers
    """Where in `positions` each outlink begins, and where the last one ends."""

    @property
    def anchors(self) -> OutlinkAnchors:
        """The links to each outlink."""
        return OutlinkAnchors(self.positions, self.outlinks)


def link_leaves(record: Record, analyser: Analyser) -> LinkLeaves:
    """The terms around all links at once.

    >>> link_leaves(record, small).starts.tolist(), dict(link_leaves(record, small).alternatives)
    ([0, 1, 2, 4, 5], {1: ('golf',)})
    """
    every = token_terms(record, analyser)
    is_term = every >= 0
    before = np.zeros(len(every) + 1, dtype=np.int32)
    np.cumsum(is_term, out=before[1:])
    begins, ends = anchor_leaves(record)
    links, alternatives = record.links, dict[int, tuple[str, ...]]()
    for position in np.flatnonzero(begins == ends).tolist():
        if links[position].anchor and (said := analyser.terms(links[position].anchor)):
            alternatives[position] = tuple(said)
    positions, starts = outlink_anchors(record)
    columns = map(fixed, (every[is_term], before.take(record.leaves.first_token), begins, ends))
    flat, leaf_starts, begins, ends = columns
    return LinkLeaves(flat, leaf_starts, begins, ends, MappingProxyType(alternatives), positions, starts)


def first_leaves(record: Record, leaves: LinkLeaves, analyser: Analyser, most: int) -> LinkLeaves:
    """What `link_leaves` gave, cut off after so many leaves and so many terms: a page may be without end.

    An anchor of which no leaf is left says its text instead, as one without text says its `alt` text.

    >>> cut = first_leaves(record, link_leaves(record, small), small, 2)
    >>> cut.flat.tolist(), cut.starts.tolist(), dict(cut.alternatives)
    ([0, 1], [0, 1, 2], {0: ('chess', 'club'), 1: ('golf',)})
    """
    if len(leaves.starts) <= most + 1 and len(leaves.flat) <= most:
        return leaves
    begins, ends = np.minimum(leaves.begins, most), np.minimum(leaves.ends, most)
    flat, starts = leaves.flat[:most], np.minimum(leaves.starts[: most + 1], most)
    beyond = np.flatnonzero(begins == ends).tolist()
    alternatives = {place: tuple(words) for place in beyond if (words := analyser.terms(record.links[place].anchor))}
    return LinkLeaves(flat, starts, begins, ends, alternatives, *leaves[5:])


# ---- the words around links (reinforcement)


PIECES = 5


class Surroundings(NamedTuple):
    """The words around links, in pieces that links may share. A word said by two pieces of a link counts twice."""

    names: tuple[str, ...]
    """Each term once, in order of first mention."""
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
    begins, ends = (column.tolist() for column in _token_spans(record, above))
    is_counted = _is_within_limit(record, above).tolist()
    first_token, rows = record.leaves.first_token.tolist(), []
    for link, heading, element in zip(record.links, heading_leaves(record), above.tolist(), strict=True):
        place = link.position
        rows.append(
            (
                title,
                pieces.tokens(("heading", heading), first_token[heading[0]], first_token[heading[1]]),
                pieces.tokens(("element", element), begins[place], ends[place] if is_counted[place] else begins[place]),
                pieces.text(link.anchor),
                pieces.text(url_text(link.url)),
            )
        )
    return pieces.gathered(rows)


class _Pieces:
    """Collects pieces of text, each once; beyond `MOST_WORDS_AROUND` words they stay empty."""

    def __init__(self, record: Record, analyser: Analyser) -> None:
        self._analyser = analyser
        self._terms = _PageTerms(record, analyser)
        self._names: dict[str, int] = {}
        self._known: dict[object, int] = {}
        self._flat: list[int] = []
        self._starts = [0]

    def text(self, text: str) -> int:
        """The number of a piece that is a text of its own."""
        return self._piece(text, lambda: self._analyser.terms(text))

    def tokens(self, key: object, begin: int, end: int) -> int:
        """The number of a piece that is a run of the page's tokens."""
        return self._piece(key, lambda: self._terms.between(begin, end))

    def _piece(self, key: object, find_terms: Callable[[], Sequence[str]]) -> int:
        known = self._known.get(key)
        if known is not None:
            return known
        if len(self._flat) < MOST_WORDS_AROUND:
            names = self._names
            self._flat += [names.setdefault(term, len(names)) for term in find_terms()]
        self._starts.append(len(self._flat))
        self._known[key] = len(self._starts) - 2
        return self._known[key]

    def gathered(self, rows: Sequence[tuple[int, ...]]) -> Surroundings:
        columns = (np.array(column, dtype=np.int32) for column in (self._flat, self._starts, rows))
        flat, starts, table = map(fixed, columns)
        names = tuple(map(sys.intern, self._names))  # a bed keeps those of many pages
        return Surroundings(names, flat, starts, table.reshape(-1, PIECES))


# ---- where terms stand (InfoSpiders)


class TermPositions(NamedTuple):
    """The occurrences of every term of a page, counted in anchors; those in `alt` texts come last."""

    lines: bytes
    """The terms, as `text.term_counts.pack_terms` packs them."""
    starts: Numbers
    """Where in `where` the occurrences of each term begin, and where the last ones end."""
    where: Numbers
    """2b + 1: in anchor b. 2g: outside, with g anchors before it."""

    def of(self, term: str) -> list[int]:
        """Where a term stands, in document order."""
        place = find_term(self.lines, term)
        return [] if place < 0 else self.where[self.starts[place] : self.starts[place + 1]].tolist()


def term_positions(record: Record, analyser: Analyser) -> TermPositions:
    """Where every term stands.

    >>> positions = term_positions(record, small)
    >>> positions.of("club"), positions.of("best"), positions.of("town"), positions.of("golf")
    ([0, 1], [0], [2], [3])
    """
    names, every = record.analysed(analyser).counts.terms, token_terms(record, analyser)
    spans = anchor_tokens(record)
    places = np.flatnonzero(every >= 0)
    owners, where = every[places], _where(places, spans)
    known = {name: number for number, name in enumerate(names)}
    more = [
        (2 * link.position + 1, known.setdefault(term, len(known)))
        for link, (start, end) in zip(record.links, spans, strict=True)
        if start == end and link.anchor
        for term in analyser.terms(link.anchor)
    ]
    if more:
        where = np.concatenate([where, np.array([place for place, _ in more], dtype=np.int64)])
        owners = np.concatenate([owners, np.array([term for _, term in more], dtype=np.int32)])
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(len(known) + 1)).astype(np.int32)
    return TermPositions(pack_terms(known), fixed(starts), fixed(where[order].astype(np.int32)))


def _where(places: Whole, spans: Sequence[Span]) -> Whole:
    if not spans:
        return np.zeros(len(places), dtype=np.int64)
    starts, ends = np.array(spans, dtype=np.int64).T
    anchors = np.searchsorted(np.maximum.accumulate(starts), places, side="right") - 1
    is_inside = (anchors >= 0) & (places < ends[anchors])
    return np.asarray(2 * anchors + np.where(is_inside, 1, 2))


# ---- addresses


def url_text(url: Url) -> str:
    """What of a URL may say something: all but the scheme and `www`.

    >>> url_text("http://www.reef.test/coral-fish/")
    'reef.test/coral-fish/'
    """
    return url.partition("://")[2].removeprefix("www.")


KEPT = frozenset({link_leaves, surroundings, term_positions, term_sequence})
"""Views of a whole page that do not depend on the crawl: a prepared bed keeps them between crawls."""
