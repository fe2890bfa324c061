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

Events = Literal["multinomial", "bernoulli"]
UNIT = 1 << 20
"""A whole document in the counts: weights are rounded to this fraction before they are added."""
MOST_WORDS = 2_000_000  # some 200 bytes each; a web of random letters must not fill the memory
LARGEST = 1 << 62  # of a saved count


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
        size = len(self.classes)
        self._documents = [0] * size
        self._words = [0] * size
        self._counts: dict[str, list[int]] = {}  # word -> per class, occurrences or documents by the event model
        self._held: list[Counter[int]] = [Counter() for _ in classes]  # Bernoulli: words by their count, per class
        self._absent: list[float] | None = None  # Bernoulli: ln P(empty document | class), until something is counted

    # ---- learning

    def add(self, label: str, counts: Mapping[str, int], weight: float = 1.0) -> None:
        """Count a document for a class. A negative weight takes one back that was added with it."""
        place = self._place[label]
        share = round(weight * UNIT)
        if not share:
            return
        occurrences = self.events == "multinomial"
        known = self._counts
        total = 0
        self._absent = None
        for word, times in counts.items():
            if times <= 0 or (self.vocabulary is not None and word not in self.vocabulary):
                continue
            amount = share * times if occurrences else share
            row = known.get(word)
            if row is None:
                if share < 0 or len(known) >= self.most:
                    continue
                row = known[word] = [0] * len(self.classes)
            if not occurrences:
                self._recount(place, row[place], row[place] + amount)
            row[place] += amount
            total += amount
            if share < 0 and not any(row):
                del known[word]
        self._words[place] += total
        self._documents[place] += share

    def _recount(self, place: int, before: int, after: int) -> None:
        held = self._held[place]
        held[after] += 1
        if before:
            held[before] -= 1
            if not held[before]:
                del held[before]
        held.pop(0, None)

    def documents(self, label: str) -> float:
        """How many documents a class was given."""
        return self._documents[self._place[label]] / UNIT

    @property
    def size(self) -> int:
        """The number of words in the vocabulary."""
        return len(self._counts) if self.vocabulary is None else len(self.vocabulary)

    def knows(self, word: str) -> bool:
        return word in (self._counts if self.vocabulary is None else self.vocabulary)

    # ---- asking

    def log_likelihoods(self, counts: Mapping[str, int]) -> list[float]:
        """ln P(document | class) in the order of `classes`; -inf for a class without a document."""
        asked = self._multinomial if self.events == "multinomial" else self._bernoulli
        found = asked(counts)
        return [one if has else -math.inf for one, has in zip(found, self._documents, strict=True)]

    def posteriors(self, counts: Mapping[str, int]) -> dict[str, float]:
        """P(class | document). Every class 0 where nothing was learned; a class without documents is 0."""
        joint = self._joint(counts)
        best = max(joint)
        if best == -math.inf:
            return dict.fromkeys(self.classes, 0.0)
        weights = [math.exp(one - best) for one in joint]
        total = math.fsum(weights)
        return {name: weight / total for name, weight in zip(self.classes, weights, strict=True)}

    def posterior(self, label: str, counts: Mapping[str, int]) -> float:
        return self.posteriors(counts)[label]

    def log_odds(self, label: str, counts: Mapping[str, int]) -> float:
        """ln P(class) - ln P(not class): does not saturate on long documents. 0 where there is nothing to compare."""
        joint = self._joint(counts)
        own = joint.pop(self._place[label])
        rest = log_sum(joint)
        if own == -math.inf and rest == -math.inf:
            return 0.0
        return max(-1e9, min(1e9, own - rest))

    def _joint(self, counts: Mapping[str, int]) -> list[float]:
        if self.uniform:
            return self.log_likelihoods(counts)
        return [
            one + math.log(has) if has else -math.inf
            for one, has in zip(self.log_likelihoods(counts), self._documents, strict=True)
        ]

    def _multinomial(self, counts: Mapping[str, int]) -> list[float]:
        known, places = self._counts, range(len(self.classes))
        sums = [0.0] * len(self.classes)
        words = 0
        log = math.log
        for word, times in counts.items():
            row = known.get(word)
            if row is None:
                if self.vocabulary is None or word not in self.vocabulary:
                    continue
                words += times  # a word of the fixed vocabulary that was never counted: ln 1 above the line
                continue
            words += times
            for place in places:
                if amount := row[place]:
                    sums[place] += times * log(1.0 + amount / UNIT)
        size = self.size
        if not words:
            return sums
        return [sums[place] - words * log(size + self._words[place] / UNIT) for place in places]

    def _bernoulli(self, counts: Mapping[str, int]) -> list[float]:
        sums = list(self._all_absent())
        for word, times in counts.items():
            if times <= 0:
                continue
            row = self._counts.get(word)
            if row is None and (self.vocabulary is None or word not in self.vocabulary):
                continue
            for place, documents in enumerate(self._documents):
                has = (row[place] if row else 0) / UNIT
                # P(t|c) = (1 + has) / (2 + n), so P / (1 - P) = (1 + has) / (1 + n - has)
                sums[place] += math.log(1.0 + has) - math.log(1.0 + documents / UNIT - has)
        return sums

    def _all_absent(self) -> list[float]:
        """Per class the sum over V of ln(1 - P(t|c)): words that as many documents hold are summed as one."""
        if self._absent is None:
            self._absent = []
            for count, held in zip(self._documents, self._held, strict=True):
                documents = count / UNIT
                some = math.fsum(words * math.log(1.0 + documents - has / UNIT) for has, words in held.items())
                none = self.size - held.total()
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
        pair = (one, 1 - one)
        nothing = [0, 0]
        rows = [self._counts.get(word, nothing) for word in words]
        joint = self._joint({})
        empty = joint[pair[0]] - joint[pair[1]] if max(joint) > -math.inf else 0.0
        logs = []
        for place in pair:
            has = np.array([row[place] for row in rows], dtype=np.float64) / UNIT
            if self.events == "multinomial":
                logs.append(np.log1p(has) - math.log(max(self.size, 1) + self._words[place] / UNIT))
            else:
                logs.append(np.log1p(has) - np.log1p(self._documents[place] / UNIT - has))
        known = np.fromiter((self.knows(word) for word in words), dtype=bool, count=len(words))
        return empty, np.where(known, logs[0] - logs[1], 0.0)

    # ---- keeping

    def table(self) -> Table:
        """Everything that was counted, sorted."""
        words = sorted(self._counts)
        found = [
            (row, place, amount)
            for row, word in enumerate(words)
            for place, amount in enumerate(self._counts[word])
            if amount
        ]
        columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return Table(words, *(np.ascontiguousarray(column) for column in columns))

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
        made = cls(state["classes"], state["events"], state["uniform"], state["vocabulary"], most)
        made._documents = [int(one) for one in state["documents"]]
        words = [str(word) for word in state["words"]]
        made._counts = {word: [0] * len(made.classes) for word in words}
        columns = [np.asarray(state[name], dtype=np.int64).tolist() for name in ("rows", "places", "amounts")]
        if len(made._counts) != len(words) or len(made._documents) != len(made.classes):
            raise ValueError("a saved classifier has counts for other words or classes than its own")
        if made.vocabulary is not None and not made.vocabulary.issuperset(words):
            raise ValueError("a saved classifier has counted words that are not in its vocabulary")
        for row, place, amount in zip(*columns, strict=True):
            highest = made._documents[place] if made.events == "bernoulli" else LARGEST
            if row < 0 or place < 0 or not 0 < amount <= highest:
                raise ValueError("a saved classifier has counts that can't be")
            made._counts[words[row]][place] = amount
            made._words[place] += amount
        if min(made._documents) < 0:
            raise ValueError("a saved classifier has counts that can't be")
        if made.events == "bernoulli":
            for place, held in enumerate(made._held):
                held.update(row[place] for row in made._counts.values() if row[place])
        return made


def log_sum(logs: Sequence[float]) -> float:
    """ln of the sum of the exponentials; -inf for nothing."""
    best = max(logs, default=-math.inf)
    if best == -math.inf:
        return best
    return best + math.log(math.fsum(math.exp(one - best) for one in logs))
