"""How the judge `topic` weighs what it knows about a page: six numbers and a prior make a probability.

    log-odds = BIAS + sum of WEIGHTS * evidence + prior

`probability` is for one page that has just come, `probabilities` for all that are remembered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from scenthound.text.topic_model import Floats

BIAS = -1.4
WEIGHTS = {"likeness": 1.8, "separation": 0.2, "keywords": 0.35, "title": 1.5, "links": 0.5, "parent": 0.5}
LEAST = (-3.0, -5.0, -3.0, -math.inf, -math.inf, -math.inf)
"""Bounds of the evidence, in the order of WEIGHTS."""
MOST = (1.5, 8.0, 4.0, math.inf, math.inf, math.inf)
OF_MODEL = 2  # the first two count as much as the model is relied on
CERTAIN = {"": (0.0, 1.0), "seed": (0.0, 1.0), "given": (0.95, 1.0), "off": (0.0, 0.05)}
"""Bounds of the probability by kind of page: what the user said about a page is not overruled."""
_WEIGHTS, _LEAST, _MOST = np.array(list(WEIGHTS.values())), np.array(LEAST), np.array(MOST)


def probability(evidence: Sequence[float], reliance: float, prior: float, kind: str) -> float:
    """The probability of one page, with its evidence in the order of WEIGHTS.

    >>> round(probability([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], 0.5, 0.0, ""), 3)
    0.731
    """
    odds = BIAS + prior
    for place, (value, weight) in enumerate(zip(evidence, WEIGHTS.values(), strict=True)):
        bounded = min(max(value, LEAST[place]), MOST[place])
        odds += weight * (reliance * bounded if place < OF_MODEL else bounded)
    least, most = CERTAIN[kind]
    return min(max(1 / (1 + math.exp(-min(max(odds, -30.0), 30.0))), least), most)


def probabilities(evidence: Floats, reliance: float, priors: Floats, kinds: Sequence[str]) -> Floats:
    """The same for many pages, one row each."""
    bounded = np.minimum(np.maximum(evidence, _LEAST), _MOST)
    bounded[:, :OF_MODEL] *= reliance
    bounds = np.array([CERTAIN[kind] for kind in kinds])
    found = logistic(BIAS + bounded @ _WEIGHTS + priors)
    return np.asarray(np.minimum(np.maximum(found, bounds[:, 0]), bounds[:, 1]))


def logistic(odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.minimum(np.maximum(odds, -30.0), 30.0))))
