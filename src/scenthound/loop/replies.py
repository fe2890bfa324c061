"""Turn the reply to a request into a result for the loop: a page, the rules of a robots.txt, the URLs of a sitemap.

A driver sends the request of a `Fetch` and calls `Replies.result` with the reply. There is no clock and no socket here,
which keeps drivers small.
"""

from __future__ import annotations

from dataclasses import dataclass

from scenthound import url as urls
from scenthound.errors import NotAUrl, Unreadable
from scenthound.loop.identity import product_token
from scenthound.loop.messages import HOPS, Fetch, Result, RobotsLanded, SitemapLanded
from scenthound.loop.settings import Settings
from scenthound.model import Miss, Moved, Response, Url
from scenthound.page.landing import land
from scenthound.page.page import Page
from scenthound.page.read import PageLimits
from scenthound.page.record import EVERYTHING, Parts
from scenthound.ports import Failure
from scenthound.web.decode import decompress
from scenthound.web.robots import ALLOW_ALL, parse, verdict_for_status
from scenthound.web.sitemap_file import read_sitemap

REDIRECTS = 5  # maximum redirects followed for a robots.txt or sitemap; RFC 9309, 2.3.1.2
ROBOTS_BYTES = 512 * 1024  # maximum read of a robots.txt; RFC 9309, 2.5 requires at least 500 KiB


@dataclass(frozen=True, slots=True)
class Replies:
    """Reads replies with the settings of one crawl."""

    agent: str
    """The product token to look for in robots.txt and X-Robots-Tag."""
    page_limits: PageLimits
    obey_robots: bool = True
    parts: Parts = EVERYTHING
    """The parts of a page to read."""

    @classmethod
    def of(cls, settings: Settings, parts: Parts = EVERYTHING) -> Replies:
        """Read replies with these settings, and these parts of pages."""
        return cls(product_token(settings), page_limits(settings), settings.robots, parts)

    def result(self, fetch: Fetch, reply: Response | Failure, now: float) -> Result:
        """Turn a reply into a result for `Crawl.landed`."""
        match fetch.kind:
            case "robots":
                return self.robots(fetch, reply, now)
            case "sitemap":
                return self.sitemap(fetch, reply)
            case "page":
                return self.page(fetch, reply, now)

    def page(self, fetch: Fetch, reply: Response | Failure, now: float) -> Page | Miss | Moved:
        if isinstance(reply, Failure):
            retry_after = 0.0 if reply.may_retry else None
            return Miss(fetch.candidate, reply.reason, reply.detail, size=reply.size, retry_after=retry_after)
        agent = self.agent if self.obey_robots else ""
        try:
            return land(fetch.candidate, reply, self.page_limits, self.parts, agent=agent, now=now)
        except Exception as error:  # `land` should not raise; if it does, one page must not stop the crawl
            return Miss(fetch.candidate, "unreadable", f"{type(error).__name__}: {error}"[:200], reply.status)

    def robots(self, fetch: Fetch, reply: Response | Failure, now: float) -> RobotsLanded | Moved:
        """The rules of an origin. A file that was cut off by an error counts as unreachable."""
        if (moved := _redirect(fetch, reply)) is not None:
            return moved
        if isinstance(reply, Failure):
            hopeless = "" if reply.may_retry else reply.reason
            return RobotsLanded(fetch.candidate, None, hopeless, reason=reply.reason)
        match verdict_for_status(reply.status):
            case "allow":
                return RobotsLanded(fetch.candidate, ALLOW_ALL, answered=True)
            case "parse" if reply.truncated not in ("time", "disconnect"):
                body = _decompressed(reply, ROBOTS_BYTES)
                rules = None if body is None else parse(body, self.agent)
                return RobotsLanded(fetch.candidate, rules, answered=True)
        landed = land(fetch.candidate, reply, self.page_limits, Parts(), now=now)
        wait = landed.retry_after if isinstance(landed, Miss) and landed.retry_after else 0.0
        return RobotsLanded(fetch.candidate, None, retry_after=wait, answered=True)

    def sitemap(self, fetch: Fetch, reply: Response | Failure) -> SitemapLanded | Moved:
        if (moved := _redirect(fetch, reply)) is not None:
            return moved
        if isinstance(reply, Failure) or reply.status != 200:
            return SitemapLanded(fetch.candidate)
        sitemap = read_sitemap(_decompressed(reply, self.page_limits.unpacked) or b"", fetch.spelling)
        pages, bad = [], 0
        for entry in sitemap.urls:
            try:
                url = urls.canonical(entry.url, self.page_limits.url_rules)
            except NotAUrl:
                bad += 1
                continue
            pages.append((url, url if url == entry.url else entry.url))  # mostly equal: one copy of 50,000 is enough
        return SitemapLanded(fetch.candidate, pages, sitemap.children, bad)


def page_limits(settings: Settings) -> PageLimits:
    """The limits for reading a page, from the settings."""
    return PageLimits(
        unpacked=settings.page_bytes,
        ratio=settings.unpack_ratio,
        links=settings.links_per_page,
        nofollow=settings.nofollow,
        url_length=settings.url_length,
        pdf=settings.pdf,
        default_pages=settings.url_rules.default_pages,
    )


def most_bytes(fetch: Fetch) -> int | None:
    """The limit on the body of a reply; None for a page, which has the fetcher's limit."""
    return ROBOTS_BYTES if fetch.kind == "robots" else None


def _redirect(fetch: Fetch, reply: Response | Failure) -> Moved | None:
    """The redirect of a robots.txt or sitemap; None if there is none, or after too many redirects."""
    candidate, spelling = fetch.candidate, fetch.spelling
    if isinstance(reply, Failure) or not 300 <= reply.status < 400 or candidate.carry.get(HOPS, 0) >= REDIRECTS:
        return None
    try:
        target = urls.resolve(reply.header("location"), spelling) if reply.header("location") else None
    except NotAUrl:
        return None
    if target is None or (fetch.kind == "sitemap" and urls.host(target) != urls.host(spelling)):
        return None  # a sitemap is valid for its own host only
    return Moved(candidate, Url(target), target, reply.status, len(reply.body))


def response_to_store(result: Result, reply: Response | Failure) -> Response | None:
    """The response to store; None for a failure, and for a page whose author asks not to be archived (`noindex`)."""
    if isinstance(reply, Failure) or (isinstance(result, Page) and result.record.noindex):
        return None
    return reply


def _decompressed(reply: Response, most: int) -> bytes | None:
    """The decompressed body, cut at `most` bytes; None if it can't be decoded."""
    try:
        return decompress(reply.body, reply.header("content-encoding"), limit=most, ratio=1000).data
    except Unreadable:
        return None
