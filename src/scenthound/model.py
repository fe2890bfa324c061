"""The nouns that travel between rooms. Small, plain, and never changed once made.

`Url` is made by `scenthound.url` alone. What a page says is a `page.record.Record`; a `page.page.Page` is a record
together with the `Candidate` that led to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, NewType

Url = NewType("Url", str)
"""A canonical URL (sheet 10.4): the identity of a page, fit to be a key anywhere."""

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Link(NamedTuple):
    """One anchor of a page, in document order; several may lead to one URL."""

    url: Url
    anchor: str = ""
    """Text of the anchor; of an image link its `alt` text."""
    spelling: str = ""
    """The URL as found and resolved: what a request asks for. The canonical form is only its key."""
    position: int = -1
    """Its place among the links of its page."""
    nofollow: bool = False


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
