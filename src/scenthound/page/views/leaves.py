"""The terms of every leaf of a page, and where the links stand among the leaves (apprentice)."""

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
    terms = np.flatnonzero(every >= 0)
    begins, ends = anchor_leaves(record)
    links, alternatives = record.links, dict[int, tuple[str, ...]]()
    for position in np.flatnonzero(begins == ends).tolist():
        if links[position].anchor and (said := analyser.terms(links[position].anchor)):
            alternatives[position] = tuple(said)
    positions, starts = outlink_anchors(record)
    leaf_starts = np.searchsorted(terms, record.leaves.first_token).astype(np.int32)
    flat, leaf_starts, begins, ends = map(fixed, (every.take(terms), leaf_starts, begins, ends))
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
