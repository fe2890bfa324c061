"""Which hosts with waiting URLs rest for long, and why: no robots.txt, failures, or a delay that they ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from scenthound import url as urls
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Url

LONG = 5.0  # seconds after the last commit; ordinary rests between two requests are shorter
MOST_URLS = 20_000  # waiting URLs that are read
MOST_NAMED = 3  # hosts
LATEST = 1e11  # seconds; a later time is damaged


class LongRest(NamedTuple):
    """A host with waiting URLs that may not be requested before `until`."""

    host: str
    until: float
    why: str

    def __str__(self) -> str:
        """
        >>> str(LongRest("a.test", 0.0, "its robots.txt could not be fetched"))
        'a.test rests until 1970-01-01 00:00:00 UTC: its robots.txt could not be fetched'
        """
        until = datetime.fromtimestamp(self.until, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        return f"{self.host} rests until {until}: {self.why}"


def long_rest(folder: CrawlFolder, url: Url) -> LongRest | None:
    """The rest of the host of a waiting URL; None if it is short or over, as of the last commit."""
    host, robots = folder.database.host(urls.host(url)), folder.database.robots(urls.origin(url))
    since = (folder.runs[-1][1] if folder.runs else 0.0) + LONG
    if robots is not None and robots.failures and since < robots.until < LATEST:
        return LongRest(urls.host(url), robots.until, "its robots.txt could not be fetched (an error, or no reply)")
    if since < host.next_allowed < LATEST:
        why = f"{host.failures} requests in a row failed" if host.failures else "it asks for long pauses"
        return LongRest(urls.host(url), host.next_allowed, why)
    return None


def long_rests(folder: CrawlFolder) -> list[LongRest]:
    """The hosts with waiting URLs that rest for long; those with the most URLs first."""
    rows = folder.database.rows("SELECT url FROM frontier LIMIT ?", (MOST_URLS,))
    origins = Counter(urls.origin(Url(url)) for (url,) in rows)
    rests = (long_rest(folder, Url(f"{origin}/")) for origin, _ in origins.most_common())
    return [rest for rest in rests if rest is not None]


def rests_in_words(rests: Sequence[LongRest]) -> str:
    """The first hosts, why and until when; empty if there are none."""
    more = f"; and {len(rests) - MOST_NAMED:,} more" if len(rests) > MOST_NAMED else ""
    return "; ".join(map(str, rests[:MOST_NAMED])) + more
