"""A multinomial naive Bayes classifier that learns no more: many short documents at once, as arrays.

Documents are made of pieces, and what pieces share is looked up once: the links of a page share its title, and many
of them the element around them. The numbers are those of `text.bayes`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from scenthound.text.bayes import NaiveBayes

Reals = npt.NDArray[np.float64]


class FixedBayes:
    """What a classifier knows now, as a table: ln P(word | class) for every word, and the prior."""

    def __init__(self, bayes: NaiveBayes) -> None:
        saved = bayes.save()
        words = saved["words"] if bayes.vocabulary is None else saved["vocabulary"]
        self.numbers = {word: number for number, word in enumerate(words)}
        logs = [bayes.log_likelihoods({word: 1}) for word in words]
        self.table: Reals = np.array([*logs, [0.0] * len(bayes.classes)])  # the last row: a word not known
        self.table[~np.isfinite(self.table)] = 0.0  # a class without documents, which the prior keeps out
        documents = [bayes.documents(name) for name in bayes.classes]
        self.prior: Reals = np.array(
            [-math.inf if not has else 0.0 if bayes.uniform else math.log(has) for has in documents]
        )

    def posteriors(self, pieces: Sequence[Mapping[str, int] | Sequence[str]], rows: npt.NDArray[np.int64]) -> Reals:
        """P(class | document) for documents that are rows of piece numbers; one row of the answer for each."""
        logs = self._sums(pieces)[rows].sum(axis=1) + self.prior
        best = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - np.where(np.isfinite(best), best, 0.0))
        total = weights.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0))

    def _sums(self, pieces: Sequence[Mapping[str, int] | Sequence[str]]) -> Reals:
        """ln P(piece | class), without the prior."""
        get, unknown = self.numbers.get, len(self.table) - 1
        found: list[int] = []
        times: list[int] = []
        sizes: list[int] = []
        for piece in pieces:
            found += [get(word, unknown) for word in piece]
            times += piece.values() if isinstance(piece, Mapping) else [1] * len(piece)
            sizes.append(len(piece))
        owners = np.repeat(np.arange(len(pieces)), sizes)
        logs = self.table[np.array(found, dtype=np.int64)] * np.array(times, dtype=np.float64)[:, None]
        columns = [np.bincount(owners, logs[:, place], len(pieces)) for place in range(self.table.shape[1])]
        return np.stack(columns, axis=1)
