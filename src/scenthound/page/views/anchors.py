"""The anchors of a page's links: where they are, their words and the words around them, and the heading above.

A *window* is the anchor with some tokens on each side. The *heading* of a link is the one that contains it or precedes
it. Several anchors may lead to the same URL; a crawler offers it once, at the best of them (rule 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import Link
from scenthound.page.keyword_similarity import Query
from scenthound.page.record import Record
from scenthound.page.tree_columns import Numbers, fixed
from scenthound.page.views.terms import PageTerms
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, term_frequencies

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
