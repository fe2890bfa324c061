"""Naive Bayes over pairs (term, offset) with two classes and fractional counts, as arrays (sheet 30.7).

The results equal those of `text.naive_bayes` on the same features: multinomial, add-one smoothing, prior from counts,
counts as integers in units of 1/`UNIT`. It uses arrays because a link has some fifty features and shares most terms
with its neighbours: the weights of a term are looked up once for all links of a page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.text.naive_bayes import UNIT
from scenthound.text.vocabulary import Ids, Vocabulary

MOST_TERMS = 100_000  # later terms are ignored: bounds the counts to some 18 MB

SURE = 1e9  # log-odds if one class was never seen

Whole = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class OffsetBayes:
    """P(relevant | features). The id of a feature is term id * `width` + offset + `reach` (see `text.offsets`)."""

    def __init__(self, reach: int) -> None:
        self.reach, self.width = reach, 2 * reach + 1
        self.vocabulary = Vocabulary(MOST_TERMS)
        size = (MOST_TERMS + 1) * self.width  # the last row stays empty; untouched rows take no memory
        self._counts: Whole = np.zeros((2, size), dtype=np.int64)  # irrelevant, relevant
        self._cached: Reals = np.zeros((2, size))  # ln(1 + relevant) - ln(1 + irrelevant); 1 if counted
        self._documents = [0, 0]
        self._words = [0, 0]
        self._known = 0  # number of distinct features counted: |V|

    def add(self, features: Whole, relevance: float, instances: int = 1) -> None:
        """Add the features of one or more instances: relevant with weight `relevance`, irrelevant with the rest.

        A negative number of instances removes them again.
        """
        ordered = np.sort(features)
        is_first = np.ones(len(ordered), dtype=np.bool_)
        is_first[1:] = ordered[1:] != ordered[:-1]
        starts = np.flatnonzero(is_first)
        distinct, times = ordered[starts], np.append(starts[1:], len(ordered)) - starts
        for label, weight in enumerate((1.0 - relevance, relevance)):
            units = round(weight * UNIT) if instances > 0 else -round(weight * UNIT)
            self._counts[label][distinct] += units * times
            self._words[label] += units * len(features)
            self._documents[label] += units * abs(instances)
        if instances < 0:  # a tampered saved state may remove instances that were never added
            self._counts[:, distinct] = np.maximum(self._counts[:, distinct], 0)
            self._words = [max(words, 0) for words in self._words]
            self._documents = [max(documents, 0) for documents in self._documents]
        self._refresh(distinct)

    def _refresh(self, features: Whole) -> None:
        """Update the cached logarithms of features whose counts have changed."""
        weight, ever = self._cached
        irrelevant, relevant = self._counts[0].take(features), self._counts[1].take(features)
        counted = (irrelevant != 0) | (relevant != 0)
        self._known += int(np.count_nonzero(counted)) - int(ever.take(features).sum())
        weight[features] = np.log1p(relevant / UNIT) - np.log1p(irrelevant / UNIT)
        ever[features] = counted

    def weights(self, terms: Whole | Ids) -> Reals:
        """ln P(feature | relevant) - ln P(feature | irrelevant): a row per term, a column per offset."""
        weight, ever = self._cached.reshape(2, -1, self.width)
        irrelevant, relevant = (math.log(self._known + words / UNIT) if self._known else 0.0 for words in self._words)
        norms = ever.take(terms, axis=0)
        norms *= relevant - irrelevant
        return np.subtract(weight.take(terms, axis=0), norms, out=norms)

    def odds(self, sums: Reals) -> Reals:
        """ln P(relevant) - ln P(irrelevant) for documents, from the sums of their features' weights."""
        irrelevant, relevant = self._documents
        if not irrelevant or not relevant:
            return np.full(sums.shape, SURE if relevant else -SURE)
        return sums + (math.log(relevant) - math.log(irrelevant))

    def probability(self, features: Whole) -> float:
        """P(relevant) for one document."""
        terms, offsets = np.divmod(features, self.width)
        weights = self.weights(terms)[np.arange(len(terms)), offsets]
        return float(as_probabilities(self.odds(weights.sum(keepdims=True)))[0])

    # ---- saved state

    def save(self) -> dict[str, Any]:
        counts = self._counts[:, : len(self.vocabulary) * self.width].copy()
        return {"terms": list(self.vocabulary), "counts": counts, "documents": list(self._documents)}

    @classmethod
    def load(cls, state: Mapping[str, Any], reach: int) -> OffsetBayes:
        loaded = cls(reach)
        loaded.vocabulary.add(state["terms"])
        counts = state["counts"]
        if counts.min(initial=0) < 0 or min(state["documents"]) < 0:
            raise ValueError("counts below zero")
        loaded._counts[:, : counts.shape[1]] = counts
        loaded._documents = list(map(int, state["documents"]))
        loaded._words = list(map(int, counts.sum(axis=1)))
        loaded._refresh(np.arange(counts.shape[1]))
        return loaded


def as_probabilities(odds: Reals) -> Reals:
    """P(relevant) from log-odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.minimum(np.maximum(odds, -700.0), 700.0))))
