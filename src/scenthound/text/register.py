"""Numbers for words that hold throughout a process: what is known of a page can be kept as numbers, for whoever asks.

A register forgets all when it is full, and begins a new epoch: numbers of another epoch say nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

_EPOCHS = count()  # no two registers have one in common


class Registered(NamedTuple):
    """Words as numbers of a register."""

    epoch: int
    numbers: array[int]


class Register:
    """Numbers from 0 on, in order of first mention.

    >>> register = Register(most=3)
    >>> register.of(["to", "be", "to"]).numbers
    array('i', [0, 1, 0])
    >>> register.names[1]
    'be'
    """

    def __init__(self, most: int) -> None:
        self.most, self.epoch = most, next(_EPOCHS)
        self._numbers = _Numbers()

    @property
    def names(self) -> list[str]:
        """The words of this epoch, by number."""
        return self._numbers.names

    def of(self, words: Iterable[str]) -> Registered:
        """The numbers of words, all of one epoch."""
        if len(self._numbers) > self.most:
            self._numbers = _Numbers()
            self.epoch = next(_EPOCHS)
        return Registered(self.epoch, array("i", list(map(self._numbers.__getitem__, words))))


class _Numbers(dict[str, int]):
    __slots__ = ("names",)

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.names)
        self.names.append(word)
        return number


WORDS = Register(1 << 19)
"""Terms of pages, whatever the analyser."""
