"""Numbers for words: what turns text into rows of a table."""

from __future__ import annotations

from collections.abc import Iterable

NONE = -1
"""The number of a word for which there is no room: as a place, the last of a table, which is kept empty."""


class Numbers(dict[str, int]):
    """From a word to its number, in order of first mention; new ones get theirs when asked for, up to `most`.

    >>> numbers = Numbers(most=2)
    >>> numbers.of(["to", "be", "to", "wit"])
    [0, 1, 0, -1]
    """

    __slots__ = ("most",)

    def __init__(self, most: int, words: Iterable[str] = ()) -> None:
        super().__init__()
        self.most = most
        self.of(words)

    def of(self, words: Iterable[str]) -> list[int]:
        return list(map(self.__getitem__, words))

    def __missing__(self, word: str) -> int:
        if len(self) >= self.most:
            return NONE
        number = self[word] = len(self)
        return number
