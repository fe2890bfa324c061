"""Every link found so far: its page, its target URL, its tag path and the words around it (sheet 80.1).

A link is a row. Rows of one page follow each other in document order. The table is bounded: beyond `most` rows, those
of the least relevant pages are dropped, and the waiting URLs that only these rows led to are forgotten. Forgotten URLs
keep their last score, and count as new when another link to them is found.

A URL has a shape: its depth, its extension and the kind of words in its last path segment. Names of the same kind of
thing often look alike: people have two capitalised words, concepts one; lists begin with a small letter or contain a
year. The shape captures this without the words themselves.

The columns are arrays that grow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import compress, islice
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from scenthound.page.link_text import PIECES, LinkText
from scenthound.text.vocabulary import Ids


class Column:
    """An array that grows at its end.

    >>> column = Column(np.int32)
    >>> column.add([1, 2, 3])
    >>> column.keep(column.values != 2)
    >>> column.values.tolist()
    [1, 3]
    """

    __slots__ = ("_array", "_size")

    def __init__(self, kind: npt.DTypeLike) -> None:
        self._array: npt.NDArray[Any] = np.zeros(64, dtype=kind)
        self._size = 0

    def add(self, values: npt.ArrayLike | Sequence[Any]) -> None:
        new = np.asarray(values, dtype=self._array.dtype)
        size = self._size + len(new)
        if size > len(self._array):
            grown = np.zeros(max(size, 2 * len(self._array)), dtype=self._array.dtype)
            grown[: self._size] = self._array[: self._size]
            self._array = grown
        self._array[self._size : size] = new
        self._size = size

    def append(self, value: float) -> None:
        """Add one value."""
        size = self._size
        if size == len(self._array):
            self.add([value])
            return
        self._array[size] = value
        self._size = size + 1

    def keep(self, which: npt.NDArray[np.bool_]) -> None:
        """Keep only the values where `which` is true."""
        self._array = self._array[: self._size][which]
        self._size = len(self._array)

    @property
    def values(self) -> npt.NDArray[Any]:
        """The values so far; may be written to. Only valid until the next `add` or `keep`."""
        return self._array[: self._size]

    def __len__(self) -> int:
        return self._size


class WordRuns:
    """A list of word ids for each link, stored in one array."""

    __slots__ = ("sizes", "words")

    def __init__(self) -> None:
        self.words, self.sizes = Column(np.int32), Column(np.int32)

    def add(self, words: npt.NDArray[np.int32], sizes: npt.NDArray[np.int32]) -> None:
        self.words.add(words)
        self.sizes.add(sizes)

    def of_each_word(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Repeat the value of each run for each of its words."""
        return np.repeat(values, self.sizes.values)

    def keep(self, which: npt.NDArray[np.bool_]) -> None:
        """Keep only the runs where `which` is true."""
        self.words.keep(self.of_each_word(which))
        self.sizes.keep(which)

    def mean_weight(self, weights: npt.NDArray[np.float64], first: int = 0) -> npt.NDArray[np.float64]:
        """The sum of the weights of each run's words, divided by sqrt(1 + their number), for runs from `first` on.

        >>> runs = WordRuns()
        >>> runs.add(np.array([0, 1, 1]), np.array([2, 0, 1]))
        >>> runs.mean_weight(np.array([1.0, 2.0])).round(3).tolist()
        [1.732, 0.0, 1.414]
        """
        sizes = self.sizes.values
        words = self.words.values[int(sizes[:first].sum()) :]
        return np.asarray(sums(weights[words], sizes[first:]) / np.sqrt(1 + sizes[first:]))


def sums(values: npt.NDArray[np.float64], sizes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
    """The sum of each run of values. Runs are consecutive and have these sizes.

    >>> sums(np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1])).tolist()
    [3.0, 0.0, 3.0]
    """
    totals = np.zeros(len(sizes))
    filled = np.flatnonzero(sizes)
    if len(filled):
        ends = np.cumsum(sizes[filled])
        totals[filled] = np.add.reduceat(values, ends - sizes[filled])
    return totals


MOST_WORDS = 5
MOST_SEGMENTS = 4
LONGEST_EXTENSION = 5
_WORDS = re.compile(r"[^\W_]+")


def address_shape(url: str) -> str:
    """Path depth, `?` if there is a query, the file extension, and the kind of each word in the last segment.

    A word is `X` if it begins with a capital, `0` with a digit, else `x`.

    >>> address_shape("http://a.test/wp/j/James_Joyce.htm"), address_shape("http://a.test/b/2007-review/")
    ('3htm:XX', '3:0x')
    >>> address_shape("http://a.test/"), address_shape("http://a.test/item.php?id=7")
    ('1:', '1?php:x')
    """
    path, _, query = url.partition("://")[2].partition("/")[2].partition("?")
    name = path.rstrip("/").rpartition("/")[2]
    if "%" in name:
        name = unquote(unquote(name))
    stem, _, extension = name.rpartition(".")
    if not stem or len(extension) > LONGEST_EXTENSION:
        stem, extension = name, ""
    kinds = ""
    for word in _WORDS.findall(stem)[:MOST_WORDS]:
        kinds += "0" if word[0].isdigit() else "X" if word[0].isupper() else "x"
    return f"{min(path.count('/') + 1, MOST_SEGMENTS)}{'?' if query else ''}{extension}:{kinds}"


Whole = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
UNKNOWN, WAITING, FETCHED, GONE, ASIDE = range(5)
"""States of a URL: not offered; offered; fetched; failed; no longer ranked, since the crawl does not take it."""


class LinkTable:
    """Links from pages to URLs. Pages are numbered in fetch order, URLs in the order in which they are found."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.urls: dict[str, int] = {}
        self.names: list[str] = []
        self.state, self.page_of = Column(np.int8), Column(np.int64)
        self.shapes: dict[str, int] = {}
        self.shape = Column(np.int64)  # address shape, by URL
        self.paths: dict[str, int] = {}
        self.source, self.target, self.path = Column(np.int64), Column(np.int64), Column(np.int64)
        self.is_first = Column(np.bool_)  # whether it is the first link of its page to this URL
        self.pieces = tuple(WordRuns() for _ in range(PIECES))  # words of anchor, beside, heading, address
        self.topic_scores = tuple(Column(np.float64) for _ in range(PIECES))  # T of each piece, for `features`
        self.out_degree = Column(np.float64)  # by page: number of distinct URLs that it links to

    def number_of(self, url: str) -> int:
        """The number of a URL, which is added if it is new."""
        return self.numbers_of([url])[0]

    def numbers_of(self, urls: Sequence[str]) -> list[int]:
        """The numbers of URLs, which are added if they are new."""
        url_numbers = self.urls
        numbers = [url_numbers.setdefault(url, len(url_numbers)) for url in urls]
        new = len(url_numbers) - len(self.names)
        if new:
            self.names.extend(islice(reversed(url_numbers), new))
            self.names[-new:] = reversed(self.names[-new:])
            self.state.add(np.full(new, UNKNOWN))
            self.page_of.add(np.full(new, -1))
            self._add_shapes(new)
        return numbers

    def _add_shapes(self, new: int) -> None:
        shapes = self.shapes
        self.shape.add([shapes.setdefault(address_shape(url), len(shapes)) for url in self.names[-new:]])

    def add_page(self, page: int, targets: Sequence[int], text: LinkText, ids: Ids) -> None:
        """Add the links of a page. `ids` are the vocabulary ids of the terms in `text`; -1 for unknown terms."""
        paths = np.array([self.paths.setdefault(path, len(self.paths)) for path in text.paths], dtype=np.int64)
        target = np.asarray(targets, dtype=np.int64)
        distinct, first = np.unique(target, return_index=True)
        is_first = np.zeros(len(target), dtype=np.bool_)
        is_first[first] = True
        words, sizes = ids[text.terms], np.diff(text.starts)
        is_known = words >= 0  # a full vocabulary has no id for a new word
        if not is_known.all():
            sizes = np.diff(np.concatenate(([0], np.cumsum(is_known)))[text.starts])
            words = words[is_known]
        piece_of_word = np.repeat(np.tile(np.arange(PIECES), len(target)), sizes)
        for piece, runs in enumerate(self.pieces):
            runs.add(words[piece_of_word == piece], sizes[piece::PIECES])
        self.source.add(np.full(len(target), page))
        self.target.add(target)
        self.path.add(paths[text.path] if len(paths) else np.zeros(0, dtype=np.int64))
        self.is_first.add(is_first)
        self.out_degree.append(len(distinct))

    def __len__(self) -> int:
        return len(self.source)

    def first_rows(self) -> Whole:
        """The first row of every linked URL."""
        rows = np.full(len(self.names), -1, dtype=np.int64)
        rows[self.target.values[::-1]] = np.arange(len(self))[::-1]  # of repeated indices, the last one wins
        return rows[rows >= 0]

    def trim(self, relevance: Reals) -> bool:
        """If there are too many rows, drop those of the least relevant pages. Returns whether it did.

        Three quarters of `most` rows, or a little more, are left.
        """
        if len(self) <= self.most:
            return False
        source = self.source.values
        rows = np.bincount(source, minlength=len(relevance))
        order = np.argsort(relevance, kind="stable")
        dropped = order[np.cumsum(rows[order]) <= len(self) - self.most * 3 // 4]
        is_kept = np.ones(len(relevance), dtype=np.bool_)
        is_kept[dropped] = False
        keep = is_kept[source]
        for runs in self.pieces:
            runs.keep(keep)
        for column in (self.source, self.target, self.path, self.is_first):
            column.keep(keep)
        self.forget_scores()
        return True

    def can_be_forgotten(self) -> Flags:
        """For each URL, whether no row leads to it and it was neither fetched nor missed."""
        is_linked = np.zeros(len(self.names), dtype=np.bool_)
        is_linked[self.target.values] = True
        return ~is_linked & ~np.isin(self.state.values, (FETCHED, GONE))

    def keep_urls(self, keep: Flags) -> Whole:
        """Forget all other URLs, to which no row may lead. Returns the new number of each URL; -1: forgotten."""
        self.names = list(compress(self.names, keep.tolist()))
        self.urls = {url: number for number, url in enumerate(self.names)}
        numbers = np.where(keep, np.cumsum(keep) - 1, -1)
        for column in (self.state, self.page_of, self.shape):
            column.keep(keep)
        self.target.values[:] = numbers[self.target.values]
        return numbers

    def forget_scores(self) -> None:
        """Discard T of all rows, after the topic has changed or rows were dropped."""
        for column in self.topic_scores:
            column.keep(np.zeros(len(column), dtype=np.bool_))

    def score_new_rows(self, weights: Reals) -> list[Reals]:
        """T of each piece of every row, from the weights of words. Computed once per row, until `forget_scores`."""
        for runs, column in zip(self.pieces, self.topic_scores, strict=True):
            if len(column) < len(self):
                column.add(runs.mean_weight(weights, len(column)))
        return [column.values for column in self.topic_scores]

    # ---- saving

    COLUMNS = ("state", "page_of", "source", "target", "path", "is_first", "out_degree")

    def save(self) -> Mapping[str, Any]:
        columns = {name: self.__dict__[name].values.copy() for name in self.COLUMNS}
        words = [runs.words.values.copy() for runs in self.pieces]
        sizes = [runs.sizes.values.copy() for runs in self.pieces]
        return {**columns, "urls": list(self.names), "paths": list(self.paths), "words": words, "sizes": sizes}

    def load(self, state: Mapping[str, Any]) -> None:
        self.names = list(state["urls"])
        self.urls = {url: number for number, url in enumerate(self.names)}
        self.paths = {path: number for number, path in enumerate(state["paths"])}
        self.shapes = {}
        self.shape.keep(np.zeros(len(self.shape), dtype=np.bool_))
        if self.names:
            self._add_shapes(len(self.names))
        for name in self.COLUMNS:
            column = self.__dict__[name]
            column.keep(np.zeros(len(column), dtype=np.bool_))
            column.add(np.asarray(state[name]))
        for runs, words, sizes in zip(self.pieces, state["words"], state["sizes"], strict=True):
            runs.keep(np.zeros(len(runs.sizes), dtype=np.bool_))
            runs.add(np.asarray(words, dtype=np.int32), np.asarray(sizes, dtype=np.int32))
        self.forget_scores()
