"""Many documents stored as word ids, to be scored all at once.

A word costs eight bytes per document that contains it. Dropped documents are swept out when they are more than half of
all, so memory is proportional to the documents kept. Words get ids only when needed: many documents are dropped before
that.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenthound.text.term_counts import Document, terms_of
from scenthound.text.vocabulary import Vocabulary

Values = NDArray[np.float64]
SWEPT = 1 << 16  # with fewer words in dropped documents, sweeping is not worthwhile
FRESH = 300_000  # words in documents that have no ids yet: about 30 MB


class DocumentStore:
    """Word counts by key, in insertion order."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.words = Vocabulary(sys.maxsize)
        """The words of all documents, and some of dropped documents."""
        self._words = array("I")
        self._times = array("I")
        self._spans: dict[str, tuple[int, int]] = {}
        self._fresh: dict[str, Document] = {}  # the latest documents, whose words have no ids yet
        self._fresh_words = 0
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._spans) + len(self._fresh)

    def __contains__(self, key: object) -> bool:
        return key in self._spans or key in self._fresh

    def __iter__(self) -> Iterator[str]:
        return chain(self._spans, self._fresh)

    @property
    def held(self) -> int:
        """The number of words in all documents, each counted once per document."""
        return len(self._words) - self._dropped + self._fresh_words

    def put(self, key: str, document: Document) -> None:
        """Add a document, which must not change afterwards; it replaces a document with the same key."""
        self.drop(key)
        self._fresh[key] = document
        self._fresh_words += len(document)
        if self._fresh_words > FRESH:
            self._assign_ids()

    def drop(self, key: str) -> None:
        fresh = self._fresh.pop(key, None)
        if fresh is not None:
            self._fresh_words -= len(fresh)
        span = self._spans.pop(key, None)
        if span is None:
            return
        self._dropped += span[1] - span[0]
        if self._dropped > SWEPT and 2 * self._dropped > len(self._words):
            kept = [(key, self.counts(key)) for key in self]
            self._clear()
            for key, counts in kept:
                self.put(key, counts)

    def counts(self, key: str) -> dict[str, int]:
        """The word counts of a document, words in their original order. Raises KeyError if it is not stored."""
        if key in self._fresh:
            names, times = terms_of(self._fresh[key])
            return dict(zip(names, times.tolist(), strict=True))
        begin, end = self._spans[key]
        words = map(self.words.all_words.__getitem__, self._words[begin:end])
        return dict(zip(words, self._times[begin:end], strict=True))

    def _assign_ids(self) -> None:
        """Give ids to the words of fresh documents."""
        for key, document in self._fresh.items():
            begin = len(self._words)
            names, times = terms_of(document)
            self._words.frombytes(self.words.add(names).tobytes())
            self._times.frombytes(times.tobytes())
            self._spans[key] = (begin, len(self._words))
        self._fresh, self._fresh_words = {}, 0

    def sums(self, weigh: Callable[[Sequence[str]], Values], repeated: bool) -> Values:
        """For each document, the sum of the weights of its words, once per occurrence if `repeated`."""
        self._assign_ids()
        if not self._spans:
            return np.zeros(0)
        weights = weigh(self.words.all_words)
        word_weights = (
            np.append(weights[np.array(self._words, dtype=np.int64)], 0.0) if len(self._words) else np.zeros(1)
        )
        if repeated and len(self._times):
            word_weights[:-1] *= np.array(self._times, dtype=np.float64)
        spans = np.array(list(self._spans.values()), dtype=np.int64)
        sums = np.add.reduceat(word_weights, spans.ravel())[::2]
        return np.where(spans[:, 0] == spans[:, 1], 0.0, sums)

    def save(self) -> dict[str, Any]:
        """The state as JSON values and arrays, without dropped documents."""
        kept = DocumentStore()
        for key in self:
            kept.put(key, self.counts(key))
        kept._assign_ids()
        return {
            "words": list(kept.words),
            "keys": list(kept._spans),
            "ends": np.array([end for _, end in kept._spans.values()], dtype=np.int64),
            "numbers": np.array(kept._words, dtype=np.uint32),
            "times": np.array(kept._times, dtype=np.uint32),
        }

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> DocumentStore:
        store = cls()
        store.words.add([str(word) for word in state["words"]])
        store._words.extend(np.asarray(state["numbers"]).tolist())
        store._times.extend(np.asarray(state["times"]).tolist())
        begin = 0
        for key, end in zip(state["keys"], np.asarray(state["ends"]).tolist(), strict=True):
            store._spans[str(key)] = (begin, end)
            begin = end
        return store
