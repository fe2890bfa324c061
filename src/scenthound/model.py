"""The data types that packages exchange: small and immutable.

A `Link` is found on a page. A strategy turns it into a `Candidate`, which waits in the frontier until it is requested.
The request yields a page, a `Miss` or a redirect (`Moved`). The history keeps each page as a `Step` and each miss as
a `Lost`.

Two related types are defined elsewhere. `page.record.Record` is the content of a page; `page.page.Page` is a record
together with the `Candidate` that led to it.

"Rule 5" and the like refer to the common rules in docs/spec/00-overview.md, "sheet 10.4" to section 10.4 of docs/spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, NewType

Url = NewType("Url", str)
"""A canonical URL (sheet 10.4), the key for everything about a page. Create it only with `scenthound.url`."""

NOTHING: Mapping[str, Any] = MappingProxyType({})
"""An empty, immutable mapping, the default of mapping fields."""

LookingFor = Literal["pages", "sites"]
"""What a crawl looks for: pages about the topic, or sites, of which only the home pages count as found."""

DECIMALS = 12
"""Scores are rounded to 12 decimals before they are compared (rule 3), so rounding errors can't reorder a crawl."""


class Link(NamedTuple):
    """One anchor of a page. Several anchors of a page may lead to the same URL."""

    url: Url
    anchor: str = ""
    """The text of the anchor, or the `alt` text of an image link."""
    spelling: str = ""
    """The resolved URL as written on the page. This URL is requested; the canonical `url` is only a key."""
    position: int = -1
    """Index among the links of the page, in document order."""
    nofollow: bool = False


class Candidate(NamedTuple):
    """A URL that may be fetched, with its score.

    A strategy sets `score`, `carry` and `parts`; `Page.offer` fills in where the link was found.
    """

    url: Url
    score: float
    carry: Mapping[str, Any] = NOTHING
    """JSON values passed along a path of links. If the URL is found again, the maximum of each number is kept."""
    parts: Mapping[str, float] = NOTHING
    """The components of the score, for explanations."""
    parent: Url | None = None
    """The page that links to it; None for a seed."""
    anchor: str = ""
    depth: int = 0
    """The number of links from a seed."""
    spelling: str = ""
    """The resolved URL as written on the page, as in `Link`."""
    due: float = 0.0
    """The earliest time at which it may be requested."""
    rescored: bool = False
    """Whether this score replaces the score of the waiting URL even if it is lower."""


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that did not yield a page. Failures are expected on the web, so they are returned, not raised."""

    candidate: Candidate
    reason: str
    """A short reason that can be counted, such as `http-404`, `timeout`, `robots`, `not-html`."""
    detail: str = ""
    status: int = 0
    size: int = 0
    retry_after: float | None = None
    """Seconds after which the request may be repeated; None if it must not be."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A redirect. The loop decides whether and when to follow it."""

    candidate: Candidate
    url: Url
    spelling: str
    status: int = 301
    size: int = 0


class Step(NamedTuple):
    """A fetched page as the history keeps it: enough to compute every metric afterwards (rule 13)."""

    n: int
    """The number of the page in the crawl, from 1."""
    url: Url
    parent: Url | None
    anchor: str
    score: float
    parts: Mapping[str, float]
    similarity: float
    """Cosine similarity of the page to the keywords."""
    depth: int
    status: int
    bytes: int
    time: float
    title: str = ""
    rank: int = 1
    """Its rank among all waiting URLs when it was chosen, including those on resting hosts."""
    requested: Url | None = None
    """The URL that was requested first, if redirects led elsewhere."""
    carry: Mapping[str, Any] = NOTHING
    """The candidate's `carry`, so that a strategy can read the page again after a restart."""
    relevance: float = 0.0
    """The probability that the page is relevant, according to the judge when it was fetched."""
    relevant: bool = False
    """Whether the judge counted it as relevant at that time."""


class Lost(NamedTuple):
    """A `Miss` as the history keeps it."""

    event: int
    """Its number among all pages and misses, from 1."""
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
    """The fields of a `Step` that the figures of a crawl need."""

    n: int
    url: Url
    similarity: float
    bytes: int
    time: float
    title: str
    depth: int
    requested: Url | None
    relevance: float
    relevant: bool


class Event(NamedTuple):
    """Something that happened inside a strategy, such as the birth of an agent or an auction; for reports."""

    kind: str
    """A short name that can be counted, such as `born`, `fed`, `died`."""
    facts: Mapping[str, Any] = NOTHING
    """JSON values. `agent` is the number of the agent; in a `born` event `parent` is the number of its parent."""
    url: Url | None = None
    """The page concerned."""
    n: int = 0
    """The number of the latest page; filled in by the loop."""


@dataclass(frozen=True, slots=True)
class Topic:
    """The topic of a crawl."""

    keywords: str
    """Keywords separated by spaces."""
    name: str = ""
    description: str = ""
    examples: tuple[str, ...] = ()
    """URLs of pages known to be on topic."""
    good: tuple[str, ...] = ()
    """Categories of a taxonomy that count as on topic."""
    looking_for: LookingFor = "pages"
    """Whether pages or sites are looked for. Strategy, judge and applications all follow this."""


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response: headers in the order received, body still content-encoded."""

    url: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    address: str = ""
    """The IP address of the connection."""
    truncated: str = ""
    """Why the body is incomplete, as WARC writes it: `length`, `time` or `disconnect`; empty if it is complete."""
    http_version: str = "1.1"

    def header(self, name: str, default: str = "") -> str:
        """The value of the first header with this name (case-insensitive), or `default`."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), default)


_UNITS = 10.0**DECIMALS


def rounded(score: float) -> float:
    """`round(score, DECIMALS)` in a third of the time: rounds to the nearest multiple of 10^-DECIMALS.

    Falls back to `round` if the score is about halfway between two units, or too large. Negative zero becomes zero.

    >>> rounded(0.1234567890125), rounded(-2.5), rounded(float("inf"))
    (0.123456789012, -2.5, inf)
    """
    if -1000.0 < score < 1000.0:
        units = score * _UNITS
        whole = round(units)
        if abs(units - whole) + abs(units) * 1.25e-16 < 0.5:  # relative error of the product: at most 2^-53
            return whole / _UNITS
    return round(score, DECIMALS)


def merge_offer(old: Candidate, offer: Candidate) -> Candidate:
    """Merge a waiting candidate with a new offer for its URL (rule 5). Returns `old` itself if nothing changes.

    The better score wins, with its parts and its origin; in a tie the old ones are kept. A re-scored offer wins even
    with a lower score, and changes the origin only if it names one. For numbers in `carry` the maximum is kept; other
    values are the winner's. The later due time is kept.
    """
    better = offer.rescored or rounded(offer.score) > rounded(old.score)
    due = max(old.due, offer.due)
    carry = old.carry
    if offer.carry and offer.carry != carry:
        carry = _merged_carry(old.carry, offer.carry) if better else _merged_carry(offer.carry, old.carry)
    if not better:
        return old if due == old.due and carry == old.carry else old._replace(carry=carry, due=due)
    origin = old if offer.rescored and offer.parent is None else offer
    spelling = offer.spelling or old.spelling
    return Candidate(
        old.url, offer.score, carry, offer.parts, origin.parent, origin.anchor, origin.depth, spelling, due
    )


def _merged_carry(loser: Mapping[str, Any], winner: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**loser, **winner}
    for key in loser.keys() & winner.keys():
        if _is_number(loser[key]) and _is_number(winner[key]):
            merged[key] = max(loser[key], winner[key])
    return merged


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
