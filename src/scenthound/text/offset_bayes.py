"""Naive Bayes over pairs (term, offset) with two classes and fractional counts, as arrays (sheet 30.7).

The numbers are those of `text.bayes` on the same features: multinomial, smoothing 1, prior by counts, whole numbers in
steps of 1/`UNIT`. Arrays, because every link of a page has some fifty features and shares each of its terms with its
neighbours: what a term says at each offset is looked up once for all links of a page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.text.naive_bayes import UNIT
from scenthound.text.vocabulary import Ids, Vocabulary

MOST_TERMS = 100_000  # terms that are counted; newer ones are ignored: bounds the counts to some 18 MB

SURE = 1e9  # odds where one class was never seen

Whole = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class OffsetBayes:
    """P(relevant | features). A feature's number is that of its term times `width`, plus its offset plus `reach`."""

    def __init__(self, reach: int) -> None:
        self.reach, self.width = reach, 2 * reach + 1
        self.vocabulary = Vocabulary(MOST_TERMS)
        size = (MOST_TERMS + 1) * self.width  # the last row stays empty; what is not touched takes no memory
        self._counts: Whole = np.zeros((2, size), dtype=np.int64)  # irrelevant, relevant
        self._says: Reals = np.zeros((2, size))  # ln(1 + relevant) - ln(1 + irrelevant); 1 if ever counted
        self._documents = [0, 0]
        self._words = [0, 0]
        self._known = 0  # features that were ever counted: |V|

    def add(self, features: Whole, relevance: float, instances: int = 1) -> None:
        """One more instance, or the features of several: relevant with weight `relevance`, irrelevant with the rest.
        A negative number of instances takes them back."""
        every = np.sort(features)
        ends = np.flatnonzero(np.concatenate([every[1:] != every[:-1], np.ones(min(len(every), 1), dtype=np.bool_)]))
        distinct, times = every[ends], np.diff(ends, prepend=-1)
        for place, weight in enumerate((1.0 - relevance, relevance)):
            share = round(weight * UNIT) if instances > 0 else -round(weight * UNIT)
            self._counts[place][distinct] += share * times
            self._words[place] += share * len(features)
            self._documents[place] += share * abs(instances)
        if instances < 0:  # saved state that was changed may take back what was never added
            self._counts[:, distinct] = np.maximum(self._counts[:, distinct], 0)
            self._words, self._documents = ([max(one, 0) for one in ones] for ones in (self._words, self._documents))
        self._say(distinct)

    def _say(self, features: Whole) -> None:
        """Bring up to date what is looked up for every link: counts change for few features at a time."""
        weight, ever = self._says
        irrelevant, relevant = self._counts[0].take(features), self._counts[1].take(features)
        counted = (irrelevant != 0) | (relevant != 0)
        self._known += int(np.count_nonzero(counted)) - int(ever.take(features).sum())
        weight[features] = np.log1p(relevant / UNIT) - np.log1p(irrelevant / UNIT)
        ever[features] = counted

    def weights(self, terms: Whole | Ids) -> Reals:
        """What terms say for relevance, in logarithms: a row per term, a column per offset."""
        weight, ever = self._says.reshape(2, -1, self.width)
        against, favour = (math.log(self._known + words / UNIT) if self._known else 0.0 for words in self._words)
        found = ever.take(terms, axis=0)
        found *= favour - against
        return np.subtract(weight.take(terms, axis=0), found, out=found)

    def odds(self, said: Reals) -> Reals:
        """ln P(relevant) - ln P(irrelevant) for documents whose features say so much, in logarithms."""
        irrelevant, relevant = self._documents
        if not irrelevant or not relevant:
            return np.full(said.shape, SURE if relevant else -SURE)
        return said + (math.log(relevant) - math.log(irrelevant))

    def probability(self, features: Whole) -> float:
        """P(relevant) for one document."""
        terms, offsets = np.divmod(features, self.width)
        said = self.weights(terms)[np.arange(len(terms)), offsets]
        return float(as_probabilities(self.odds(said.sum(keepdims=True)))[0])

    # ---- keeping

    def save(self) -> dict[str, Any]:
        counts = self._counts[:, : len(self.vocabulary) * self.width].copy()
        return {"terms": list(self.vocabulary), "counts": counts, "documents": list(self._documents)}

    @classmethod
    def load(cls, state: Mapping[str, Any], reach: int) -> OffsetBayes:
        made = cls(reach)
        made.vocabulary.add(state["terms"])
        counts = state["counts"]
        if counts.min(initial=0) < 0 or min(state["documents"]) < 0:
            raise ValueError("counts below zero")
        made._counts[:, : counts.shape[1]] = counts
        made._documents = [int(one) for one in state["documents"]]
        made._words = [int(one) for one in counts.sum(axis=1)]
        made._say(np.arange(counts.shape[1]))
        return made


def as_probabilities(odds: Reals) -> Reals:
    """P(relevant) from its logarithmic odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0))))
