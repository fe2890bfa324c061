"""The data types that packages exchange: small, immutable, without behaviour.

`Url` is made by `scenthound.url` alone. What a page says is a `page.record.Record`; a `page.page.Page` is a record
together with the `Candidate` that led to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, NewType

Url = NewType("Url", str)
"""A canonical URL (sheet 10.4): the identity of a page, usable as a key anywhere."""

NOTHING: Mapping[str, Any] = MappingProxyType({})

DECIMALS = 12
"""Rule 3: scores are compared after rounding, so that the order of a summation can't change a crawl."""


class Link(NamedTuple):
    """One anchor of a page, in document order; several may lead to one URL."""

    url: Url
    anchor: str = ""
    """Text of the anchor; of an image link its `alt` text."""
    spelling: str = ""
    """The URL as found and resolved, which is what a request asks for. The canonical form is only its key."""
    position: int = -1
    """Its index among the links of its page."""
    nofollow: bool = False


class Candidate(NamedTuple):
    """A URL with its score. `page.offer` fills in the origin; a strategy gives score, carry and parts."""

    url: Url
    score: float
    carry: Mapping[str, Any] = NOTHING
    """Data passed along the path, as JSON values; for a URL found again each number keeps its maximum."""
    parts: Mapping[str, float] = NOTHING
    """The components of the score, for explanations."""
    parent: Url | None = None
    anchor: str = ""
    depth: int = 0
    spelling: str = ""
    due: float = 0.0
    rescored: bool = False
    """True: this score replaces that of the waiting URL even if it is lower."""


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that brought no page. On the web, failure is data."""

    candidate: Candidate
    reason: str
    """A short reason that can be counted, such as `http-404`, `timeout`, `robots`, `not-html`."""
    detail: str = ""
    status: int = 0
    size: int = 0
    retry_after: float | None = None
    """Seconds after which it may be tried again; None: never."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A redirect. The loop decides whether and when to follow it."""

    candidate: Candidate
    url: Url
    spelling: str
    status: int = 301
    size: int = 0


class Step(NamedTuple):
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
    """Its rank among all waiting URLs when it was taken, those on resting hosts included."""
    requested: Url | None = None
    """The URL that was requested first, if redirects led elsewhere."""
    carry: Mapping[str, Any] = NOTHING
    """The candidate's `carry`; kept so that a strategy can read the page again after a restart."""
    relevance: float = 0.0
    """How likely the page is relevant, by the judge when the page was fetched."""
    relevant: bool = False
    """The judge's flag at that time."""


class Lost(NamedTuple):
    """A miss as the history keeps it."""

    event: int
    """Its number among all pages and misses."""
    url: Url
    parent: Url | None
    anchor: str
    score: float
    depth: int
    status: int
    bytes: int
    time: float
    reason: str
    detail: str
    carry: Mapping[str, Any] = NOTHING


class Mark(NamedTuple):
    """The part of a `Step` that a resumed crawl counts."""

    n: int
    url: Url
    similarity: float
    bytes: int
    title: str
    depth: int
    requested: Url | None
    relevance: float
    relevant: bool


class Event(NamedTuple):
    """Something that happened inside a strategy, for watchers and reports: a birth, an auction."""

    kind: str
    """A short name that can be counted, such as `born`, `fed`, `died`."""
    facts: Mapping[str, Any] = NOTHING
    """JSON values. `agent` is the number of the agent concerned; when it is `born`, `parent` is its parent's."""
    url: Url | None = None
    """The page concerned."""
    n: int = 0
    """How many pages had been fetched; filled in by the loop."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What a crawl looks for."""

    keywords: str
    name: str = ""
    description: str = ""
    examples: tuple[str, ...] = ()
    good: tuple[str, ...] = ()
    """Categories of a taxonomy that count as on topic."""


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response: headers in the order received, body still content-encoded."""

    url: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    address: str = ""
    """The address that was actually connected to."""
    truncated: str = ""
    """Empty, or why the body ends early (`length`, `time`, `disconnect`), in WARC's words."""
    http_version: str = "1.1"

    def header(self, name: str, default: str = "") -> str:
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), default)
