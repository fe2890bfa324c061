"""Numbers for words that hold throughout a process: what is known of a page can be kept as numbers, for whoever asks.

A register forgets all when it is full, and begins a new epoch: numbers of another epoch say nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable
from itertools import count
from typing import NamedTuple, Protocol, TypeVar

from scenthound.model import Page

NONE = -1
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
        self._numbers, self._kept = _Numbers(), 0

    @property
    def names(self) -> list[str]:
        """The words of this epoch, by number."""
        return self._numbers.names

    def of(self, words: Iterable[str]) -> Registered:
        """The numbers of words, all of one epoch, which is the present one until somebody asks again: a new one begins
        only before the first of them, however many they are."""
        if len(self._numbers) - self._kept > self.most:
            self._numbers, self._kept = _Numbers(), 0
            self.epoch = next(_EPOCHS)
        return Registered(self.epoch, array("i", list(map(self._numbers.__getitem__, words))))

    def keep(self, words: Iterable[str]) -> array[int]:
        """The numbers of words in this very epoch: it does not end by them, and they take no room from others. For who
        holds them anyway."""
        before = len(self._numbers)
        numbers = array("i", list(map(self._numbers.__getitem__, words)))
        self._kept += len(self._numbers) - before
        return numbers

    def known(self, words: Iterable[str]) -> list[int]:
        """The numbers of those words that have one in this epoch, `NONE` of the others: nothing is registered."""
        return [self._numbers.get(word, NONE) for word in words]


class _Numbers(dict[str, int]):
    __slots__ = ("names",)

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.names)
        self.names.append(word)
        return number


class _OfEpoch(Protocol):
    @property
    def epoch(self) -> int: ...


Numbered = TypeVar("Numbered", bound=_OfEpoch)


def fresh(page: Page, key: Hashable, read: Callable[[], Numbered], register: Register) -> Numbered:
    """What is derived from a page in numbers of the register's present epoch; read again if it was of another.

    `read` gives numbers of the epoch that is present when it returns, as those of one `Register.of` are.
    """
    found = page.derived(key, read)
    if found.epoch != register.epoch:
        page.forget(key)
        found = page.derived(key, read)
    return found


WORDS = Register(1 << 19)
"""Terms of pages, whatever the analyser: some 64 MB of prose when full, at worst some 210 MB of hostile tokens."""
