"""Request robots.txt files and sitemaps, and follow their redirects.

A redirect means another request, perhaps to another host; it waits for its turn until that host is awake. If many hosts
redirect their robots.txt to the same file, it is requested only once, because its rules are known after that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scenthound import url as urls
from scenthound.hosts import HostClock
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
from scenthound.loop.selection import UrlSelection
from scenthound.model import Candidate, Miss, Moved, Url


def robots_file(origin: str) -> Candidate:
    """The candidate for the robots.txt of an origin."""
    return Candidate(Url(f"{origin}/robots.txt"), FOREVER, {ROBOTS: origin}, spelling=f"{origin}/robots.txt")


def is_service_file(candidate: Candidate) -> bool:
    """True for a robots.txt or a sitemap, False for a page."""
    return SITEMAP in candidate.carry or ROBOTS in candidate.carry


class ServiceFiles:
    """Requests robots.txt files and sitemaps, and tracks the origins whose redirected robots.txt is under way."""

    def __init__(self, selection: UrlSelection, host_clock: HostClock, sitemaps: Sitemaps) -> None:
        self._selection, self._host_clock, self._sitemaps = selection, host_clock, sitemaps
        self._under_way: set[str] = set()  # origins whose robots.txt was redirected

    def ask_robots(self, candidate: Candidate) -> Fetch | None:
        """Make a candidate pending and return the request for the robots.txt that it needs; None if it is under way."""
        origin = urls.origin(candidate.spelling or candidate.url)
        self._selection.hold(candidate, FOREVER)
        if origin not in self._under_way:
            return Fetch(robots_file(origin), "robots")
        self._host_clock.rest_without_rules(urls.host(origin))
        return None

    def take_robots(self, result: RobotsLanded) -> None:
        """Process the rules of an origin: its host may be asked again, and its sitemaps are requested."""
        self._wake_host(result.candidate)
        if result.rules is not None:
            self._request_sitemaps(result.rules.sitemaps, result.candidate)

    def take_sitemap(self, result: SitemapLanded) -> Iterator[Candidate]:
        """The pages that a sitemap lists. The sitemaps that it names are requested."""
        self._selection.release(result.candidate.url)
        self._request_sitemaps(result.children, result.candidate)
        return self._sitemaps.listed_pages(result)

    def _request_sitemaps(self, spellings: Iterable[str], named_by: Candidate) -> None:
        for candidate in self._sitemaps.to_request(spellings, urls.host(named_by.url)):
            self._selection.hold(candidate)

    def request(self, candidate: Candidate, now: float) -> Fetch | None:
        """The request for a sitemap or the target of a redirected robots.txt; None if the rules have become known."""
        if SITEMAP in candidate.carry:
            return Fetch(candidate, "sitemap")
        origin = urls.origin(candidate.spelling)
        rules = self._host_clock.origin(origin) if candidate.spelling == f"{origin}/robots.txt" else None
        if rules is None or rules.failures or rules.until <= now:
            return Fetch(candidate, "robots")
        self._host_clock.learn(candidate.carry[ROBOTS], rules.rules, now)
        self._selection.release(candidate.url)
        self._wake_host(candidate)
        return None

    def let_host_rest(self, result: Result, now: float) -> None:
        """Let the host of a result rest for its delay, longer after a failure, or until its rules are known."""
        clock, candidate = self._host_clock, result.candidate
        host, spelling = urls.host(candidate.url), candidate.spelling or candidate.url
        origin = urls.origin(spelling)
        if isinstance(result, RobotsLanded):
            asked_for = candidate.carry.get(ROBOTS, origin)
            clock.learn(asked_for, result.rules, now, result.hopeless, result.retry_after)
            if asked_for != origin and result.rules is not None and spelling == f"{origin}/robots.txt":
                clock.learn(origin, result.rules, now)  # a redirect led to the file of another origin
        if isinstance(result, Miss):
            until = clock.rest_after_miss(result, origin, now)
        else:
            until = clock.rest_after(origin, now)
        if self._follow(result):
            clock.rest_without_rules(host, is_in_flight=True)
        else:
            clock.rest(host, until)

    def _follow(self, result: Result) -> bool:
        """Make the target of a redirected file pending. True if the first host must rest until its rules are known."""
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
        """Repeat a request (for a file or a page) when its host is awake."""
        candidate = result.candidate
        if isinstance(result, RobotsLanded):
            self._wake_host(candidate)
        elif ROBOTS not in candidate.carry or HOPS in candidate.carry:
            self._selection.hold(candidate)
        # A robots.txt that was not redirected need not be pending: the pages that need it will request it again.

    def _wake_host(self, candidate: Candidate) -> None:
        """Wake the host of a robots.txt whose last request is over; it may be asked again after its own delay."""
        origin = candidate.carry.get(ROBOTS)
        if origin in self._under_way:
            self._under_way.discard(origin)
            host = urls.host(origin)
            self._host_clock.rest(host, self._host_clock.next_allowed(host))
