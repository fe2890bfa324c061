"""Every link that was met: from which page to which URL, at which tag path, described by which words.

A link is a row. Rows of one page follow each other in document order. The table is bounded: beyond `most` rows those
of the least relevant pages are dropped, and the URLs that only they led to keep their last score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.page.link_text import PIECES, LinkText
from scenthound.strategies.hound.columns import Column
from scenthound.text.vocabulary import Ids

Whole = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
UNKNOWN, WAITING, FETCHED, GONE = range(4)
"""States of a URL: not offered, offered, fetched, failed."""


class LinkTable:
    """Links between pages, which are numbered as they are fetched, and URLs, numbered as they are met."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.urls: dict[str, int] = {}
        self.names: list[str] = []
        self.state, self.page_of = Column(np.int8), Column(np.int64)
        self.paths: dict[str, int] = {}
        self.source, self.target, self.path = Column(np.int64), Column(np.int64), Column(np.int64)
        self.is_first = Column(np.bool_)  # the first link of its page to this URL
        self.words, self.sizes = Column(np.int32), Column(np.int64)  # `PIECES` sizes for each link
        self.out_degree = Column(np.float64)  # by page: distinct URLs that it links to

    def number_of(self, url: str) -> int:
        """The number of a URL, new or not."""
        number = self.urls.setdefault(url, len(self.urls))
        if number == len(self.names):
            self.names.append(url)
            self.state.add([UNKNOWN])
            self.page_of.add([-1])
        return number

    def add_page(self, page: int, targets: Sequence[int], text: LinkText, ids: Ids) -> None:
        """Add the links of a page. `ids` are the vocabulary's numbers of the terms in `text`; -1 for none."""
        paths = np.array([self.paths.setdefault(path, len(self.paths)) for path in text.paths], dtype=np.int64)
        number = np.asarray(targets, dtype=np.int64)
        distinct, first = np.unique(number, return_index=True)
        is_first = np.zeros(len(number), dtype=np.bool_)
        is_first[first] = True
        words, sizes = ids[text.terms], np.diff(text.starts).astype(np.int64)
        if (words < 0).any():
            known = words >= 0
            ends = np.concatenate(([0], np.cumsum(known)))[text.starts]
            words, sizes = words[known], np.diff(ends)
        self.source.add(np.full(len(number), page))
        self.target.add(number)
        self.path.add(paths[text.path] if len(paths) else np.zeros(0, dtype=np.int64))
        self.is_first.add(is_first)
        self.words.add(words)
        self.sizes.add(sizes)
        self.out_degree.add([len(distinct)])

    def __len__(self) -> int:
        return len(self.source)

    def bound(self, relevance: Reals) -> None:
        """Drop a quarter of the rows if there are too many: those of the least relevant pages."""
        if len(self) <= self.most:
            return
        source = self.source.values
        rows = np.bincount(source, minlength=len(relevance))
        order = np.argsort(relevance, kind="stable")
        dropped = order[np.cumsum(rows[order]) <= len(self) - self.most * 3 // 4]
        is_kept = np.ones(len(relevance), dtype=np.bool_)
        is_kept[dropped] = False
        keep = is_kept[source]
        keep_pieces = np.repeat(keep, PIECES)
        self.words.keep(np.repeat(keep_pieces, self.sizes.values))
        self.sizes.keep(keep_pieces)
        for column in (self.source, self.target, self.path, self.is_first):
            column.keep(keep)

    # ---- state

    COLUMNS = ("state", "page_of", "source", "target", "path", "is_first", "words", "sizes", "out_degree")

    def save(self) -> Mapping[str, Any]:
        columns = {name: self.__dict__[name].values.copy() for name in self.COLUMNS}
        return {**columns, "urls": list(self.names), "paths": list(self.paths)}

    def load(self, state: Mapping[str, Any]) -> None:
        self.names = list(state["urls"])
        self.urls = {url: number for number, url in enumerate(self.names)}
        self.paths = {path: number for number, path in enumerate(state["paths"])}
        for name in self.COLUMNS:
            column = self.__dict__[name]
            column.keep(np.zeros(len(column), dtype=np.bool_))
            column.add(np.asarray(state[name]))
