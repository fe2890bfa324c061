"""Multinomial classifiers that have learned all they will, as arrays: for many classes, and for many pages.

Computes what `NaiveBayes.posteriors` does, in time O(words of the document and classes that hold them), without
looking at the classes that do not. Several classifiers share one numbering of words, so that those of a page are
looked up once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenthound.text.bayes import UNIT, NaiveBayes

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]
DENSE = 1_000_000  # words times classes up to which a table without gaps, of 8 MB, is the faster way


class Numbered(NamedTuple):
    """A document as the numbers of its words, those that nobody knows left out, and how often each occurs."""

    words: Numbers
    times: Values


class Numbering:
    """Numbers for words, given as they are met."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def meet(self, words: Iterable[str]) -> None:
        for word in words:
            self._numbers.setdefault(word, len(self._numbers))

    def of(self, words: list[str]) -> Numbers:
        """The numbers of words that were met, in step."""
        return np.array([self._numbers[word] for word in words], dtype=np.int64)

    def document(self, counts: Mapping[str, int]) -> Numbered:
        """Words in the order of their numbers, so that bisection goes forward."""
        words = np.array(list(map(self._numbers.get, counts)), dtype=np.float64)  # nan for a stranger
        times = np.fromiter(counts.values(), np.float64, len(counts))
        order = np.argsort(words)  # strangers come last
        order = order[: len(words) - int(np.isnan(words).sum())]
        order = order[times[order] > 0.0]
        return Numbered(words[order].astype(np.int64), times[order])


class Frozen:
    """What a classifier knew when this was made; what it learns afterwards is not seen here."""

    def __init__(self, learned: NaiveBayes, numbering: Numbering, dense: int = DENSE) -> None:
        if learned.events != "multinomial":
            raise ValueError("only a multinomial classifier can be frozen")
        words, rows, places, amounts = learned.table()
        if learned.vocabulary is not None:
            words = [*words, *sorted(learned.vocabulary.difference(words))]
        numbering.meet(words)
        numbers = numbering.of(words)
        order = np.argsort(numbers)
        starts = np.searchsorted(rows, np.arange(len(words) + 1))
        self.classes = learned.classes
        self._numbers = numbers[order]  # ascending, so that a document's words are found by bisection
        self._starts, self._ends = starts[:-1][order], starts[1:][order]
        self._places, self._logs = places, np.log1p(amounts / UNIT)
        self._dense: Values | None = None  # the logs of every word in every class, where there is room for that
        if len(words) * len(learned.classes) <= dense:
            self._dense = np.zeros((len(words), len(learned.classes)))
            self._dense[np.argsort(order)[rows], places] = self._logs
        documents = np.array([learned.documents(name) for name in learned.classes])
        total = np.bincount(places, weights=amounts / UNIT, minlength=len(documents)) + max(len(words), 1)
        with np.errstate(divide="ignore"):  # a class without a document is impossible
            prior = np.where(documents > 0, 0.0, -np.inf) if learned.uniform else np.log(documents)
        self._prior: Values = prior
        self._below: Values = np.log(total)

    def log_posteriors(self, document: Numbered) -> Values:
        """ln P(class | document), in the order of `classes`; all -inf where nothing was learned."""
        joint = self._prior
        rows = np.searchsorted(self._numbers, document.words)
        known = self._numbers.take(rows, mode="clip") == document.words if len(self._numbers) else rows < 0
        rows, times = rows[known], document.times[known]
        if len(rows):
            held = self._sparse(rows, times) if self._dense is None else times @ self._dense[rows]
            joint = joint + held - float(times.sum()) * self._below
        best = joint.max()
        if best == -np.inf:
            return np.full(len(joint), -np.inf)
        normalised: Values = joint - (best + np.log(np.exp(joint - best).sum()))
        return normalised

    def _sparse(self, rows: Numbers, times: Values) -> Values:
        starts = self._starts[rows]
        sizes = self._ends[rows] - starts
        places = np.arange(int(sizes.sum())) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        weights = self._logs[places] * np.repeat(times, sizes)
        held: Values = np.bincount(self._places[places], weights=weights, minlength=len(self._prior)).astype(np.float64)
        return held
