"""Further features of a page's text: n-grams and Bayesian levels ([ECON], section 4). Off unless `features` names them.

    ngrams    ngram:beach_volleyball     adjacent words, stop words left out
    bayes     bayes:1:80                 P(1 link from a goal | words) ≥ .80

    P(d | words) ∝ (pages(d) + 1) · Π over words  (documents(d, word) + 1) / (pages(d) + 2)

Ours: n is 2 [D]; distances up to 3; levels of 50, 80 and 95 %. The counts are those when the page was fetched, and the
page keeps its levels. Pages far from any goal are one class, as in the dictionaries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

LEVELS = (50, 80, 95)
NEAREST = 4  # distances 0 to 3 have features
MOST_NGRAMS = 1000  # per page, the most frequent


def ngrams(words: Sequence[str], length: int = 2) -> Counter[str]:
    """Count the n-grams of a text.

    >>> ngrams("beach volleyball beach volleyball".split())
    Counter({'ngram:beach_volleyball': 2, 'ngram:volleyball_beach': 1})
    """
    grams = zip(*(words[start:] for start in range(length)), strict=False)
    counts = Counter("ngram:" + "_".join(gram) for gram in grams)
    return Counter(dict(counts.most_common(MOST_NGRAMS)))


def probabilities(pages: Sequence[int], documents: Sequence[Sequence[int]]) -> list[float]:
    """P(d | words), from the number of pages at each distance and how many of them have each word.

    A distance at which no page is known has probability 0.

    >>> [round(probability, 3) for probability in probabilities([1, 3, 0], [[1, 1], [0, 1], [0, 0]])]
    [0.735, 0.265, 0.0]
    """
    total, with_word = np.asarray(pages, dtype=float), np.asarray(documents, dtype=float)
    if not total.any():
        return [0.0] * len(total)
    logs = np.log(total + 1) + np.log((with_word + 1) / (total[:, None] + 2)).sum(axis=1)
    logs[total == 0] = -np.inf
    odds = np.exp(logs - logs.max())
    return list((odds / odds.sum()).tolist())


def bayes_levels(pages: Sequence[int], documents: Sequence[Sequence[int]]) -> list[str]:
    """The features for the levels that each distance reaches, including all lower levels.

    >>> bayes_levels([1, 3], [[1, 1], [0, 1]])
    ['bayes:0:50']
    """
    nearest = probabilities(pages, documents)[:NEAREST]
    return [
        f"bayes:{distance}:{level}"
        for distance, probability in enumerate(nearest)
        for level in LEVELS
        if probability >= level / 100
    ]
