"""Fisher's discriminant: which words separate classes best (sheet 30.3, after Chakrabarti et al. 1998).

For a word t, let x be its share of the words of a document, and μ(c) the mean of x over the documents of class c. The
discriminant is the sum over pairs of classes of (μ(c) - μ(c'))², divided by the sum over classes of the mean of
(x - μ(c))². It is infinite for a word that differs between classes but never within one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from scenthound.model import DECIMALS


class Fisher:
    """Computes the discriminant from documents added one by one; only sums per word and class are kept."""

    def __init__(self, classes: Sequence[str]) -> None:
        self._documents = dict.fromkeys(classes, 0)
        self._sums: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)

    def add(self, label: str, counts: Mapping[str, int]) -> None:
        words = sum(counts.values())
        if not words:
            return
        self._documents[label] += 1
        for word, times in counts.items():
            share = times / words
            total, total_of_squares = self._sums[word].get(label, (0.0, 0.0))
            self._sums[word][label] = (total + share, total_of_squares + share * share)

    def value(self, word: str) -> float:
        classes = {label: documents for label, documents in self._documents.items() if documents}
        sums = self._sums.get(word, {})
        means = {label: sums[label][0] / documents for label, documents in classes.items() if label in sums}
        within = math.fsum(
            max(0.0, sums[label][1] / classes[label] - mean * mean) for label, mean in means.items()
        )  # a class without the word has neither mean nor spread
        total = math.fsum(means.values())
        between = len(classes) * math.fsum(mean * mean for mean in means.values()) - total * total
        if round(between, 2 * DECIMALS) <= 0.0:
            return 0.0
        return between / within if round(within, 2 * DECIMALS) > 0.0 else math.inf

    def best(self, most: int) -> list[str]:
        """The `most` words with the largest discriminant, ties in alphabetical order."""
        return sorted(self._sums, key=lambda word: (-round(self.value(word), DECIMALS), word))[:most]
