"""Numbers for words: what turns the terms of pages into rows of a learner's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt

NONE = -1
"""The id of a word that is not in a vocabulary. As an index it is the last row, which learners keep empty."""
MOST_WORDS = 1 << 20  # some 130 MB of prose when full
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
    """

    __slots__ = ("_ids", "_words", "most")

    def __init__(self, most: int = MOST_WORDS, words: Iterable[str] = ()) -> None:
        self.most = most
        self._ids: dict[str, int] = {}
        self._words: list[str] = []
        self.add(words)

    def add(self, words: Iterable[str]) -> Ids:
        """The ids of words; new ones get theirs now, as long as there is room."""
        words, size = words if isinstance(words, Sequence) else list(words), len(self._words)
        if new := [word for word in words if word not in self._ids]:
            new = list(dict.fromkeys(new))[: max(0, self.most - size)]
            self._ids.update(zip(new, range(size, size + len(new)), strict=True))
            self._words += new
        return self.ids(words)

    def ids(self, words: Iterable[str]) -> Ids:
        """The ids of words, `NONE` for those that were never added."""
        return np.array(list(map(self._ids.get, words, repeat(NONE))), dtype=np.int32)

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
