"""Terms at their signed distance from an anchor, in leaves (sheet 30.7).

For an anchor that takes up the leaves from `begin` to before `end`, the offset of leaf i is

    i - begin      before the anchor
    0              in it
    i - end + 1    behind it

A feature is a pair (term, offset) with an offset from -reach to reach, as the number

    term · (2 reach + 1) + offset + reach

An anchor without text, as of a picture, has an empty span of leaves; what it says instead is at offset 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.text.vocabulary import NONE, Ids

SHORT = 7  # leaves of an anchor that are added up for all links at once
Whole = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class LeafTerms(NamedTuple):
    """The terms of a page's leaves."""

    terms: Ids
    """The ids of the distinct terms."""
    flat: Ids
    """Every term of the page, leaf after leaf, as an index into `terms`."""
    starts: Ids
    """Where in `flat` each leaf begins, and where the last one ends."""


class Spots(NamedTuple):
    """Where the links of a page stand among its leaves."""

    begins: Ids
    ends: Ids
    instead: Mapping[int, Sequence[int]] = {}
    """For links without text, by position, the ids of the terms that are said instead."""

    def of(self, position: int, leaves: LeafTerms) -> Spot:
        """That of one link."""
        begin, end = int(self.begins[position]), int(self.ends[position])
        return Spot(leaves, begin, end, self.instead.get(position, ()))


class Spot(NamedTuple):
    """Where one link stands on its page."""

    leaves: LeafTerms
    begin: int
    end: int
    instead: Sequence[int] = ()


def features(spots: Iterable[Spot], reach: int) -> Whole:
    """The features of links, one link after the other, each in document order. Terms without an id have none.

    >>> leaves = LeafTerms(np.array([5, 6, 7]), np.array([0, 1, 2, 0]), np.array([0, 1, 3, 4]))
    >>> [divmod(one, 3) for one in features([Spot(leaves, 1, 2)], 1).tolist()]
    [(5, 0), (6, 1), (7, 1), (5, 2)]
    """
    nothing: Whole = np.zeros(0, np.int64)
    terms: list[Ids | Whole] = [nothing]
    offsets, sizes = [nothing], [nothing]
    for leaves, begin, end, instead in spots:
        first, behind = max(begin - reach, 0), min(end + reach, len(leaves.starts) - 1)
        bounds = leaves.starts[first : behind + 1]
        around, each = _offsets_around(begin - first, end - begin, behind - end, reach), bounds[1:] - bounds[:-1]
        said: Ids | Whole = leaves.terms.take(leaves.flat[int(bounds[0]) : int(bounds[-1])])
        if instead:
            middle = int(leaves.starts[begin]) - int(bounds[0])
            said = np.concatenate([said[:middle], np.array(instead), said[middle:]])
            around, each = np.insert(around, begin - first, reach), np.insert(each, begin - first, len(instead))
        terms.append(said)
        offsets.append(around)
        sizes.append(each)
    every = np.concatenate(terms)
    found = every * (2 * reach + 1) + np.repeat(np.concatenate(offsets), np.concatenate(sizes))
    return np.asarray(found[every != NONE] if (every == NONE).any() else found)


def _offsets_around(before: int, own: int, behind: int, reach: int) -> Whole:
    # long anchors are not remembered: they would fill the memory
    return (_offsets if own <= reach else _offsets.__wrapped__)(before, own, behind, reach)


@lru_cache(maxsize=1 << 10)
def _offsets(before: int, own: int, behind: int, reach: int) -> Whole:
    """The offsets, plus `reach`, of so many leaves before an anchor, in it and behind it."""
    found = [*range(reach - before, reach), *[reach] * own, *range(reach + 1, reach + 1 + behind)]
    return np.array(found, dtype=np.int64)


def sums_around(leaves: LeafTerms, spots: Spots, weights: Callable[[Ids | Whole], Reals], reach: int) -> Reals:
    """For each link Σ weight(term, offset) over its features.

    `weights` gives a row for each term that it is asked for, and a column for each offset from -reach to reach. The
    links of a page share their leaves: what a leaf says at each offset is added up once for all of them.
    """
    sums = _sums_of_leaves(leaves, weights(leaves.terms))
    begins, ends = spots.begins.astype(np.int64), spots.ends.astype(np.int64)
    total = _sums_beside(sums, begins, ends, reach)
    total += _sums_of_spans(sums[:, reach], begins, ends)
    if spots.instead:
        terms = np.array(list(chain.from_iterable(spots.instead.values())), dtype=np.int64)
        starts = list(accumulate(map(len, spots.instead.values()), initial=0))[:-1]
        total[list(spots.instead)] += np.add.reduceat(weights(terms)[:, reach], starts)
    return total


def _sums_of_leaves(leaves: LeafTerms, weights: Reals) -> Reals:
    """For each leaf, at each offset, the sum of the weights of its terms."""
    sums = np.zeros((len(leaves.starts) - 1, weights.shape[1]))
    filled = np.flatnonzero(np.diff(leaves.starts))
    if len(filled):
        sums[filled] = np.add.reduceat(weights.take(leaves.flat, axis=0), leaves.starts[filled], axis=0)
    return sums


def _sums_beside(sums: Reals, begins: Whole, ends: Whole, reach: int) -> Reals:
    """For each anchor the sum over the leaves before and behind it, each at its offset; none beyond the page."""
    width = 2 * reach + 1
    padded = np.zeros((len(sums) + width, width))
    padded[reach : reach + len(sums)] = sums
    away = np.arange(1, reach + 1)[:, np.newaxis]
    before = (begins + reach - away) * width + (reach - away)
    behind = (ends + reach - 1 + away) * width + reach + away
    return np.asarray((padded.take(before) + padded.take(behind)).sum(axis=0))


def _sums_of_spans(values: Reals, begins: Whole, ends: Whole) -> Reals:
    """For each anchor the sum over its own leaves."""
    sizes = ends - begins
    sums, longest = np.zeros(len(sizes)), int(sizes.max(initial=0))
    column = np.append(values, 0.0)  # an empty span may begin behind the last leaf
    for step in range(min(longest, SHORT)):  # as a sum adds up so few: one after the other
        sums += np.where(step < sizes, column.take(begins + step, mode="clip"), 0.0)
    if longest > SHORT:
        for place in np.flatnonzero(sizes > SHORT).tolist():
            sums[place] = column[begins[place] : ends[place]].sum()
    return sums
