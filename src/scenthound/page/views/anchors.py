"""The terms of a page in order, the anchors of its links, and the words in and around them.

A *window* is the anchor with some tokens on each side. The *heading* of a link is the one that contains it or precedes
it. Several anchors may lead to the same URL; a crawler offers it once, at the best of them (rule 6). `link_leaves` is
what the apprentice reads, `term_positions` what InfoSpiders read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import Link
from scenthound.page.keyword_similarity import Query
from scenthound.page.record import Record
from scenthound.page.tree_columns import Numbers, fixed
from scenthound.text.term_counts import find_term, pack_terms
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, term_frequencies

Offsets = npt.NDArray[np.int64]


def token_terms(record: Record, analyser: Analyser) -> Numbers:
    """For every token of the page, the index of its term in `record.counts(analyser).terms`; -1 for a stop word.

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
    """For every token, the index of its term; -1 for a stop word."""


def term_sequence(record: Record, analyser: Analyser) -> TermSequence:
    """The terms of a page in order, in a form that a prepared bed can keep.

    >>> term_sequence(record, small).lines
    b'\\nclub\\nbest\\nchess\\ntown\\n'
    """
    counts, of_word = record.analysed(analyser)
    assert of_word is not None
    return TermSequence(counts.to_bytes()[0], fixed(of_word.take(record.leaves.tokens)))


class PageTerms:
    """The terms of a page, read by slices of its tokens."""

    def __init__(self, record: Record, analyser: Analyser) -> None:
        self.analyser = analyser
        self.counts = record.analysed(analyser).counts
        self.indices = token_terms(record, analyser)
        self._names = self.counts.terms

    def between(self, begin: int, end: int) -> list[str]:
        """The terms of the tokens from `begin` to `end`, without stop words."""
        names = self._names
        return [names[index] for index in self.indices[begin:end].tolist() if index >= 0]

    def hits(self, query: Query) -> Offsets:
        """The indices of all tokens whose term is in the query."""
        query_terms = [index for term in query.counts if (index := self.counts.index(term)) >= 0]
        return np.flatnonzero(np.isin(self.indices, query_terms)) if query_terms else np.zeros(0, dtype=np.int64)


Span = tuple[int, int]


def anchor_leaves(record: Record) -> tuple[Numbers, Numbers]:
    """The first leaf of each link's anchor, and the leaf after its last.

    An anchor without text, such as a picture, has an empty span before the next anchor with text: a picture is usually
    followed by the headline that it belongs to.

    >>> [column.tolist() for column in anchor_leaves(record)]
    [[2, 4], [3, 4]]
    """
    anchors, links = record.leaves.anchor, len(record.links)
    leaves = np.flatnonzero((anchors >= 0) & (anchors < links)).astype(np.int32)
    begins, ends = np.full(links + 1, len(anchors), dtype=np.int32), np.full(links, -1, dtype=np.int32)
    begins[anchors[leaves[::-1]]] = leaves[::-1]  # the last write wins: the first leaf of each anchor
    ends[anchors[leaves]] = leaves + 1
    is_empty = ends < 0
    next_with_text = np.where(is_empty, links, np.arange(links))
    next_with_text = np.minimum.accumulate(next_with_text[::-1])[::-1]
    begins = begins[next_with_text]
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
    """The leaves of the heading that contains or precedes each link; (0, 0) if there is none.

    >>> heading_leaves(record)
    [(0, 1), (0, 1)]
    """
    headings = record.leaves.heading.tolist()
    runs: list[Span] = []  # for each leaf the last heading at or before it; a nested heading ends the outer one
    begin = end = 0
    for leaf, heading in enumerate(headings):
        if heading >= 0:
            begin = begin if leaf and headings[leaf - 1] == heading else leaf
            end = leaf + 1
        runs.append((begin, end))
    end_of = dict(runs)  # by first leaf: a link may be in the middle of its heading
    spans: list[Span] = []
    for first, after in zip(*(column.tolist() for column in anchor_leaves(record)), strict=True):
        begin, end = runs[first] if after > first else runs[first - 1] if first else (0, 0)
        spans.append((begin, end_of[begin]) if end else (0, 0))
    return spans


def anchor_counts(record: Record, link: Link, analyser: Analyser) -> Counts:
    """Term frequencies of the anchor; for an image link, of its `alt` text.

    >>> anchor_counts(record, chess, small), anchor_counts(record, golf, small)
    ({'chess': 1, 'club': 1}, {'golf': 1})
    """
    return analyser.counts(link.anchor)


def window_counts(record: Record, link: Link, width: int, analyser: Analyser) -> Counts:
    """Term frequencies of the anchor and of `width` raw tokens before and after it.

    Stop words count towards the width and are dropped afterwards. The window crosses element borders and is clipped at
    the ends of the page.

    >>> window_counts(record, chess, 1, small), window_counts(record, golf, 1, small)
    ({'best': 1, 'chess': 1, 'club': 1}, {'town': 1, 'golf': 1})
    """
    span = anchor_tokens(record)[link.position]
    return term_frequencies(_window_terms(PageTerms(record, analyser), link, span, width))


def _window_terms(terms: PageTerms, link: Link, span: Span, width: int) -> list[str]:
    start, end = span
    inside = terms.between(start, end) if end > start else terms.analyser.terms(link.anchor)
    return terms.between(max(0, start - width), start) + inside + terms.between(end, end + width)


def window_similarities(record: Record, query: Query, width: int) -> list[float]:
    """The cosine between the query and the window of each link.

    >>> [round(value, 3) for value in window_similarities(record, Query("golf town", small), 1)]
    [0.0, 1.0]
    """
    terms, spans, similarities = PageTerms(record, query.analyser), anchor_tokens(record), []
    hits = terms.hits(query)
    width = min(width, len(terms.indices))
    first, last = np.searchsorted(hits, [[begin - width, end + width] for begin, end in spans]).reshape(-1, 2).T
    for link, span, has_hit in zip(record.links, spans, (first < last).tolist(), strict=True):
        if has_hit or (span[0] == span[1] and link.anchor):
            similarities.append(query.similarity(term_frequencies(_window_terms(terms, link, span, width))))
        else:
            similarities.append(0.0)
    return similarities


class OutlinkAnchors(NamedTuple):
    """The links of a page, grouped by outlink."""

    positions: Numbers
    """The positions of the links, one outlink after the other."""
    starts: Numbers
    """Where in `positions` each outlink begins, and where the last one ends."""


def outlink_anchors(record: Record) -> OutlinkAnchors:
    """All links, grouped by the outlink that they lead to, without links to the page itself.

    >>> from scenthound.testing import page_of
    >>> page = page_of("<a href=/x>one</a> <a href=/y>two</a> <a href=/>home</a> <a href=/x>three</a>")
    >>> [column.tolist() for column in outlink_anchors(page.record)]
    [[0, 3, 1], [0, 2, 3]]
    """
    indices = {link.url: index for index, link in enumerate(record.outlinks)}
    outlinks = np.array([indices.get(link.url, -1) for link in record.links], dtype=np.int32)
    positions = np.argsort(outlinks, kind="stable")[int(np.count_nonzero(outlinks < 0)) :].astype(np.int32)
    starts = np.searchsorted(outlinks[positions], np.arange(len(indices) + 1)).astype(np.int32)
    return OutlinkAnchors(fixed(positions), fixed(starts))


def first_anchors(anchors: OutlinkAnchors) -> Numbers:
    """For each outlink, the position of the first link to it."""
    return np.asarray(anchors.positions[anchors.starts[:-1]])


def best_anchors(anchors: OutlinkAnchors, scores: Sequence[float] | npt.NDArray[np.float64]) -> Numbers:
    """For each outlink, the position of its link with the highest score, or the first of equals. `scores` is by link.

    >>> from scenthound.testing import page_of
    >>> page = page_of("<a href=/x>one</a> <a href=/y>two</a> <a href=/x>three</a>")
    >>> best_anchors(outlink_anchors(page.record), [0.5, 0.0, 0.7]).tolist()
    [2, 1]
    """
    positions, starts = anchors
    if len(positions) == len(starts) - 1:  # one link to each
        return first_anchors(anchors)
    values, sizes = np.asarray(scores)[positions], np.diff(starts)
    best = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, starts[:-1]), sizes))
    chosen = np.zeros(len(sizes), dtype=np.int32)
    outlinks = np.repeat(np.arange(len(sizes)), sizes)[best]
    chosen[outlinks[::-1]] = positions[best[::-1]]  # the last write wins: the first of equally good links
    return chosen


class LinkLeaves(NamedTuple):
    """The terms of each leaf of a page, and the leaves that each link spans."""

    flat: Numbers
    """Every term of the page, leaf after leaf, as an index into `record.counts(analyser).terms`."""
    starts: Numbers
    """Where each leaf begins in `flat`, and where the last one ends."""
    begins: Numbers
    """The first leaf of each link's anchor."""
    ends: Numbers
    """The leaf after the last leaf of each link's anchor."""
    alternatives: Mapping[int, tuple[str, ...]]
    """The terms of the `alt` text of links without text, by link position; links with neither are left out."""
    positions: Numbers
    """The positions of the links that lead to each of `record.outlinks`, one outlink after the other."""
    outlinks: Numbers
    """Where each outlink begins in `positions`, and where the last one ends."""

    @property
    def anchors(self) -> OutlinkAnchors:
        """The links that lead to each outlink."""
        return OutlinkAnchors(self.positions, self.outlinks)


def link_leaves(record: Record, analyser: Analyser) -> LinkLeaves:
    """The terms of all leaves, and the span of each link.

    >>> link_leaves(record, small).starts.tolist(), dict(link_leaves(record, small).alternatives)
    ([0, 1, 2, 4, 5], {1: ('golf',)})
    """
    of_token = token_terms(record, analyser)
    is_term = np.flatnonzero(of_token >= 0)
    begins, ends = anchor_leaves(record)
    links, alternatives = record.links, dict[int, tuple[str, ...]]()
    for position in np.flatnonzero(begins == ends).tolist():
        if links[position].anchor and (alt_terms := analyser.terms(links[position].anchor)):
            alternatives[position] = tuple(alt_terms)
    positions, starts = outlink_anchors(record)
    leaf_starts = np.searchsorted(is_term, record.leaves.first_token).astype(np.int32)
    flat, leaf_starts, begins, ends = map(fixed, (of_token.take(is_term), leaf_starts, begins, ends))
    return LinkLeaves(flat, leaf_starts, begins, ends, MappingProxyType(alternatives), positions, starts)


def first_leaves(record: Record, leaves: LinkLeaves, analyser: Analyser, most: int) -> LinkLeaves:
    """The result of `link_leaves`, cut off after `most` leaves and `most` terms: a page can be of any length.

    An anchor beyond the cut is treated like one without text: the terms of its text become its alternative.

    >>> cut = first_leaves(record, link_leaves(record, small), small, 2)
    >>> cut.flat.tolist(), cut.starts.tolist(), dict(cut.alternatives)
    ([0, 1], [0, 1, 2], {0: ('chess', 'club'), 1: ('golf',)})
    """
    if len(leaves.starts) <= most + 1 and len(leaves.flat) <= most:
        return leaves
    begins, ends = np.minimum(leaves.begins, most), np.minimum(leaves.ends, most)
    flat, starts = leaves.flat[:most], np.minimum(leaves.starts[: most + 1], most)
    empty = np.flatnonzero(begins == ends).tolist()
    alternatives = {at: tuple(terms) for at in empty if (terms := analyser.terms(record.links[at].anchor))}
    return LinkLeaves(flat, starts, begins, ends, alternatives, *leaves[5:])


class TermPositions(NamedTuple):
    """The occurrences of every term of a page, counted in anchors. Occurrences in `alt` texts come last."""

    lines: bytes
    """The terms, as `text.term_counts.pack_terms` packs them."""
    starts: Numbers
    """Where in `where` the occurrences of each term begin, and where the last ones end."""
    where: Numbers
    """2b + 1: in anchor b. 2g: outside anchors, with g anchors before it."""

    def of(self, term: str) -> list[int]:
        """The positions of a term, in document order."""
        index = find_term(self.lines, term)
        return [] if index < 0 else self.where[self.starts[index] : self.starts[index + 1]].tolist()


def term_positions(record: Record, analyser: Analyser) -> TermPositions:
    """The positions of every term.

    >>> positions = term_positions(record, small)
    >>> positions.of("club"), positions.of("best"), positions.of("town"), positions.of("golf")
    ([0, 1], [0], [2], [3])
    """
    names, every = record.analysed(analyser).counts.terms, token_terms(record, analyser)
    spans = anchor_tokens(record)
    offsets = np.flatnonzero(every >= 0)
    owners, where = every[offsets], _where(offsets, spans)
    term_ids = {name: index for index, name in enumerate(names)}
    in_alt_texts = [
        (2 * link.position + 1, term_ids.setdefault(term, len(term_ids)))
        for link, (start, end) in zip(record.links, spans, strict=True)
        if start == end and link.anchor
        for term in analyser.terms(link.anchor)
    ]
    if in_alt_texts:
        where = np.concatenate([where, np.array([position for position, _ in in_alt_texts], dtype=np.int64)])
        owners = np.concatenate([owners, np.array([term for _, term in in_alt_texts], dtype=np.int32)])
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(len(term_ids) + 1)).astype(np.int32)
    return TermPositions(pack_terms(term_ids), fixed(starts), fixed(where[order].astype(np.int32)))


def _where(offsets: Offsets, spans: Sequence[Span]) -> Offsets:
    if not spans:
        return np.zeros(len(offsets), dtype=np.int64)
    starts, ends = np.array(spans, dtype=np.int64).T
    anchors = np.searchsorted(np.maximum.accumulate(starts), offsets, side="right") - 1
    is_inside = (anchors >= 0) & (offsets < ends[anchors])
    return np.asarray(2 * anchors + np.where(is_inside, 1, 2))
