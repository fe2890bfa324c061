"""The frontier of a crawl in its SQLite file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenthound.errors import FolderBroken
from scenthound.model import NOTHING, Candidate, Url
from scenthound.ports import Eviction, Popped
from scenthound.store.database import SAME, CrawlDatabase, as_json, as_mapping, without_surrogates
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.store.sqlite_history import SqliteHistory

__all__ = ["CrawlDatabase", "SqliteFrontier", "SqliteHistory", "waiting", "waiting_candidate"]

_ROWS = f"""SELECT number, frontier.url, score, carry, iif(frontier.parts = '{SAME}', parents.parts, frontier.parts),
    parents.url, anchor, depth, spelling, due FROM frontier LEFT JOIN parents ON parents.id = parent"""  # noqa: S608
_OLD_ROWS = "SELECT number, url, score, carry, parts, parent, anchor, depth, spelling, due FROM frontier"
_RECENT = "frontier.recent"
_NUMBER = "frontier.number"


class SqliteFrontier(MemoryFrontier):
    """A frontier in memory with a table as its journal: each commit writes the URLs that changed.

    A popped URL stays in the table until `settle` is called for it, when its page, miss or redirect has been recorded.
    So what was in flight when the process died waits again, in its old place. The loop saves how long hosts rest.
    """

    def __init__(
        self, database: CrawlDatabase, bound: int | None = None, eviction: Eviction = "scored", spread: int = 1
    ) -> None:
        super().__init__(bound, eviction, spread)
        self._database = database
        self._changed: dict[int, Url] = {}  # entries by number whose row has to be written or deleted
        self._saved_recent: list[str] = []
        database.execute("DELETE FROM parents WHERE id NOT IN (SELECT parent FROM frontier WHERE parent IS NOT NULL)")
        self.restore(self._stored())
        number = database.meta(_NUMBER)
        self._next_number = max(self._next_number, int(number) if number.isdigit() else 0)
        self._unwritten = self._next_number  # from this number on the table has no rows
        for name in _names(database.meta(_RECENT)):
            self._schedule.mark_used(name)
        database.before_commit(self._write)

    def push(self, candidate: Candidate) -> Candidate | None:
        url = candidate.url
        if url in self._in_flight:  # it gets a new number
            self._changed[self._in_flight[url][0]] = url
        before = self._entries.get(url)
        evicted = super().push(candidate)
        after = self._entries.get(url)
        if after is not before and after is not None:
            self._changed[after[1]] = url
        if evicted is not None and evicted is not candidate:
            self._changed[self._removed_number] = evicted.url
        return evicted

    def rescore(self, candidates: Sequence[Candidate]) -> None:
        if self._rescore(candidates):
            for candidate in candidates:
                if (entry := self._entries.get(candidate.url)) is not None:
                    self._changed[entry[1]] = candidate.url

    def give_back(self, popped: Popped) -> Candidate | None:
        evicted = super().give_back(popped)  # its row is still there
        if evicted is not None:
            self._changed[self._removed_number] = evicted.url
        return evicted

    def settle(self, url: Url) -> None:
        entry = self._in_flight.get(url) or self.entry(url)
        super().settle(url)
        if entry is not None:
            self._changed[entry[0]] = url

    def _write(self) -> None:
        gone, rows = [], []
        row_of = _Rows(self._database)
        for number, url in self._changed.items():
            entry = self.entry(url) or self._in_flight.get(url)
            if entry is not None and entry[0] == number:
                rows.append(row_of(*entry))
            elif number < self._unwritten:
                gone.append((number,))
        if gone:
            gone.sort()  # neighbours share a page of the file
            self._database.executemany("DELETE FROM frontier WHERE number = ?", gone)
        if rows:
            self._database.executemany("INSERT OR REPLACE INTO frontier VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
        if self._changed:
            self._database.save_meta(_NUMBER, str(self._next_number))
            self._unwritten = self._next_number
        recent = list(self._schedule.recent)
        if recent != self._saved_recent:
            self._database.save_meta(_RECENT, json.dumps(recent))
            self._saved_recent = recent
        self._changed.clear()

    def _stored(self) -> Iterator[tuple[int, Candidate]]:
        """The entries of the file in order; one that damage has left twice comes once."""
        waiting, candidate_of = self._entries, _Candidates(self._database.path)
        for row in self._database.rows(f"{_ROWS} ORDER BY number"):
            if row[1] in waiting:
                self._changed[row[0]] = row[1]
            else:
                yield row[0], candidate_of(row)


def waiting(database: CrawlDatabase) -> int:
    """How many URLs are in the table, those in flight included."""
    return int((database.row("SELECT count(*) FROM frontier") or (0,))[0])


def waiting_candidate(database: CrawlDatabase, url: Url) -> Candidate | None:
    """The candidate with this URL in the table."""
    rows = _ROWS if database.has_table("parents") else _OLD_ROWS
    row = database.row(f"{rows} WHERE frontier.url = ?", (url,))
    return None if row is None else _Candidates(database.path)(row)


class _Candidates:
    """Makes candidates from rows. Links of a page are neighbours, so their common values are made once."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._parent: Url | None = None
        self._parts: tuple[str | None, Mapping[str, Any]] = (None, NOTHING)
        self._anchors: dict[str, str] = {}

    def __call__(self, row: tuple[Any, ...]) -> Candidate:
        number, url, score, carry, parts, parent, anchor, depth, spelling, due = row
        if not isinstance(score, float) or not isinstance(number, int):
            raise FolderBroken(self._path, f"has an unreadable frontier entry for {url}")
        if parent != self._parent:
            self._parent = parent
        if parts != self._parts[0]:
            self._parts = (parts, as_mapping(parts) or NOTHING)
        if len(self._anchors) > 10_000:
            self._anchors.clear()
        carried = as_mapping(carry) if carry else NOTHING
        text = self._anchors.setdefault(anchor, anchor)
        spelling = url if spelling in (SAME, url) else spelling
        return Candidate(url, score, carried, self._parts[1], self._parent, text, depth, spelling, due)


class _Rows:
    """Makes rows from candidates; what the links of a page share, their parts and their parent, is encoded once."""

    def __init__(self, database: CrawlDatabase) -> None:
        self._database = database
        self._parents: dict[Url, tuple[Any, ...]] = {}  # number and parts
        self._parts: dict[int, str | None] = {}  # by id: the candidates keep their parts alive

    def __call__(self, number: int, candidate: Candidate) -> tuple[Any, ...]:
        url, score, carry, parts, parent, anchor, depth, spelling, due, _ = candidate
        if (parts_json := self._parts.get(id(parts), "")) == "":
            parts_json = self._parts[id(parts)] = as_json(parts)
        origin = None
        if parent is not None:
            origin, parts_of_parent = self._parents.get(parent) or self._add_parent(parent, parts_json)
            parts_json = SAME if parts_json is not None and parts_json == parts_of_parent else parts_json
        carried = as_json(carry) if carry else None
        anchor, spelling = without_surrogates(anchor), SAME if spelling == url else without_surrogates(spelling)
        return number, url, float(score), carried, parts_json, origin, anchor, depth, spelling, due

    def _add_parent(self, url: Url, parts: str | None) -> tuple[Any, ...]:
        """The row of a parent in the file; a new one has the parts of the link that is written first."""
        row = self._database.row("SELECT id, parts FROM parents WHERE url = ?", (url,))
        if row is None:
            added = self._database.execute("INSERT INTO parents (url, parts) VALUES (?, ?)", (url, parts))
            row = (added.lastrowid, parts)
        self._parents[url] = row
        return row


def _names(text: str) -> list[str]:
    try:
        names = json.loads(text) if text else []
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
