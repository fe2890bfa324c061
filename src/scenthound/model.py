"""The nouns that travel between rooms. Small, plain, and never changed once made.

`Url` is made by `scenthound.url` alone. What a parser found out about a page is a `Document`;
a `Page` is a document together with the `Candidate` that led to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, NewType, Protocol, TypeVar

Url = NewType("Url", str)
"""A canonical URL (sheet 10.4): the identity of a page, fit to be a key anywhere."""

T = TypeVar("T")
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Link(NamedTuple):
    """One anchor of a page, in document order; several may lead to one URL."""

    url: Url
    anchor: str = ""
    """Text of the anchor; of an image link its `alt` text."""
    spelling: str = ""
    """The URL as found and resolved: what a request asks for. The canonical form is only its key."""
    node: int = -1
    """The parser's number for the `<a>` element, for `Document.under` and `Document.path`."""
    nofollow: bool = False


class Leaf(NamedTuple):
    """A non-empty run of text, and what holds it: the number (in `links`) of an anchor, and that of a heading."""

    text: str
    anchor: int = -1
    heading: int = -1
    """`h1` to `h6` are counted together, in document order; -1: it stands in none."""


class Document(Protocol):
    """What a parser made of the bytes. Everything but the links may be computed when asked for."""

    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str:
        """All text in document order, title and anchors included, no script or style."""
        ...

    @property
    def links(self) -> Sequence[Link]: ...
    @property
    def leaves(self) -> Sequence[Leaf]: ...
    def under(self, link: Link, up: int) -> tuple[int, str]:
        """The element `up` levels above the link's `<a>` (0: itself, at most the root) and all text under it."""
        ...

    def path(self, link: Link) -> str:
        """Tag path from the root, as `html/body/div#nav/ul/li/a`."""
        ...


class Candidate(NamedTuple):
    """A URL and how much it is wanted. A strategy says the first four; the loop knows the rest."""

    url: Url
    score: float
    carry: Mapping[str, Any] = NOTHING
    """What travels along the path: JSON-plain; of a URL found again each number keeps its maximum."""
    parts: Mapping[str, float] = NOTHING
    """The score taken apart, for whoever asks why."""
    parent: Url | None = None
    anchor: str = ""
    depth: int = 0
    spelling: str = ""
    due: float = 0.0
    rescored: bool = False
    """True: this score replaces that of the waiting URL even where it is lower."""


_MADE: Callable[..., Candidate] = tuple.__new__


@dataclass(slots=True, eq=False)
class Page:
    """A fetched document and how it was reached. Strategies hear of it once, when it has landed."""

    url: Url
    candidate: Candidate
    document: Document
    status: int = 200
    size: int = 0
    effort: float = 0.0
    """Seconds spent in `derived`: reading the page, not judging it (rule 14 keeps them apart)."""
    _memo: dict[Hashable, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.document.title

    @property
    def text(self) -> str:
        return self.document.text

    @property
    def links(self) -> Sequence[Link]:
        return self.document.links

    @property
    def outlinks(self) -> Sequence[Link]:
        """The links as rule 6 counts them: one per URL, at its first anchor, none to the page itself."""
        return self.derived("outlinks", self._distinct)

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """`make()`, computed once per page. A recorded bed may know the answer already."""
        if key in self._memo:
            return self._memo[key]  # type: ignore[no-any-return]
        before, effort = time.perf_counter(), self.effort
        made = self._memo[key] = make()
        self.effort = effort + time.perf_counter() - before  # what was derived on the way is part of it
        return made

    def know(self, key: Hashable, value: object) -> None:
        """Somebody has found this out already: `derived` need not."""
        self._memo[key] = value

    def forget(self, key: Hashable) -> None:
        """Nobody will ask for this again soon: it need not be kept."""
        self._memo.pop(key, None)

    def known(self, key: Hashable) -> Any:
        """What is known under a key; None if nothing is, yet."""
        return self._memo.get(key)

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
        return _MADE(
            Candidate, fields
        )  # as Candidate(...), in half the time: it is called for every link of every page

    def _distinct(self) -> Sequence[Link]:
        first: dict[Url, Link] = {}
        for link in self.document.links:
            if link.url not in first:
                first[link.url] = link
        first.pop(self.url, None)
        return list(first.values())


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that brought no page. On the web, failure is data."""

    candidate: Candidate
    reason: str
    """One short word that can be counted, as `http-404`, `timeout`, `robots`, `not-html`."""
    detail: str = ""
    status: int = 0
    size: int = 0
    retry_after: float | None = None
    """Seconds after which it may be tried again; None: never."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The server sent us elsewhere. The loop decides whether and when to follow."""

    candidate: Candidate
    url: Url
    spelling: str
    status: int = 301
    size: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One page of the history: enough to compute every metric afterwards (rule 13)."""

    n: int
    url: Url
    parent: Url | None
    anchor: str
    score: float
    parts: Mapping[str, float]
    similarity: float
    depth: int
    status: int
    bytes: int
    time: float
    title: str = ""
    rank: int = 1
    """The place it had among all waiting URLs when it was taken, resting hosts included."""
    requested: Url | None = None
    """The URL that was asked for first, where redirects led elsewhere."""
    carry: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """What travelled along the path to it; kept so that a strategy can be told of it again."""


class Event(NamedTuple):
    """Something a strategy tells of itself, for whoever watches: a birth, a meal, an auction."""

    kind: str
    """One word that can be counted, as `born`, `fed`, `died`."""
    facts: Mapping[str, Any] = NOTHING
    """JSON-plain. `agent` is the number of the agent it is about; of one that is `born`, `parent` its parent's."""
    url: Url | None = None
    """The page it has to do with."""
    n: int = 0
    """How many pages had been fetched; the loop fills it in."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What somebody looks for."""

    keywords: str
    name: str = ""
    description: str = ""
    examples: tuple[str, ...] = ()
    good: tuple[str, ...] = ()
    """Categories of a taxonomy that count as on topic."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came over the wire, one hop: headers in order as received, body still content-encoded."""

    url: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    address: str = ""
    """The address that was really connected to."""
    truncated: str = ""
    """Empty, or why the body ends early (`length`, `time`, `disconnect`), in WARC's words."""
    http_version: str = "1.1"

    def header(self, name: str, default: str = "") -> str:
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), default)


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A tree of categories with example pages. Names are unique; `text.taxonomy` checks that it is a tree."""

    children: Mapping[str, Sequence[str]]
    """Inner categories, the root among them, and what lies right below each."""
    examples: Mapping[str, Sequence[Page]]
    """Pages that lie in a category itself, not below it."""
    good: tuple[str, ...] = ()
    """Categories that count as on topic; none above another."""
    root: str = "root"
