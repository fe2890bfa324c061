"""Counts folded up: the words and their numbers as two strings of bytes.

A crawler mostly asks a page for a handful of words. Folded counts answer such a question by looking for the word,
cost next to nothing to make of bytes that came from a file or another process, and unfold into an ordinary `Counts`
when more is asked.
"""

from __future__ import annotations

import struct
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Sequence, ValuesView
from typing import Any

from scenthound.text.vectors import Counts


def words_of(terms: Iterable[str]) -> bytes:
    """Terms as `Folded` wants them: each between line breaks, which no term holds."""
    return "\n".join(["", *terms, ""]).encode("utf-8", "surrogatepass")


def numbers_of(often: Iterable[int]) -> bytes:
    """Frequencies as `Folded` wants them, in step with the words."""
    numbers = [*often]
    return struct.pack(f"<{len(numbers)}i", *numbers)


def checked(square: int, words: bytes, numbers: bytes) -> Folded:
    """`folded`, of what somebody else has put together. ValueError where it could not be unfolded later."""
    fits = words.count(b"\n") == len(numbers) // 4 + 1 and not len(numbers) % 4
    if type(square) is not int or not fits or not words.startswith(b"\n") or not words.endswith(b"\n"):
        raise ValueError("other words than were counted")
    if max(numbers[3::4], default=0) > 127:
        raise ValueError("words that are counted less than never")
    words.decode("utf-8", "surrogatepass")
    return folded(square, words, numbers)


def folded(square: int, words: bytes, numbers: bytes) -> Folded:
    """Counts of which the square of their norm, the words (by `words_of`) and the numbers (`<i4`) are known."""
    made = Folded()
    made._square = (square, words, numbers)  # type: ignore[assignment]
    return made


def listed(counts: Counts) -> tuple[Sequence[str], Sequence[int]]:
    """The words and their numbers, in order of first occurrence; what is folded stays so."""
    if isinstance(counts, Folded):
        _, words, numbers = counts._parts()
        return _terms(words, numbers), struct.unpack(f"<{len(numbers) // 4}i", numbers)
    return list(counts), list(counts.values())


def _terms(words: bytes, numbers: bytes) -> list[str]:
    return words[1:-1].decode("utf-8", "surrogatepass").split("\n") if numbers else []


class Folded(Counts):
    """Counts that answer for single words from bytes, and become an ordinary `Counts` when asked for more.

    Until then `_square` holds the square, the words and their frequencies: a subclass without fields of its own may
    turn into its parent.
    """

    __slots__ = ()

    @property
    def square(self) -> int:
        return self._parts()[0]

    def __contains__(self, term: object) -> bool:
        if type(self) is Counts:
            return dict.__contains__(self, term)
        return isinstance(term, str) and self._place(term) >= 0

    def __getitem__(self, term: str) -> int:
        if type(self) is Counts:  # a bound method may outlive the change
            return dict.__getitem__(self, term)
        place = self._place(term)
        if place < 0:
            raise KeyError(term)
        _, words, counts = self._parts()
        at = 4 * words.count(b"\n", 0, place)
        return int.from_bytes(counts[at : at + 4], "little")

    def get(self, term: str, default: Any = None) -> Any:
        try:
            return self[term]
        except KeyError:
            return default

    def __len__(self) -> int:
        return len(self._parts()[2]) // 4

    def __bool__(self) -> bool:
        return len(self) > 0

    def _place(self, term: str) -> int:
        return self._parts()[1].find(b"\n%b\n" % term.encode("utf-8", "surrogatepass"))

    def _parts(self) -> tuple[int, bytes, bytes]:
        return self._square  # type: ignore[return-value]

    def unfold(self) -> Counts:
        """Become an ordinary `Counts`; gives itself."""
        square, words, counts = self._parts()
        self.__class__ = Counts  # type: ignore[assignment]
        self.update(zip(_terms(words, counts), struct.unpack(f"<{len(counts) // 4}i", counts), strict=True))
        self._square = square
        return self

    def __iter__(self) -> Iterator[str]:
        return iter(self.unfold())

    def __reversed__(self) -> Iterator[str]:
        return reversed(self.unfold())

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        return self.unfold().keys()

    def values(self) -> ValuesView[int]:  # type: ignore[override]
        return self.unfold().values()

    def items(self) -> ItemsView[str, int]:  # type: ignore[override]
        return self.unfold().items()

    def copy(self) -> dict[str, int]:
        return self.unfold().copy()

    def __eq__(self, other: object) -> bool:
        return self.unfold() == other

    def __ne__(self, other: object) -> bool:
        return self.unfold() != other

    def __or__(self, other: Any) -> Any:
        return self.unfold() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.unfold()

    def __repr__(self) -> str:
        return repr(self.unfold())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.unfold().__reduce_ex__(protocol)

    __hash__ = None  # type: ignore[assignment]
