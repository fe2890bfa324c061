"""Ids of words, which serve as row indices in the tables of learners."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice, repeat

import numpy as np
import numpy.typing as npt

from scenthound.text.term_counts import NumberedTerms, Numbering

NONE = -1
"""The id of a word that is not in a vocabulary. As an index it is the last row, which learners keep empty."""
MOST_WORDS = 1 << 20  # about 130 MB when full of prose
UNASKED = -2  # in a table of ids: this word was never looked up
MOST_NUMBERINGS = 8  # numberings for which a vocabulary keeps tables
Ids = npt.NDArray[np.int32]


@dataclass(slots=True, eq=False)
class _Table:
    """Maps the ids of a numbering to ours. The last row, -1, is for words without a number and stays `UNASKED`."""

    ids: Ids
    is_stale: bool = False
    """Whether words that are `NONE` here may have been added since, by name or with another numbering."""


class Vocabulary:
    """Ids for words, from 0 on, in order of first occurrence; words beyond the bound `most` have none.

    >>> vocabulary = Vocabulary(most=2)
    >>> vocabulary.add(["to", "be", "to", "wit"]).tolist()
    [0, 1, 0, -1]
    >>> vocabulary.ids(["be", "or"]).tolist()
    [1, -1]
    >>> list(vocabulary)
    ['to', 'be']

    `NumberedTerms` are translated with a table from the ids of their numbering to ours, which is filled on demand. Each
    of the latest numberings has a table, since every worker process has its own numbering. As long as all words came
    with one numbering, a word that is not in its table is not in the vocabulary; otherwise it is looked up by name, as
    is a word without a number.
    """

    __slots__ = ("_has_names", "_ids", "_tables", "_words", "most")

    def __init__(self, most: int = MOST_WORDS, words: Iterable[str] = ()) -> None:
        self.most = most
        self._ids: dict[str, int] = {}
        self._words: list[str] = []
        self._tables: dict[Numbering, _Table] = {}
        self._has_names = False  # not all words came with one numbering
        self.add(words)

    def add(self, words: Iterable[str]) -> Ids:
        """The ids of words. New words get an id while there is room, else `NONE`."""
        table = self._table(words.numbering) if isinstance(words, NumberedTerms) else None
        size = len(self._words)
        if isinstance(words, NumberedTerms) and table is not None:
            ids = self._translated(words, table, NONE, self._add_names)
        else:
            ids = self._add_names(words if isinstance(words, Sequence) else list(words))
        if len(self._words) > size:
            if isinstance(words, NumberedTerms):
                self._has_names = self._has_names or bool((words.ids < 0).any())
            for other in self._tables.values():
                other.is_stale = other.is_stale or other is not table
            self._has_names = self._has_names or table is None or len(self._tables) > 1
        return ids

    def ids(self, words: Iterable[str]) -> Ids:
        """The ids of words; `NONE` for words that were never added."""
        if not isinstance(words, NumberedTerms):
            return self._ids_of_names(words)
        table = self._table(words.numbering)
        if not self._has_names:
            return np.maximum(table.ids.take(words.ids), NONE)
        if table.is_stale:
            table.ids[table.ids == NONE] = UNASKED
            table.is_stale = False
        return self._translated(words, table, UNASKED, self._ids_of_names)

    def _table(self, numbering: Numbering) -> _Table:
        table = self._tables.get(numbering)
        if table is None:
            self._has_names = self._has_names or bool(self._words)
            table = self._tables[numbering] = _Table(np.full(numbering.size + 1, UNASKED, dtype=np.int32))
            if len(self._tables) > MOST_NUMBERINGS:
                del self._tables[next(iter(self._tables))]
        return table

    def _add_names(self, words: Sequence[str]) -> Ids:
        ids, size = self._ids, len(self._words)
        if size + len(words) > self.most:
            new = list(dict.fromkeys(word for word in words if word not in ids))[: max(0, self.most - size)]
            ids.update(zip(new, count(size)))
            self._words += new
            return self._ids_of_names(words)
        added = np.array([ids.setdefault(word, len(ids)) for word in words], dtype=np.int32)
        self._words += reversed(list(islice(reversed(ids), len(ids) - size)))  # the newest, in order
        return added

    def _ids_of_names(self, words: Iterable[str]) -> Ids:
        return np.array(list(map(self._ids.get, words, repeat(NONE))), dtype=np.int32)

    @staticmethod
    def _translated(terms: NumberedTerms, table: _Table, not_known: int, look_up: Callable[[list[str]], Ids]) -> Ids:
        """Look up the ids of terms in a table. Entries up to `not_known` are looked up by name and filled in."""
        numbers = terms.ids
        ids = table.ids.take(numbers)
        missing = np.flatnonzero(ids <= not_known)
        if len(missing):
            ids[missing] = look_up(terms.at(missing))
            table.ids[numbers] = ids
            table.ids[-1] = UNASKED
        return ids

    @property
    def all_words(self) -> Sequence[str]:
        """All words, in the order of their ids."""
        return self._words

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)
