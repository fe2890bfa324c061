"""Adaptive greed: how often a page is taken that is not the best by its score, to learn from it (sheet 80.7).

    rate = most * u / (u + d^2)

u is the share of the relevance of past pages that their scores do not explain (1 while there are too few of them), d
how far the best of the waiting URLs is ahead of the next 50. So the crawl departs from its ranking while its scores
say little, or tell the best URLs hardly apart; and keeps to it when they have proved right.

For each of the next turns, with this probability, one of the 50 best is taken instead of the first. It is drawn with a
probability that grows with its score: exp(score / d).
"""

from __future__ import annotations

import numpy as np

from scenthound.strategies.hound.link_table import Reals
from scenthound.strategies.hound.ranking import Ranked

AMONG = 50
"""So many of the best are drawn from."""


def exploration_rate(most: float, unexplained: float, scores: Reals) -> float:
    """The probability of departing from the ranking, from scores in descending order.

    >>> exploration_rate(0.2, 1.0, np.array([2.0, 1.0, 1.0])), exploration_rate(0.2, 0.0, np.array([2.0, 1.0, 1.0]))
    (0.1, 0.0)
    """
    lead = _lead(scores)
    doubt = unexplained / (unexplained + lead * lead) if unexplained > 0 else 0.0
    return most * doubt


def _lead(scores: Reals) -> float:
    """How far the first is ahead of the next, on average."""
    return float(scores[0] - scores[1 : AMONG + 1].mean()) if len(scores) > 1 else 0.0


def lifted(ranked: Ranked, rate: float, turns: int, draws: np.random.Generator) -> tuple[Ranked, Reals]:
    """The ranking with some URLs moved to one of the next turns, and how much was added to the score of each."""
    scores = ranked.scores.copy()
    order = np.arange(len(scores))
    added = np.zeros(len(scores))
    spread = max(_lead(scores), 1e-3)
    for turn in range(min(turns, len(order) - 1)):
        if draws.random() >= rate:
            continue
        others = order[turn + 1 : AMONG]
        if not len(others):
            break
        odds = np.exp((scores[others] - scores[others].max()) / spread)
        chosen = turn + 1 + int(draws.choice(len(others), p=odds / odds.sum()))
        here = scores[order[turn]]
        above = scores[order[turn - 1]] if turn else here + 2e-6
        index = order[chosen]
        added[index] = (here + above) / 2 - scores[index]
        scores[index] += added[index]
        order = np.concatenate((order[:turn], [index], order[turn:chosen], order[chosen + 1 :]))
    return ranked._replace(scores=scores).take(order), added[order]
