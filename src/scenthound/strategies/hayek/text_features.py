"""Further features of a page's text: n-grams and Bayesian levels ([ECON], section 4). Off unless `features` names them.

    ngrams    ngram:beach_volleyball     neighbouring words, stop words left out
    bayes     bayes:1:80                 P(1 link from a goal | words) ≥ .80

    P(d | words) ∝ (pages(d) + 1) · Π over words  (documents(d, word) + 1) / (pages(d) + 2)

Ours: n is 2 [D]; distances up to 3; levels of 50, 80 and 95 %, with the counts of the moment in which the page came: a
page keeps its levels. Pages that are nowhere near a goal are one class, as in the dictionaries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

LEVELS = (50, 80, 95)
NEAREST = 4  # distances 0 to 3 have features
MOST_NGRAMS = 1000  # of a page, the most frequent


def ngrams(words: Sequence[str], length: int = 2) -> Counter[str]:
    """How often neighbouring words occur together.

    >>> ngrams("beach volleyball beach volleyball".split())
    Counter({'ngram:beach_volleyball': 2, 'ngram:volleyball_beach': 1})
    """
    pairs = zip(*(words[start:] for start in range(length)), strict=False)
    counted = Counter("ngram:" + "_".join(pair) for pair in pairs)
    return Counter(dict(counted.most_common(MOST_NGRAMS)))


def probabilities(pages: Sequence[int], documents: Sequence[Sequence[int]]) -> list[float]:
    """P(d | words): from the pages at each distance, and how many of them have each of the words.

    A distance at which no page is known has probability 0.

    >>> [round(chance, 3) for chance in probabilities([1, 3, 0], [[1, 1], [0, 1], [0, 0]])]
    [0.735, 0.265, 0.0]
    """
    total, having = np.asarray(pages, dtype=float), np.asarray(documents, dtype=float)
    if not total.any():
        return [0.0] * len(total)
    logs = np.log(total + 1) + np.log((having + 1) / (total[:, None] + 2)).sum(axis=1)
    logs[total == 0] = -np.inf
    odds = np.exp(logs - logs.max())
    return list((odds / odds.sum()).tolist())


def bayes_levels(pages: Sequence[int], documents: Sequence[Sequence[int]]) -> list[str]:
    """The levels that each distance reaches; all below the reached one are features too.

    >>> bayes_levels([1, 3], [[1, 1], [0, 1]])
    ['bayes:0:50']
    """
    near = probabilities(pages, documents)[:NEAREST]
    return [
        f"bayes:{distance}:{level}" for distance, chance in enumerate(near) for level in LEVELS if chance >= level / 100
    ]
