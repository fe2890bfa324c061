"""Term frequencies of a text as two byte strings: immutable, cheap to send and to map from a file.

numpy is imported only where counts are read, because a process that only packs them then starts in half the time.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Times = npt.NDArray[np.int32]

MOST_NUMBERED = 1 << 17  # terms of one process that get numbers: about 10 MB
MOST_TOKENS = (1 << 31) - 1  # of one text, so that the squared norm fits in 64 bits


class Terms(NamedTuple):
    """The distinct terms of a document in order of first occurrence, and how often each occurs."""

    names: Sequence[str]
    times: Times


class Numbering(NamedTuple):
    """A numbering of terms that many documents share, such as the documents of a prepared bed."""

    name: str
    """Numberings with the same name give the same ids to the same terms."""
    size: int
    """All ids are below this."""


class SharedIds(NamedTuple):
    """The ids of a document's terms in a numbering and, if known, its squared norm, which every cosine needs."""

    ids: bytes
    """Little-endian int32, one for each term; -1 for a term without a number."""
    numbering: Numbering
    square: int | None = None


class TermNumbers:
    """Assigns numbers to the terms that one process reads, so that another process need not decode them.

    A term keeps its number. After `most` terms, new terms get none.

    >>> numbers = TermNumbers("reader", most=2)
    >>> [array("i", numbers.of(terms).ids).tolist() for terms in (["chess", "club"], ["club", "golf"])]
    [[0, 1], [1, -1]]
    """

    def __init__(self, name: str, most: int = MOST_NUMBERED) -> None:
        """`name` must be unique among processes."""
        self.numbering = Numbering(name, most)
        self._numbers: dict[str, int] = {}

    def of(self, terms: Collection[str]) -> SharedIds:
        """The numbers of a document's terms."""
        numbers, most = self._numbers, self.numbering.size
        ids = array("i", map(numbers.get, terms, repeat(-1)))
        if -1 in ids and len(numbers) < most:
            for term in terms:
                if term not in numbers and len(numbers) < most:
                    numbers[term] = len(numbers)
            ids = array("i", map(numbers.get, terms, repeat(-1)))
        return SharedIds(ids.tobytes(), self.numbering)


class NumberedTerms(Sequence[str]):
    """The terms of a document, each with its id in a shared numbering.

    A vocabulary translates these ids into its own with a table, and decodes only terms that are new to it. This takes
    about 5 microseconds for the 900 terms of a page, where looking up each by name takes 150.

    >>> import numpy as np
    >>> shared = SharedIds(np.array([7, 2], dtype="<i4").tobytes(), Numbering("bed", 9), square=5)
    >>> terms = NumberedTerms(pack_terms(["chess", "club"]), shared)
    >>> list(terms), terms.ids.tolist(), terms.at(np.array([1]))
    (['chess', 'club'], [7, 2], ['club'])
    """

    __slots__ = ("_ids", "_lines", "numbering")

    def __init__(self, lines: bytes, shared: SharedIds) -> None:
        """`lines` is a result of `pack_terms`."""
        self._lines, self._ids, self.numbering = lines, shared.ids, shared.numbering

    @property
    def ids(self) -> Times:
        """The id of each term."""
        import numpy as np

        return np.frombuffer(self._ids, "<i4")

    def at(self, indices: npt.NDArray[np.int64]) -> list[str]:
        """The terms at these indices. A few are decoded one by one; for many it is faster to decode all of them."""
        import numpy as np

        lines = self._lines
        if len(indices) * 6 > len(self):
            terms = unpack_terms(lines)
            return [terms[index] for index in indices.tolist()]
        breaks = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n"))
        spans = zip((breaks[indices] + 1).tolist(), breaks[indices + 1].tolist(), strict=True)
        return [lines[begin:end].decode("utf-8", "surrogatepass") for begin, end in spans]

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        """A term, or a slice. The slice of all terms is still numbered."""
        if isinstance(index, slice) and index.indices(len(self)) == (0, len(self), 1):
            return self
        return unpack_terms(self._lines)[index]

    def __iter__(self) -> Iterator[str]:
        return iter(unpack_terms(self._lines))

    def __len__(self) -> int:
        return len(self._ids) // 4


class TermCounts(Mapping[str, int]):
    """How often each term of a text occurs, in order of first occurrence.

    Only a handful of words is looked up in most pages. So the terms stay as lines of bytes, and a lookup searches them,
    which takes about a microsecond per word and needs no index. To see every term, use `terms` and `times`, or
    `to_dict`.

    >>> counts = TermCounts.of({"chess": 2, "club": 1})
    >>> counts["chess"], counts.get("golf", 0), counts.index("club"), counts.square
    (2, 0, 1, 5)
    >>> counts.terms
    ('chess', 'club')
    """

    __slots__ = ("_lines", "_shared", "_times")
    _lines: bytes
    _times: bytes
    _shared: SharedIds | None

    def __init__(self, lines: bytes, times: bytes, shared: SharedIds | None = None) -> None:
        """`lines` are the terms between line breaks, as packed by `pack_terms`; `times` are little-endian int32."""
        assign = object.__setattr__  # our own `__setattr__` refuses
        assign(self, "_lines", lines)
        assign(self, "_times", times)
        assign(self, "_shared", shared)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"term counts are immutable: their `{name}` can't be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"term counts are immutable: their `{name}` can't be changed")

    def __reduce__(self) -> tuple[Any, ...]:
        return TermCounts, (self._lines, self._times)

    @classmethod
    def of(cls, counts: Mapping[str, int], numbers: TermNumbers | None = None) -> TermCounts:
        """Pack counts; with `numbers`, assign numbers to their terms."""
        shared = None if numbers is None else numbers.of(counts.keys())
        return cls(pack_terms(counts), array("i", counts.values()).tobytes(), shared)

    @classmethod
    def from_bytes(cls, lines: bytes, times: bytes) -> TermCounts:
        """Counts that another process packed. Raises ValueError if the two strings do not match."""
        if len(times) % 4:
            raise ValueError("the terms and their counts do not match")
        counts = cls(lines, times)
        counts.check()
        return counts

    def check(self) -> None:
        """Raise ValueError unless terms and counts, which another process packed, match."""
        import numpy as np

        lines, size = self._lines, len(self._times) // 4
        if not lines.startswith(b"\n") or not lines.endswith(b"\n") or lines.count(b"\n") != size + 1:
            raise ValueError("the terms and their counts do not match")
        if (self.times < 1).any() or self.times.sum(dtype=np.int64) > MOST_TOKENS:
            raise ValueError("an impossible term count")
        if self._shared is not None:
            self._check_ids(self._shared)
        lines.decode("utf-8", "surrogatepass")

    def _check_ids(self, shared: SharedIds) -> None:
        import numpy as np

        if len(shared.ids) != len(self._times):
            raise ValueError("the terms and their numbers do not match")
        ids = np.frombuffer(shared.ids, "<i4")
        if len(ids) and (int(ids.min()) < -1 or int(ids.max()) >= shared.numbering.size):
            raise ValueError("a term number out of range")

    def to_bytes(self) -> tuple[bytes, bytes]:
        """Terms and counts in the form that the constructor takes."""
        return self._lines, self._times

    @property
    def terms(self) -> tuple[str, ...]:
        """Every term, in order of first occurrence."""
        return tuple(unpack_terms(self._lines))

    @property
    def shared(self) -> SharedIds | None:
        """The ids of the terms in a shared numbering; None if they have none."""
        return self._shared

    @property
    def names(self) -> Sequence[str]:
        """Every term, with its shared id if it has one, for a `Vocabulary`."""
        return self.terms if self._shared is None else NumberedTerms(self._lines, self._shared)

    @property
    def times(self) -> Times:
        """How often each of `terms` occurs."""
        import numpy as np

        return np.frombuffer(self._times, "<i4")

    @property
    def square(self) -> int:
        """The sum of the squared frequencies: the squared norm."""
        if self._shared is not None and self._shared.square is not None:
            return self._shared.square
        numbers = self.times.astype("i8")
        return int(numbers @ numbers)

    def index(self, term: str) -> int:
        """The index of a term in `terms`; -1 if the text does not contain it."""
        return find_term(self._lines, term)

    def __getitem__(self, term: str) -> int:
        index = self.index(term)
        if index < 0:
            raise KeyError(term)
        return int.from_bytes(self._times[4 * index : 4 * index + 4], "little")

    def __contains__(self, term: object) -> bool:
        is_term = isinstance(term, str) and "\n" not in term
        return is_term and b"\n%b\n" % str(term).encode("utf-8", "surrogatepass") in self._lines

    def get(self, term: str, default: Any = None, /) -> Any:
        index = self.index(term)
        return default if index < 0 else int.from_bytes(self._times[4 * index : 4 * index + 4], "little")

    def __iter__(self) -> Iterator[str]:
        return iter(self.terms)

    def to_dict(self) -> dict[str, int]:
        """The counts as a dict. This is much faster than `dict(counts)`, which searches for every term."""
        return dict(zip(self.terms, self.times.tolist(), strict=True))

    def items(self) -> ItemsView[str, int]:
        return self.to_dict().items()

    def values(self) -> ValuesView[int]:
        return self.to_dict().values()

    def __len__(self) -> int:
        return len(self._times) // 4

    def __repr__(self) -> str:
        return f"TermCounts.of({dict(self.items())!r})"


def pack_terms(terms: Iterable[str]) -> bytes:
    """Terms as lines of bytes, each between two line breaks. No term may contain a line break.

    >>> pack_terms(["chess", "club"])
    b'\\nchess\\nclub\\n'
    """
    return "\n".join(["", *terms, ""]).encode("utf-8", "surrogatepass")


def find_term(lines: bytes, term: str) -> int:
    """The index of a term in packed `lines`; -1 if it is not among them."""
    if "\n" in term:
        return -1
    offset = lines.find(b"\n%b\n" % term.encode("utf-8", "surrogatepass"))
    if offset < 0:
        return -1
    import numpy as np

    before = np.frombuffer(lines, np.uint8, offset)  # `bytes.count` takes three times as long
    return int(np.count_nonzero(before == ord("\n")))


def unpack_terms(lines: bytes) -> list[str]:
    """The inverse of `pack_terms`.

    >>> unpack_terms(b"\\nchess\\nclub\\n")
    ['chess', 'club']
    """
    return lines[1:-1].decode("utf-8", "surrogatepass").split("\n") if len(lines) > 1 else []


Document = Mapping[str, int]
"""A document to classify: terms, and how often each occurs."""


def terms_of(document: Document) -> Terms:
    """A document's terms as two columns.

    >>> terms_of({"chess": 2, "club": 1}).times.tolist()
    [2, 1]
    """
    if isinstance(document, TermCounts):
        return Terms(document.names, document.times)
    import numpy as np

    return Terms(list(document), np.fromiter(document.values(), np.int32, len(document)))
