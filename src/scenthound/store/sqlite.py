"""What of a crawl must outlive the process, in SQLite: the frontier here, the past in `sqlite_history`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scenthound.errors import FolderBroken
from scenthound.model import Candidate, Url
from scenthound.ports import Eviction
from scenthound.store.database import CrawlDatabase, as_json, as_mapping, clean
from scenthound.store.heaps import MemoryFrontier
from scenthound.store.sqlite_history import SqliteHistory

__all__ = ["CrawlDatabase", "SqliteFrontier", "SqliteHistory", "waiting", "waiting_candidate"]

_COLUMNS = "number, url, score, carry, parts, parent, anchor, depth, spelling, due"
_RECENT = "frontier.recent"
_NUMBER = "frontier.number"


class SqliteFrontier(MemoryFrontier):
    """Heaps as the working set, a table as its journal: each commit writes the URLs that changed.

    A popped URL stays in the table until `settle` is called for it, when its page, miss or redirect
    has been recorded. So whatever was in flight when the process died is waiting again, in its old
    place, when the frontier is next opened. How long hosts rest is the loop's to remember.
    """

    def __init__(
        self,
        database: CrawlDatabase,
        bound: int | None = None,
        eviction: Eviction = "scored",
        spread: int = 1,
    ) -> None:
        super().__init__(bound, eviction, spread)
        self._database = database
        self._changed: set[Url] = set()
        self._in_flight: dict[Url, tuple[int, Candidate]] = {}
        self._saved_recent: list[str] = []
        self.restore(self._stored())
        number = database.meta(_NUMBER)
        self._next_number = max(self._next_number, int(number) if number.isdigit() else 0)
        for name in _names(database.meta(_RECENT)):
            self._tire(name)
        database.before_commit(self._write)

    def push(self, candidate: Candidate) -> Candidate | None:
        self._in_flight.pop(candidate.url, None)  # handed back: it waits again
        before = self._entries.get(candidate.url)
        fallen = super().push(candidate)
        if self._entries.get(candidate.url) is not before:
            self._changed.add(candidate.url)
        if fallen is not None and fallen.url != candidate.url:
            self._changed.add(fallen.url)
        return fallen

    def pop(self, now: float) -> Candidate | None:
        candidate = super().pop(now)
        if candidate is not None:
            self._in_flight[candidate.url] = (self._popped_number, candidate)
        return candidate

    def give_back(self, number: int, candidate: Candidate) -> Candidate | None:
        self._in_flight.pop(candidate.url, None)  # its row is still there
        fallen = super().give_back(number, candidate)
        if fallen is not None:
            self._changed.add(fallen.url)
        return fallen

    def take(self, url: Url) -> Candidate | None:
        candidate = super().take(url)
        if candidate is not None:
            self._in_flight[url] = (self._popped_number, candidate)
        return candidate

    def settle(self, url: Url) -> None:
        """What became of a popped URL has been recorded: it need not be put back after a crash."""
        self._in_flight.pop(url, None)
        self._changed.add(url)

    def in_flight(self) -> list[Url]:
        """Popped and not yet settled, oldest first."""
        return list(self._in_flight)

    def _write(self) -> None:
        gone, rows = [], []
        for url in self._changed:
            entry = self.entry(url) or self._in_flight.get(url)
            if entry is None:
                gone.append((url,))
            else:
                rows.append(_row(*entry))
        if gone:
            self._database.executemany("DELETE FROM frontier WHERE url = ?", gone)
        if rows:
            self._database.executemany("INSERT OR REPLACE INTO frontier VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
        if self._changed:
            self._database.save_meta(_NUMBER, str(self._next_number))
        recent = list(self._recent)
        if recent != self._saved_recent:
            self._database.save_meta(_RECENT, json.dumps(recent))
            self._saved_recent = recent
        self._changed.clear()

    def _stored(self) -> Iterator[tuple[int, Candidate]]:
        for row in self._database.rows(f"SELECT {_COLUMNS} FROM frontier ORDER BY number"):  # noqa: S608 - ours
            yield row[0], _candidate(row, self._database.path)


def waiting(database: CrawlDatabase) -> int:
    """How many URLs wait in a crawl's file, those in flight included."""
    return int((database.row("SELECT count(*) FROM frontier") or (0,))[0])


def waiting_candidate(database: CrawlDatabase, url: Url) -> Candidate | None:
    """The candidate that waits under this URL in a crawl's file."""
    row = database.row(f"SELECT {_COLUMNS} FROM frontier WHERE url = ?", (url,))  # noqa: S608 - ours
    return None if row is None else _candidate(row, database.path)


def _candidate(row: tuple[Any, ...], path: str) -> Candidate:
    number, url, score, carry, parts, parent, anchor, depth, spelling, due = row
    if not isinstance(score, float) or not isinstance(number, int):
        raise FolderBroken(f"{path}: the frontier's entry for {url} can't be read")
    origin = None if parent is None else Url(parent)
    return Candidate(Url(url), score, as_mapping(carry), as_mapping(parts), origin, anchor, depth, spelling, due)


def _row(number: int, candidate: Candidate) -> tuple[Any, ...]:
    return (
        candidate.url,
        number,
        float(candidate.score),
        as_json(candidate.carry),
        as_json(candidate.parts),
        candidate.parent,
        clean(candidate.anchor),
        candidate.depth,
        clean(candidate.spelling),
        candidate.due,
    )


def _names(text: str) -> list[str]:
    try:
        found = json.loads(text) if text else []
    except ValueError:
        return []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
