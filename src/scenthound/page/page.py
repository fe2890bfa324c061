"""A fetched page: its record, and how the crawl got there."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from scenthound.model import NOTHING, Candidate, Link, Url
from scenthound.page.record import Record
from scenthound.page.views import KEPT

T = TypeVar("T")
P = ParamSpec("P")
_new: Callable[..., Candidate] = tuple.__new__


class Page:
    """What a strategy is handed once a page has been fetched."""

    __slots__ = ("_kept", "_views", "candidate", "reading_seconds", "record", "size", "status", "url")

    def __init__(
        self,
        url: Url,
        candidate: Candidate,
        record: Record,
        status: int = 200,
        size: int = 0,
        kept: dict[Hashable, Any] | None = None,
    ) -> None:
        """`kept` has the views (of `views.KEPT`) from earlier visits to the same page of a prepared bed."""
        self.url, self.candidate, self.record = url, candidate, record
        self.status, self.size = status, size
        self.reading_seconds = 0.0
        """CPU seconds spent in `view`: reading the page, not ranking its links (rule 14 keeps them apart)."""
        self._views: dict[Hashable, Any] = {}
        self._kept = self._views if kept is None else kept

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
        key = (function, arguments, *named.items())
        views = self._kept if function in KEPT else self._views
        if key in views:
            return views[key]  # type: ignore[no-any-return]
        before = time.process_time()
        made = views[key] = function(self.record, *arguments, **named)
        self.reading_seconds += time.process_time() - before
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
