"""Term frequencies of a text as two byte strings: immutable, cheap to send and to map from a file."""

from __future__ import annotations

from array import array
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int32]


class Terms(NamedTuple):
    """The distinct terms of a document in order of first occurrence, and how often each occurs."""

    names: Sequence[str]
    times: Times


class TermCounts(Mapping[str, int]):
    """How often each term of a text occurs, in order of first occurrence.

    A crawler asks most pages for a handful of words. So the terms stay as lines of bytes, and a lookup searches them:
    about a microsecond a word, and nothing to build. To see every term, use `terms` and `times`, or `dict(counts)`.

    >>> counts = TermCounts.of({"chess": 2, "club": 1})
    >>> counts["chess"], counts.get("golf", 0), counts.index("club"), counts.square
    (2, 0, 1, 5)
    >>> counts.terms
    ('chess', 'club')
    """

    __slots__ = ("_lines", "_times", "square")

    def __init__(self, lines: bytes, times: bytes) -> None:
        """`lines`: each term between line breaks, as `pack_terms` gives them. `times`: little-endian int32."""
        self._lines, self._times = lines, times
        numbers = np.frombuffer(times, "<i4").astype(np.int64)
        self.square = int(numbers @ numbers)
        """The sum of the squared frequencies: the squared norm."""

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> TermCounts:
        """The same counts, packed."""
        return cls(pack_terms(counts), array("i", counts.values()).tobytes())

    @classmethod
    def from_bytes(cls, lines: bytes, times: bytes) -> TermCounts:
        """Counts that another process packed. Raises ValueError if the two strings do not fit together."""
        size, rest = divmod(len(times), 4)
        if rest or not lines.startswith(b"\n") or not lines.endswith(b"\n") or lines.count(b"\n") != size + 1:
            raise ValueError("the terms and their counts do not match")
        if size and (np.frombuffer(times, "<i4") < 1).any():
            raise ValueError("a term count below 1")
        lines.decode("utf-8", "surrogatepass")
        return cls(lines, times)

    def copy(self) -> TermCounts:
        """The same counts as an object of its own."""
        made = TermCounts.__new__(TermCounts)
        made._lines, made._times, made.square = self._lines, self._times, self.square
        return made

    def to_bytes(self) -> tuple[bytes, bytes]:
        """What `from_bytes` takes."""
        return self._lines, self._times

    @property
    def terms(self) -> tuple[str, ...]:
        """Every term, in order of first occurrence."""
        return tuple(unpack_terms(self._lines))

    @property
    def times(self) -> Times:
        """How often each of `terms` occurs."""
        return np.frombuffer(self._times, "<i4")

    def index(self, term: str) -> int:
        """The place of a term in `terms`; -1 if the text does not have it."""
        return find_term(self._lines, term)

    def __getitem__(self, term: str) -> int:
        place = self.index(term)
        if place < 0:
            raise KeyError(term)
        return int.from_bytes(self._times[4 * place : 4 * place + 4], "little")

    def __contains__(self, term: object) -> bool:
        return isinstance(term, str) and self.index(term) >= 0

    def get(self, term: str, default: Any = None, /) -> Any:
        place = self.index(term)
        return default if place < 0 else int.from_bytes(self._times[4 * place : 4 * place + 4], "little")

    def __iter__(self) -> Iterator[str]:
        return iter(self.terms)

    def items(self) -> ItemsView[str, int]:
        return dict(zip(self.terms, self.times.tolist(), strict=True)).items()

    def values(self) -> ValuesView[int]:
        return dict(zip(self.terms, self.times.tolist(), strict=True)).values()

    def __len__(self) -> int:
        return len(self._times) // 4

    def __repr__(self) -> str:
        return f"TermCounts.of({dict(self.items())!r})"


def pack_terms(terms: Iterable[str]) -> bytes:
    """Terms as lines of bytes, each between two line breaks. No term contains one.

    >>> pack_terms(["chess", "club"])
    b'\\nchess\\nclub\\n'
    """
    return "\n".join(["", *terms, ""]).encode("utf-8", "surrogatepass")


def find_term(lines: bytes, term: str) -> int:
    """The place of a term among those packed in `lines`; -1 if it is not there."""
    place = lines.find(b"\n%b\n" % term.encode("utf-8", "surrogatepass"))
    return -1 if place < 0 else lines.count(b"\n", 0, place)


def unpack_terms(lines: bytes) -> list[str]:
    """The terms that `pack_terms` packed.

    >>> unpack_terms(b"\\nchess\\nclub\\n")
    ['chess', 'club']
    """
    return lines[1:-1].decode("utf-8", "surrogatepass").split("\n") if len(lines) > 1 else []


Document = Mapping[str, int] | Terms
"""What a classifier can be asked about."""


def terms_of(document: Document) -> Terms:
    """A document's terms as two columns.

    >>> terms_of({"chess": 2, "club": 1}).times.tolist()
    [2, 1]
    """
    if isinstance(document, Terms):
        return document
    if isinstance(document, TermCounts):
        return Terms(document.terms, document.times)
    return Terms(list(document), np.fromiter(document.values(), np.int32, len(document)))
