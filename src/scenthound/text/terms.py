"""The distinct terms of a page in order of first occurrence, with numbers where somebody has numbered them already.

A learner gives every word a number of its own, and looking a thousand words of a page up one by one takes longer than
all that is done with them afterwards. A recorded bed has numbered its words when it was prepared. So its pages bring
these numbers along, and a learner translates them into its own by one look into an array (`text.numbers`); words are
read only where one is met for the first time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # slow and large, and a process that only reads pages does without
    import numpy as np
    import numpy.typing as npt

    Ids = npt.NDArray[np.int32]


class Terms:
    """Distinct terms, each once. `ids` are the numbers that `source` gave them; None where nobody did."""

    __slots__ = ("_names", "_words", "ids", "source")
    _names: tuple[str, ...] | None
    _words: bytes
    ids: Ids | None
    source: str

    def __init__(
        self, names: Sequence[str] | None = None, words: bytes = b"", ids: Ids | None = None, source: str = ""
    ) -> None:
        """The terms as strings, or as bytes by `text.folded.words_of`, and then with numbers in step."""
        if names is None and ids is None:
            raise ValueError("terms in bytes need numbers")
        fields = (None if names is None else tuple(names), words, ids, source)
        for name, value in zip(Terms.__slots__, fields, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("the terms of a page can't be changed: crawls may share them")

    def __len__(self) -> int:
        return len(self.ids) if self.ids is not None else len(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Terms) and list(self.names) == list(other.names)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Terms({list(self.names)!r})"

    @property
    def names(self) -> Sequence[str]:
        """The terms themselves."""
        if self._names is not None:
            return self._names
        return self._words[1:-1].decode("utf-8", "surrogatepass").split("\n") if len(self) else []

    def at(self, places: Sequence[int]) -> list[str]:
        """The terms at some places: the others are not read."""
        if self._names is not None:
            return [self._names[place] for place in places]
        import numpy as np

        if len(places) * 4 > len(self):
            names = self.names
            return [names[place] for place in np.asarray(places).tolist()]
        words = self._words
        breaks = np.flatnonzero(np.frombuffer(words, np.uint8) == ord("\n"))
        begins, ends = (breaks.take(places) + 1).tolist(), breaks[1:].take(places).tolist()
        return [words[begin:end].decode("utf-8", "surrogatepass") for begin, end in zip(begins, ends, strict=True)]

    def first(self, most: int) -> Terms:
        """The first so many of them; all, if there are no more."""
        if len(self) <= most:
            return self
        if self._names is not None:
            return Terms(self._names[:most], ids=None if self.ids is None else self.ids[:most], source=self.source)
        assert self.ids is not None
        return Terms(self.names[:most], ids=self.ids[:most], source=self.source)


class NumberedCounts(NamedTuple):
    """The terms of a document, and how often each occurs."""

    terms: Terms
    times: Ids


def numbered(counts: Mapping[str, int]) -> NumberedCounts:
    """Counts that nobody has numbered."""
    import numpy as np

    return NumberedCounts(Terms(list(counts)), np.fromiter(counts.values(), np.int32, len(counts)))
