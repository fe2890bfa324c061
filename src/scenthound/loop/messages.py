"""What the loop and its drivers exchange: requests one way, results the other; and the limits of a crawl."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from scenthound.model import Candidate, Miss, Moved, Url
from scenthound.page.page import Page
from scenthound.web.robots import RobotsRules

Kind = Literal["page", "robots", "sitemap"]
HostBehaviour = Literal["proven", "new", "silent"]
"""How a host has behaved: it gave pages; it gave none yet; its last request got no reply."""
FOREVER = float("inf")
SITEMAP = "(sitemap)"  # a key in `carry`: the candidate is a sitemap
ROBOTS = "(robots)"  # a key in `carry`: the candidate is the robots.txt of this origin
HOPS = "(hops)"  # a key in `carry` of these: the redirects so far


class Fetch(NamedTuple):
    """Request this now."""

    candidate: Candidate
    kind: Kind = "page"
    host: HostBehaviour = "new"

    @property
    def spelling(self) -> str:
        return self.candidate.spelling or self.candidate.url


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before `until`, unless a result arrives earlier."""

    until: float


@dataclass(frozen=True, slots=True)
class Done:
    """The crawl has ended."""

    reason: str


class RobotsLanded(NamedTuple):
    """The robots rules of an origin; None: they could not be fetched."""

    candidate: Candidate
    rules: RobotsRules | None
    hopeless: str = ""
    """Why asking again can't help, if so."""
    retry_after: float = 0.0
    """How long the server asks us to wait."""
    answered: bool = False
    """There was a reply of any kind."""
    reason: str = ""
    """Why there was none, as in a `Miss`."""


class SitemapLanded(NamedTuple):
    """The URLs of a sitemap, as (key, spelling), and the sitemaps that it names."""

    candidate: Candidate
    urls: Sequence[tuple[Url, str]] = ()
    children: Sequence[str] = ()


class Postponed(NamedTuple):
    """The request was not sent: hosts at the same address were asked a moment ago."""

    candidate: Candidate
    until: float


Result = Page | Miss | Moved | RobotsLanded | SitemapLanded
"""What a driver brings for a `Fetch`."""


class Dropped(NamedTuple):
    """A candidate that was not kept."""

    candidate: Candidate
    reason: str


@dataclass(slots=True)
class Limits:
    """When a crawl ends, and how often it tries. `pages` and `ends_at` may change while it runs: see `Steering`."""

    pages: int = 1000
    ends_at: float = FOREVER
    requests: int = 0
    """Requests of all kinds, misses and redirects included; 0: no limit."""
    pages_per_host: int = 0
    redirects: int = 10
    retries: int = 2
    longest_wait: float = FOREVER
    stop_share: float = 0.0
    """Stop when the pages left are expected to bring at most this share of all finds; 0: never."""
    host_patience: int = 0
    """Pages in a row without a relevant one after which a host is left; 0: never."""
    nofollow: bool = True
    sitemaps: int = 0
    """Sitemap files read per host; 0: none."""
