"""Lists from a crawl that another process may be writing: failed requests, waiting URLs, links not followed."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from scenthound.model import Url
from scenthound.store.database import CrawlDatabase
from scenthound.url import host as host_of

ROBOTS = "robots"


class Slice(NamedTuple):
    """Which rows of a list to return."""

    limit: int = 100
    offset: int = 0


FIRST = Slice()


class LostRow(NamedTuple):
    """A request that returned no page."""

    url: Url
    reason: str
    detail: str
    parent: Url | None
    anchor: str
    time: float


class WaitingRow(NamedTuple):
    """A URL of the waiting list."""

    url: Url
    score: float
    parent: Url | None
    anchor: str
    depth: int


class LeftOut(NamedTuple):
    """The number of links to one host that were not followed for one reason."""

    host: str
    reason: str
    times: int


def lost(database: CrawlDatabase, reason: str = "", part: Slice = FIRST) -> tuple[list[LostRow], int]:
    """Requests that returned no page, latest first, and their total number; `reason` limits both to one reason."""
    where, values = "kind IN ('miss', 'refused')", list[object]()
    if reason:
        where, values = f"{where} AND reason = ?", [reason]
    total = database.row(f"SELECT count(*) FROM history WHERE {where}", values) or (0,)  # noqa: S608 - ours
    columns = "url, coalesce(reason, ''), coalesce(detail, ''), parent, anchor, time"
    sql = f"SELECT {columns} FROM history WHERE {where} ORDER BY event DESC LIMIT ? OFFSET ?"  # noqa: S608 - ours
    return [LostRow(*row) for row in database.rows(sql, (*values, *part))], int(total[0])


def waiting(database: CrawlDatabase, part: Slice = FIRST) -> list[WaitingRow]:
    """The waiting list, best first."""
    sql = (
        "SELECT frontier.url, score, parents.url, anchor, depth FROM frontier LEFT JOIN parents ON parents.id = parent"
        " ORDER BY score DESC, number LIMIT ? OFFSET ?"
    )
    return [WaitingRow(*row) for row in database.rows(sql, part)]


def left_out(database: CrawlDatabase, reason: str = "", host: str = "") -> list[LeftOut]:
    """Links that were not followed, most frequent first, optionally only for one reason or host."""
    filters = {column: value for column, value in {"reason": reason, "host": host}.items() if value}
    where = " AND ".join(f"{column} = ?" for column in filters) or "1"
    sql = f"SELECT host, reason, times FROM counts WHERE {where} ORDER BY times DESC, host, reason"  # noqa: S608 - ours
    rows = [LeftOut(*row) for row in database.rows(sql, tuple(filters.values()))]
    if reason in ("", ROBOTS):
        rows += _forbidden(database, host)
        rows.sort(key=lambda row: -row.times)
    return rows


def _forbidden(database: CrawlDatabase, host: str) -> list[LeftOut]:
    """URLs that robots.txt forbids, by host. The history has them as misses."""
    urls = database.rows("SELECT DISTINCT url FROM history WHERE kind = 'refused' AND reason = ?", (ROBOTS,))
    times = Counter(host_of(url) for (url,) in urls)
    return [LeftOut(name, ROBOTS, count) for name, count in sorted(times.items()) if host in ("", name)]
