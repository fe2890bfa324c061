"""robots.txt files and sitemaps: when they are requested, and where their redirects lead.

A redirect of such a file is one more request to some host, so it waits for its turn like any other: until that host is
awake, by its own delay and `Crawl-delay`. Many hosts that redirect their robots.txt to one file cost one request:
once it is known, the rules are taken from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scenthound import url as urls
from scenthound.loop.messages import (
    FOREVER,
    HOPS,
    ROBOTS,
    SITEMAP,
    Fetch,
    Postponed,
    Result,
    RobotsLanded,
    SitemapLanded,
)
from scenthound.loop.new_urls import Sitemaps
from scenthound.loop.politeness import Politeness
from scenthound.loop.selection import UrlSelection
from scenthound.model import Candidate, Moved, Url


def robots_file(origin: str) -> Candidate:
    """The request for the robots.txt of an origin."""
    return Candidate(Url(f"{origin}/robots.txt"), FOREVER, {ROBOTS: origin}, spelling=f"{origin}/robots.txt")


def is_service_file(candidate: Candidate) -> bool:
    """Whether it is a robots.txt or a sitemap, and not a page."""
    return SITEMAP in candidate.carry or ROBOTS in candidate.carry


class ServiceFiles:
    """Follows the redirects of robots.txt files and sitemaps. It knows whose rules are under way."""

    def __init__(self, selection: UrlSelection, politeness: Politeness | None, sitemaps: Sitemaps) -> None:
        self._selection, self._politeness, self._sitemaps = selection, politeness, sitemaps
        self._under_way: set[str] = set()  # origins whose robots.txt was redirected

    def ask_robots(self, candidate: Candidate) -> Fetch | None:
        """The request for the rules of a candidate's origin; None if they are on their way. The candidate waits."""
        origin = urls.origin(candidate.spelling or candidate.url)
        self._selection.hold(candidate, FOREVER)
        if origin not in self._under_way:
            return Fetch(robots_file(origin), "robots")
        self._selection.rest(urls.host(origin), FOREVER)
        return None

    def take_robots(self, result: RobotsLanded) -> None:
        """The rules of an origin are known: its host may be asked again, and its sitemaps are wanted."""
        self.ended(result.candidate)
        if result.rules is not None:
            self._ask_sitemaps(result.rules.sitemaps, result.candidate)

    def take_sitemap(self, result: SitemapLanded) -> Iterator[Candidate]:
        """The pages that a sitemap lists; the sitemaps that it names are wanted."""
        self._selection.release(result.candidate.url)
        self._ask_sitemaps(result.children, result.candidate)
        return self._sitemaps.listed(result)

    def _ask_sitemaps(self, spellings: Iterable[str], named_by: Candidate) -> None:
        for candidate in self._sitemaps.wanted(spellings, urls.host(named_by.url)):
            self._selection.hold(candidate)

    def request(self, candidate: Candidate, now: float) -> Fetch | None:
        """The request for a sitemap, or for the target of a redirected robots.txt; None if that is known by now."""
        if SITEMAP in candidate.carry:
            return Fetch(candidate, "sitemap")
        assert self._politeness is not None
        origin = urls.origin(candidate.spelling)
        known = self._politeness.origin(origin) if candidate.spelling == f"{origin}/robots.txt" else None
        if known is None or known.failures or known.until <= now:
            return Fetch(candidate, "robots")
        self._politeness.learn(candidate.carry[ROBOTS], known.rules, now)
        self._selection.release(candidate.url)
        self.ended(candidate)
        return None

    def follow(self, result: Result) -> bool:
        """Make the target of a redirected file pending. True if its first host goes on resting, without its rules."""
        old = result.candidate
        if not isinstance(result, Moved) or not is_service_file(old):
            return False
        self._selection.release(old.url)
        carry = {**old.carry, HOPS: old.carry.get(HOPS, 0) + 1}
        if SITEMAP in carry:
            self._selection.hold(old._replace(url=result.url, spelling=result.spelling, carry=carry))
            return False
        origin = str(carry[ROBOTS])
        self._under_way.add(origin)
        key = Url(f"{result.spelling}#{origin}")  # several origins may wait for one file
        self._selection.hold(old._replace(url=key, spelling=result.spelling, carry=carry))
        return urls.host(origin) == urls.host(old.url)

    def postpone(self, result: Result | Postponed) -> None:
        """A request, perhaps for a page, is to be made again when its host is awake."""
        candidate = result.candidate
        if isinstance(result, RobotsLanded):
            self.ended(candidate)
        elif ROBOTS not in candidate.carry or HOPS in candidate.carry:
            self._selection.hold(candidate)
        # Nothing holds a robots.txt that was not redirected: the pages that need it ask for it again.

    def ended(self, candidate: Candidate) -> None:
        """The last request for a robots.txt is over: its host may be asked again, after its own delay."""
        origin = candidate.carry.get(ROBOTS)
        if origin in self._under_way and self._politeness is not None:
            self._under_way.discard(origin)
            host = urls.host(origin)
            self._selection.rest(host, self._politeness.next_allowed(host))
