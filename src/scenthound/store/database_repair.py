"""Copy everything that can be read from a damaged crawl database into a new one."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from scenthound.files import check_own_file, free_name, replace, replacing
from scenthound.store.database import CrawlDatabase, database_files

_QUERIES = 20_000  # spent on the unreadable ranges of one table; each range takes a few dozen


@dataclass(frozen=True, slots=True)
class Recovery:
    """The result of a recovery."""

    rows: dict[str, int]
    """The number of rows recovered from each table."""
    damaged: tuple[str, ...]
    """Tables that could not be read completely."""
    kept: Path
    """The damaged file, under its new name."""

    def __str__(self) -> str:
        recovered = ", ".join(f"{count} rows of {table}" for table, count in self.rows.items() if count)
        incomplete = f"; incomplete: {', '.join(self.damaged)}" if self.damaged else ""
        return f"recovered {recovered or 'nothing'}{incomplete}; the damaged file is kept as {self.kept.name}"


def recover(path: Path) -> Recovery:
    """Replace a damaged database with a new one that contains every readable row.

    The damaged file (and its WAL) is kept beside it as `crawl.db.damaged-N`. The caller must hold the folder's lock.
    The new file replaces the old one only when it is complete.
    """
    kept = free_name(path, "damaged")
    for name in database_files(str(kept)):
        check_own_file(name)
    for end in ("", "-wal"):
        _keep(Path(f"{path}{end}"), Path(f"{kept}{end}"))
    fresh = path.with_name(path.name + ".salvaged")
    _unlink(fresh, "", "-wal", "-shm")
    target = CrawlDatabase(fresh)
    try:
        with closing(_open(kept)) as source:
            rows, damaged = _copy(source, target)
        target.save_meta("salvaged", kept.name)
        target.commit()
        target.row("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        target.close()
    _unlink(kept, "-shm", *([] if _has_bytes(f"{kept}-wal") else ["-wal"]))
    _unlink(path, "-wal", "-shm")  # an old WAL must not be replayed into the new file
    replace(fresh, path)
    return Recovery(rows, tuple(damaged), kept)


def _keep(path: Path, kept: Path) -> None:
    """Keep the file under another name, as a hard link, or as a copy if the file system does not support links."""
    check_own_file(path)
    if path.exists():
        try:
            os.link(path, kept)
        except OSError:
            with path.open("rb") as source, replacing(kept) as copy:
                shutil.copyfileobj(source, copy)


def _has_bytes(path: str) -> bool:
    return os.path.exists(path) and os.path.getsize(path) > 0


def _unlink(path: Path, *ends: str) -> None:
    for end in ends:
        Path(f"{path}{end}").unlink(missing_ok=True)


def _open(path: Path) -> sqlite3.Connection:
    # read-only, so that closing does not merge the WAL into the kept file
    connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None, timeout=10)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def _copy(source: sqlite3.Connection, target: CrawlDatabase) -> tuple[dict[str, int], list[str]]:
    rows: dict[str, int] = {}
    damaged: list[str] = []
    for (table,) in list(target.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")):
        declared = [(row[1], row[5]) for row in target.rows(f"PRAGMA table_info({table})")]
        try:
            readable = {row[1] for row in source.execute(f"PRAGMA table_info({table})")}
        except sqlite3.Error:
            readable = set()
        columns = [name for name, _ in declared if name in readable]
        if not columns:
            rows[table] = 0
            damaged.append(table)
            continue
        reader = _TableReader(
            source, table, columns, _has_rowid(target, table), [name for name, key in declared if key]
        )
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        before = _size(target, table)
        for row in reader.read():
            try:
                target.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", row)  # noqa: S608
            except sqlite3.Error:
                reader.is_incomplete = True  # a row that violates the schema
        reader.is_incomplete |= target.drop_misfits(table) > 0
        rows[table] = _size(target, table) - before
        if reader.is_incomplete:
            damaged.append(table)
    return rows, damaged


def _size(database: CrawlDatabase, table: str) -> int:
    return int((database.row(f"SELECT count(*) FROM {table}") or (0,))[0])  # noqa: S608


def _has_rowid(database: CrawlDatabase, table: str) -> bool:
    sql = str((database.row("SELECT sql FROM sqlite_master WHERE name = ?", (table,)) or ("",))[0])
    return "WITHOUT ROWID" not in sql


class _TableReader:
    """Reads a table forwards and backwards up to the damage, then bisects the unreadable range in between."""

    def __init__(
        self, source: sqlite3.Connection, table: str, columns: list[str], has_rowid: bool, keys: list[str]
    ) -> None:
        self.is_incomplete = False
        self._source, self._queries_left = source, _QUERIES
        self._key = "rowid" if has_rowid else ", ".join(keys)
        self._has_rowid = has_rowid
        first = "rowid" if has_rowid else "0"
        self._select = f"SELECT {first}, {', '.join(columns)} FROM {table} NOT INDEXED"  # noqa: S608

    def read(self) -> Iterator[tuple[Any, ...]]:
        ends: list[int | None] = [None, None]
        for side, direction in enumerate(("ASC", "DESC")):
            order = ", ".join(f"{key} {direction}" for key in self._key.split(", "))
            is_complete = True
            try:
                for rowid, *row in self._source.execute(f"{self._select} ORDER BY {order}"):
                    ends[side] = rowid
                    yield tuple(row)
            except (sqlite3.Error, OverflowError):
                is_complete = False
            if is_complete:
                return
            self.is_incomplete = True
        if self._has_rowid and ends[0] is not None and ends[1] is not None:
            yield from self._between(ends[0] + 1, ends[1] - 1)

    def _between(self, low: int, high: int) -> Iterator[tuple[Any, ...]]:
        ranges = [(low, high)]
        while ranges and self._queries_left:
            low, high = ranges.pop()
            if low > high:
                continue
            self._queries_left -= 1
            try:
                rows = self._source.execute(f"{self._select} WHERE rowid BETWEEN ? AND ?", (low, high)).fetchall()
            except (sqlite3.Error, OverflowError):
                if low < high:
                    middle = (low + high) // 2
                    ranges += [(middle + 1, high), (low, middle)]
                continue
            for _, *row in rows:
                yield tuple(row)
