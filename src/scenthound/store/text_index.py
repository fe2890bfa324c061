"""The full-text index of a crawl: an SQLite FTS5 file in the crawl folder, which can be rebuilt from the crawl.

A batch of pages and the number of its last event are written in one transaction, so a killed process leaves an index
that is complete up to some event. The columns for filtering and ranking are in a separate narrow table, because a
common word can match half of all pages, and reading rows that include the full text would be slow.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from scenthound.errors import BadUsage, DiskFull, FileDamaged, FolderBroken
from scenthound.files import check_file, check_own_file, refuse_link
from scenthound.store.database import database_files
from scenthound.store.sqlite_errors import translate_error

INDEX, FILE = "index", "text.db"  # in a crawl folder
APPLICATION = 0x5C_E7_1D_EC
VERSION = 1
FIELDS = ("title", "anchor", "host", "text")  # their bm25 weights are 5, 3, 2 and 1: see SCHEMA
SNIPPET = 28  # words in a snippet
BEGIN, END = "\x02", "\x03"  # delimiters around highlighted words; removed from stored texts

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL, relevance REAL NOT NULL,
    language TEXT NOT NULL, time REAL NOT NULL, page INTEGER NOT NULL);
CREATE INDEX documents_host ON documents (host);
CREATE INDEX documents_relevance ON documents (relevance);
CREATE TABLE texts (number INTEGER PRIMARY KEY, title TEXT NOT NULL, anchor TEXT NOT NULL, host TEXT NOT NULL,
    text TEXT NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (
    title, anchor, host, text, content = 'texts', content_rowid = 'number',
    tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE terms USING fts5vocab (words, row);
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(5.0, 3.0, 2.0, 1.0)');
"""


@dataclass(frozen=True, slots=True)
class Document:
    """A page as it is indexed."""

    url: str
    host: str
    title: str
    anchor: str
    """Text of the link that led to it."""
    text: str
    relevance: float
    language: str
    """The language code that the page declares, in lower case without region; empty if it declares none."""
    time: float
    page: int
    """The page's number in the crawl."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Which pages a search may return."""

    hosts: tuple[str, ...] = ()
    """A name includes its subdomains: example.org also finds www.example.org."""
    languages: tuple[str, ...] = ()
    least_relevance: float | None = None
    since: float | None = None
    until: float | None = None
    pages: tuple[int, ...] | None = None
    """Only pages with these numbers in the crawl."""

    def sql(self) -> tuple[str, list[Any]]:
        """A condition on `documents AS d`, and its values."""
        parts: list[str] = []
        values: list[Any] = []
        if self.hosts:
            parts.append("(" + " OR ".join("d.host = ? OR d.host LIKE ? ESCAPE '!'" for _ in self.hosts) + ")")
            for host in self.hosts:
                values += [host, "%." + host.replace("!", "!!").replace("%", "!%").replace("_", "!_")]
        if self.languages:
            parts.append(f"d.language IN ({', '.join('?' * len(self.languages))})")
            values += self.languages
        if self.pages is not None:
            parts.append("d.page IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(self.pages))
        for column, sign, value in (
            ("relevance", ">=", self.least_relevance),
            ("time", ">=", self.since),
            ("time", "<", self.until),
        ):
            if value is not None:
                parts.append(f"d.{column} {sign} ?")
                values.append(value)
        return " AND ".join(parts) or "1", values


EVERYTHING = Filters()


class Match(NamedTuple):
    """A page that matches: its number in the index, its bm25 score (larger is better) and its relevance."""

    number: int
    text_score: float
    relevance: float


class PageSummary(NamedTuple):
    """A page as shown in search results. Highlighted words are between `BEGIN` and `END`."""

    url: str
    host: str
    title: str
    snippet: str
    relevance: float
    language: str
    time: float
    page: int


class TextIndex:
    """One index file. If `write` is true, it is created when missing."""

    def __init__(self, folder: Path, write: bool = False) -> None:
        self.path = folder / FILE
        names = database_files(str(self.path))
        refuse_link(folder)
        try:
            if write:
                folder.mkdir(exist_ok=True)
                for name in names:
                    check_own_file(name)
                self._db = sqlite3.connect(self.path, isolation_level=None, timeout=10)
            else:
                for name in names:
                    check_file(name)
                self._db = sqlite3.connect(f"file:{quote(str(self.path))}?mode=ro", uri=True, isolation_level=None)
            self._prepare(write)
        except (sqlite3.Error, OSError) as error:
            raise self._translated(error) from error

    def _prepare(self, write: bool) -> None:
        db = self._db
        try:
            (application,), (version,) = (
                db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
            )
            if write and not (application or version):
                db.executescript(
                    f"PRAGMA journal_mode=WAL; BEGIN; PRAGMA application_id={APPLICATION}; "
                    f"PRAGMA user_version={VERSION}; {SCHEMA} COMMIT;"
                )
            elif (application, version) != (APPLICATION, VERSION):
                raise FolderBroken(self.path, "is an index of another version", "delete it: it can be rebuilt")
            if write:
                db.execute("PRAGMA synchronous=NORMAL")
                db.execute("PRAGMA cache_size=-32768")
        except BaseException:
            db.close()
            raise

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> TextIndex:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # ---- used by the indexer

    @property
    def last_event(self) -> int:
        """The number of the last crawl event that has been indexed."""
        row = self._row("SELECT value FROM meta WHERE key = 'position'")
        return 0 if row is None else self._checked(row, int)[0]

    def add(self, documents: Iterable[Document], last_event: int) -> None:
        """Add pages and set `last_event`, in one transaction. A page that was already indexed is replaced."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for document in documents:
                self._add(document)
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('position', ?)", (last_event,))
            self._db.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise self._translated(error) from error

    def _add(self, document: Document) -> None:
        db, columns = self._db, ", ".join(FIELDS)
        before = db.execute("SELECT number FROM documents WHERE url = ?", (document.url,)).fetchone()
        if before is not None:
            old = db.execute(f"SELECT {columns} FROM texts WHERE number = ?", before).fetchone()  # noqa: S608
            sql = f"INSERT INTO words (words, rowid, {columns}) VALUES ('delete', ?, ?, ?, ?, ?)"  # noqa: S608
            db.execute(sql, (*before, *old))
            db.execute("DELETE FROM texts WHERE number = ?", before)
            db.execute("DELETE FROM documents WHERE number = ?", before)
        facts = (document.url, document.host, document.relevance, document.language, document.time, document.page)
        number = db.execute("INSERT INTO documents VALUES (NULL, ?, ?, ?, ?, ?, ?)", facts).lastrowid
        words = (document.title, document.anchor, document.host, document.text)
        row = (number, *(clean_text(text) for text in words))
        db.execute("INSERT INTO texts VALUES (?, ?, ?, ?, ?)", row)
        db.execute(f"INSERT INTO words (rowid, {columns}) VALUES (?, ?, ?, ?, ?)", row)  # noqa: S608

    # ---- used by searches

    def __len__(self) -> int:
        return int((self._row("SELECT count(*) FROM documents") or (0,))[0])

    def highest_relevance(self) -> float:
        row = self._row("SELECT max(relevance) FROM documents WHERE relevance IS NOT NULL")
        return float(self._checked(row, float)[0]) if row and row[0] is not None else 0.0

    def matches(self, expression: str, filters: Filters) -> list[Match]:
        """All pages that match an FTS5 expression and pass the filters, in no particular order."""
        where, values = filters.sql()
        columns = "d.number, -w.rank, CAST(d.relevance AS REAL)"
        source = "words AS w JOIN documents AS d ON d.number = w.rowid"
        sql = f"SELECT {columns} FROM {source} WHERE w.words MATCH ? AND {where}"  # noqa: S608 - our own names
        return [Match(*row) for row in self._rows(sql, (expression, *values))]

    def pages(self, filters: Filters) -> list[Match]:
        """All pages that pass the filters, with a score of 0, in no particular order."""
        where, values = filters.sql()
        sql = f"SELECT number, 0.0, CAST(relevance AS REAL) FROM documents AS d WHERE {where}"  # noqa: S608 - our own names
        return [Match(*row) for row in self._rows(sql, values)]

    def summary(self, number: int, expression: str | None) -> PageSummary:
        """A page as shown in search results, with the words of the expression highlighted."""
        if expression is None:
            sql = f"SELECT title, substr(text, 1, {SNIPPET * 8}) FROM texts WHERE number = ?"  # noqa: S608
            title, snippet = self._row(sql, (number,)) or ("", "")
        else:
            marks = f"'{BEGIN}', '{END}'"
            sql = f"SELECT highlight(words, 0, {marks}), snippet(words, 3, {marks}, ' … ', {SNIPPET}) "
            row = self._row(sql + "FROM words WHERE words MATCH ? AND rowid = ?", (expression, number))
            title, snippet = row or ("", "")
        facts = "SELECT url, host, relevance, language, time, page FROM documents WHERE number = ?"
        url, host, *rest = self._row(facts, (number,)) or ("", "", 0.0, "", 0.0, 0)
        return PageSummary(
            *self._checked((url, host, title, snippet, *rest), str, str, str, str, float, str, float, int)
        )

    def number_of(self, url: str) -> int | None:
        """The number of a page, if it is in the index."""
        row = self._row("SELECT number FROM documents WHERE url = ?", (url,))
        return None if row is None else int(row[0])

    def text_of(self, number: int) -> tuple[str, str]:
        """Title and text of a page."""
        title, text = self._row("SELECT title, text FROM texts WHERE number = ?", (number,)) or ("", "")
        return title, text

    def count_pages_with(self, term: str) -> int:
        """The number of pages in which this stemmed term occurs."""
        row = self._row("SELECT doc FROM terms WHERE term = ?", (term,))
        return 0 if row is None else int(row[0])

    def languages(self) -> dict[str, int]:
        """The number of pages that declare each language."""
        return dict(self._rows("SELECT language, count(*) FROM documents GROUP BY language ORDER BY 2 DESC"))

    def hosts(self, most: int) -> dict[str, int]:
        """The hosts with the most pages, and the number of pages on each."""
        sql = "SELECT host, count(*) FROM documents GROUP BY host ORDER BY 2 DESC, 1 LIMIT ?"
        return dict(self._rows(sql, (most,)))

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(sql, values).fetchall()
        except (sqlite3.Error, OSError) as error:
            raise self._translated(error) from error

    def _checked(self, row: tuple[Any, ...], *kinds: type) -> tuple[Any, ...]:
        """Return the row, or raise `FolderBroken` if a value has the wrong type (SQLite does not enforce types)."""
        if not all(
            isinstance(cell, kind) or (kind is float and isinstance(cell, int))
            for cell, kind in zip(row, kinds, strict=True)
        ):
            raise FolderBroken(self.path, "is damaged", "delete it: it can be rebuilt from the crawl")
        return row

    def _row(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        rows = self._rows(sql, values)
        return rows[0] if rows else None

    def _translated(self, error: sqlite3.Error | OSError) -> Exception:
        if "fts5:" in str(error):
            return BadUsage(f"this query can't be answered: {error}", "put words with special characters in quotes")
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CANTOPEN and not self.path.exists():
            return FolderBroken(self.path, "can't be opened", "check your permissions on its folder")
        translated = translate_error(error, str(self.path))
        if isinstance(translated, FileDamaged | sqlite3.Error):
            return FolderBroken(self.path, f"can't be used: {error}", "delete it: it can be rebuilt from the crawl")
        return DiskFull(self.path) if isinstance(translated, DiskFull) else translated


def clean_text(text: str) -> str:
    """Replace the highlight delimiters and NUL with spaces, and lone surrogates, which SQLite rejects, with `?`."""
    for unwanted in (BEGIN, END, "\0"):
        text = text.replace(unwanted, " ")  # `translate` took a quarter of the indexer's time
    return text.encode("utf-8", "replace").decode("utf-8")


def remove(folder: Path) -> None:
    """Delete the index; it can be rebuilt."""
    for name in database_files(str(folder / FILE)):
        name.unlink(missing_ok=True)
