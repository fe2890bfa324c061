"""Rankings of the waiting URLs, by score or with home pages and lists taking turns; and adaptive exploration: how often
to take a page that does not have the best score, to learn from it (sheet 80.7).

    rate = most * u / (u + d^2)

u is the share of the variance in past pages' relevance that their scores do not explain (1 while there are too few
pages), d the lead of the best waiting URL over the mean of the next 50. So the crawl departs from its ranking while its
scores predict little or hardly separate the best URLs, and keeps to it once they have proved right.

For each of the next turns, with this probability, one of the 50 best URLs is taken instead of the first. It is drawn
with a probability proportional to exp(score / d).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scenthound.strategies.hound.link_table import Flags, Reals, Whole

AMONG = 50
"""How many of the best URLs to draw from."""


def exploration_rate(most: float, unexplained: float, scores: Reals) -> float:
    """The probability of departing from the ranking, from scores in descending order.

    >>> exploration_rate(0.2, 1.0, np.array([2.0, 1.0, 1.0])), exploration_rate(0.2, 0.0, np.array([2.0, 1.0, 1.0]))
    (0.1, 0.0)
    """
    u, d = unexplained, _lead(scores)
    return most * (u / (u + d * d) if u > 0 else 0.0)


def _lead(scores: Reals) -> float:
    """d: the first score less the mean of the next 50."""
    return float(scores[0] - scores[1 : AMONG + 1].mean()) if len(scores) > 1 else 0.0


def explore(ranked: Ranking, rate: float, turns: int, rng: np.random.Generator) -> tuple[Ranking, Reals]:
    """Move some URLs to one of the next turns. Returns the new ranking, and the amount added to each score."""
    scores = ranked.scores.copy()
    order = np.arange(len(scores))
    added = np.zeros(len(scores))
    d = max(_lead(scores), 1e-3)
    for turn in range(min(turns, len(order) - 1)):
        if rng.random() >= rate:
            continue
        others = order[turn + 1 : AMONG]
        if not len(others):
            break
        odds = np.exp((scores[others] - scores[others].max()) / d)
        position = turn + 1 + int(rng.choice(len(others), p=odds / odds.sum()))
        here = scores[order[turn]]
        above = scores[order[turn - 1]] if turn else here + 2e-6
        drawn = order[position]
        added[drawn] = (here + above) / 2 - scores[drawn]
        scores[drawn] += added[drawn]
        order = np.concatenate((order[:turn], [drawn], order[turn:position], order[position + 1 :]))
    return ranked._replace(scores=scores).take(order), added[order]


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
