"""Which words tell classes apart best: Fisher's discriminant (sheet 30.3, after Chakrabarti et al. 1998).

For a word t, with x the share that t has of the words of a document and μ(c) its mean over the documents of class c:
the sum over pairs of classes of (μ(c) - μ(c'))², divided by the sum over classes of the mean of (x - μ(c))². A word
that differs between classes and never within one is worth infinitely much.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from scenthound.model import DECIMALS


class Fisher:
    """Documents are added one by one; sums per word and class are all that is kept."""

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
            first, second = self._sums[word].get(label, (0.0, 0.0))
            self._sums[word][label] = (first + share, second + share * share)

    def value(self, word: str) -> float:
        classes = {label: documents for label, documents in self._documents.items() if documents}
        found = self._sums.get(word, {})
        means = {label: found[label][0] / documents for label, documents in classes.items() if label in found}
        within = math.fsum(
            max(0.0, found[label][1] / classes[label] - mean * mean) for label, mean in means.items()
        )  # a class without the word has neither mean nor spread
        total = math.fsum(means.values())
        between = len(classes) * math.fsum(mean * mean for mean in means.values()) - total * total
        if round(between, 2 * DECIMALS) <= 0.0:
            return 0.0
        return between / within if round(within, 2 * DECIMALS) > 0.0 else math.inf

    def best(self, most: int) -> list[str]:
        """The so many words with the largest discriminant, ties in the order of the alphabet."""
        return sorted(self._sums, key=lambda word: (-round(self.value(word), DECIMALS), word))[:most]
