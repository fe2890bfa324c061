"""Naive Bayes over pairs (term, offset) with two classes and fractional counts, as arrays (sheet 30.7).

The numbers are those of `text.bayes` on the same features: multinomial, smoothing 1, prior by counts, whole numbers in
steps of 1/`UNIT`. Arrays, because every link of a page has some fifty features and shares each of its terms with its
neighbours: what a term says at each offset is looked up once for all links of a page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.text.bayes import UNIT

MOST_TERMS = 100_000  # terms that are told apart; newer ones are ignored: bounds the counts to some 18 MB

Whole = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class OffsetBayes:
    """P(relevant | features). A feature's number is that of its term times `width`, plus its offset plus `reach`."""

    def __init__(self, reach: int) -> None:
        self.reach, self.width = reach, 2 * reach + 1
        self.numbers: dict[str, int] = {}
        self._counts: Whole = np.zeros((2, 256 * self.width), dtype=np.int64)  # irrelevant, relevant
        self._documents = [0, 0]
        self._words = [0, 0]
        self._known = 0  # features that were ever counted: |V|

    def numbered(self, terms: Iterable[str]) -> list[int]:
        """The numbers of terms, -1 where there is no room for new ones."""
        numbers = self.numbers
        found = [numbers.get(term, -1) for term in terms]
        if -1 in found:
            found = [self._number(term) for term in terms]
        return found

    def _number(self, term: str) -> int:
        number = self.numbers.get(term, -1)
        if number < 0 and len(self.numbers) < MOST_TERMS:
            number = self.numbers[term] = len(self.numbers)
            if number * self.width >= self._counts.shape[1]:
                self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)], axis=1)
        return number

    def add(self, features: Whole, relevance: float, sign: int = 1) -> None:
        """One more instance: relevant with weight `relevance`, irrelevant with the rest. Sign -1 takes it back."""
        distinct, times = np.unique(features, return_counts=True)
        before = np.count_nonzero(self._counts[:, distinct].any(axis=0))
        for place, weight in enumerate((1.0 - relevance, relevance)):
            share = sign * round(weight * UNIT)
            self._counts[place, distinct] += share * times
            self._words[place] += share * len(features)
            self._documents[place] += share
        self._known += int(np.count_nonzero(self._counts[:, distinct].any(axis=0)) - before)

    def weights(self, terms: Whole) -> Reals:
        """What each term says for relevance at each offset, in logarithms: a row per term, a column per offset."""
        counts = self._counts.reshape(2, -1, self.width)[:, terms]
        logs = np.log1p(counts / UNIT)
        against, favour = (math.log(self._known + words / UNIT) if self._known else 0.0 for words in self._words)
        return np.where(counts.any(axis=0), logs[1] - logs[0] - (favour - against), 0.0)

    def probabilities(self, said: Reals) -> Reals:
        """P(relevant) for documents whose features say so much, in logarithms."""
        irrelevant, relevant = self._documents
        if not irrelevant or not relevant:
            return np.full(said.shape, 1.0 if relevant else 0.0)
        odds = said + (math.log(relevant) - math.log(irrelevant))
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0))))

    def probability(self, features: Whole) -> float:
        """P(relevant) for one document."""
        terms, offsets = np.divmod(features, self.width)
        return float(self.probabilities(self.weights(terms)[np.arange(len(terms)), offsets].sum(keepdims=True))[0])

    # ---- keeping

    def save(self) -> dict[str, Any]:
        counts = self._counts[:, : len(self.numbers) * self.width].copy()
        return {"terms": list(self.numbers), "counts": counts, "documents": list(self._documents)}

    @classmethod
    def load(cls, state: Mapping[str, Any], reach: int) -> OffsetBayes:
        made = cls(reach)
        made.numbered(state["terms"])
        counts = state["counts"]
        made._counts[:, : counts.shape[1]] = counts
        made._documents = [int(one) for one in state["documents"]]
        made._words = [int(one) for one in counts.sum(axis=1)]
        made._known = int(np.count_nonzero(counts.any(axis=0)))
        return made
