"""A fetched page: its record, the candidate that led to it, a cache of its views, and the views computed in advance.

The views of `AHEAD` are computed by worker processes, because the crawl's own process is the bottleneck. Each is a pure
function of the record that returns bytes, which can be sent as they are. `Page.view` returns the bytes that were sent,
or computes them if the page was read in the crawl's process. Their numbers are CRC-32 as uint32, the same in every
process; collisions among a few hundred pages are very rare.
"""

from __future__ import annotations

import time
import zlib
from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from scenthound.model import NOTHING, Candidate, Link, Url
from scenthound.page.record import Record
from scenthound.text.tokens import Analyser

T = TypeVar("T")
P = ParamSpec("P")
_new: Callable[..., Candidate] = tuple.__new__
_MISSING = object()


class KeptViews(Protocol):
    """A cache of a page's views from earlier visits to it."""

    def key(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any | None:
        """The cache key of a view; None if such views are not cached."""
        ...

    def find(self, key: Any) -> Any | None:
        """A cached view from an earlier visit, as a copy for this visit; None if there is none."""
        ...

    def make(self, key: Any) -> Any | None:
        """Compute the view and cache it; None if the cache is gone."""
        ...


class Page:
    """A fetched page, as a strategy receives it."""

    __slots__ = ("_kept", "_views", "candidate", "clock", "reading_seconds", "record", "size", "status", "url")

    def __init__(
        self,
        url: Url,
        candidate: Candidate,
        record: Record,
        status: int = 200,
        size: int = 0,
        kept: KeptViews | None = None,
        ahead: Mapping[Any, Any] = NOTHING,
    ) -> None:
        """`ahead` maps functions of the record to views that were computed in advance."""
        self.url, self.candidate, self.record = url, candidate, record
        self.status, self.size = status, size
        self.reading_seconds = 0.0
        """Seconds spent in `view`: reading the page, not ranking its links (rule 14 keeps them apart)."""
        self.clock: Callable[[], float] = time.perf_counter
        """The clock for `reading_seconds`, set by the loop: in the lab CPU time, which costs a system call per view."""
        self._views: dict[Hashable, Any] = {(function, ()): view for function, view in ahead.items()}
        self._kept = kept

    @property
    def title(self) -> str:
        return self.record.title

    @property
    def text(self) -> str:
        return self.record.text

    @property
    def links(self) -> Sequence[Link]:
        """All links in document order; several may lead to the same URL."""
        return self.record.links

    @property
    def outlinks(self) -> Sequence[Link]:
        """The links that count (rule 6): the first link to each URL, without links to the page itself."""
        return self.record.outlinks

    def view(self, function: Callable[Concatenate[Record, P], T], *arguments: P.args, **named: P.kwargs) -> T:
        """`function(record, *arguments)`, computed once per page. The function must be pure, its arguments hashable.

        >>> from scenthound.testing import page_of
        >>> page_of("<a href=/x>chess club</a>").view(lambda record: len(record.links))
        1
        """
        key: Hashable = (function, arguments, *named.items()) if named else (function, arguments)
        view = self._views.get(key, _MISSING)
        if view is _MISSING:
            view = self._views[key] = self._make_view(function, arguments, named)
        return view  # type: ignore[no-any-return]

    def _make_view(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        cache, clock = self._kept, self.clock
        key = None if named or cache is None else cache.key(function, arguments)
        view = None if key is None or cache is None else cache.find(key)
        if view is not None:
            return view
        before, earlier_seconds = clock(), self.reading_seconds
        view = None if key is None or cache is None else cache.make(key)
        if view is None:
            view = function(self.record, *arguments, **named)
        self.reading_seconds = earlier_seconds + clock() - before  # includes views that this view used
        return view

    def offer(
        self,
        link: Link,
        score: float,
        carry: Mapping[str, Any] = NOTHING,
        parts: Mapping[str, float] = NOTHING,
    ) -> Candidate:
        """A candidate for one of this page's links, with its parent, anchor and depth filled in."""
        url, anchor, spelling, _, _ = link
        depth = self.candidate.depth + 1
        fields = (url, score, carry, parts, self.url, anchor, depth, spelling, 0.0, False)
        return _new(Candidate, fields)  # same as `Candidate(...)`, in half the time; runs for every link of every page

    def offer_all(self, score: float, parts: Mapping[str, float] = NOTHING) -> list[Candidate]:
        """A candidate for each of `outlinks`, all with the same score."""
        depth = self.candidate.depth + 1
        return [
            _new(Candidate, (url, score, NOTHING, parts, self.url, anchor, depth, spelling, 0.0, False))
            for url, anchor, spelling, _, _ in self.record.outlinks
        ]


MOST_LINKS = 500
"""The maximum number of outlinks of a page that get numbers."""
LAST_BYTES = 1024
"""Bytes of terms that `last_terms` looks at: about 130 terms."""
ANALYSER = Analyser()  # the analyser of every live crawl: its terms are already counted

AheadView = Callable[[Record], bytes]


def outlink_numbers(record: Record) -> bytes:
    """A number for the URL of each of the first outlinks.

    >>> from scenthound.testing import page_of
    >>> array("I", outlink_numbers(page_of("<a href=http://x.test/>", "http://y.test/").record)).tolist()
    [2607666525]
    """
    return numbers_of([link.url for link in record.outlinks[:MOST_LINKS]])


def title_term_numbers(record: Record) -> bytes:
    """A number for each term of the title."""
    return numbers_of(ANALYSER.terms(record.title))


def last_terms(record: Record) -> list[bytes]:
    """The terms whose first occurrence is latest in the page.

    They belong to its content: the terms of menus first occur at the top.

    >>> from scenthound.testing import page_of
    >>> last_terms(page_of("<p>chess club").record)
    [b'chess', b'club']
    """
    lines, _ = record.counts(ANALYSER).to_bytes()
    return lines[-LAST_BYTES:].split(b"\n")[1:-1]


def last_term_numbers(record: Record) -> bytes:
    """A number for each of `last_terms`."""
    return _packed(last_terms(record))


def numbers_of(texts: Sequence[str]) -> bytes:
    """A number for each URL or term; none may contain a line break.

    >>> array("I", numbers_of(["http://x.test/", "http://y.test/"])).tolist(), numbers_of([])
    ([2607666525, 1025171177], b'')
    """
    return _packed("\n".join(texts).encode("utf-8", "surrogatepass").split(b"\n")) if texts else b""


def _packed(texts: Sequence[bytes]) -> bytes:
    return array("I", map(zlib.crc32, texts)).tobytes()


AHEAD: Mapping[str, AheadView] = MappingProxyType(
    {"outlinks": outlink_numbers, "title": title_term_numbers, "last terms": last_term_numbers}
)
"""All views of this module, by the names used in messages."""
