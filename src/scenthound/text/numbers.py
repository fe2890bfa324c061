"""Numbers for words: what turns text into rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from scenthound.text.terms import Terms

NONE = -1
"""The number of a word for which there is no room: as a place, the last of a table, which is kept empty."""
MOST_UNREAD = 2_000  # pages that are kept, some 12 KB each, until the names of their words are wanted
_UNMET = -2  # not looked up yet

Ids = npt.NDArray[np.int32]


class Translation:
    """From the numbers of a bed to one's own: each word is looked up when it is met for the first time.

    Good for as long as the answers of `own` stay the same. One bed is remembered, the latest.
    """

    __slots__ = ("_source", "_table")

    def __init__(self) -> None:
        self._source = ""
        self._table: Ids = np.zeros(0, dtype=np.int32)

    def of(self, terms: Terms, own: Callable[[Sequence[str]], Sequence[int]]) -> Ids:
        """One's own numbers of these terms, in step; `own` gives those of words, and is asked in their order."""
        ids = terms.ids
        if ids is None:
            return np.array(own(terms.names), dtype=np.int32)
        found = self._met(ids, terms.source)
        new = np.flatnonzero(found == _UNMET)
        if len(new):
            found[new] = self._table[ids[new]] = own(terms.at(new))  # type: ignore[arg-type]
        return found

    def known(self, terms: Terms) -> Ids:
        """As `of`, but words that were not met yet have no number: `NONE`."""
        assert terms.ids is not None
        found = self._met(terms.ids, terms.source)
        found[found == _UNMET] = NONE
        return found

    def learn(self, terms: Terms, places: Ids, numbers: Sequence[int]) -> None:
        """The terms at these places have got numbers."""
        assert terms.ids is not None
        self._met(terms.ids, terms.source)
        self._table[terms.ids[places]] = numbers

    def _met(self, ids: Ids, source: str) -> Ids:
        if source != self._source:
            self._source, self._table = source, np.zeros(0, dtype=np.int32)
        try:
            return self._table.take(ids)
        except IndexError:
            size = max(2 * len(self._table), int(ids.max()) + 1)
            more = np.full(size - len(self._table), _UNMET, dtype=np.int32)
            self._table = np.concatenate([self._table, more])
            return self._table.take(ids)


class Numbers(dict[str, int]):
    """From a word to its number, in order of first mention; new ones get theirs when asked for, up to `most`.

    >>> numbers = Numbers(most=2)
    >>> numbers.of(["to", "be", "to", "wit"])
    [0, 1, 0, -1]
    """

    __slots__ = ("_translation", "most")

    def __init__(self, most: int, words: Iterable[str] = ()) -> None:
        super().__init__()
        self.most = most
        self._translation = Translation()
        self.of(words)

    def of(self, words: Iterable[str]) -> list[int]:
        return list(map(self.__getitem__, words))

    def of_terms(self, terms: Terms) -> Ids:
        """As `of`, for the terms of a page."""
        return self._translation.of(terms, self._of_strangers)

    def _of_strangers(self, words: Sequence[str]) -> list[int]:
        """As `of`, for distinct words of which most are new."""
        new = [word for word in words if word not in self]
        if len(self) + len(new) <= self.most:
            self.update(zip(new, range(len(self), len(self) + len(new)), strict=True))
        return self.of(words)

    def __missing__(self, word: str) -> int:
        if len(self) >= self.most:
            return NONE
        number = self[word] = len(self)
        return number


class LateNumbers:
    """As `Numbers`, for those who hardly ever ask for the words: as long as all come from pages of one bed a word that
    was not met is a new one, and is read when somebody wants its name."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._named = Numbers(most)
        self._size = 0
        self._source: str | None = None  # the bed all words come from; None: there are others
        self._translation = Translation()
        self._unread: list[tuple[Terms, Ids]] = []  # terms that have a number and are not in `_named` yet

    def __len__(self) -> int:
        return self._size

    @property
    def names(self) -> Mapping[str, int]:
        """The words, in the order of their numbers."""
        self._read()
        return self._named

    def _read(self) -> None:
        for terms, places in self._unread:
            self._named.of(terms.at(places))  # type: ignore[arg-type]
        self._unread.clear()

    def of(self, words: Iterable[str]) -> list[int]:
        """The numbers of words; new ones get theirs now, `NONE` where there is no room."""
        self._source, self._translation = None, Translation()
        self._read()
        found = self._named.of(words)
        self._size = len(self._named)
        return found

    def of_terms(self, terms: Terms) -> Ids:
        """As `of`, for the terms of a page."""
        if not self._size and terms.ids is not None:
            self._source = terms.source
        if terms.ids is None or terms.source != self._source:
            self._source = None
            self._read()
            found = self._named.of_terms(terms)
            self._size = len(self._named)
            return found
        found = self._translation.known(terms)
        new = np.flatnonzero(found == NONE)[: self.most - self._size].astype(np.int32)
        if len(new):
            numbers = np.arange(self._size, self._size + len(new), dtype=np.int32)
            self._translation.learn(terms, new, numbers)  # type: ignore[arg-type]
            found[new] = numbers
            self._size += len(new)
            self._unread.append((terms, new))
            if len(self._unread) >= MOST_UNREAD:
                self._read()
        return found
