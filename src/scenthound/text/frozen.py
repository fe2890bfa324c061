"""Read-only multinomial classifiers as arrays: fast with many classes and many pages.

The results equal those of `NaiveBayes.posteriors`, in time proportional to the words of the document and the classes in
which they occur. Several classifiers share one vocabulary, so that the words of a page are looked up once.
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
DENSE = 1_000_000  # words times classes: up to this size (8 MB), a dense table is faster


class Numbered(NamedTuple):
    """A document as the ids of its words, without unknown words, and how often each occurs."""

    words: Numbers
    times: Values


def numbered(document: Document, vocabulary: Vocabulary) -> Numbered:
    """A document's words in ascending order of their ids, which makes bisection faster."""
    names, times = terms_of(document)
    words = vocabulary.ids(names)
    order = np.argsort(words, kind="stable")
    order = order[(words[order] >= 0) & (times[order] > 0)]
    return Numbered(words[order].astype(np.int64), times[order].astype(np.float64))


class Frozen:
    """A snapshot of a classifier, without anything that it learns afterwards."""

    def __init__(self, learned: NaiveBayes, vocabulary: Vocabulary, dense: int = DENSE) -> None:
        if learned.events != "multinomial":
            raise ValueError("only a multinomial classifier can be frozen")
        words, rows, class_indices, counts = learned.table()
        if learned.vocabulary is not None:
            words = [*words, *sorted(learned.vocabulary.difference(words))]
        word_ids = vocabulary.add(words).astype(np.int64)
        order = np.argsort(word_ids)
        starts = np.searchsorted(rows, np.arange(len(words) + 1))
        self.classes = learned.classes
        self._word_ids = word_ids[order]  # ascending, so that a document's words are found by bisection
        self._starts, self._ends = starts[:-1][order], starts[1:][order]
        self._class_indices, self._logs = class_indices, np.log1p(counts / UNIT)
        self._dense: Values | None = None  # the logs of every word in every class, if the table is small enough
        if len(words) * len(learned.classes) <= dense:
            self._dense = np.zeros((len(words), len(learned.classes)))
            self._dense[np.argsort(order)[rows], class_indices] = self._logs
        documents = np.array([learned.documents(name) for name in learned.classes])
        total = np.bincount(class_indices, weights=counts / UNIT, minlength=len(documents)) + max(len(words), 1)
        with np.errstate(divide="ignore"):  # a class without documents has probability 0
            prior = np.where(documents > 0, 0.0, -np.inf) if learned.uniform else np.log(documents)
        self._prior: Values = prior
        self._log_totals: Values = np.log(total)

    def log_posteriors(self, document: Numbered, length: int = 0) -> Values:
        """ln P(class | document), in the order of `classes`; all -inf if nothing was learned.

        With a `length`, a longer document counts as one of `length` words with the same mean log-likelihood.
        """
        joint = self._prior
        rows = np.searchsorted(self._word_ids, document.words)
        is_known = self._word_ids.take(rows, mode="clip") == document.words if len(self._word_ids) else rows < 0
        rows, times = rows[is_known], document.times[is_known]
        if len(rows):
            logs = self._sparse(rows, times) if self._dense is None else times @ self._dense[rows]
            total = float(times.sum())
            if 0 < length < total:
                joint = joint + (logs - total * self._log_totals) * (length / total)
            else:
                joint = joint + logs - total * self._log_totals
        best = joint.max()
        if best == -np.inf:
            return np.full(len(joint), -np.inf)
        normalised: Values = joint - (best + np.log(np.exp(joint - best).sum()))
        return normalised

    def _sparse(self, rows: Numbers, times: Values) -> Values:
        starts = self._starts[rows]
        sizes = self._ends[rows] - starts
        indices = np.arange(int(sizes.sum())) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        weights = self._logs[indices] * np.repeat(times, sizes)
        sums: Values = np.bincount(self._class_indices[indices], weights=weights, minlength=len(self._prior)).astype(
            np.float64
        )
        return sums


class FrozenPieces:
    """A classifier for many short documents that share pieces: ln P(word | class) for every word, and the prior.

    The links of a page share its title, and many share the element around them; each piece is looked up once.
    """

    def __init__(self, bayes: NaiveBayes) -> None:
        saved = bayes.save()
        words = saved["words"] if bayes.vocabulary is None else saved["vocabulary"]
        self._rows = Vocabulary(len(words), words)
        logs = [bayes.log_likelihoods({word: 1}) for word in words]
        self.table: Values = np.array([*logs, [0.0] * len(bayes.classes)])  # the last row: unknown words
        self.table[~np.isfinite(self.table)] = 0.0  # classes without documents, which the prior excludes
        self._columns = np.ascontiguousarray(self.table.T)
        documents = [bayes.documents(name) for name in bayes.classes]
        self.prior: Values = np.array(
            [-math.inf if not count else 0.0 if bayes.uniform else math.log(count) for count in documents]
        )

    def posteriors(self, names: Sequence[str], flat: Numbers32, starts: Numbers32, rows: Numbers32) -> Values:
        """P(class | document), a row for each document.

        `rows` contains the numbers of its pieces; piece i is `flat[starts[i] : starts[i + 1]]`, indices into `names`.
        """
        logs = self._sums(names, flat, starts)[rows].sum(axis=1) + self.prior
        best = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - np.where(np.isfinite(best), best, 0.0))
        total = weights.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0))

    def _sums(self, names: Sequence[str], flat: Numbers32, starts: Numbers32) -> Values:
        """ln P(piece | class), without the prior."""
        pieces = len(starts) - 1
        logs_of_names = self._columns[:, self._rows.ids(names)]
        piece_of_word = np.repeat(np.arange(pieces), np.diff(starts))
        columns = [np.bincount(piece_of_word, logs[flat], pieces) for logs in logs_of_names]
        return np.stack(columns, axis=1)
