"""The history of a crawl in its SQLite file: every page and miss, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from scenthound.model import Event, Lost, Mark, Miss, Step, Url
from scenthound.ports import History, Where
from scenthound.store.blobs import pack_urls
from scenthound.store.database import SAVE_LINKS, CrawlDatabase, as_json, as_mapping, without_surrogates
from scenthound.store.memory import ELSEWHERE, HOSTS_COUNTED, summed
from scenthound.store.seen_urls import SeenUrls

RELEVANCE, RELEVANT = "coalesce(history.relevance, 0)", "coalesce(history.relevant, 0)"
"""The verdict on a page, in SQL."""
_REVISED = "history LEFT JOIN revised ON revised.url = history.url WHERE kind = 'page'"
"""The pages with the judge's latest verdicts, in SQL."""
_WRITTEN = "n, url, parent, anchor, score, parts, similarity, depth, status, bytes, time, title, rank, requested, carry"
_STEP = f"{_WRITTEN}, {RELEVANCE}, {RELEVANT}"
_MARK = f"{', '.join(Mark._fields[:-2])}, {RELEVANCE}, {RELEVANT}"
_LOST = "event, url, parent, anchor, score, depth, status, bytes, time, reason, detail, carry"

EVENTS_KEPT = 100_000  # strategy events kept of each kind; older ones are deleted
LONGEST_EVENT = 20_000  # characters of a strategy event's facts as JSON
_EVENT = (
    f"INSERT INTO history (kind, {_WRITTEN}, reason, detail, file, offset, length, relevance, relevant) "  # noqa: S608
    "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)
_IS_SEEN = """SELECT 1 FROM history WHERE url = ?1 AND kind = 'page' UNION ALL SELECT 1 FROM dead WHERE url = ?1
    UNION ALL SELECT 1 FROM aliases WHERE url = ?1 LIMIT 1"""
COLLECTED = 256  # events collected before they are written
LONG = 65_536  # characters: an event with more text is written immediately
_NOWHERE = (None, None, None)


class LostMark(NamedTuple):
    """The fields of a request without a page that the figures of a crawl need."""

    url: Url
    bytes: int
    is_final: bool
    """Whether the URL is not requested again."""


class RecordPosition(NamedTuple):
    """The position of an event's record in its WARC file, according to the history."""

    event: int
    offset: int
    length: int


class SqliteHistory(History):
    """The `History` port in the crawl's SQLite file. The latest seen URLs are also in memory.

    Events are collected and written many at a time, at the latest before the next commit or query.
    """

    def __init__(self, database: CrawlDatabase, hosts_counted: int = HOSTS_COUNTED) -> None:
        self._database, self._hosts_counted = database, hosts_counted
        self._pages, self._counts = self._stored_pages(), self._stored_counts()
        self._counted = {host for host, _ in self._counts}
        self._touched: set[tuple[str, str]] = set()
        self._noted: dict[str, int] = {}
        self._new_events: list[tuple[Any, ...]] = []
        self._new_links: list[tuple[Url, bytes]] = []
        database.before_commit(self._write)

    @cached_property
    def _seen(self) -> SeenUrls:
        """Loaded on first use, because code that only inspects a crawl never needs the seen URLs."""
        rows = self._rows(
            "SELECT url FROM history WHERE kind = 'page' UNION ALL SELECT url FROM dead"
            " UNION ALL SELECT url FROM aliases"
        )
        return SeenUrls((url for (url,) in rows), self._is_stored)

    def _is_stored(self, url: str) -> bool:
        return self._row(_IS_SEEN, (url,)) is not None

    # --- the port -----------------------------------------------------------------------------

    def seen(self, url: Url) -> bool:
        seen = self._seen
        return url in seen.latest or (seen.is_partial and url in seen)  # called for every link

    def record(self, step: Step, where: Where | None = None) -> None:
        self._pages += 1
        self._seen.add(step.url)
        row = (
            "page", step.n, step.url, step.parent, without_surrogates(step.anchor), step.score, as_json(step.parts),
            step.similarity, step.depth, step.status, step.bytes, step.time, without_surrogates(step.title), step.rank,
            step.requested, as_json(step.carry), None, None, *(where or _NOWHERE), step.relevance, step.relevant,
        )  # fmt: skip
        self._add_event(row, len(step.title) + len(step.anchor))

    def lost(self, miss: Miss, now: float, dead: bool = True, heard: bool = True, where: Where | None = None) -> None:
        candidate, reason = miss.candidate, without_surrogates(miss.reason)
        if dead:
            self._database.execute("INSERT OR REPLACE INTO dead VALUES (?, ?)", (candidate.url, reason))
            self._seen.add(candidate.url)
        kind = "retry" if not dead else "miss" if heard else "refused"
        row = (
            kind, None, candidate.url, candidate.parent, without_surrogates(candidate.anchor), candidate.score, None,
            None, candidate.depth, miss.status, miss.size, now, None, None, None, as_json(candidate.carry), reason,
            without_surrogates(miss.detail), *(where or _NOWHERE), None, None,
        )  # fmt: skip
        self._add_event(row, len(miss.detail) + len(candidate.anchor))

    def alias(self, url: Url, to: Url) -> None:
        self._database.execute("INSERT OR REPLACE INTO aliases VALUES (?, ?)", (url, to))
        self._seen.add(url)

    def count(self, host: str, reason: str, times: int = 1) -> None:
        """Count a link. Above `hosts_counted` different hosts, further hosts are counted together as `*`."""
        if host not in self._counted:
            if len(self._counted) >= self._hosts_counted:
                host = ELSEWHERE
            self._counted.add(host)
        key = (host, reason)
        self._counts[key] = self._counts.get(key, 0) + times
        self._touched.add(key)

    def link(self, source: Url, targets: Iterable[Url]) -> None:
        self._new_links.append((source, pack_urls(targets)))

    def note(self, event: Event) -> None:
        kind, agent = without_surrogates(event.kind), event.facts.get("agent")
        facts = as_json(event.facts) or ""
        self._database.execute(
            "INSERT INTO strategy_events (n, kind, agent, url, facts) VALUES (?,?,?,?,?)",
            (
                event.n,
                kind,
                agent if isinstance(agent, int) else None,
                event.url,
                facts if len(facts) <= LONGEST_EVENT else as_json({"agent": agent, "characters": len(facts)}),
            ),
        )
        if kind not in self._noted:
            count = self._database.row("SELECT count(*) FROM strategy_events WHERE kind = ?", (kind,))
            self._noted[kind] = (count or (0,))[0]
        else:
            self._noted[kind] += 1
        if self._noted[kind] >= EVENTS_KEPT * 11 // 10:
            self._database.execute(
                "DELETE FROM strategy_events WHERE kind = ? AND number <="
                " (SELECT number FROM strategy_events WHERE kind = ? ORDER BY number DESC LIMIT 1 OFFSET ?)",
                (kind, kind, EVENTS_KEPT),
            )
            self._noted[kind] = EVENTS_KEPT

    def strategy_events(
        self, kind: str | None = None, agent: int | None = None, url: Url | None = None
    ) -> Iterator[Event]:
        columns = {"kind": kind, "agent": agent, "url": url}
        filters = {column: value for column, value in columns.items() if value is not None}
        where = " AND ".join(f"{column} = ?" for column in filters) or "1"
        sql = f"SELECT kind, facts, url, n FROM strategy_events WHERE {where} ORDER BY number"  # noqa: S608 - our own column names
        for kind_, facts, about_url, n in self._database.rows(sql, tuple(filters.values())):
            yield Event(kind_, as_mapping(facts), None if about_url is None else Url(about_url), n)

    def trail(self) -> Iterator[Step]:
        for row in self._rows(f"SELECT {_STEP} FROM history WHERE kind = 'page' ORDER BY event"):  # noqa: S608
            yield _step(row)

    def __len__(self) -> int:
        return self._stored_pages() if self._database.read_only else self._pages

    def _stored_pages(self) -> int:
        return int((self._database.row("SELECT count(*) FROM history WHERE kind = 'page'") or (0,))[0])

    # --- queries ------------------------------------------------------------------------------

    def events(self) -> Iterator[Step | Lost]:
        rows = self._rows(f"SELECT kind, {_STEP}, event, reason, detail FROM history ORDER BY event")  # noqa: S608
        for kind, *row in rows:
            yield _step(row[:17]) if kind == "page" else _lost(_columns_of_miss(row))

    def last_event(self) -> int:
        return int((self._row("SELECT max(event) FROM history") or (0,))[0] or 0)

    def numbered_after(self, event: int) -> Iterator[tuple[int, Step | Lost, Where | None]]:
        columns = f"kind, {_STEP}, event, reason, detail, file, offset, length"
        sql = f"SELECT {columns} FROM history WHERE event > ? AND kind IN ('page', 'miss') ORDER BY event"  # noqa: S608
        for kind, *row in self._rows(sql, (event,)):
            where = Where(*row[20:]) if row[20] is not None else None
            yield row[17], _step(row[:17]) if kind == "page" else _lost(_columns_of_miss(row)), where

    def pages_until(self, event: int) -> int:
        """The number of pages up to and including this event."""
        sql = "SELECT count(*) FROM history WHERE kind = 'page' AND event <= ?"
        return int((self._row(sql, (event,)) or (0,))[0])

    def highest(self) -> int:
        return int((self._row("SELECT max(n) FROM history WHERE kind = 'page'") or (0,))[0] or 0)

    def recorded_files(self) -> dict[str, tuple[int, int]]:
        """For each file of the repository, the number of recorded pages and the end of the last record."""
        sql = "SELECT file, count(*), max(offset + length) FROM history WHERE file IS NOT NULL GROUP BY file"
        return {file: (count, int(end or 0)) for file, count, end in self._rows(sql)}

    def records_in(self, file: str) -> list[RecordPosition]:
        """The positions of the records of a file, in order."""
        sql = "SELECT event, offset, length FROM history WHERE file = ? ORDER BY offset"
        return [
            RecordPosition(event, _whole(offset), _whole(length)) for event, offset, length in self._rows(sql, (file,))
        ]

    def sample_records(self, count: int) -> list[Where]:
        """About `count` records, evenly spread over the crawl; all of them if there are fewer."""
        stride = max(1, self.last_event() // count)
        sql = "SELECT file, offset, length FROM history WHERE file IS NOT NULL AND event % ? = 0"
        return [Where(file, _whole(offset), _whole(length)) for file, offset, length in self._rows(sql, (stride,))]

    def forget_events(self, events: Sequence[int]) -> list[Step]:
        """Forget the pages of these events, whose records are lost, and return their steps."""
        rows = [self._row("SELECT url, kind FROM history WHERE event = ?", (event,)) for event in events]
        self._database.executemany(
            "UPDATE history SET file = NULL, offset = NULL, length = NULL WHERE event = ?", [(n,) for n in events]
        )
        return self.forget([Url(row[0]) for row in rows if row is not None and row[1] == "page"])

    def forget(self, gone: Sequence[Url]) -> list[Step]:
        steps = [step for step in map(self.step_of, gone) if step is not None]
        for url in gone:
            self._database.execute("DELETE FROM history WHERE url = ? AND kind = 'page'", (url,))
            self._seen.discard(url)
        if gone:  # they will be fetched again, and then their links are recorded again
            urls = set(gone)
            rows = self._rows("SELECT rowid, source FROM links")
            self._database.executemany("DELETE FROM links WHERE rowid = ?", [(n,) for n, url in rows if url in urls])
        self._pages -= len(steps)
        return steps

    def misses(self) -> Iterator[Lost]:
        for row in self._rows(f"SELECT {_LOST} FROM history WHERE kind <> 'page' ORDER BY event"):  # noqa: S608
            yield _lost(row)

    def step_of(self, url: Url) -> Step | None:
        for name in self._names_of(url):
            row = self._row(
                f"SELECT {_STEP} FROM history WHERE url = ? AND kind = 'page' ORDER BY event DESC LIMIT 1",  # noqa: S608
                (name,),
            )
            if row is not None:
                return _step(row)
        return None

    def where(self, url: Url) -> Where | None:
        for name in self._names_of(url):
            row = self._row(
                "SELECT file, offset, length FROM history WHERE url = ? AND file IS NOT NULL"
                " ORDER BY event DESC LIMIT 1",
                (name,),
            )
            if row is not None:
                return Where(*row)
        return None

    def places(self) -> Iterator[tuple[Url, Where]]:
        rows = self._rows(
            "SELECT url, file, offset, length FROM history WHERE kind = 'page' AND file IS NOT NULL ORDER BY event"
        )
        return ((Url(url), Where(file, offset, length)) for url, file, offset, length in rows)

    def best(self, n: int) -> list[Step]:
        sql = f"SELECT {_STEP} FROM history WHERE kind = 'page' ORDER BY relevance DESC, event LIMIT ?"  # noqa: S608
        return [_step(row) for row in self._rows(sql, (n,))]

    def marks(self, after: int = 0) -> Iterator[Mark]:
        """All pages, or those after an event."""
        sql = f"SELECT {_MARK} FROM history WHERE event > ? AND kind = 'page' ORDER BY event"  # noqa: S608
        return map(Mark._make, self._rows(sql, (after,)))

    def lost_marks(self, after: int = 0) -> Iterator[LostMark]:
        """All requests that brought no page, or those after an event."""
        sql = "SELECT url, bytes, kind <> 'retry' FROM history WHERE event > ? AND kind <> 'page' ORDER BY event"
        return map(LostMark._make, self._rows(sql, (after,)))

    def times(self) -> Iterator[tuple[float, bool]]:
        """When each request was answered, in order, and whether with a page."""
        return (
            (time, bool(is_page))
            for time, is_page in self._rows("SELECT time, kind = 'page' FROM history ORDER BY event")
        )

    def revise(self, verdicts: Mapping[Url, tuple[float, bool]]) -> None:
        rows = [(url, relevance, relevant) for url, (relevance, relevant) in verdicts.items()]
        self._database.executemany("INSERT OR REPLACE INTO revised VALUES (?, ?, ?)", rows)

    def flag_again(self, flags: Mapping[Url, bool]) -> None:
        """Set whether these pages are relevant, after what counts as relevant has changed; see `loop.steering`."""
        rows = [(relevant, url) for url, relevant in flags.items()]
        self._database.executemany("UPDATE history SET relevant = ? WHERE url = ? AND kind = 'page'", rows)
        self._database.executemany("UPDATE revised SET relevant = ? WHERE url = ?", rows)

    def revised(self) -> dict[Url, tuple[float, bool]]:
        rows = self._database.rows("SELECT url, relevance, relevant FROM revised ORDER BY url")
        return {Url(url): (relevance, bool(relevant)) for url, relevance, relevant in rows}

    def best_in_the_end(self, n: int) -> list[Step]:
        """The pages with the highest relevance according to the judge's latest verdicts, which these steps have."""
        verdict = f"coalesce(revised.relevance, {RELEVANCE}), coalesce(revised.relevant, {RELEVANT})"
        sql = f"SELECT history.url, {verdict} FROM {_REVISED} ORDER BY 2 DESC, n LIMIT ?"  # noqa: S608
        steps = ((self.step_of(Url(url)), relevance, relevant) for url, relevance, relevant in self._rows(sql, (n,)))
        return [step._replace(relevance=rel, relevant=bool(flag)) for step, rel, flag in steps if step is not None]

    def relevant_in_the_end(self) -> int:
        """How many pages are relevant according to the judge's latest verdicts."""
        sql = f"SELECT sum(coalesce(revised.relevant, {RELEVANT})) FROM {_REVISED}"  # noqa: S608
        return int((self._row(sql) or (0,))[0] or 0)

    def fate(self, url: Url) -> str | None:
        dead = self._row("SELECT reason FROM dead WHERE url = ?", (url,))
        if dead is not None:
            return f"dead: {dead[0]}"
        alias = self._row("SELECT to_url FROM aliases WHERE url = ?", (url,))
        if alias is not None:
            return f"redirected to {alias[0]}"
        return "crawled" if self._is_stored(url) else None

    def counts(self) -> dict[str, int]:
        return summed((reason, times) for (_, reason), times in self._current_counts().items())

    def counts_of(self, host: str) -> dict[str, int]:
        return summed((reason, times) for (name, reason), times in self._current_counts().items() if name == host)

    def _current_counts(self) -> dict[tuple[str, str], int]:
        """The counts as of now; those of a crawl that another process is writing are read again."""
        return self._stored_counts() if self._database.read_only else self._counts

    def _stored_counts(self) -> dict[tuple[str, str], int]:
        rows = self._database.rows("SELECT host, reason, times FROM counts")
        return {(host, reason): times for host, reason, times in rows}

    def reasons(self) -> dict[str, int]:
        sql = "SELECT reason, count(*) FROM history WHERE kind IN ('miss', 'refused') GROUP BY reason"
        return summed((reason, times) for reason, times in self._rows(sql))

    def _add_event(self, event: tuple[Any, ...], length: int) -> None:
        self._new_events.append(event)
        if len(self._new_events) >= COLLECTED or length > LONG:
            self._write_events()

    def _write_events(self) -> None:
        if self._new_events:
            events, self._new_events = self._new_events, []
            self._database.executemany(_EVENT, events)
        if self._new_links:
            links, self._new_links = self._new_links, []
            self._database.executemany(SAVE_LINKS, links)

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        self._write_events()
        return self._database.rows(sql, values)

    def _row(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        self._write_events()
        return self._database.row(sql, values)

    def _write(self) -> None:
        self._write_events()
        if self._touched:
            rows = [(*key, self._counts[key]) for key in self._touched]
            self._database.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?, ?)", rows)
            self._touched.clear()

    def _names_of(self, url: Url) -> Iterator[Url]:
        """The URL itself, then each URL that it was redirected to, in order."""
        visited: set[Url] = set()
        name: Url | None = url
        while name is not None and name not in visited:
            yield name
            visited.add(name)
            row = self._row("SELECT to_url FROM aliases WHERE url = ?", (name,))
            name = None if row is None else Url(row[0])


def _whole(value: object) -> int:
    """An integer from a row that may have been tampered with; -1 if it is not an integer."""
    return value if isinstance(value, int) else -1


def _step(row: Any) -> Step:
    n, url, parent, anchor, score, parts, similarity, depth, status, size, time, title, rank, *more = row
    requested, carry, relevance, relevant = more
    parent, requested = (None if name is None else Url(name) for name in (parent, requested))
    return Step(
        n, Url(url), parent, anchor, score, as_mapping(parts), similarity, depth, status, size, time, title, rank,
        requested, as_mapping(carry), relevance, bool(relevant),
    )  # fmt: skip


def _columns_of_miss(row: Sequence[Any]) -> list[Any]:
    """The columns of a miss, from a row with the columns of a step, then event, reason and detail."""
    return [row[17], *row[1:5], *row[7:11], *row[18:20], row[14]]


def _lost(row: Any) -> Lost:
    event, url, parent, anchor, score, depth, status, size, time, reason, detail, carry = row
    origin = None if parent is None else Url(parent)
    return Lost(event, Url(url), origin, anchor, score, depth, status, size, time, reason, detail, as_mapping(carry))
