"""Numbers for words: what turns the terms of pages into rows of a learner's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt

from scenthound.text.term_counts import NumberedTerms, Numbering

NONE = -1
"""The id of a word that is not in a vocabulary. As an index it is the last row, which learners keep empty."""
MOST_WORDS = 1 << 20  # some 130 MB of prose when full
UNASKED = -2  # in a table of ids: this word was never looked up
Ids = npt.NDArray[np.int32]


class Vocabulary:
    """Ids for words, from 0 on, in order of first mention; words beyond the bound have none.

    >>> vocabulary = Vocabulary(most=2)
    >>> vocabulary.add(["to", "be", "to", "wit"]).tolist()
    [0, 1, 0, -1]
    >>> vocabulary.ids(["be", "or"]).tolist()
    [1, -1]
    >>> list(vocabulary)
    ['to', 'be']

    `NumberedTerms` are translated by a table from the ids of their numbering to ours, which is filled as words are met.
    As long as every word came with this numbering, one that the table does not have is not in the vocabulary; otherwise
    it is looked up by name.
    """

    __slots__ = ("_has_names", "_ids", "_is_stale", "_numbering", "_table", "_words", "most")

    def __init__(self, most: int = MOST_WORDS, words: Iterable[str] = ()) -> None:
        self.most = most
        self._ids: dict[str, int] = {}
        self._words: list[str] = []
        self._numbering: Numbering | None = None
        self._table: Ids = np.zeros(0, dtype=np.int32)
        self._has_names = False  # some words came by name or with another numbering
        self._is_stale = False  # words that the table has as `NONE` may have been added by name since
        self.add(words)

    def add(self, words: Iterable[str]) -> Ids:
        """The ids of words; new ones get theirs now, as long as there is room."""
        if isinstance(words, NumberedTerms):
            return self._translated(words, NONE, self._add_names)
        words, size = words if isinstance(words, Sequence) else list(words), len(self._words)
        ids = self._add_names(words)
        if len(self._words) > size:
            self._has_names = self._is_stale = True
        return ids

    def ids(self, words: Iterable[str]) -> Ids:
        """The ids of words, `NONE` for those that were never added."""
        if isinstance(words, NumberedTerms):
            if words.numbering == self._numbering and not self._has_names:
                return np.maximum(self._table.take(words.ids), NONE)
            if self._is_stale:
                self._table[self._table == NONE] = UNASKED
                self._is_stale = False
            return self._translated(words, UNASKED, self._ids_of_names)
        return self._ids_of_names(words)

    def _add_names(self, words: Sequence[str]) -> Ids:
        if new := [word for word in words if word not in self._ids]:
            size = len(self._words)
            new = list(dict.fromkeys(new))[: max(0, self.most - size)]
            self._ids.update(zip(new, range(size, size + len(new)), strict=True))
            self._words += new
        return self._ids_of_names(words)

    def _ids_of_names(self, words: Iterable[str]) -> Ids:
        return np.array(list(map(self._ids.get, words, repeat(NONE))), dtype=np.int32)

    def _translated(self, terms: NumberedTerms, not_known: int, look_up: Callable[[list[str]], Ids]) -> Ids:
        """Ids by the table. Terms whose entry there is at most `not_known` are looked up by name, and entered."""
        if terms.numbering != self._numbering:
            self._has_names = bool(self._words)
            self._numbering, self._table = terms.numbering, np.full(terms.numbering.size, UNASKED, dtype=np.int32)
        numbers = terms.ids
        found = self._table.take(numbers)
        places = np.flatnonzero(found <= not_known)
        if len(places):
            found[places] = look_up(terms.at(places))
            self._table[numbers] = found
        return found

    @property
    def all_words(self) -> Sequence[str]:
        """Every word, by id."""
        return self._words

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)
