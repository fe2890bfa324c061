"""Multinomial classifiers that have learned all they will, as arrays: for many classes, and for many pages.

Computes what `NaiveBayes.posteriors` does, in time O(words of the document and classes that hold them), without
looking at the classes that do not. Several classifiers share one numbering of words, so that those of a page are
looked up once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenthound.text.naive_bayes import UNIT, NaiveBayes
from scenthound.text.term_counts import Document, terms_of
from scenthound.text.vocabulary import Vocabulary

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]
Numbers32 = NDArray[np.int32]
DENSE = 1_000_000  # words times classes up to which a table without gaps, of 8 MB, is the faster way


class Numbered(NamedTuple):
    """A document as the numbers of its words, unknown ones left out, and how often each occurs."""

    words: Numbers
    times: Values


def numbered(document: Document, vocabulary: Vocabulary) -> Numbered:
    """A document's words in the order of their ids, so that bisection goes forward."""
    names, times = terms_of(document)
    words = vocabulary.ids(names)
    order = np.argsort(words, kind="stable")
    order = order[(words[order] >= 0) & (times[order] > 0)]
    return Numbered(words[order].astype(np.int64), times[order].astype(np.float64))


class Frozen:
    """What a classifier knew when this was made; what it learns afterwards is not seen here."""

    def __init__(self, learned: NaiveBayes, vocabulary: Vocabulary, dense: int = DENSE) -> None:
        if learned.events != "multinomial":
            raise ValueError("only a multinomial classifier can be frozen")
        words, rows, places, amounts = learned.table()
        if learned.vocabulary is not None:
            words = [*words, *sorted(learned.vocabulary.difference(words))]
        numbers = vocabulary.add(words).astype(np.int64)
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

    def log_posteriors(self, document: Numbered, length: int = 0) -> Values:
        """ln P(class | document), in the order of `classes`; all -inf where nothing was learned.

        With a `length` a longer document counts as one of so many words with the same mean log-likelihood.
        """
        joint = self._prior
        rows = np.searchsorted(self._numbers, document.words)
        known = self._numbers.take(rows, mode="clip") == document.words if len(self._numbers) else rows < 0
        rows, times = rows[known], document.times[known]
        if len(rows):
            logs = self._sparse(rows, times) if self._dense is None else times @ self._dense[rows]
            total = float(times.sum())
            if 0 < length < total:
                joint = joint + (logs - total * self._below) * (length / total)
            else:
                joint = joint + logs - total * self._below
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
        sums: Values = np.bincount(self._places[places], weights=weights, minlength=len(self._prior)).astype(np.float64)
        return sums


class FrozenPieces:
    """A classifier for many short documents that share pieces: ln P(word | class) for every word, and the prior.

    The links of a page share its title, and many of them the element around them: what pieces share is looked up once.
    """

    def __init__(self, bayes: NaiveBayes) -> None:
        saved = bayes.save()
        words = saved["words"] if bayes.vocabulary is None else saved["vocabulary"]
        self._rows = Vocabulary(len(words), words)
        logs = [bayes.log_likelihoods({word: 1}) for word in words]
        self.table: Values = np.array([*logs, [0.0] * len(bayes.classes)])  # the last row: a word not known
        self.table[~np.isfinite(self.table)] = 0.0  # a class without documents, which the prior keeps out
        self._columns = np.ascontiguousarray(self.table.T)
        documents = [bayes.documents(name) for name in bayes.classes]
        self.prior: Values = np.array(
            [-math.inf if not has else 0.0 if bayes.uniform else math.log(has) for has in documents]
        )

    def posteriors(self, names: Sequence[str], flat: Numbers32, starts: Numbers32, rows: Numbers32) -> Values:
        """P(class | document), a row for each document. `rows` has the numbers of its pieces; a piece is a run of
        indices into `names`: those in `flat` from one of `starts` to the next."""
        logs = self._sums(names, flat, starts)[rows].sum(axis=1) + self.prior
        best = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - np.where(np.isfinite(best), best, 0.0))
        total = weights.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0))

    def _sums(self, names: Sequence[str], flat: Numbers32, starts: Numbers32) -> Values:
        """ln P(piece | class), without the prior."""
        pieces = len(starts) - 1
        said = self._columns[:, self._rows.ids(names)]
        owners = np.repeat(np.arange(pieces), np.diff(starts))
        columns = [np.bincount(owners, logs[flat], pieces) for logs in said]
        return np.stack(columns, axis=1)
