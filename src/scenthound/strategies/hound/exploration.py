"""Adaptive exploration: how often to take a page that does not have the best score, to learn from it (sheet 80.7).

    rate = most * u / (u + d^2)

u is the share of the variance in past pages' relevance that their scores do not explain (1 while there are too few
pages), d the lead of the best waiting URL over the mean of the next 50. So the crawl departs from its ranking while its
scores predict little or hardly separate the best URLs, and keeps to it once they have proved right.

For each of the next turns, with this probability, one of the 50 best URLs is taken instead of the first. It is drawn
with a probability proportional to exp(score / d).
"""

from __future__ import annotations

import numpy as np

from scenthound.strategies.hound.link_table import Reals
from scenthound.strategies.hound.ranking import Ranking

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
