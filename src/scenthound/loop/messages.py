"""What the loop and its drivers say to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from scenthound.model import Candidate, Url
from scenthound.web.robots import Rules

Kind = Literal["page", "robots", "sitemap"]
Standing = Literal["proven", "new", "silent"]
"""What we know of a host: it gave pages; it gave none yet; it gave no reply at all when it was last asked."""
FOREVER = float("inf")
SITEMAP = "(sitemap)"  # marks a candidate that is a sitemap, in its `carry`


@dataclass(frozen=True, slots=True)
class Fetch:
    """Ask for this, now."""

    candidate: Candidate
    kind: Kind = "page"
    host: Standing = "new"

    @property
    def spelling(self) -> str:
        return self.candidate.spelling or self.candidate.url


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before `until`, unless something lands earlier."""

    until: float


@dataclass(frozen=True, slots=True)
class Done:
    """The end, and why."""

    reason: str


class RobotsLanded(NamedTuple):
    """What an origin's robots.txt says; None: it could not be had."""

    candidate: Candidate
    rules: Rules | None
    hopeless: str = ""
    """Why asking again can't help, where it can't."""
    retry_after: float = 0.0
    """How long the server asks us to stay away."""
    answered: bool = False
    """True where there was a reply of any kind."""
    reason: str = ""
    """Why there was none, as in a `Miss`."""


class SitemapLanded(NamedTuple):
    """URLs that a sitemap lists, as (key, spelling), and the sitemaps it points to."""

    candidate: Candidate
    urls: Sequence[tuple[Url, str]] = ()
    children: Sequence[str] = ()


class Dropped(NamedTuple):
    """A URL that was offered and not kept."""

    candidate: Candidate
    reason: str


@dataclass(frozen=True, slots=True)
class Limits:
    """When a crawl ends, and how stubborn it is."""

    pages: int = 1000
    ends_at: float = FOREVER
    pages_per_host: int = 0
    redirects: int = 10
    retries: int = 2
    longest_wait: float = FOREVER
    host_patience: int = 0
    nofollow: bool = True
    sitemaps: int = 0
    """How many sitemap files are read for one host; 0: none."""
