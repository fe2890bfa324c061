"""Queries about a crawl that another process may be writing, answered from its database as of the last commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from scenthound.model import Url
from scenthound.store.database import CrawlDatabase, as_mapping
from scenthound.store.sqlite_history import RELEVANCE, RELEVANT

AT_ONCE = 400  # values per query


class HostState(NamedTuple):
    """A host that was requested: `failing`, `barren` (its pages were not relevant), `resting` or `awake`."""

    host: str
    state: str
    next_allowed: float
    failures: int
    barren: int
    """The number of pages since the last relevant one."""


class HostStates(NamedTuple):
    """How many hosts are resting, or were abandoned after failures or because their pages were not relevant."""

    known: int
    resting: int
    failing: int
    barren: int
    next_at: float | None
    """The time at which the first resting host may be requested again."""


class Waiting(NamedTuple):
    """A URL in the waiting list."""

    url: Url
    score: float
    place: int
    """The position in the list, from 1."""


def hosts(database: CrawlDatabase, now: float, most_failures: int, patience: int) -> Iterator[HostState]:
    """The hosts of a crawl. A host is abandoned after `patience` irrelevant pages; 0 means never."""
    rows = database.rows("SELECT host, next_allowed, failures, more FROM hosts ORDER BY host")
    for host, next_allowed, failures, more in rows:
        barren = int(as_mapping(more).get("barren", 0))
        if failures >= most_failures:
            state = "failing"
        elif patience and barren >= patience:
            state = "barren"
        else:
            state = "resting" if next_allowed > now else "awake"
        yield HostState(str(host), state, next_allowed, failures, barren)


def host_states(database: CrawlDatabase, now: float, most_failures: int, patience: int) -> HostStates:
    """How many hosts are in each state; `patience` as in `hosts`."""
    listed_hosts = list(hosts(database, now, most_failures, patience))
    states = Counter(host.state for host in listed_hosts)
    next_at = min((host.next_allowed for host in listed_hosts if host.state == "resting"), default=None)
    return HostStates(len(listed_hosts), states["resting"], states["failing"], states["barren"], next_at)


def counts_waiting(database: CrawlDatabase) -> int:
    """The length of the waiting list."""
    return int((database.row("SELECT count(*) FROM frontier") or (0,))[0])


def place_of(database: CrawlDatabase, score: float, url: Url) -> int:
    """The position of a URL with this score in the waiting list, which is ordered by score, then by insertion."""
    sql = (
        "SELECT count(*) FROM frontier WHERE score > ?1 OR (score = ?1 AND number < "
        "(SELECT min(number) FROM frontier WHERE url = ?2))"
    )
    return 1 + int((database.row(sql, (score, url)) or (0,))[0])


def first_waiting(database: CrawlDatabase, most: int) -> list[Waiting]:
    """The best URLs of the waiting list."""
    rows = database.rows("SELECT url, score FROM frontier ORDER BY score DESC, number LIMIT ?", (most,))
    return [Waiting(Url(url), score, rank) for rank, (url, score) in enumerate(rows, 1)]


def fates(database: CrawlDatabase, urls: Collection[Url]) -> dict[Url, tuple[str, str]]:
    """What became of these URLs: (`fetched`, page number), (`failed`, reason), (`moved`, target) or (`waiting`, score).

    Other URLs are left out.
    """
    results: dict[Url, tuple[str, str]] = {}
    queries = (
        ("SELECT url, 'waiting', score FROM frontier WHERE url IN ({})"),
        ("SELECT url, 'moved', to_url FROM aliases WHERE url IN ({})"),
        ("SELECT url, 'failed', reason FROM dead WHERE url IN ({})"),
        ("SELECT url, 'fetched', n FROM history WHERE kind = 'page' AND url IN ({})"),
    )
    for group in _groups(list(urls)):
        marks = ", ".join("?" * len(group))
        for sql in queries:
            for url, state, detail in database.rows(sql.format(marks), group):
                results[Url(url)] = (state, str(detail))
    return results


def titles(database: CrawlDatabase, urls: Collection[Url]) -> dict[Url, str]:
    """The titles of those URLs that were fetched."""
    results: dict[Url, str] = {}
    for group in _groups(list(urls)):
        marks = ", ".join("?" * len(group))
        sql = f"SELECT url, coalesce(title, '') FROM history WHERE kind = 'page' AND url IN ({marks})"  # noqa: S608
        results.update((Url(url), str(title)) for url, title in database.rows(sql, group))
    return results


def redirects(database: CrawlDatabase) -> dict[Url, Url]:
    """The URLs that were redirected, with their targets."""
    return {Url(url): Url(to) for url, to in database.rows("SELECT url, to_url FROM aliases")}


def latest_strategy_event(database: CrawlDatabase, kind: str) -> Mapping[str, Any]:
    """The facts of the strategy's latest event of this kind; empty if there is none."""
    row = database.row("SELECT facts FROM strategy_events WHERE kind = ? ORDER BY number DESC LIMIT 1", (kind,))
    return {} if row is None else as_mapping(row[0])


def _groups(urls: list[Url]) -> Iterator[list[Url]]:
    for begin in range(0, len(urls), AT_ONCE):
        yield urls[begin : begin + AT_ONCE]


_ORDERS = {"new": "event DESC", "best": "4 DESC, event"}


class PageRow(NamedTuple):
    """A fetched page, as shown in a list of results."""

    n: int
    url: Url
    title: str
    relevance: float
    relevant: int
    score: float
    parent: Url | None
    anchor: str
    depth: int
    time: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which pages to list, and in which order: `new` or `best` first."""

    order: str = "new"
    host: str = ""
    least: float | None = None
    on_topic: bool | None = None
    label: bool | None = None
    limit: int = 30
    offset: int = 0

    @property
    def is_filtered(self) -> bool:
        """Whether some pages are left out."""
        return bool(self.host) or any(limit is not None for limit in (self.least, self.on_topic, self.label))


def pages(database: CrawlDatabase, wanted: Wanted) -> list[PageRow]:
    """Fetched pages."""
    where, values = ["kind = 'page'"], list[object]()
    if wanted.host:
        begins = [f"{scheme}://{_as_like(wanted.host)}{end}%" for scheme in ("http", "https") for end in "/:"]
        where.append("(" + " OR ".join(["url LIKE ? ESCAPE '!'"] * len(begins)) + ")")
        values += begins
    for condition, value in (
        (f"{RELEVANCE} >= ?", wanted.least),
        (f"{RELEVANT} = ?", wanted.on_topic),
        ("url IN (SELECT url FROM labels WHERE on_topic = ?)", wanted.label),
    ):
        if value is not None:
            where.append(condition)
            values.append(value)
    columns = f"n, url, coalesce(title, ''), {RELEVANCE}, {RELEVANT}, score, parent, anchor, depth, time"
    conditions, order = " AND ".join(where), _ORDERS[wanted.order]
    sql = f"SELECT {columns} FROM history WHERE {conditions} ORDER BY {order} LIMIT ? OFFSET ?"  # noqa: S608 - ours
    return [PageRow(*row) for row in database.rows(sql, (*values, wanted.limit, wanted.offset))]


def _as_like(text: str) -> str:
    """Escape text for a LIKE pattern with `ESCAPE '!'`."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
