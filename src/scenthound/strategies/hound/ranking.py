"""Waiting URLs in the order in which they should be fetched, and how two kinds of them take turns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scenthound.strategies.hound.link_table import Flags, Reals, Whole

STEP = 1e-4
"""Difference of the scores of two URLs in a row, at least, where kinds take turns."""


class Ranked(NamedTuple):
    """Waiting URLs in the order in which they should be fetched.

    The score of one is the sum of its features times `factors`, + `others`, + what its turn adds.
    """

    order: Whole
    """Indices into the waiting URLs, best first."""
    scores: Reals
    """Of each in this order."""
    factors: Reals
    others: Reals
    is_list: Flags
    """Whether it is ranked as a page that may name other sites."""

    def first(self, number: int) -> Ranked:
        """The first so many."""
        return self.take(np.arange(min(number, len(self.order))))

    def take(self, places: Whole) -> Ranked:
        """Those at these places, in this order."""
        return Ranked(
            self.order[places], self.scores[places], self.factors[places], self.others[places], self.is_list[places]
        )


def ranked_by(scores: Reals, number: int) -> Ranked:
    """The URLs with the largest scores, which are the sums of their features."""
    order = np.argsort(-scores, kind="stable")[:number]
    size = len(order)
    return Ranked(order, scores[order], np.ones(size), np.zeros(size), np.zeros(size, dtype=np.bool_))


def in_turn(first: Whole, second: Whole, lists: Whole, gap: float, lists_each: float) -> tuple[Whole, Flags]:
    """`first` with a list after every `gap` of them; then lists, and one of `second` after every `lists_each` of them.

    Returns the items, and which of them are lists.

    >>> items, is_list = in_turn(np.array([1, 2, 3]), np.array([8, 9]), np.array([101, 102, 103, 104]), 2, 1.5)
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


def falling(values: Reals, is_list: Flags) -> Reals:
    """Scores that fall from URL to URL: the values of home pages as far as they fall, lists just below them.

    >>> falling(np.array([3.0, 9.0, 2.0]), np.array([False, True, False])).round(4).tolist()
    [3.0, 2.9999, 1.9998]
    """
    homes = np.flatnonzero(~is_list)
    top = values[homes[0]] if len(homes) else 0.0
    bounds = np.minimum.accumulate(np.where(is_list, np.inf, values)) if len(values) else values
    return np.asarray(np.minimum(bounds, top) - STEP * np.arange(len(values)))
