"""The words that describe each link of a page: its anchor, the text beside it, the heading above it, its address.

A pure view of a record, like those in `page.views`. The text beside a link ends at the border of its block (list item,
table cell, paragraph), because text outside describes something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from scenthound.model import Url
from scenthound.page.record import Record
from scenthound.page.tree_columns import Numbers, fixed
from scenthound.page.views.anchors import anchor_tokens, heading_leaves, token_terms
from scenthound.text.tokens import Analyser

ANCHOR, BESIDE, HEADING, ADDRESS = range(4)
"""The pieces of text that describe a link, in the order of their runs."""
PIECES = 4
REACH = 12
"""The number of tokens before and after the anchor that count as beside it."""
BLOCKS = frozenset(
    "address article aside blockquote body center dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header "
    "html li main nav ol p pre section table td th tr ul".split()
)
_NOT_LETTERS = re.compile(r"[^a-zA-Z]+")


class LinkText(NamedTuple):
    """The pieces of text of every link, as runs of term numbers."""

    extra: tuple[str, ...]
    """Terms that are not in the text of the page. Their numbers follow those of `record.counts(analyser).terms`."""
    terms: Numbers
    """All runs, one after the other."""
    starts: Numbers
    """Where each run begins, and where the last one ends: `PIECES` runs for each link."""
    paths: tuple[str, ...]
    """The distinct tag paths of links."""
    path: Numbers
    """The tag path of each link, as an index into `paths`."""


def link_text(record: Record, analyser: Analyser) -> LinkText:
    """The terms that describe each link, and its tag path.

    >>> from scenthound.testing import page_of
    >>> page = page_of("<h1>Clubs</h1><p>The best <a href=/golf-10>chess club</a> in town</p>")
    >>> view, names = link_text(page.record, Analyser("small")), page.record.counts(Analyser("small")).terms
    >>> words = [*names, *view.extra]
    >>> [[words[term] for term in view.terms[a:b]] for a, b in zip(view.starts, view.starts[1:])]
    [['chess', 'club'], ['best', 'town'], ['club'], ['golf']]
    >>> view.paths
    ('html/body/p/a',)
    """
    names = record.counts(analyser).terms
    term_ids = {name: index for index, name in enumerate(names)}
    tokens, first_token = token_terms(record, analyser), record.leaves.first_token.tolist()
    is_term = tokens >= 0  # -1 is a stop word
    terms, terms_before = tokens[is_term].tolist(), [0, *np.cumsum(is_term).tolist()]
    blocks, paths = _Blocks(record), dict[str, int]()
    runs: list[Sequence[int]] = []

    def between(begin: int, end: int) -> list[int]:
        return terms[terms_before[begin] : terms_before[end]]  # type: ignore[no-any-return]

    def of_text(text: str) -> list[int]:
        return [term_ids.setdefault(term, len(term_ids)) for term in analyser.terms(text)]

    path_of_link = np.zeros(len(record.links), dtype=np.int32)
    for link, (begin, end), (first, last) in zip(
        record.links, anchor_tokens(record), heading_leaves(record), strict=True
    ):
        block_begin, block_end = blocks.tokens_of(link.position)
        runs.append(between(begin, end) if end > begin else of_text(link.anchor))
        runs.append(between(max(begin - REACH, block_begin), begin) + between(end, min(end + REACH, block_end)))
        runs.append(between(first_token[first], first_token[last]))
        runs.append(of_text(address_text(link.url)))
        path_of_link[link.position] = paths.setdefault(blocks.path_of(link.position), len(paths))
    starts = np.zeros(len(runs) + 1, dtype=np.int32)
    np.cumsum(list(map(len, runs)), out=starts[1:])
    flat = np.fromiter(chain.from_iterable(runs), dtype=np.int32, count=int(starts[-1]))
    return LinkText(tuple(term_ids)[len(names) :], fixed(flat), fixed(starts), tuple(paths), fixed(path_of_link))


def address_text(url: Url) -> str:
    """The words of a URL's path and query.

    >>> address_text("http://a.test/wp/k/King_Arthur.htm?id=7")
    ' wp k King Arthur htm id '
    """
    _, _, path = url.partition("://")[2].partition("/")
    return _NOT_LETTERS.sub(" ", f"/{path} ")


class _Blocks:
    """The blocks and tag paths of a page's links."""

    def __init__(self, record: Record) -> None:
        elements = record.elements
        self._parent, self._tag = elements.parent.tolist(), elements.tag.tolist()
        self._of_link, self._tags = elements.of_link.tolist(), elements.tags
        self._is_block = [re.split("[#.]", tag, maxsplit=1)[0] in BLOCKS for tag in elements.tags]
        first_token = record.leaves.first_token
        self._begins, self._ends = first_token[elements.first_leaf], first_token[elements.end_leaf]
        self._all = (0, len(record.leaves.tokens))
        self._paths: dict[int, str] = {}

    def tokens_of(self, position: int) -> tuple[int, int]:
        """The tokens of the block that contains a link, as a slice of all tokens."""
        element = self._of_link[position]
        while element >= 0 and not self._is_block[self._tag[element]]:
            element = self._parent[element]
        return (int(self._begins[element]), int(self._ends[element])) if element >= 0 else self._all

    def path_of(self, position: int) -> str:
        """The tags from the root to a link."""
        above, element = list[int](), self._of_link[position]
        while element >= 0 and element not in self._paths:
            above.append(element)
            element = self._parent[element]
        path = self._paths[element] if element >= 0 else ""
        for element in reversed(above):
            path = self._paths[element] = f"{path}/{self._tags[self._tag[element]]}".lstrip("/")
        return path
