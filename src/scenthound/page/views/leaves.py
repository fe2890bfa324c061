"""The terms of each leaf of a page, and the leaves that each link spans: what the apprentice reads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from scenthound.page.record import Record
from scenthound.page.tree_columns import Numbers, fixed
from scenthound.page.views.anchors import OutlinkAnchors, anchor_leaves, outlink_anchors
from scenthound.page.views.terms import token_terms
from scenthound.text.tokens import Analyser


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
