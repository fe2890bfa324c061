"""A fetched page: its record, and how the crawl got there."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from scenthound.model import NOTHING, Candidate, Link, Url
from scenthound.page.record import Record

T = TypeVar("T")
P = ParamSpec("P")
_new: Callable[..., Candidate] = tuple.__new__


class KeptViews(Protocol):
    """Views of a page from earlier visits to it."""

    def find(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any | None:
        """The view, for this visit alone; None if there is none from an earlier visit."""
        ...

    def make(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any | None:
        """The view, now worked out and kept; None if it is not one that is kept."""
        ...


class Page:
    """What a strategy is handed once a page has been fetched."""

    __slots__ = ("_kept", "_views", "candidate", "clock", "reading_seconds", "record", "size", "status", "url")

    def __init__(
        self,
        url: Url,
        candidate: Candidate,
        record: Record,
        status: int = 200,
        size: int = 0,
        kept: KeptViews | None = None,
    ) -> None:
        self.url, self.candidate, self.record = url, candidate, record
        self.status, self.size = status, size
        self.reading_seconds = 0.0
        """Seconds spent in `view`: reading the page, not ranking its links (rule 14 keeps them apart)."""
        self.clock: Callable[[], float] = time.perf_counter
        """Measures them. The loop sets its own: CPU time in the laboratory, where it is worth a system call a view."""
        self._views: dict[Hashable, Any] = {}
        self._kept = kept

    @property
    def title(self) -> str:
        return self.record.title

    @property
    def text(self) -> str:
        return self.record.text

    @property
    def links(self) -> Sequence[Link]:
        """Every link in document order; several may lead to one URL."""
        return self.record.links

    @property
    def outlinks(self) -> Sequence[Link]:
        """The links that count (rule 6): one per URL, at its first anchor, none to the page itself."""
        return self.record.outlinks

    def view(self, function: Callable[Concatenate[Record, P], T], *arguments: P.args, **named: P.kwargs) -> T:
        """`function(record, *arguments)`, computed once per page. The function is pure, and its arguments are hashable.

        >>> from scenthound.testing import page_of
        >>> page_of("<a href=/x>chess club</a>").view(lambda record: len(record.links))
        1
        """
        key: Hashable = (function, arguments, *named.items()) if named else (function, arguments)
        kept = None if named else self._kept
        if key in self._views:
            return self._views[key]  # type: ignore[no-any-return]
        made = None if kept is None else kept.find(function, arguments)
        if made is None:
            before, spent = self.clock(), self.reading_seconds
            made = None if kept is None else kept.make(function, arguments)
            if made is None:
                made = function(self.record, *arguments, **named)
            self.reading_seconds = spent + self.clock() - before  # views within this one are part of it
        self._views[key] = made
        return made

    def offer(
        self,
        link: Link,
        score: float,
        carry: Mapping[str, Any] = NOTHING,
        parts: Mapping[str, float] = NOTHING,
    ) -> Candidate:
        """A candidate for one of this page's links, with its origin filled in."""
        url, anchor, spelling, _, _ = link
        depth = self.candidate.depth + 1
        fields = (url, score, carry, parts, self.url, anchor, depth, spelling, 0.0, False)
        return _new(Candidate, fields)  # as Candidate(...), in half the time: called for every link of every page

    def offer_all(self, score: float, parts: Mapping[str, float] = NOTHING) -> list[Candidate]:
        """A candidate for each of `outlinks`, all with the same score: one call instead of one for each link."""
        depth = self.candidate.depth + 1
        return [
            _new(Candidate, (url, score, NOTHING, parts, self.url, anchor, depth, spelling, 0.0, False))
            for url, anchor, spelling, _, _ in self.outlinks
        ]
