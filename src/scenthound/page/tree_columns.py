"""The columns of a record that describe its tree, as numpy arrays: runs of text, and the elements around links."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.page.record import Analysed
from scenthound.text.term_counts import TermCounts, TermNumbers, pack_terms, unpack_terms
from scenthound.text.tokens import Analyser

Numbers = npt.NDArray[np.int32]


class Leaves(NamedTuple):
    """The non-empty runs of text of a page, in document order, and the tokens of all of them."""

    begin: Numbers
    """Where each leaf begins in the text."""
    end: Numbers
    anchor: Numbers
    """The position of the link whose anchor contains the leaf; -1 if there is none."""
    heading: Numbers
    """The number of the heading (`h1` to `h6`, in document order) that contains the leaf; -1 if there is none."""
    first_token: Numbers
    """Where in `tokens` each leaf begins, and where the last one ends: one more than there are leaves."""
    word_lines: bytes
    """The distinct raw tokens, including stop words, in order of first occurrence, as lines."""
    tokens: Numbers
    """Every token of the page, as an index into `words`."""

    @property
    def words(self) -> list[str]:
        """The distinct raw tokens."""
        return unpack_terms(self.word_lines)

    @property
    def size(self) -> int:
        """The number of leaves."""
        return len(self.begin)

    def to_columns(self) -> list[bytes]:
        return [*map(_packed, self[:5]), self.word_lines, _packed(self.tokens)]

    @classmethod
    def from_columns(cls, columns: Sequence[bytes]) -> Leaves:
        """The inverse of `to_columns`."""
        return cls._make([*map(numbers_of, columns[:5]), columns[5], numbers_of(columns[6])])


class Elements(NamedTuple):
    """The elements of the links and all elements above them. A parent comes before its children."""

    parent: Numbers
    """The index of the parent element; -1 for the root."""
    first_leaf: Numbers
    end_leaf: Numbers
    """An element contains the leaves from `first_leaf` up to, but not including, `end_leaf`."""
    tag: Numbers
    """An index into `tags`."""
    tags: tuple[str, ...]
    """Tags with id and first class, such as `div#nav.wide`."""
    of_link: Numbers
    """The element of each link."""

    def to_columns(self) -> list[bytes]:
        return [*map(_packed, self[:4]), pack_terms(self.tags), _packed(self.of_link)]

    @classmethod
    def from_columns(cls, columns: Sequence[bytes]) -> Elements:
        """The inverse of `to_columns`."""
        return cls._make([*map(numbers_of, columns[:4]), tuple(unpack_terms(columns[4])), numbers_of(columns[5])])


def analyse(analyser: Analyser, words: list[str], tokens: Numbers, numbers: TermNumbers | None = None) -> Analysed:
    """The terms of a page's words, and how often each occurs among its tokens.

    >>> analyse(Analyser("small"), ["the", "clubs", "club"], np.array([0, 1, 2, 1])).counts
    TermCounts.of({'club': 3})
    """
    term_ids: dict[str, int] = {}
    terms = analyser.term_of_each(words)
    term_of_word = [-1 if term is None else term_ids.setdefault(term, len(term_ids)) for term in terms]
    table = np.array([*term_of_word, -1], dtype=np.int32)  # one extra, for a page without words
    counts = np.bincount(table[tokens] + 1, minlength=len(term_ids) + 1)[1:]
    shared_ids = None if numbers is None else numbers.of(term_ids.keys())
    return Analysed(TermCounts(pack_terms(term_ids), counts.astype("<i4").tobytes(), shared_ids), fixed(table[:-1]))


def fixed(column: Numbers) -> Numbers:
    """A read-only copy of a column, backed by a byte string.

    >>> fixed(np.array([1, 2], dtype=np.int32)).flags.writeable
    False
    """
    return np.frombuffer(np.asarray(column, dtype=np.int32).tobytes(), np.int32)


def check_tree(leaves: Leaves, elements: Elements | None, analysed: Iterable[Analysed], text: int, links: int) -> None:
    """Raise ValueError unless the columns match each other, the number of characters `text` and of links `links`."""
    for counts, of_word in analysed:
        if of_word is not None:
            _check_range("term", of_word, -1, len(counts))
            if len(of_word) != max(0, leaves.word_lines.count(b"\n") - 1):
                raise ValueError("the terms of a record do not fit its words")
    _check_leaves(leaves, text, links)
    if elements is not None:
        _check_elements(elements, leaves.size, links)


def _check_leaves(leaves: Leaves, text: int, links: int) -> None:
    size, tokens = leaves.size, len(leaves.tokens)
    first = leaves.first_token
    fits = len(leaves.end) == len(leaves.anchor) == len(leaves.heading) == len(first) - 1 == size
    if not fits or int(first[0]) != 0 or int(first[-1]) != tokens or (np.diff(first) < 0).any():
        raise ValueError("the leaves of a record do not fit together")
    _check_spans("text", leaves.begin, leaves.end, text)
    _check_range("anchor", leaves.anchor, -1, links)
    _check_range("heading", leaves.heading, -1, sys.maxsize)  # headings without text have numbers too
    _check_range("word", leaves.tokens, 0, len(leaves.words))


def _check_elements(elements: Elements, leaves: int, links: int) -> None:
    size = len(elements.parent)
    if not len(elements.first_leaf) == len(elements.end_leaf) == len(elements.tag) == size:
        raise ValueError("the elements of a record do not fit together")
    if len(elements.of_link) != links or (elements.parent >= np.arange(size)).any():
        raise ValueError("the elements of a record are not a tree")
    _check_range("parent", elements.parent, -1, size)
    _check_spans("leaf", elements.first_leaf, elements.end_leaf, leaves)
    _check_range("tag", elements.tag, 0, len(elements.tags))
    _check_range("element", elements.of_link, 0, size)


def _check_spans(name: str, begins: Numbers, ends: Numbers, size: int) -> None:
    _check_range(name, begins, 0, size + 1)
    _check_range(name, ends, 0, size + 1)
    if (begins > ends).any():
        raise ValueError(f"a record with a span of {name} that ends before it begins")


def _check_range(name: str, numbers: Numbers, least: int, end: int) -> None:
    if len(numbers) and (int(numbers.min()) < least or int(numbers.max()) >= end):
        raise ValueError(f"a record with a {name} index out of range")


def numbers_of(column: bytes) -> Numbers:
    return np.frombuffer(column, "<i4")


def _packed(numbers: Any) -> bytes:
    return np.asarray(numbers, dtype="<i4").tobytes()
