"""Naive Bayes on counts, two event models (sheet 30.1), learning one document at a time.

McCallum and Nigam 1998. Our own counts and not scikit-learn's, because updates must cost O(words of the document),
be exact whatever their order, and be taken back. Counts are whole numbers; a document may count for a fraction, in
steps of 1/`UNIT`, which keeps sums exact too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from scenthound.errors import BadConfig

Events = Literal["multinomial", "bernoulli"]
UNIT = 1 << 20
"""A whole document in the counts: weights are rounded to this fraction before they are added."""


class NaiveBayes:
    """Classes, what was counted in each, and how probable they are for a document.

    `classes` fixes their order and is the full list; one without a document is left out of posteriors. With a
    `vocabulary` other words are ignored, when learning and when asked; without, it is all words ever counted.
    """

    def __init__(
        self,
        classes: Sequence[str],
        events: Events = "multinomial",
        uniform: bool = False,
        vocabulary: Collection[str] | None = None,
    ) -> None:
        if len(set(classes)) != len(classes) or not classes:
            raise BadConfig("a classifier needs classes, each with a name of its own")
        if events not in ("multinomial", "bernoulli"):
            raise BadConfig(f"`events` can't be {events!r}", "one of: multinomial, bernoulli")
        self.classes, self.events, self.uniform = tuple(classes), events, uniform
        self.vocabulary = None if vocabulary is None else frozenset(vocabulary)
        self._place = {name: place for place, name in enumerate(self.classes)}
        size = len(self.classes)
        self._documents = [0] * size
        self._words = [0] * size
        self._counts: dict[str, list[int]] = {}  # word -> per class, occurrences or documents by the event model
        self._held: list[Counter[int]] = [Counter() for _ in classes]  # Bernoulli: words by their count, per class

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
        for word, times in counts.items():
            if self.vocabulary is not None and word not in self.vocabulary:
                continue
            amount = share * times if occurrences else share
            row = known.get(word)
            if row is None:
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
        sums = [self._all_absent(place) for place in range(len(self.classes))]
        for word in counts:
            row = self._counts.get(word)
            if row is None and (self.vocabulary is None or word not in self.vocabulary):
                continue
            for place, documents in enumerate(self._documents):
                has = (row[place] if row else 0) / UNIT
                # P(t|c) = (1 + has) / (2 + n), so P / (1 - P) = (1 + has) / (1 + n - has)
                sums[place] += math.log(1.0 + has) - math.log(1.0 + documents / UNIT - has)
        return sums

    def _all_absent(self, place: int) -> float:
        """The sum over V of ln(1 - P(t|c)): words that as many documents hold are summed as one."""
        documents, held = self._documents[place] / UNIT, self._held[place]
        some = math.fsum(words * math.log(1.0 + documents - has / UNIT) for has, words in held.items())
        none = self.size - held.total()
        return some + none * math.log(1.0 + documents) - self.size * math.log(2.0 + documents)

    # ---- keeping

    def save(self) -> dict[str, Any]:
        words = sorted(self._counts)
        return {
            "classes": list(self.classes),
            "events": self.events,
            "uniform": self.uniform,
            "vocabulary": None if self.vocabulary is None else sorted(self.vocabulary),
            "documents": list(self._documents),
            "words": words,
            "counts": [self._counts[word] for word in words],
        }

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> NaiveBayes:
        """Raises ValueError, KeyError or TypeError for what `save` did not give."""
        made = cls(state["classes"], state["events"], state["uniform"], state["vocabulary"])
        made._documents = [int(one) for one in state["documents"]]
        rows = [[int(one) for one in row] for row in state["counts"]]
        if any(len(row) != len(made.classes) for row in [made._documents, *rows]):
            raise ValueError("a saved classifier has counts for other classes than its own")
        made._counts = dict(zip(map(str, state["words"]), rows, strict=True))
        if made.events == "bernoulli":
            columns = zip(*rows, strict=True) if rows else [() for _ in made.classes]
            made._held = [Counter(filter(None, column)) for column in columns]
        made._words = [sum(column) for column in zip(*rows, strict=True)] or [0] * len(made.classes)
        return made


def log_sum(logs: Sequence[float]) -> float:
    """ln of the sum of the exponentials; -inf for nothing."""
    best = max(logs, default=-math.inf)
    if best == -math.inf:
        return best
    return best + math.log(math.fsum(math.exp(one - best) for one in logs))
