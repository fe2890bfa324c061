"""Rankings of the waiting URLs, by score or with home pages and lists taking turns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scenthound.strategies.hound.link_table import Flags, Reals, Whole

STEP = 1e-4
"""Smallest difference between consecutive scores when home pages and lists take turns."""


class Ranking(NamedTuple):
    """Waiting URLs in the order in which they should be fetched.

    A URL's score is the weighted sum of its features times `factors`, plus `others`, plus an adjustment for its turn.
    """

    order: Whole
    """Indices into the waiting URLs, best first."""
    scores: Reals
    """Their scores, in this order, like the arrays below."""
    factors: Reals
    others: Reals
    is_list: Flags
    """Whether the URL is ranked as a list: a page that may name other sites."""

    def first(self, count: int) -> Ranking:
        """The first `count` URLs."""
        return self.take(np.arange(min(count, len(self.order))))

    def take(self, positions: Whole) -> Ranking:
        """The URLs at these positions, in this order."""
        order, scores, factors, others, is_list = self
        return Ranking(order[positions], scores[positions], factors[positions], others[positions], is_list[positions])


def rank_by_score(scores: Reals, count: int) -> Ranking:
    """The `count` URLs with the largest scores, which are the weighted sums of their features."""
    order = np.argsort(-scores, kind="stable")[:count]
    size = len(order)
    return Ranking(order, scores[order], np.ones(size), np.zeros(size), np.zeros(size, dtype=np.bool_))


def interleave(first: Whole, second: Whole, lists: Whole, gap: float, lists_each: float) -> tuple[Whole, Flags]:
    """Interleave home pages and lists: `first` with a list after every `gap` of them; then the other lists, with one
    of `second` after every `lists_each` of these. Returns the items, and which of them are lists.

    >>> items, is_list = interleave(np.array([1, 2, 3]), np.array([8, 9]), np.array([101, 102, 103, 104]), 2, 1.5)
    >>> items.tolist()
    [1, 2, 101, 3, 102, 8, 103, 104, 9]
    """
    early = int(len(first) // gap)
    turns = np.arange(1, len(lists) + 1, dtype=np.float64)
    for_lists = np.where(turns <= early, turns * gap + 0.4, len(first) + turns - early - 0.4)
    for_second = len(first) + np.arange(1, len(second) + 1) * lists_each
    slots = np.concatenate((np.arange(1, len(first) + 1), for_second, for_lists))
    order = np.argsort(slots, kind="stable")
    is_list = np.arange(len(slots)) >= len(first) + len(second)
    return np.concatenate((first, second, lists))[order], is_list[order]


def falling_scores(values: Reals, is_list: Flags) -> Reals:
    """Strictly falling scores: those of home pages follow their values, lists are just below the home page before.

    >>> falling_scores(np.array([3.0, 9.0, 2.0]), np.array([False, True, False])).round(4).tolist()
    [3.0, 2.9999, 1.9998]
    """
    homes = np.flatnonzero(~is_list)
    top = values[homes[0]] if len(homes) else 0.0
    bounds = np.minimum.accumulate(np.where(is_list, np.inf, values)) if len(values) else values
    return np.asarray(np.minimum(bounds, top) - STEP * np.arange(len(values)))
