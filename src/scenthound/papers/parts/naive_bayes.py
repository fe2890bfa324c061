"""Naive Bayes on counts with two event models (sheet 30.1), learning one document at a time.

Source: McCallum and Nigam 1998. scikit-learn's version is not used, because here an update must take time proportional
to the words of the document, be exact in any order, and be reversible. Counts are integers in steps of 1/`UNIT`, so
that a document can count for a fraction and sums stay exact.

The read-only multinomial classifiers at the end are arrays. Their results equal those of `NaiveBayes.posteriors`, in
time proportional to the words of the document and the classes in which they occur. Several share one vocabulary, so
that the words of a page are looked up once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenthound.errors import BadConfig
from scenthound.text.term_counts import Document, terms_of
from scenthound.text.vocabulary import NONE, Ids, Vocabulary

Events = Literal["multinomial", "bernoulli"]
Rows = NDArray[np.int64]
Amounts = NDArray[np.int64]
UNIT = 1 << 20
"""The count of one whole document: weights are rounded to multiples of 1/`UNIT`."""
MOST_WORDS = 2_000_000  # about 200 bytes each; pages of random letters must not fill the memory
LARGEST = 1 << 62  # the largest valid saved count
MANY = 64  # with at least this many distinct words, arrays are faster


class Table(NamedTuple):
    """All counts: the words in alphabetical order, and the non-zero counts as three parallel arrays."""

    words: list[str]
    rows: NDArray[np.int64]
    """Indices of words, ascending."""
    columns: NDArray[np.int64]
    """Indices of classes."""
    amounts: NDArray[np.int64]
    """Counts in steps of 1/`UNIT`."""


class NaiveBayes:
    """Counts words per class, and computes how probable each class is for a document.

    `classes` is the full list and fixes their order; a class without documents has posterior 0. With a `vocabulary`,
    other words are ignored. Otherwise the vocabulary is all words counted so far, up to `most`; further words are
    ignored, and from then on counts depend on the order of documents.
    """

    def __init__(
        self,
        classes: Sequence[str],
        events: Events = "multinomial",
        uniform: bool = False,
        vocabulary: Collection[str] | None = None,
        most: int = MOST_WORDS,
    ) -> None:
        if len(set(classes)) != len(classes) or not classes:
            raise BadConfig("a classifier needs classes with distinct names")
        if events not in ("multinomial", "bernoulli"):
            raise BadConfig(f"`events` can't be {events!r}", "choose multinomial or bernoulli")
        self.classes, self.events, self.uniform = tuple(classes), events, uniform
        self.vocabulary = None if vocabulary is None else frozenset(vocabulary)
        self.most = most
        self._index = {name: index for index, name in enumerate(self.classes)}
        self._documents = [0] * len(self.classes)
        self._words = [0] * len(self.classes)
        self._rows = Vocabulary(most if vocabulary is None else len(set(vocabulary)))
        """A word's id is its row in the table."""
        self._table: Amounts = np.zeros((64, len(self.classes)), dtype=np.int64)
        """Occurrences or documents, depending on `events`, of each word in each class. The last row stays empty."""
        self._is_known = np.zeros(64, dtype=np.bool_)  # by row: whether the word is in the vocabulary
        self._size = 0
        self._words_by_count: list[Counter[int]] = [Counter() for _ in classes]
        """For the Bernoulli model: the number of words with each count, for each class."""
        self._absent: list[float] | None = None  # Bernoulli: ln P(empty document | class); None after a change
        self._logs: NDArray[np.float64] | None = None  # ln(1 + table), from `settle`; None after a change
        if self.vocabulary is not None:
            self._learn_words(sorted(self.vocabulary))

    # ---- learning

    def add(self, label: str, counts: Document, weight: float = 1.0) -> None:
        """Count a document for a class. A negative weight takes back a document that was added with that weight."""
        column = self._index[label]
        share = round(weight * UNIT)
        if not share:
            return
        self._absent = self._logs = None
        rows, times = self._known_rows(counts, learning=share > 0 and self.vocabulary is None)
        before = self._table[rows, column]
        after = before + (share * times if self.events == "multinomial" else share)
        self._table[rows, column] = after
        if self.events == "bernoulli":
            self._recount(column, before, after)
        self._words[column] += int((after - before).sum())
        self._documents[column] += share
        if share < 0 and self.vocabulary is None:  # remove words that no document has any more
            gone = rows[~self._table[rows].any(axis=1)]
            self._is_known[gone] = False
            self._size -= len(gone)

    def _learn_words(self, words: Sequence[str]) -> Ids:
        """Add words to the vocabulary while there is room, and return their rows."""
        ids = self._rows.add(words)
        rows = ids[ids != NONE]
        if len(self._rows) >= len(self._table):
            more = len(self._rows) + 1
            self._table = np.concatenate([self._table, np.zeros((more, len(self.classes)), dtype=np.int64)])
            self._is_known = np.concatenate([self._is_known, np.zeros(more, dtype=np.bool_)])
        self._size += int(np.count_nonzero(~self._is_known[rows]))
        self._is_known[rows] = True
        return ids

    def _known_rows(self, counts: Document, learning: bool = False) -> tuple[Rows, Rows]:
        """The rows of a document's words, without unknown words, and how often each occurs."""
        names, times = terms_of(counts)
        if learning and (times <= 0).any():
            names, times = [name for name, count in zip(names, times, strict=True) if count > 0], times[times > 0]
        rows = self._learn_words(names) if learning else self._rows.ids(names)
        known = np.flatnonzero(self._is_known[rows] & (times > 0))
        return rows[known].astype(np.int64), times[known].astype(np.int64)

    def settle(self) -> None:
        """Precompute logarithms; worthwhile before many queries without an `add`."""
        self._logs = np.log1p(self._table / UNIT)

    def _recount(self, column: int, before: Rows, after: Rows) -> None:
        by_count = self._words_by_count[column]
        by_count.update(after.tolist())
        by_count.subtract(before.tolist())
        for count in {0, *before.tolist()}:
            if not count or not by_count[count]:
                by_count.pop(count, None)

    def documents(self, label: str) -> float:
        """The number of documents of a class."""
        return self._documents[self._index[label]] / UNIT

    @property
    def size(self) -> int:
        """The number of words in the vocabulary."""
        return self._size

    def knows(self, word: str) -> bool:
        return bool(self._is_known[self._rows.ids([word])][0])

    def are_known(self, words: Sequence[str]) -> NDArray[np.float64]:
        """1 for each word that is in the vocabulary, else 0."""
        return self._is_known[self._rows.ids(words)].astype(np.float64)

    def known_words(self, counts: Document) -> int:
        """The number of occurrences of known words in a document."""
        return int(self._known_rows(counts)[1].sum())

    def events_in(self, counts: Document) -> int:
        """The number of events in a document: occurrences of known words, or (Bernoulli) distinct known words."""
        times = self._known_rows(counts)[1]
        return int(times.sum()) if self.events == "multinomial" else len(times)

    # ---- classifying

    def log_likelihoods(self, counts: Document) -> list[float]:
        """ln P(document | class) in the order of `classes`; -inf for a class without documents."""
        model = self._multinomial if self.events == "multinomial" else self._bernoulli
        logs = model(counts)
        return [log if documents else -math.inf for log, documents in zip(logs, self._documents, strict=True)]

    def posteriors(self, counts: Document) -> dict[str, float]:
        """P(class | document); 0 for a class without documents, and so for all classes before anything was learned."""
        joint = self._joint(counts)
        best = max(joint)
        if best == -math.inf:
            return dict.fromkeys(self.classes, 0.0)
        weights = [math.exp(log - best) for log in joint]
        total = math.fsum(weights)
        return {name: weight / total for name, weight in zip(self.classes, weights, strict=True)}

    def posterior(self, label: str, counts: Document) -> float:
        return self.posteriors(counts)[label]

    def log_odds(self, label: str, counts: Document) -> float:
        """ln P(class) - ln P(not class), which does not saturate on long documents; 0 if nothing was learned."""
        joint = self._joint(counts)
        own = joint.pop(self._index[label])
        rest = log_sum(joint)
        if own == -math.inf and rest == -math.inf:
            return 0.0
        return max(-1e9, min(1e9, own - rest))

    def _joint(self, counts: Document) -> list[float]:
        if self.uniform:
            return self.log_likelihoods(counts)
        return [
            log + math.log(documents) if documents else -math.inf
            for log, documents in zip(self.log_likelihoods(counts), self._documents, strict=True)
        ]

    def _multinomial(self, counts: Document) -> list[float]:
        rows, times = self._known_rows(counts)
        words = int(times.sum())
        if len(rows) >= MANY:
            logs = np.log1p(self._table[rows] / UNIT) if self._logs is None else self._logs.take(rows, axis=0)
            sums = (times @ logs).tolist()
        else:
            sums = [0.0] * len(self.classes)
            for row, count in zip(self._table[rows].tolist(), times.tolist(), strict=True):
                for column, amount in enumerate(row):
                    if amount:
                        sums[column] += count * math.log1p(amount / UNIT)
        if not words:
            return [0.0] * len(self.classes)
        size = self.size
        return [
            total - words * math.log(size + class_words / UNIT)
            for total, class_words in zip(sums, self._words, strict=True)
        ]

    def _bernoulli(self, counts: Document) -> list[float]:
        # P(t|c) = (1 + has) / (2 + n), so P / (1 - P) = (1 + has) / (1 + n - has)
        rows, _ = self._known_rows(counts)
        counted = self._table[rows] / UNIT
        present = (np.log1p(counted) - np.log1p(np.array(self._documents) / UNIT - counted)).sum(axis=0).tolist()
        return [all_absent + change for all_absent, change in zip(self._all_absent(), present, strict=True)]

    def _all_absent(self) -> list[float]:
        """Per class, the sum over the vocabulary of ln(1 - P(t|c)); words with equal counts are summed together."""
        if self._absent is None:
            self._absent = []
            for count, by_count in zip(self._documents, self._words_by_count, strict=True):
                documents = count / UNIT
                some = math.fsum(words * math.log(1.0 + documents - has / UNIT) for has, words in by_count.items())
                none = self.size - by_count.total()
                self._absent.append(some + none * math.log(1.0 + documents) - self.size * math.log(2.0 + documents))
        return self._absent

    def weights(self, label: str, words: Sequence[str]) -> tuple[float, NDArray[np.float64]]:
        """The log-odds of two classes as a linear function, to score many documents at once.

        Returns the log-odds of an empty document, and the amount that each word adds: per occurrence, or (Bernoulli)
        once if it occurs. Unknown words add nothing. Infinite if a class has no documents.
        """
        column = self._index[label]
        if len(self.classes) != 2:
            raise ValueError("log-odds are linear only with two classes")
        joint = self._joint({})
        empty = joint[column] - joint[1 - column] if max(joint) > -math.inf else 0.0
        rows = self._rows.ids(words)
        is_known = self._is_known[rows]
        counts = self._table[rows] / UNIT
        if self.events == "multinomial":
            logs = np.log1p(counts) - np.log(np.array(self._words) / UNIT + max(self.size, 1))
        else:
            with np.errstate(invalid="ignore", divide="ignore"):  # for unknown words, which are left out below
                logs = np.log1p(counts) - np.log1p(np.array(self._documents) / UNIT - counts)
        return empty, np.where(is_known, logs[:, column] - logs[:, 1 - column], 0.0)

    # ---- saving

    def table(self) -> Table:
        """All counts, sorted."""
        all_words = sorted(self._rows)
        table = self._table[self._rows.ids(all_words)]
        is_counted: NDArray[np.bool_] = table.sum(axis=1) > 0  # no count is negative
        rows, columns = np.nonzero(table[is_counted])
        words = [word for word, is_kept in zip(all_words, is_counted.tolist(), strict=True) if is_kept]
        return Table(words, rows, columns, table[is_counted][rows, columns])

    def save(self) -> dict[str, Any]:
        """The state as JSON values and arrays."""
        words, rows, columns, amounts = self.table()
        return {
            "classes": list(self.classes),
            "events": self.events,
            "uniform": self.uniform,
            "vocabulary": None if self.vocabulary is None else sorted(self.vocabulary),
            "documents": list(self._documents),
            "words": words,
            "rows": rows,
            "places": columns,
            "amounts": amounts,
        }

    @classmethod
    def load(cls, state: Mapping[str, Any], most: int = MOST_WORDS) -> NaiveBayes:
        """The inverse of `save`; arrays may be lists. Raises ValueError, KeyError or TypeError for anything else."""
        try:
            bayes = cls(state["classes"], state["events"], bool(state["uniform"]), state["vocabulary"], most)
        except BadConfig as error:
            raise ValueError(error.message) from None
        bayes._documents = [int(count) for count in state["documents"]]
        words = [str(word) for word in state["words"]]
        if bayes.vocabulary is None:
            bayes._learn_words(words)
        rows, columns, amounts = (np.asarray(state[name], dtype=np.int64) for name in ("rows", "places", "amounts"))
        documents = len(bayes._documents)
        if len(set(words)) != len(words) or documents != len(bayes.classes) or len(words) > len(bayes._rows):
            raise ValueError("a saved classifier has counts for other words or classes than its own")
        if bayes.vocabulary is not None and not bayes.vocabulary.issuperset(words):
            raise ValueError("a saved classifier has counted words that are not in its vocabulary")
        if not rows.shape == columns.shape == amounts.shape or rows.ndim != 1:
            raise ValueError("a saved classifier is damaged")
        if len(rows):
            if min(rows.min(), columns.min()) < 0 or rows.max() >= len(words) or columns.max() >= len(bayes.classes):
                raise ValueError("a saved classifier has counts for other words or classes than its own")
            highest = bayes._documents if bayes.events == "bernoulli" else [LARGEST] * len(bayes.classes)
            if amounts.min() <= 0 or (amounts > np.array(highest)[columns]).any():
                raise ValueError("a saved classifier has impossible counts")
        if min(bayes._documents) < 0 or max(bayes._documents) > LARGEST:
            raise ValueError("a saved classifier has impossible counts")
        bayes._table[bayes._rows.ids(words)[rows], columns] = amounts
        bayes._words = bayes._table.sum(axis=0).tolist()
        if bayes.events == "bernoulli":
            bayes._words_by_count = [Counter(column[column > 0].tolist()) for column in bayes._table.T]
        return bayes


def log_sum(logs: Sequence[float]) -> float:
    """ln of the sum of the exponentials; -inf for an empty sequence."""
    best = max(logs, default=-math.inf)
    if best == -math.inf:
        return best
    return best + math.log(math.fsum(math.exp(log - best) for log in logs))


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
