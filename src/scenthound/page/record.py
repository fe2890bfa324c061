"""What a page says, once: an immutable table of columns.

`page.read` makes a record from HTML. The live crawl uses it as it is, a reading process sends its bytes, and a prepared
bed maps the same bytes from disk. Title, text and links are always there. The other parts cost time, so a record has
those that were asked for (`Parts`):

    counts      term frequencies of the whole page, for some analysers
    leaves      the runs of text between tags, their tokens, and the anchor and the heading that contain each
    elements    the elements around links, as runs of leaves, with their tag path

Positions in the text are character offsets. Everything about links (anchor, window, element, heading) follows from
these columns by the pure functions of `page.views`.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.errors import PartMissing, UnknownName
from scenthound.model import Link, Url
from scenthound.text.term_counts import TermCounts, pack_terms, unpack_terms
from scenthound.text.tokens import Analyser

Numbers = npt.NDArray[np.int32]
FORMAT = 1  # of `to_bytes`; raise it when the bytes change
_LENGTH = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Parts:
    """What of a page is read beside title, text and links. Elements need leaves, and bring them along."""

    counts: tuple[Analyser, ...] = ()
    leaves: bool = False
    elements: bool = False

    def __or__(self, other: Parts) -> Parts:
        counts = tuple(dict.fromkeys((*self.counts, *other.counts)))
        return Parts(counts, self.leaves or other.leaves, self.elements or other.elements)


EVERYTHING = Parts((Analyser(),), leaves=True, elements=True)


class Leaves(NamedTuple):
    """The non-empty runs of text of a page, in document order, and the tokens of all of them."""

    begin: Numbers
    """Where each leaf begins in the text."""
    end: Numbers
    anchor: Numbers
    """The position of the link whose anchor contains the leaf; -1: none."""
    heading: Numbers
    """The number of the heading (`h1` to `h6`, in document order) that contains the leaf; -1: none."""
    first_token: Numbers
    """Where in `tokens` each leaf begins, and where the last one ends: one more than there are leaves."""
    word_lines: bytes
    """The distinct raw tokens, stop words among them, in order of first occurrence, as lines."""
    tokens: Numbers
    """Every token of the page, as an index into `words`."""

    @property
    def words(self) -> list[str]:
        """The distinct raw tokens."""
        return unpack_terms(self.word_lines)

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return len(self.begin)


class Elements(NamedTuple):
    """The elements of the links and all elements above them. A parent comes before its children."""

    parent: Numbers
    """-1: the root."""
    first_leaf: Numbers
    end_leaf: Numbers
    """The leaves inside an element are those from `first_leaf` up to, not including, `end_leaf`."""
    tag: Numbers
    """Index into `tags`."""
    tags: tuple[str, ...]
    """Tag with id and first class, as `div#nav.wide`."""
    of_link: Numbers
    """The element of each link."""


class Analysed(NamedTuple):
    """What an analyser makes of a page."""

    counts: TermCounts
    of_word: Numbers | None = None
    """For each of the page's words the index of its term in `counts.terms`, -1 for a stop word; None without leaves."""

    def copy(self) -> Analysed:
        return Analysed(self.counts.copy(), None if self.of_word is None else fixed(self.of_word))


def analyse(analyser: Analyser, words: list[str], tokens: Numbers) -> Analysed:
    """The terms of a page's words, and how often each occurs among its tokens.

    >>> analyse(Analyser("small"), ["the", "clubs", "club"], np.array([0, 1, 2, 1])).counts
    TermCounts.of({'club': 3})
    """
    places: dict[str, int] = {}
    terms = analyser.term_of_each(words)
    of_word = [-1 if term is None else places.setdefault(term, len(places)) for term in terms]
    table = np.array([*of_word, -1], dtype=np.int32)  # one more, for a page without a word
    times = np.bincount(table[tokens] + 1, minlength=len(places) + 1)[1:]
    return Analysed(TermCounts(pack_terms(places), times.astype("<i4").tobytes()), fixed(table[:-1]))


def fixed(column: Numbers) -> Numbers:
    """A column that nobody can change: its memory is that of a byte string.

    >>> fixed(np.array([1, 2], dtype=np.int32)).flags.writeable
    False
    """
    return np.frombuffer(np.asarray(column, dtype=np.int32).tobytes(), np.int32)


class Record:
    """A page's columns. Nothing in it can be changed, and nothing in it leads to another page."""

    __slots__ = ("_analysed", "_elements", "_leaves", "_text", "links", "noindex", "outlinks", "title", "url")

    def __init__(
        self,
        url: Url,
        title: str,
        text: str | bytes,
        links: Sequence[Link],
        analysed: Mapping[Analyser, Analysed] | None = None,
        leaves: Leaves | None = None,
        elements: Elements | None = None,
        noindex: bool = False,
    ) -> None:
        self.url, self.title, self.noindex = url, title, noindex
        self.links: tuple[Link, ...] = tuple(links)
        """In document order; several may lead to one URL."""
        self._text, self._leaves, self._elements = text, leaves, elements
        self._analysed: Mapping[Analyser, Analysed] = MappingProxyType(dict(analysed or {}))
        self.outlinks: tuple[Link, ...] = _outlinks(url, self.links)
        """The links that count: the first to each URL, none to the page itself."""

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, name):
            raise AttributeError(f"a record can't be changed: `{name}` is set")
        object.__setattr__(self, name, value)

    def copy(self) -> Record:
        """The same record for another reader. Only texts and bytes are shared.

        The memory of a column can't be written, but anybody who has the array can give it another shape.
        """
        made = Record.__new__(Record)
        for name in Record.__slots__:
            object.__setattr__(made, name, getattr(self, name))
        analysed = {_copied_analyser(one): found.copy() for one, found in self._analysed.items()}
        object.__setattr__(made, "_analysed", MappingProxyType(analysed))
        if self._leaves is not None:
            object.__setattr__(made, "_leaves", Leaves._make(_copied_columns(self._leaves)))
        if self._elements is not None:
            object.__setattr__(made, "_elements", Elements._make(_copied_columns(self._elements)))
        return made

    @property
    def text(self) -> str:
        """All text in document order, title and anchors included, no script or style."""
        return self._text if isinstance(self._text, str) else self._text.decode("utf-8", "surrogatepass")

    @property
    def leaves(self) -> Leaves:
        if self._leaves is None:
            raise PartMissing("leaves")
        return self._leaves

    @property
    def elements(self) -> Elements:
        if self._elements is None:
            raise PartMissing("elements")
        return self._elements

    def counts(self, analyser: Analyser) -> TermCounts:
        """Term frequencies of the text. Worked out here where they were not asked for when the page was read."""
        found = self._analysed.get(analyser)
        return TermCounts.of(analyser.counts(self.text)) if found is None else found.counts

    def analysed(self, analyser: Analyser) -> Analysed:
        """The terms of the page's words, for those who look at leaves."""
        found = self._analysed.get(analyser)
        if found is None or found.of_word is None:
            found = analyse(analyser, self.leaves.words, self.leaves.tokens)
        return found

    # ---- as bytes

    def to_bytes(self) -> bytes:
        """The record as one string of bytes: a JSON head with the sizes of the columns, then the columns."""
        links, leaves, elements = self.links, self._leaves, self._elements
        named = [
            analyser for analyser in self._analysed if isinstance(analyser.stop_words, str)
        ]  # others are not portable
        urls, spellings = [link.url for link in links], [link.spelling for link in links]
        columns = [
            self._text if isinstance(self._text, bytes) else self._text.encode("utf-8", "surrogatepass"),
            _lines(urls),
            _lines(link.anchor for link in links),
            b"" if spellings == urls else _lines(spellings),
            bytes(link.nofollow for link in links) if any(link.nofollow for link in links) else b"",
            *(column for analyser in named for column in _analysed_columns(self._analysed[analyser])),
        ]
        if leaves is not None:
            columns += [*map(_packed, leaves[:5]), leaves.word_lines, _packed(leaves.tokens)]
        if elements is not None:
            columns += [*map(_packed, elements[:4]), pack_terms(elements.tags), _packed(elements.of_link)]
        analysers = [[analyser.stop_words, analyser.stem] for analyser in named]
        about = [FORMAT, self.url, self.title, self.noindex, len(links), analysers]
        head = [*about, leaves is not None, elements is not None, list(map(len, columns))]
        said = json.dumps(head, separators=(",", ":")).encode("utf-8", "surrogatepass")
        return b"".join((_LENGTH.pack(len(said)), said, *columns))

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        parts: Parts | None = None,
        *,
        check: bool = True,
    ) -> Record:
        """The record that `to_bytes` packed, or only some `parts` of it. Raises ValueError for any other bytes.

        Term counts that are asked for and not in the bytes are worked out.

        `check=False` is for bytes that this program wrote and kept to itself: indices are not looked at.
        """
        try:
            return _unpack(data, parts, check)
        except (struct.error, TypeError, IndexError, KeyError, RecursionError, OverflowError, UnknownName) as error:
            raise ValueError(f"these bytes are no record: {error}") from error


def _copied_analyser(analyser: Analyser) -> Analyser:
    return Analyser(analyser.stop_words, analyser.stem)


def _copied_columns(columns: Iterable[Any]) -> Iterator[Any]:
    return (fixed(column) if isinstance(column, np.ndarray) else column for column in columns)


def _outlinks(url: Url, links: Sequence[Link]) -> tuple[Link, ...]:
    first: dict[Url, Link] = {}
    for link in links:
        first.setdefault(link.url, link)
    first.pop(url, None)
    return tuple(first.values())


def _unpack(data: bytes, parts: Parts | None, check: bool) -> Record:
    begin = 4 + _LENGTH.unpack_from(data)[0]
    head = json.loads(data[4:begin].decode("utf-8", "surrogatepass"))
    number, url, title, noindex, links, analysers, has_leaves, has_elements, sizes = head
    if number != FORMAT:
        raise ValueError(f"a record of format {number}, not {FORMAT}")
    if not all(type(size) is int and size >= 0 for size in sizes) or begin + sum(sizes) != len(data):
        raise ValueError("the columns of a record are not as long as it says")
    ends, whole = list(accumulate(sizes, initial=begin)), memoryview(data)
    columns = iter([whole[first:end] for first, end in pairwise(ends)])
    text = bytes(next(columns))
    rows = _read_links(links, *(bytes(next(columns)) for _ in range(4)))
    packed = {Analyser(words, stem): [next(columns) for _ in range(3)] for words, stem in analysers}
    leaf_columns = [next(columns) for _ in range(7 if has_leaves else 0)]
    element_columns = [next(columns) for _ in range(6 if has_elements else 0)]
    leaves = elements = None
    if leaf_columns:
        *arrays, words, tokens = leaf_columns
        leaves = Leaves._make([*map(_numbers, arrays), bytes(words), _numbers(tokens)])
    if element_columns:
        *arrays, tags, of_link = element_columns
        elements = Elements._make([*map(_numbers, arrays), tuple(unpack_terms(bytes(tags))), _numbers(of_link)])
    analysed = {
        analyser: _read_analysed(columns, leaves, check)
        for analyser, columns in packed.items()
        if parts is None or analyser in parts.counts
    }
    for analyser in () if parts is None else parts.counts:
        if analyser not in analysed and leaves is not None:
            analysed[analyser] = analyse(analyser, leaves.words, leaves.tokens)
    if check:
        _check(len(text.decode("utf-8", "surrogatepass")), links, leaves, elements)
    if parts is not None:
        leaves = leaves if parts.leaves or parts.elements else None
        elements = elements if parts.elements else None
    return Record(Url(str(url)), str(title), text, rows, analysed, leaves, elements, bool(noindex))


def _read_analysed(columns: Sequence[memoryview], leaves: Leaves | None, check: bool) -> Analysed:
    lines, times, of_word = columns
    counts = (TermCounts.from_bytes if check else TermCounts)(bytes(lines), bytes(times))
    if leaves is None:
        return Analysed(counts)
    found = _numbers(of_word)
    if check:
        _check_range("term", found, -1, len(counts))
        if len(found) != max(0, leaves.word_lines.count(b"\n") - 1):
            raise ValueError("the terms of a record do not fit its words")
    return Analysed(counts, found)


def _analysed_columns(analysed: Analysed) -> tuple[bytes, bytes, bytes]:
    return (*analysed.counts.to_bytes(), b"" if analysed.of_word is None else _packed(analysed.of_word))


def _read_links(size: int, urls: bytes, anchors: bytes, spellings: bytes, nofollow: bytes) -> list[Link]:
    if not size:
        return []
    columns = [part.decode("utf-8", "surrogatepass").split("\n") for part in (urls, anchors)]
    targets = list(map(sys.intern, columns[0]))  # pages of a site link to the same URLs: one string serves all
    spelled = spellings.decode("utf-8", "surrogatepass").split("\n") if spellings else targets
    flags: Sequence[bool] = list(map(bool, nofollow)) if nofollow else [False] * size
    rows = zip(targets, columns[1], spelled, range(size), flags, strict=True)
    links = [tuple.__new__(Link, row) for row in rows]  # as Link(*row), in half the time: some 100 a page
    if len(links) != size:
        raise ValueError("a record with another number of links than it says")
    return links


def _check(text: int, links: int, leaves: Leaves | None, elements: Elements | None) -> None:
    if leaves is not None:
        _check_leaves(leaves, text, links)
    if elements is not None:
        _check_elements(elements, 0 if leaves is None else leaves.size, links)


def _check_leaves(leaves: Leaves, text: int, links: int) -> None:
    size, tokens = leaves.size, len(leaves.tokens)
    first = leaves.first_token
    fits = len(leaves.end) == len(leaves.anchor) == len(leaves.heading) == len(first) - 1 == size
    if not fits or int(first[0]) != 0 or int(first[-1]) != tokens or (np.diff(first) < 0).any():
        raise ValueError("the leaves of a record do not fit together")
    _check_range("text", leaves.begin, 0, text + 1)
    _check_range("text", leaves.end, 0, text + 1)
    _check_range("anchor", leaves.anchor, -1, links)
    _check_range("heading", leaves.heading, -1, size + 1)
    _check_range("word", leaves.tokens, 0, len(leaves.words))


def _check_elements(elements: Elements, leaves: int, links: int) -> None:
    size = len(elements.parent)
    if not len(elements.first_leaf) == len(elements.end_leaf) == len(elements.tag) == size:
        raise ValueError("the elements of a record do not fit together")
    if len(elements.of_link) != links or (elements.parent >= np.arange(size)).any():
        raise ValueError("the elements of a record are no tree")
    _check_range("parent", elements.parent, -1, size)
    _check_range("leaf", elements.first_leaf, 0, leaves + 1)
    _check_range("leaf", elements.end_leaf, 0, leaves + 1)
    _check_range("tag", elements.tag, 0, len(elements.tags))
    _check_range("element", elements.of_link, 0, size)


def _check_range(name: str, numbers: Numbers, least: int, end: int) -> None:
    if len(numbers) and (int(numbers.min()) < least or int(numbers.max()) >= end):
        raise ValueError(f"a record with an index of a {name} that it does not have")


def _lines(texts: Iterable[str]) -> bytes:
    return "\n".join(texts).encode("utf-8", "surrogatepass")


def _packed(numbers: Any) -> bytes:
    return np.asarray(numbers, dtype="<i4").tobytes()


def _numbers(column: memoryview) -> Numbers:
    return np.frombuffer(column, "<i4")
