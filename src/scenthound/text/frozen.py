"""A multinomial classifier that has learned all it will, as arrays: for many classes, and for many pages.

Computes what `NaiveBayes.posteriors` does, in time O(words of the document and classes that hold them), without
looking at the classes that do not.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scenthound.text.bayes import UNIT, NaiveBayes

Values = NDArray[np.float64]


class Frozen:
    """What a classifier knew when this was made; what it learns afterwards is not seen here."""

    def __init__(self, learned: NaiveBayes) -> None:
        if learned.events != "multinomial":
            raise ValueError("only a multinomial classifier can be frozen")
        words, rows, places, amounts = learned.table()
        if learned.vocabulary is not None:
            words = [*words, *sorted(learned.vocabulary.difference(words))]
        self.classes = learned.classes
        self._rows = {word: row for row, word in enumerate(words)}
        self._starts = np.searchsorted(rows, np.arange(len(words) + 1))
        self._places, self._logs = places, np.log1p(amounts / UNIT)
        size = len(learned.classes)
        documents = np.array([learned.documents(name) for name in learned.classes])
        total = np.bincount(places, weights=amounts / UNIT, minlength=size) + max(len(words), 1)
        with np.errstate(divide="ignore"):  # a class without a document is impossible
            prior = np.log(documents) if not learned.uniform else np.where(documents > 0, 0.0, -np.inf)
        self._prior: Values = prior
        self._below: Values = np.log(total)

    def log_posteriors(self, counts: Mapping[str, int]) -> Values:
        """ln P(class | document), in the order of `classes`; all -inf where nothing was learned."""
        rows = self._rows
        found = [(rows[word], times) for word, times in counts.items() if word in rows]
        joint = self._prior
        if found:
            numbers, times = np.array(found, dtype=np.int64).T
            starts = self._starts[numbers]
            sizes = self._starts[numbers + 1] - starts
            places = np.arange(int(sizes.sum())) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
            weights = self._logs[places] * np.repeat(times, sizes)
            held = np.bincount(self._places[places], weights=weights, minlength=len(joint))
            joint = joint + held - float(times.sum()) * self._below
        best = joint.max()
        if best == -np.inf:
            return np.full(len(joint), -np.inf)
        normalised: Values = joint - (best + np.log(np.exp(joint - best).sum()))
        return normalised
