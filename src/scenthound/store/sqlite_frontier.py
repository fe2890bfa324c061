"""The frontier of a crawl in its SQLite file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from scenthound.errors import FolderBroken
from scenthound.model import Candidate, Url
from scenthound.ports import Eviction, Popped
from scenthound.store.database import CrawlDatabase
from scenthound.store.frontier_rows import ROWS, CandidateReader, RowWriter, read_entries
from scenthound.store.spilling_frontier import IN_MEMORY, SpillingFrontier
from scenthound.store.sqlite_history import SqliteHistory
from scenthound.typed_data import from_json

__all__ = ["CrawlDatabase", "SqliteFrontier", "SqliteHistory", "waiting", "waiting_candidate"]

_RECENT = "frontier.recent"
_NUMBER = "frontier.number"


class SqliteFrontier(SpillingFrontier):
    """A frontier with a table as its journal: each commit writes the URLs that changed.

    A popped URL stays in the table until `settle` is called for it, after its page, miss or redirect has been recorded.
    So a URL that was in flight when the process died waits again, in its old position. The delays of hosts are saved by
    the loop. At most about `in_memory` candidates are in memory; the others are read from the table when needed.
    """

    def __init__(
        self,
        database: CrawlDatabase,
        bound: int | None = None,
        eviction: Eviction = "scored",
        spread: int = 1,
        in_memory: int = IN_MEMORY,
    ) -> None:
        folder = None if database.path == ":memory:" else Path(database.path).parent
        super().__init__(bound, eviction, spread, in_memory, folder)
        database.after_close(self._cold.close)
        self._database = database
        self._changed: dict[int, Url] = {}  # number and URL of each entry whose row has to be written or deleted
        self._saved_recent: list[str] = []
        self._unwritten = 0  # the table has no rows from this number on
        database.execute("DELETE FROM parents WHERE id NOT IN (SELECT parent FROM frontier WHERE parent IS NOT NULL)")
        if waiting(database) <= in_memory:
            self.restore(self._stored())
        else:
            self._changed.update(list(self._restore_cold(self._stored_order())))
        number = database.meta(_NUMBER)
        self._next_number = max(self._next_number, int(number) if number.isdigit() else 0)
        self._unwritten = self._next_number
        for name in _names(database.meta(_RECENT)):
            self._schedule.mark_used(name)
        database.before_commit(self._write)

    def push(self, candidate: Candidate) -> Candidate | None:
        url = candidate.url
        if self._cold_count:
            self._load_url(url)
        if url in self._in_flight:  # it gets a new number
            self._changed[self._in_flight[url][0]] = url
        before = self._entries.get(url)
        evicted = super().push(candidate)
        after = self._entries.get(url)
        if after is not before and after is not None:
            self._changed[after[1]] = url
        if evicted is not None and evicted is not candidate:
            self._changed[self._removed_number] = evicted.url
        if len(self._entries) > self._limit:
            self._trim()
        return evicted

    def _rescore(self, offers: Sequence[Candidate]) -> bool:
        is_changed = super()._rescore(offers)
        if is_changed:
            for offer in offers:
                if (entry := self._entries.get(offer.url)) is not None:
                    self._changed[entry[1]] = offer.url
        return is_changed

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

    # --- the table ----------------------------------------------------------------------------

    def _write(self) -> None:
        self._write_rows()
        recent = list(self._schedule.recent)
        if recent != self._saved_recent:
            self._database.save_meta(_RECENT, json.dumps(recent))
            self._saved_recent = recent

    def _write_rows(self) -> None:
        gone, rows = [], []
        row_of = RowWriter(self._database)
        for number, url in self._changed.items():
            waiting = self._entries.get(url)
            entry = (waiting[1], waiting[4]) if waiting is not None else self._in_flight.get(url)
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
        self._changed.clear()

    def _read(self, numbers: Sequence[int]) -> Iterator[tuple[int, Candidate]]:
        return read_entries(self._database, numbers)

    def _guarded(self) -> AbstractContextManager[None]:
        return self._database.guarded()

    def _stored(self) -> Iterator[tuple[int, Candidate]]:
        """The stored entries in order. If a damaged table contains a URL twice, it is returned once."""
        waiting, candidate_of = self._entries, CandidateReader(self._database.path)
        for row in self._database.rows(f"{ROWS} ORDER BY number"):
            if row[1] in waiting:
                self._changed[row[0]] = row[1]
            else:
                yield row[0], candidate_of(row)

    def _stored_order(self) -> Iterator[tuple[int, Url, float, float]]:
        for number, url, score, due in self._database.rows("SELECT number, url, score, due FROM frontier"):
            if not isinstance(score, float) or not isinstance(number, int):
                raise FolderBroken(self._database.path, f"has an unreadable frontier entry for {url}")
            yield number, url, score, due


def waiting(database: CrawlDatabase) -> int:
    """How many URLs are in the table, including those in flight."""
    return int((database.row("SELECT count(*) FROM frontier") or (0,))[0])


def waiting_candidate(database: CrawlDatabase, url: Url) -> Candidate | None:
    """The candidate with this URL in the table; None if there is none."""
    row = database.row(f"{ROWS} WHERE frontier.url = ?", (url,))
    return None if row is None else CandidateReader(database.path)(row)


def _names(text: str) -> list[str]:
    try:
        return from_json(text or "[]", list[str])
    except ValueError:
        return []
