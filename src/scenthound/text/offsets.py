"""Terms at their signed distance from an anchor, in leaves (sheet 30.7).

For an anchor that spans the leaves from `begin` up to, not including, `end`, the offset of leaf i is

    i - begin      before the anchor
    0              inside it
    i - end + 1    after it

A feature is a pair (term, offset) with an offset from -reach to reach, encoded as the number

    term · (2 reach + 1) + offset + reach

An anchor without text, such as that of an image, has an empty span of leaves; its `alt` text is at offset 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.text.vocabulary import NONE, Ids

SHORT = 7  # anchors of at most this many leaves are summed for all links at once
Whole = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class LeafTerms(NamedTuple):
    """The terms of a page's leaves."""

    terms: Ids
    """The ids of the distinct terms."""
    flat: Ids
    """Every term of the page, leaf after leaf, as an index into `terms`."""
    starts: Ids
    """Where each leaf begins in `flat`, and where the last one ends."""


class LinkSpans(NamedTuple):
    """The leaves that each link of a page spans."""

    begins: Ids
    ends: Ids
    alt_terms: Mapping[int, Sequence[int]] = {}
    """Term ids of the `alt` text of links without text, by link position."""

    def of(self, position: int, leaves: LeafTerms) -> LinkSpan:
        """The span of one link."""
        begin, end = int(self.begins[position]), int(self.ends[position])
        return LinkSpan(leaves, begin, end, self.alt_terms.get(position, ()))


class LinkSpan(NamedTuple):
    """The leaves of a page that one link spans."""

    leaves: LeafTerms
    begin: int
    end: int
    alt_terms: Sequence[int] = ()


def features(spans: Iterable[LinkSpan], reach: int) -> Whole:
    """The features of links, one link after the other, each in document order. Terms without an id are skipped.

    >>> leaves = LeafTerms(np.array([5, 6, 7]), np.array([0, 1, 2, 0]), np.array([0, 1, 3, 4]))
    >>> [divmod(feature, 3) for feature in features([LinkSpan(leaves, 1, 2)], 1).tolist()]
    [(5, 0), (6, 1), (7, 1), (5, 2)]
    """
    nothing: Whole = np.zeros(0, np.int64)
    terms: list[Ids | Whole] = [nothing]
    offsets, sizes = [nothing], [nothing]
    for leaves, begin, end, alt_terms in spans:
        first, last = max(begin - reach, 0), min(end + reach, len(leaves.starts) - 1)
        bounds = leaves.starts[first : last + 1]
        leaf_offsets = _offsets_around(begin - first, end - begin, last - end, reach)
        leaf_sizes = bounds[1:] - bounds[:-1]
        nearby: Ids | Whole = leaves.terms.take(leaves.flat[int(bounds[0]) : int(bounds[-1])])
        if alt_terms:
            middle = int(leaves.starts[begin]) - int(bounds[0])
            nearby = np.concatenate([nearby[:middle], np.array(alt_terms), nearby[middle:]])
            leaf_offsets = np.insert(leaf_offsets, begin - first, reach)
            leaf_sizes = np.insert(leaf_sizes, begin - first, len(alt_terms))
        terms.append(nearby)
        offsets.append(leaf_offsets)
        sizes.append(leaf_sizes)
    term_ids = np.concatenate(terms)
    feature_ids = term_ids * (2 * reach + 1) + np.repeat(np.concatenate(offsets), np.concatenate(sizes))
    return np.asarray(feature_ids[term_ids != NONE] if (term_ids == NONE).any() else feature_ids)


def _offsets_around(before: int, inside: int, after: int, reach: int) -> Whole:
    # long anchors are not cached: they would fill the memory
    return (_offsets if inside <= reach else _offsets.__wrapped__)(before, inside, after, reach)


@lru_cache(maxsize=1 << 10)
def _offsets(before: int, inside: int, after: int, reach: int) -> Whole:
    """Offset + `reach` of each leaf, given the number of leaves before, inside and after an anchor."""
    offsets = [*range(reach - before, reach), *[reach] * inside, *range(reach + 1, reach + 1 + after)]
    return np.array(offsets, dtype=np.int64)


def sums_around(leaves: LeafTerms, spans: LinkSpans, weights: Callable[[Ids | Whole], Reals], reach: int) -> Reals:
    """For each link, Σ weight(term, offset) over its features.

    `weights` returns a row for each term and a column for each offset from -reach to reach. The links of a page share
    its leaves, so the weights of a leaf are summed once for all links.
    """
    sums = _sums_of_leaves(leaves, weights(leaves.terms))
    begins, ends = spans.begins.astype(np.int64), spans.ends.astype(np.int64)
    total = _sums_beside(sums, begins, ends, reach)
    total += _sums_of_spans(sums[:, reach], begins, ends)
    if spans.alt_terms:
        terms = np.array(list(chain.from_iterable(spans.alt_terms.values())), dtype=np.int64)
        starts = list(accumulate(map(len, spans.alt_terms.values()), initial=0))[:-1]
        total[list(spans.alt_terms)] += np.add.reduceat(weights(terms)[:, reach], starts)
    return total


def _sums_of_leaves(leaves: LeafTerms, weights: Reals) -> Reals:
    """The sum of the weights of each leaf's terms, at each offset."""
    sums = np.zeros((len(leaves.starts) - 1, weights.shape[1]))
    filled = np.flatnonzero(leaves.starts[1:] > leaves.starts[:-1])
    if len(filled):
        sums[filled] = np.add.reduceat(weights.take(leaves.flat, axis=0), leaves.starts[filled], axis=0)
    return sums


def _sums_beside(sums: Reals, begins: Whole, ends: Whole, reach: int) -> Reals:
    """The sum over the leaves before and after each anchor, each leaf at its own offset, within the page."""
    width = 2 * reach + 1
    padded = np.zeros((len(sums) + width, width))
    padded[reach : reach + len(sums)] = sums
    away = np.arange(1, reach + 1)[:, np.newaxis]
    before = (begins + reach - away) * width + (reach - away)
    after = (ends + reach - 1 + away) * width + reach + away
    return np.asarray((padded.take(before) + padded.take(after)).sum(axis=0))


def _sums_of_spans(values: Reals, begins: Whole, ends: Whole) -> Reals:
    """The sum over the leaves inside each anchor."""
    sizes = ends - begins
    sums, longest = np.zeros(len(sizes)), int(sizes.max(initial=0))
    column = np.append(values, 0.0)  # an empty span may begin after the last leaf
    for step in range(min(longest, SHORT)):  # in the order in which `sum` adds this few
        sums += np.where(step < sizes, column.take(begins + step, mode="clip"), 0.0)
    if longest > SHORT:
        for link in np.flatnonzero(sizes > SHORT).tolist():
            sums[link] = column[begins[link] : ends[link]].sum()
    return sums
