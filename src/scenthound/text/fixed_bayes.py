"""A multinomial naive Bayes classifier that learns no more: many short documents at once, as arrays.

Documents are made of pieces, and what pieces share is looked up once: the links of a page share its title, and many
of them the element around them. The numbers are those of `text.bayes`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.text.bayes import NaiveBayes
from scenthound.text.numbers import NONE, Numbers
from scenthound.text.register import Register, Registered

Reals = npt.NDArray[np.float64]
Whole = npt.NDArray[np.integer[Any]]
Places = npt.ArrayLike


class FixedBayes:
    """What a classifier knows now, as a table: ln P(word | class) for every word, and the prior."""

    def __init__(self, bayes: NaiveBayes, register: Register) -> None:
        self._register, self._epoch = register, -1
        self._rows: Whole = np.zeros(0, dtype=np.int64)  # by number of the register
        self._met = 0  # so many of them are filled in; the rest is room for more
        saved = bayes.save()
        words = saved["words"] if bayes.vocabulary is None else saved["vocabulary"]
        self._numbers = Numbers(len(words), words)
        logs = [bayes.log_likelihoods({word: 1}) for word in words]
        self.table: Reals = np.array([*logs, [0.0] * len(bayes.classes)])  # the last row: a word not known
        self.table[~np.isfinite(self.table)] = 0.0  # a class without documents, which the prior keeps out
        self._columns = np.ascontiguousarray(self.table.T)
        documents = [bayes.documents(name) for name in bayes.classes]
        self.prior: Reals = np.array(
            [-math.inf if not has else 0.0 if bayes.uniform else math.log(has) for has in documents]
        )

    def posteriors(self, terms: Registered, flat: Places, starts: Places, rows: Places) -> Reals:
        """P(class | document), a row for each document. `rows` are the numbers of its pieces; pieces are runs of
        places in `terms`, one after the other in `flat`, and begin, the last end among them, at `starts`. The terms
        have numbers of the register's present epoch."""
        logs = self._sums(terms, np.asarray(flat), np.asarray(starts))[np.asarray(rows)].sum(axis=1) + self.prior
        best = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - np.where(np.isfinite(best), best, 0.0))
        total = weights.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0))

    def _sums(self, terms: Registered, flat: Whole, starts: Whole) -> Reals:
        """ln P(piece | class), without the prior."""
        pieces = len(starts) - 1
        found = self._columns[:, self._follow(terms.epoch)[np.array(terms.numbers, dtype=np.int64)]]
        owners = np.repeat(np.arange(pieces), np.diff(starts))
        columns = [np.bincount(owners, logs[flat], pieces) for logs in found]
        return np.stack(columns, axis=1)

    def _follow(self, epoch: int) -> Whole:
        """The row of every word that the register has by now, and some more."""
        register = self._register
        if epoch != register.epoch:
            raise ValueError("these words have numbers that hold no more")
        if epoch != self._epoch:
            self._epoch, self._met = epoch, 0
        names, met = register.names, self._met
        if met < len(names):
            if len(names) > len(self._rows):
                more = np.full(2 * len(names) - len(self._rows), NONE, dtype=np.int64)
                self._rows = np.concatenate([self._rows, more])
            self._rows[met : len(names)] = [self._numbers.get(name, NONE) for name in names[met:]]
            self._met = len(names)
        return self._rows
