"""The record of a page: everything read from it, as an immutable table of columns.

`page.read` makes a record from HTML. The live crawl uses it as it is, a worker process sends its bytes, and a prepared
bed maps the same bytes from disk. Title, text and links are always there. The other parts cost time, so a record has
only the requested ones (`Parts`):

    counts      term frequencies of the whole page, for some analysers
    leaves      the runs of text between tags, with their tokens and the anchor and heading that contain each
    elements    the elements around links, as runs of leaves, with their tag path

Positions in the text are character offsets. Everything about links (anchor, window, element, heading) follows from
these columns by the pure functions of `page.views`.
"""

from __future__ import annotations

import json
import mmap
import struct
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from scenthound.errors import PartMissing, UnknownName
from scenthound.model import NOTHING, Link, Url
from scenthound.text.term_counts import SharedIds, TermCounts
from scenthound.text.tokens import Analyser

if TYPE_CHECKING:
    from scenthound.page.tree_columns import Elements, Leaves, Numbers

FORMAT = 2  # version of `to_bytes`; raise it when the bytes change
_LENGTH = struct.Struct("<I")
_read_json = json.JSONDecoder().raw_decode  # half the time of `json.loads`: every visit in the lab reads a head
_TEXT_COLUMNS, _ANALYSED_COLUMNS, _LEAF_COLUMNS, _ELEMENT_COLUMNS = 5, 3, 7, 6


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a page that are read besides title, text and links. Elements imply leaves."""

    counts: tuple[Analyser, ...] = ()
    leaves: bool = False
    elements: bool = False

    def __or__(self, other: Parts) -> Parts:
        counts = tuple(dict.fromkeys((*self.counts, *other.counts)))
        return Parts(counts, self.leaves or other.leaves, self.elements or other.elements)


EVERYTHING = Parts((Analyser(),), leaves=True, elements=True)


class Links(NamedTuple):
    """The links of a page: all of them, and its outlinks (rule 6)."""

    every: tuple[Link, ...]
    """All links in document order; several may lead to the same URL."""
    distinct: tuple[Link, ...]
    """The first link to each URL that may be followed, without links to the page itself."""
    barred: tuple[Url, ...] = ()
    """Other URLs, in document order: all links to them are marked nofollow."""

    @classmethod
    def of(cls, url: Url, links: Sequence[Link]) -> Links:
        first: dict[Url, Link] = {}
        for link in links:
            first.setdefault(link.url, link)
        first.pop(url, None)
        barred = _barred(links)
        if not barred:
            return cls(tuple(links), tuple(first.values()))
        allowed = tuple(link for link in first.values() if link.url not in barred)
        return cls(tuple(links), allowed, tuple(target for target in first if target in barred))


class Analysed(NamedTuple):
    """The terms that an analyser finds in a page."""

    counts: TermCounts
    of_word: Numbers | None = None
    """For each word of the page, the index of its term in `counts.terms`, -1 for a stop word; None without leaves."""


class Record:
    """A page's columns: immutable, and without references to other pages."""

    url: Url
    title: str
    noindex: bool
    """Whether its author asks not to be indexed."""
    nofollow: bool
    """Whether its author asks not to follow its links. Then all of them are barred."""
    links: tuple[Link, ...]
    """All links in document order; several may lead to the same URL."""
    outlinks: tuple[Link, ...]
    """The links that count (rule 6) and may be followed: the first to each URL, none to the page itself."""
    barred: tuple[Url, ...]
    """URLs that may not be followed from here, in document order: all links to them are marked nofollow."""
    refused: Mapping[str, int]
    """Links that are not in `links`, counted by reason: `not-http`, `bad-url`, `too-long`, `too-many-links`."""
    _text: str | bytes
    _analysed: Mapping[Hashable, Analysed]  # by the keys of analysers
    _leaves: Leaves | None
    _elements: Elements | None
    __slots__ = (
        "_analysed",
        "_elements",
        "_leaves",
        "_text",
        "barred",
        "links",
        "nofollow",
        "noindex",
        "outlinks",
        "refused",
        "title",
        "url",
    )

    def __init__(
        self,
        url: Url,
        title: str,
        text: str | bytes,
        links: Sequence[Link] | Links,
        analysed: Mapping[Hashable, Analysed] = MappingProxyType({}),
        leaves: Leaves | None = None,
        elements: Elements | None = None,
        noindex: bool = False,
        nofollow: bool = False,
        refused: Mapping[str, int] = NOTHING,
    ) -> None:
        """`analysed` is by the keys of analysers."""
        every, distinct, barred = links if isinstance(links, Links) else Links.of(url, links)
        assign = object.__setattr__  # our own `__setattr__` refuses
        assign(self, "url", url)
        assign(self, "title", title)
        assign(self, "noindex", noindex)
        assign(self, "nofollow", nofollow)
        assign(self, "refused", MappingProxyType(dict(refused)) if refused else NOTHING)
        assign(self, "links", every)
        assign(self, "outlinks", distinct)
        assign(self, "barred", barred)
        assign(self, "_text", text)
        assign(self, "_analysed", MappingProxyType(dict(analysed)))
        assign(self, "_leaves", leaves)
        assign(self, "_elements", elements)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a record is immutable: its `{name}` can't be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a record is immutable: its `{name}` can't be changed")

    @property
    def text(self) -> str:
        """All text in document order, including title and anchors, without scripts and styles."""
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
        """Term frequencies of the text; computed now if they were not requested when the page was read."""
        known = self._analysed.get(analyser.key)
        if known is not None:
            return known.counts
        if self._leaves is not None:  # the same terms in the same order as for `analysed`
            return self.analysed(analyser).counts
        return TermCounts.of(analyser.counts(self.text))

    def analysed(self, analyser: Analyser) -> Analysed:
        """The terms of the page's words, for views that use leaves."""
        result = self._analysed.get(analyser.key)
        if result is None or result.of_word is None:
            from scenthound.page.tree_columns import analyse

            result = analyse(analyser, self.leaves.words, self.leaves.tokens)
        return result

    # ---- as bytes

    def to_bytes(self) -> bytes:
        """The record as bytes: a JSON head with the sizes of the columns, then the columns."""
        links, leaves, elements = self.links, self._leaves, self._elements
        # An analyser with the caller's own stop list, or of another class, has no name that another process would know.
        portable = [Analyser(*key) for key in self._analysed if isinstance(key, tuple) and isinstance(key[0], str)]
        urls, anchors, spellings, _, nofollow = zip(*links, strict=True) if links else ((),) * 5
        columns = [
            self._text if isinstance(self._text, bytes) else self._text.encode("utf-8", "surrogatepass"),
            _lines(urls),
            _lines(anchors),
            b"" if spellings == urls else _lines(spellings),
            bytes(nofollow) if True in nofollow else b"",
            *(
                column
                for analyser in portable
                for column in _analysed_columns(
                    self._analysed[analyser.key] if leaves is None else self.analysed(analyser)
                )
            ),
        ]
        if leaves is not None:
            columns += leaves.to_columns()
        if elements is not None:
            columns += elements.to_columns()
        analysers = [[analyser.stop_words, analyser.stem] for analyser in portable]
        about = [FORMAT, self.url, self.title, self.noindex, len(links), analysers]
        head = [*about, leaves is not None, elements is not None, list(map(len, columns)), self.nofollow]
        if self.refused:
            head.append(dict(self.refused))
        packed_head = json.dumps(head, separators=(",", ":")).encode()
        return b"".join((_LENGTH.pack(len(packed_head)), packed_head, *columns))

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        parts: Parts | None = None,
        shared: Sequence[SharedIds] = (),
        outlinks: Sequence[int] | None = None,
    ) -> Record:
        """The inverse of `to_bytes`, for all `parts` or only some. Raises ValueError for any other bytes.

        `shared` are ids of its terms, in the order of the analysers that it was read with; `outlinks` are the positions
        of the outlinks, if known.
        """
        try:
            head, begin = _read_head(data, 0)
            _check_head(head)
            if begin + sum(head.sizes) != len(data):
                raise ValueError("the columns of a record do not have the sizes in its head")
            keys = [Analyser(*named).key for named in head.analysers]  # raises for an unknown stop list
            ids = dict(zip(keys, shared, strict=bool(shared)))
            record = _unpack(data, _layout(data, head, begin, outlinks=outlinks), parts, {}, ids)
            _check(record)
        except (
            struct.error, TypeError, AttributeError, IndexError, KeyError, RecursionError, OverflowError, UnknownName,
        ) as error:  # fmt: skip
            raise ValueError(f"these bytes are not a record: {error}") from error
        return record

    @classmethod
    def from_file(
        cls,
        source: bytes | mmap.mmap,
        layout: Layout,
        parts: Parts,
        counts: Mapping[Hashable, TermCounts] = MappingProxyType({}),
        shared: Mapping[Hashable, SharedIds] = MappingProxyType({}),
    ) -> Record:
        """A record from a file that this program wrote, so it is not checked again. It copies only its own bytes.

        `counts` are term counts by analysers that the record does not have, `shared` are ids of the terms that it has,
        both by the keys of the analysers.
        """
        return _unpack(source, layout, parts, counts, shared)


class Layout(NamedTuple):
    """Where the columns of a record are, and its links: they take longest to read, and every visit needs them."""

    head: _Head
    bounds: Sequence[int]
    """The offset at which each column begins, and the end of the last one."""
    links: Links


def read_layout(
    source: bytes | mmap.mmap, begin: int, urls: Sequence[Url] | None = None, outlinks: Sequence[int] | None = None
) -> Layout:
    """The layout of the record that begins at `begin`. `urls` of its links (as strings that records share) and the
    positions of its `outlinks` are passed in if they are known."""
    return _layout(source, *_read_head(source, begin), urls, outlinks)


def _layout(
    source: bytes | mmap.mmap,
    head: _Head,
    begin: int,
    urls: Sequence[Url] | None = None,
    outlinks: Sequence[int] | None = None,
) -> Layout:
    """As `read_layout`, from the head; `begin` is the offset of the first column."""
    bounds = array("q", accumulate(head.sizes, initial=begin))
    columns = _Columns(source, bounds)
    columns.skip(1 if urls is None else 2)
    targets: Sequence[str] = _split(columns.take()) if urls is None else urls
    links = _read_links(head.links, targets, columns.take(), columns.take(), columns.take())
    if outlinks is None:
        return Layout(head, bounds, Links.of(Url(head.url), links))
    barred: tuple[Url, ...] = ()
    if bounds[5] > bounds[4]:  # most pages have no flags
        marked = _barred(links)
        barred = tuple(dict.fromkeys(link.url for link in links if link.url in marked and link.url != head.url))
    return Layout(head, bounds, Links(links, tuple(map(links.__getitem__, outlinks)), barred))


def _unpack(
    source: bytes | mmap.mmap,
    layout: Layout,
    parts: Parts | None,
    counts: Mapping[Hashable, TermCounts],
    shared: Mapping[Hashable, SharedIds],
) -> Record:
    head, bounds = layout.head, layout.bounds
    wants_elements = parts is None or parts.elements
    wants_leaves = head.has_leaves and (wants_elements or parts is None or parts.leaves)
    wanted_keys = None if parts is None else [analyser.key for analyser in parts.counts]
    analysed = {key: Analysed(term_counts) for key, term_counts in counts.items()}
    word_columns: dict[Hashable, bytes] = {}
    column = _TEXT_COLUMNS
    for words, stem in head.analysers:
        key = (words, stem)
        if wanted_keys is None or key in wanted_keys:
            begin, middle, end, last = bounds[column : column + _ANALYSED_COLUMNS + 1]
            analysed[key] = Analysed(TermCounts(source[begin:middle], source[middle:end], shared.get(key)))
            word_columns[key] = source[end:last]
        column += _ANALYSED_COLUMNS
    text = source[bounds[0] : bounds[1]]
    if not wants_leaves:  # nor elements, which imply them
        return Record(
            Url(head.url),
            head.title,
            text,
            layout.links,
            analysed,
            noindex=head.noindex,
            nofollow=head.nofollow,
            refused=head.refused,
        )
    from scenthound.page.tree_columns import (  # imports numpy, which records without leaves do not need
        Elements,
        Leaves,
        numbers_of,
    )

    analysed.update({key: Analysed(analysed[key].counts, numbers_of(word_columns[key])) for key in word_columns})
    columns = _Columns(source, bounds[column:])
    leaves = Leaves.from_columns([columns.take() for _ in range(_LEAF_COLUMNS)])
    elements: Elements | None = None
    if head.has_elements and wants_elements:
        elements = Elements.from_columns([columns.take() for _ in range(_ELEMENT_COLUMNS)])
    return Record(
        Url(head.url),
        head.title,
        text,
        layout.links,
        analysed,
        leaves,
        elements,
        head.noindex,
        head.nofollow,
        head.refused,
    )


class _Head(NamedTuple):
    """The JSON in front of the columns."""

    format: int
    url: str
    title: str
    noindex: bool
    links: int
    analysers: list[list[Any]]
    has_leaves: bool
    has_elements: bool
    sizes: list[int]
    nofollow: bool
    refused: Mapping[str, int] = NOTHING


def _read_head(source: bytes | mmap.mmap, begin: int) -> tuple[_Head, int]:
    """The head of a record, and where its columns begin."""
    end = begin + 4 + _LENGTH.unpack(source[begin : begin + 4])[0]
    text = source[begin + 4 : end].decode()
    head, size = _read_json(text)
    if size != len(text):
        raise ValueError("a record with trailing data in its head")
    return _Head(*head), end


def _check_head(head: _Head) -> None:
    if head.format != FORMAT:
        raise ValueError(f"a record of format {head.format}, not {FORMAT}")
    if not isinstance(head.url, str) or not isinstance(head.title, str):
        raise ValueError("a record without URL or title")
    if not all(type(flag) is bool for flag in (head.noindex, head.nofollow, head.has_leaves, head.has_elements)):
        raise ValueError("a record without flags for its parts")
    if not all(type(size) is int and size >= 0 for size in (head.links, *head.sizes)):
        raise ValueError("a record with an invalid size")
    if not all(isinstance(name, str) and type(count) is int and count > 0 for name, count in head.refused.items()):
        raise ValueError("a record with an invalid count of refused links")
    if not all(isinstance(words, str) and type(stem) is bool for words, stem in head.analysers):
        raise ValueError("a record with an invalid analyser")
    if head.has_elements and not head.has_leaves:
        raise ValueError("a record with elements but without leaves")
    columns = _TEXT_COLUMNS + _ANALYSED_COLUMNS * len(head.analysers)
    columns += _LEAF_COLUMNS * head.has_leaves + _ELEMENT_COLUMNS * head.has_elements
    if len(head.sizes) != columns:
        raise ValueError(f"a record with {len(head.sizes)} columns instead of {columns}")


class _Columns:
    """Reads the columns of a record one after the other. Skipped columns are not read."""

    __slots__ = ("_bounds", "_next", "_source")

    def __init__(self, source: bytes | mmap.mmap, bounds: Sequence[int]) -> None:
        self._source, self._bounds, self._next = source, bounds, 0

    def take(self) -> bytes:
        self._next += 1
        return self._source[self._bounds[self._next - 1] : self._bounds[self._next]]

    def skip(self, columns: int) -> None:
        self._next += columns


def _analysed_columns(analysed: Analysed) -> tuple[bytes, bytes, bytes]:
    return (*analysed.counts.to_bytes(), b"" if analysed.of_word is None else analysed.of_word.astype("<i4").tobytes())


def _read_links(
    size: int, targets: Sequence[str], anchors: bytes, spellings: bytes, nofollow: bytes
) -> tuple[Link, ...]:
    if not size:
        return ()
    spelled = _split(spellings) if spellings else targets
    flags: Sequence[bool] = list(map(bool, nofollow)) if nofollow else [False] * size
    rows = zip(targets, _split(anchors), spelled, range(size), flags, strict=True)
    links = tuple(map(tuple.__new__, repeat(Link), rows))  # as Link(*row), in a third of the time: about 100 per page
    if len(links) != size:
        raise ValueError("a record with a wrong number of links")
    return links


def _barred(links: Sequence[Link]) -> frozenset[Url]:
    barred = frozenset([link.url for link in links if link.nofollow])
    return barred.difference([link.url for link in links if not link.nofollow]) if barred else barred


def _check(record: Record) -> None:
    """Raise ValueError unless the columns of a record fit together."""
    for counts, _ in record._analysed.values():
        counts.check()
    if record._leaves is not None:
        from scenthound.page.tree_columns import check_tree

        analysed = record._analysed.values()
        check_tree(record._leaves, record._elements, analysed, len(record.text), len(record.links))


def _split(lines: bytes) -> list[str]:
    return lines.decode("utf-8", "surrogatepass").split("\n")


def _lines(texts: Iterable[str]) -> bytes:
    return "\n".join(texts).encode("utf-8", "surrogatepass")
