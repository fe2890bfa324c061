"""Naive Bayes on counts, two event models (sheet 30.1), learning one document at a time.

McCallum and Nigam 1998. Our own counts and not scikit-learn's, because updates must cost O(words of the document),
be exact whatever their order, and be taken back. Counts are whole numbers; a document may count for a fraction, in
steps of 1/`UNIT`, which keeps sums exact too.
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
"""A whole document in the counts: weights are rounded to this fraction before they are added."""
MOST_WORDS = 2_000_000  # some 200 bytes each; a web of random letters must not fill the memory
LARGEST = 1 << 62  # of a saved count
MANY = 64  # distinct words from which arrays are the faster way


class Table(NamedTuple):
    """All that was counted: the words in the order of the alphabet, and what is not 0 as three arrays in step."""

    words: list[str]
    rows: NDArray[np.int64]
    """Numbers of words, ascending."""
    places: NDArray[np.int64]
    """Numbers of classes."""
    amounts: NDArray[np.int64]
    """Counts in steps of 1/`UNIT`."""


class NaiveBayes:
    """Classes, what was counted in each, and how probable they are for a document.

    `classes` fixes their order and is the full list; one without a document is left out of posteriors. With a
    `vocabulary` other words are ignored, when learning and when asked; without, it is all words ever counted, until
    there are `most` of them: further ones are ignored, and counts depend on the order from there on.
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
            raise BadConfig("a classifier needs classes, each with a name of its own")
        if events not in ("multinomial", "bernoulli"):
            raise BadConfig(f"`events` can't be {events!r}", "one of: multinomial, bernoulli")
        self.classes, self.events, self.uniform = tuple(classes), events, uniform
        self.vocabulary = None if vocabulary is None else frozenset(vocabulary)
        self.most = most
        self._place = {name: place for place, name in enumerate(self.classes)}
        self._documents = [0] * len(self.classes)
        self._words = [0] * len(self.classes)
        self._rows = Vocabulary(most if vocabulary is None else len(set(vocabulary)))
        """A word's id is its row in the table."""
        self._table: Amounts = np.zeros((64, len(self.classes)), dtype=np.int64)
        """Occurrences or documents, by the event model, for each word in each class. The last row stays empty."""
        self._is_known = np.zeros(64, dtype=np.bool_)  # words of the vocabulary; those taken back are no longer in it
        self._size = 0
        self._words_by_count: list[Counter[int]] = [
            Counter() for _ in classes
        ]  # Bernoulli: words by their count, per class
        self._absent: list[float] | None = None  # Bernoulli: ln P(empty document | class), until something is counted
        self._logs: NDArray[np.float64] | None = None  # ln(1 + table), if it was settled and nothing counted since
        if self.vocabulary is not None:
            self._learn_words(sorted(self.vocabulary))

    # ---- learning

    def add(self, label: str, counts: Document, weight: float = 1.0) -> None:
        """Count a document for a class. A negative weight takes one back that was added with it."""
        place = self._place[label]
        share = round(weight * UNIT)
        if not share:
            return
        self._absent = self._logs = None
        rows, times = self._found(counts, learning=share > 0 and self.vocabulary is None)
        before = self._table[rows, place]
        after = before + (share * times if self.events == "multinomial" else share)
        self._table[rows, place] = after
        if self.events == "bernoulli":
            self._recount(place, before, after)
        self._words[place] += int((after - before).sum())
        self._documents[place] += share
        if share < 0 and self.vocabulary is None:  # words that no document has any more leave the vocabulary
            gone = rows[~self._table[rows].any(axis=1)]
            self._is_known[gone] = False
            self._size -= len(gone)

    def _learn_words(self, words: Sequence[str]) -> Ids:
        """Take words into the vocabulary, as long as there is room, and give their rows."""
        found = self._rows.add(words)
        rows = found[found != NONE]
        if len(self._rows) >= len(self._table):
            more = len(self._rows) + 1
            self._table = np.concatenate([self._table, np.zeros((more, len(self.classes)), dtype=np.int64)])
            self._is_known = np.concatenate([self._is_known, np.zeros(more, dtype=np.bool_)])
        self._size += int(np.count_nonzero(~self._is_known[rows]))
        self._is_known[rows] = True
        return found

    def _found(self, counts: Document, learning: bool = False) -> tuple[Rows, Rows]:
        """The rows of a document's words, unknown ones left out, and how often each occurs."""
        names, times = terms_of(counts)
        if learning and (times <= 0).any():
            names, times = [name for name, often in zip(names, times, strict=True) if often > 0], times[times > 0]
        rows = self._learn_words(names) if learning else self._rows.ids(names)
        places = np.flatnonzero(self._is_known[rows] & (times > 0))
        return rows[places].astype(np.int64), times[places].astype(np.int64)

    def settle(self) -> None:
        """It will be asked often before it learns again: what can be worked out ahead is."""
        self._logs = np.log1p(self._table / UNIT)

    def _recount(self, place: int, before: Rows, after: Rows) -> None:
        by_count = self._words_by_count[place]
        by_count.update(after.tolist())
        by_count.subtract(before.tolist())
        for count in {0, *before.tolist()}:
            if not count or not by_count[count]:
                by_count.pop(count, None)

    def documents(self, label: str) -> float:
        """How many documents a class was given."""
        return self._documents[self._place[label]] / UNIT

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
        """How many words of a document are in the vocabulary, each occurrence counted."""
        return int(self._found(counts)[1].sum())

    def events_in(self, counts: Document) -> int:
        """How many events of its model a document has: occurrences of known words, or (Bernoulli) known words."""
        found = self._found(counts)[1]
        return int(found.sum()) if self.events == "multinomial" else len(found)

    # ---- asking

    def log_likelihoods(self, counts: Document) -> list[float]:
        """ln P(document | class) in the order of `classes`; -inf for a class without a document."""
        asked = self._multinomial if self.events == "multinomial" else self._bernoulli
        found = asked(counts)
        return [one if has else -math.inf for one, has in zip(found, self._documents, strict=True)]

    def posteriors(self, counts: Document) -> dict[str, float]:
        """P(class | document). Every class 0 where nothing was learned; a class without documents is 0."""
        joint = self._joint(counts)
        best = max(joint)
        if best == -math.inf:
            return dict.fromkeys(self.classes, 0.0)
        weights = [math.exp(one - best) for one in joint]
        total = math.fsum(weights)
        return {name: weight / total for name, weight in zip(self.classes, weights, strict=True)}

    def posterior(self, label: str, counts: Document) -> float:
        return self.posteriors(counts)[label]

    def log_odds(self, label: str, counts: Document) -> float:
        """ln P(class) - ln P(not class): does not saturate on long documents. 0 where there is nothing to compare."""
        joint = self._joint(counts)
        own = joint.pop(self._place[label])
        rest = log_sum(joint)
        if own == -math.inf and rest == -math.inf:
            return 0.0
        return max(-1e9, min(1e9, own - rest))

    def _joint(self, counts: Document) -> list[float]:
        if self.uniform:
            return self.log_likelihoods(counts)
        return [
            one + math.log(has) if has else -math.inf
            for one, has in zip(self.log_likelihoods(counts), self._documents, strict=True)
        ]

    def _multinomial(self, counts: Document) -> list[float]:
        rows, times = self._found(counts)
        words = int(times.sum())
        if len(rows) >= MANY:
            logs = np.log1p(self._table[rows] / UNIT) if self._logs is None else self._logs.take(rows, axis=0)
            sums = (times @ logs).tolist()
        else:
            sums = [0.0] * len(self.classes)
            for row, often in zip(self._table[rows].tolist(), times.tolist(), strict=True):
                for place, amount in enumerate(row):
                    if amount:
                        sums[place] += often * math.log1p(amount / UNIT)
        if not words:
            return [0.0] * len(self.classes)
        size = self.size
        return [one - words * math.log(size + all / UNIT) for one, all in zip(sums, self._words, strict=True)]

    def _bernoulli(self, counts: Document) -> list[float]:
        # P(t|c) = (1 + has) / (2 + n), so P / (1 - P) = (1 + has) / (1 + n - has)
        rows, _ = self._found(counts)
        counted = self._table[rows] / UNIT
        present = (np.log1p(counted) - np.log1p(np.array(self._documents) / UNIT - counted)).sum(axis=0).tolist()
        return [one + other for one, other in zip(self._all_absent(), present, strict=True)]

    def _all_absent(self) -> list[float]:
        """Per class the sum over V of ln(1 - P(t|c)): words that as many documents hold are summed as one."""
        if self._absent is None:
            self._absent = []
            for count, by_count in zip(self._documents, self._words_by_count, strict=True):
                documents = count / UNIT
                some = math.fsum(words * math.log(1.0 + documents - has / UNIT) for has, words in by_count.items())
                none = self.size - by_count.total()
                self._absent.append(some + none * math.log(1.0 + documents) - self.size * math.log(2.0 + documents))
        return self._absent

    def weights(self, label: str, words: Sequence[str]) -> tuple[float, NDArray[np.float64]]:
        """For many documents at once: with two classes log-odds are linear.

        Gives the log-odds of an empty document, and what each of the words adds to it: with every occurrence, or
        (Bernoulli) once if it is there. Words that are not known add nothing. Infinite where a class has no document.
        """
        one = self._place[label]
        if len(self.classes) != 2:
            raise ValueError("log-odds are linear with two classes only")
        joint = self._joint({})
        empty = joint[one] - joint[1 - one] if max(joint) > -math.inf else 0.0
        rows = self._rows.ids(words)
        is_known = self._is_known[rows]
        counted = self._table[rows] / UNIT
        if self.events == "multinomial":
            logs = np.log1p(counted) - np.log(np.array(self._words) / UNIT + max(self.size, 1))
        else:
            with np.errstate(invalid="ignore", divide="ignore"):  # of strangers, which are left out below
                logs = np.log1p(counted) - np.log1p(np.array(self._documents) / UNIT - counted)
        return empty, np.where(is_known, logs[:, one] - logs[:, 1 - one], 0.0)

    # ---- keeping

    def table(self) -> Table:
        """Everything that was counted, sorted."""
        known = sorted(self._rows)
        table = self._table[self._rows.ids(known)]
        counted: NDArray[np.bool_] = table.sum(axis=1) > 0  # no count is negative
        rows, places = np.nonzero(table[counted])
        words = [word for word, has in zip(known, counted.tolist(), strict=True) if has]
        return Table(words, rows, places, table[counted][rows, places])

    def save(self) -> dict[str, Any]:
        """Plain JSON and arrays."""
        words, rows, places, amounts = self.table()
        return {
            "classes": list(self.classes),
            "events": self.events,
            "uniform": self.uniform,
            "vocabulary": None if self.vocabulary is None else sorted(self.vocabulary),
            "documents": list(self._documents),
            "words": words,
            "rows": rows,
            "places": places,
            "amounts": amounts,
        }

    @classmethod
    def load(cls, state: Mapping[str, Any], most: int = MOST_WORDS) -> NaiveBayes:
        """Raises ValueError, KeyError or TypeError for what `save` did not give. Lists may stand for arrays."""
        try:
            made = cls(state["classes"], state["events"], bool(state["uniform"]), state["vocabulary"], most)
        except BadConfig as error:
            raise ValueError(error.message) from None
        made._documents = [int(one) for one in state["documents"]]
        words = [str(word) for word in state["words"]]
        if made.vocabulary is None:
            made._learn_words(words)
        rows, places, amounts = (np.asarray(state[name], dtype=np.int64) for name in ("rows", "places", "amounts"))
        if len(set(words)) != len(words) or len(made._documents) != len(made.classes) or len(words) > len(made._rows):
            raise ValueError("a saved classifier has counts for other words or classes than its own")
        if made.vocabulary is not None and not made.vocabulary.issuperset(words):
            raise ValueError("a saved classifier has counted words that are not in its vocabulary")
        if not rows.shape == places.shape == amounts.shape or rows.ndim != 1:
            raise ValueError("a saved classifier is damaged")
        if len(rows):
            if min(rows.min(), places.min()) < 0 or rows.max() >= len(words) or places.max() >= len(made.classes):
                raise ValueError("a saved classifier has counts for other words or classes than its own")
            highest = made._documents if made.events == "bernoulli" else [LARGEST] * len(made.classes)
            if amounts.min() <= 0 or (amounts > np.array(highest)[places]).any():
                raise ValueError("a saved classifier has counts that can't be")
        if min(made._documents) < 0 or max(made._documents) > LARGEST:
            raise ValueError("a saved classifier has counts that can't be")
        made._table[made._rows.ids(words)[rows], places] = amounts
        made._words = made._table.sum(axis=0).tolist()
        if made.events == "bernoulli":
            made._words_by_count = [Counter(column[column > 0].tolist()) for column in made._table.T]
        return made


def log_sum(logs: Sequence[float]) -> float:
    """ln of the sum of the exponentials; -inf for nothing."""
    best = max(logs, default=-math.inf)
    if best == -math.inf:
        return best
    return best + math.log(math.fsum(math.exp(one - best) for one in logs))
