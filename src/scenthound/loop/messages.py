"""The messages between the loop and its drivers (actions to the driver, results to the loop), and `Limits`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from scenthound.hosts import HostBehaviour
from scenthound.model import Candidate, Miss, Moved, Url
from scenthound.page.page import Page
from scenthound.web.robots import RobotsRules

Kind = Literal["page", "robots", "sitemap"]
FOREVER = float("inf")
SITEMAP = "(sitemap)"  # a key in `carry`: the candidate is a sitemap
ROBOTS = "(robots)"  # a key in `carry`: the candidate is the robots.txt of this origin
HOPS = "(hops)"  # a key in `carry` of either: the number of redirects so far


class Fetch(NamedTuple):
    """An action: request this candidate now."""

    candidate: Candidate
    kind: Kind = "page"
    host: HostBehaviour = "new"

    @property
    def spelling(self) -> str:
        return self.candidate.spelling or self.candidate.url


@dataclass(frozen=True, slots=True)
class Wait:
    """An action: do nothing before `until`, unless a result arrives earlier."""

    until: float


@dataclass(frozen=True, slots=True)
class Done:
    """An action: stop, because the crawl has ended."""

    reason: str


class RobotsLanded(NamedTuple):
    """A result: the robots rules of an origin, or None if they could not be fetched."""

    candidate: Candidate
    rules: RobotsRules | None
    hopeless: str = ""
    """Why another request can't help; empty if it can."""
    retry_after: float = 0.0
    """Seconds that the server asks us to wait."""
    answered: bool = False
    """Whether there was a reply of any kind."""
    reason: str = ""
    """Why there was no reply, in the words of `Miss.reason`."""


class SitemapLanded(NamedTuple):
    """A result: the URLs of a sitemap, as (canonical URL, spelling), and the sitemaps that it names."""

    candidate: Candidate
    urls: Sequence[tuple[Url, str]] = ()
    children: Sequence[str] = ()
    bad_urls: int = 0
    """URLs in it that can't be requested."""


class Postponed(NamedTuple):
    """The request was not sent, because a host at the same IP address was asked a moment ago."""

    candidate: Candidate
    until: float


Result = Page | Miss | Moved | RobotsLanded | SitemapLanded
"""The result of a `Fetch`, which the driver passes to the loop."""


class Dropped(NamedTuple):
    """A candidate that was not added to the frontier, or was removed from it."""

    candidate: Candidate
    reason: str


@dataclass(slots=True)
class Limits:
    """When a crawl ends, and how often it retries. `Steering` may change `pages` and `ends_at` while it runs."""

    pages: int = 1000
    ends_at: float = FOREVER
    requests: int = 0
    """Requests of all kinds, including misses and redirects; 0: no limit."""
    pages_per_host: int = 0
    redirects: int = 10
    retries: int = 2
    longest_wait: float = FOREVER
    stop_share: float = 0.0
    """Stop when the rest of the budget is expected to yield at most this share of all relevant pages; 0: never."""
    host_patience: int = 0
    """Leave a host after this many irrelevant pages in a row; 0: never."""
    nofollow: bool = True
    sitemaps: int = 0
    """Sitemap files read per host; 0: none."""
