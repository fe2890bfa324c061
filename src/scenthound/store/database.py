"""The SQLite file of a crawl: its schema and its transactions.

Everything is written inside one open transaction; `commit` ends it. Rows that change often (frontier, hosts, counts)
are collected in memory by their owner and written by `commit`, many at a time.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from scenthound.errors import FolderBroken, OurFault, StateDamaged
from scenthound.files import check_file, check_own_file, sync_file, sync_folder
from scenthound.model import NOTHING, Url
from scenthound.store.blobs import pack, pack_urls, unpack, unpack_urls
from scenthound.store.schema_check import cell_problem, misfit, schema_problem
from scenthound.store.sqlite_errors import damaged, translate_error

APPLICATION = 0x5C_E7_40_0D  # marks the file as ours: see `file(1)` and PRAGMA application_id
VERSION = 6
PATIENCE = 10.0  # seconds a write waits for another process
CACHE = 16  # megabytes of page cache: enough for the inner pages of every index, with millions of crawled pages
CHECKPOINT = 4096  # pages of WAL, 16 MB, before it is merged into the file

SAME = "="
"""In a frontier row, this means that the spelling equals the URL, or that the parts equal those of the parent."""
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE history (
    event INTEGER PRIMARY KEY, kind TEXT NOT NULL, n INTEGER, url TEXT NOT NULL, parent TEXT, anchor TEXT NOT NULL,
    score REAL, parts TEXT, carry TEXT, similarity REAL, depth INTEGER NOT NULL, status INTEGER NOT NULL,
    bytes INTEGER NOT NULL, time REAL NOT NULL, title TEXT, rank INTEGER, requested TEXT, reason TEXT, detail TEXT,
    file TEXT, offset INTEGER, length INTEGER, relevance REAL, relevant INTEGER);
CREATE INDEX history_url ON history (url);
CREATE INDEX history_relevance ON history (relevance) WHERE kind = 'page';
CREATE TABLE aliases (url TEXT PRIMARY KEY, to_url TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE dead (url TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE hosts (
    host TEXT PRIMARY KEY, next_allowed REAL NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0,
    pages INTEGER NOT NULL DEFAULT 0, more TEXT) WITHOUT ROWID;
CREATE TABLE robots (origin TEXT PRIMARY KEY, text TEXT NOT NULL, until REAL NOT NULL, failures INTEGER NOT NULL);
CREATE TABLE counts (host TEXT, reason TEXT, times INTEGER NOT NULL, PRIMARY KEY (host, reason)) WITHOUT ROWID;
CREATE TABLE frontier (
    number INTEGER PRIMARY KEY, url TEXT NOT NULL, score REAL NOT NULL, carry TEXT, parts TEXT, parent INTEGER,
    anchor TEXT NOT NULL, depth INTEGER NOT NULL, spelling TEXT NOT NULL, due REAL NOT NULL);
CREATE TABLE parents (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, parts TEXT);
CREATE TABLE state (key TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE links (source TEXT NOT NULL, targets BLOB NOT NULL);
CREATE TABLE labels (url TEXT PRIMARY KEY, on_topic INTEGER NOT NULL, time REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE revised (
    url TEXT PRIMARY KEY, relevance REAL NOT NULL, relevant INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE orders (
    number INTEGER PRIMARY KEY, action TEXT NOT NULL, value TEXT NOT NULL, time REAL NOT NULL, event INTEGER,
    outcome TEXT);
CREATE TABLE delivered_labels (
    number INTEGER PRIMARY KEY, event INTEGER NOT NULL, url TEXT NOT NULL, on_topic INTEGER NOT NULL);
CREATE TABLE strategy_events (
    number INTEGER PRIMARY KEY, n INTEGER NOT NULL, kind TEXT NOT NULL, agent INTEGER, url TEXT, facts TEXT);
CREATE INDEX strategy_events_kind ON strategy_events (kind, agent);
CREATE INDEX strategy_events_url ON strategy_events (url) WHERE url IS NOT NULL;
"""
"""`orders` is what people ask a running crawl to do. Tables that grow with every link (`frontier`, `links`) have no
index: rows are added at the end and found by their number."""
OLDEST = 5
"""The oldest version that is still read, and becomes the latest one when the crawl is resumed."""
_FROM_5 = """
ALTER TABLE heard RENAME TO delivered_labels;
ALTER TABLE told RENAME TO strategy_events;
DROP INDEX IF EXISTS told_kind;
DROP INDEX IF EXISTS told_url;
CREATE INDEX strategy_events_kind ON strategy_events (kind, agent);
CREATE INDEX strategy_events_url ON strategy_events (url) WHERE url IS NOT NULL;
"""
_VIEWS_OF_5 = """
CREATE TEMP VIEW delivered_labels AS SELECT * FROM heard;
CREATE TEMP VIEW strategy_events AS SELECT * FROM told;
"""  # for those who only look


class HostRow(NamedTuple):
    """The stored state of a host."""

    next_allowed: float = 0.0
    failures: int = 0
    pages: int = 0
    more: Mapping[str, Any] = NOTHING
    """Other values of the loop, as JSON."""


class Robots(NamedTuple):
    """The parsed robots.txt of an origin, how long it is valid, and how often it could not be fetched."""

    text: str
    until: float
    failures: int = 0


HOSTS_CACHED = 5_000  # hosts cached in memory
SAVE_LINKS = "INSERT INTO links VALUES (?, ?)"


class CrawlDatabase:
    """One crawl's SQLite file, in WAL mode; `:memory:` keeps it out of the file system.

    `read_only` is for a crawl that another process may be writing. `check` reads the whole file first and raises
    `FileDamaged`. `patience` is how many seconds a write waits for another process.
    """

    def __init__(
        self, path: Path | str, read_only: bool = False, check: bool = False, patience: float = PATIENCE
    ) -> None:
        self.path, self.read_only = str(path), read_only
        self._before_commit: list[Callable[[], None]] = []
        self._after_close: list[Callable[[], None]] = []
        self._hosts: dict[str, HostRow] = {}
        self._touched: set[str] = set()
        self._failed: OurFault | None = None
        with self.guarded():
            self._connection = _open(self.path, read_only, patience)
        try:
            self._prepare()
            if check:
                self.check()
        except BaseException:
            self._connection.close()
            raise
        self.before_commit(self._write_hosts)

    # --- transactions -------------------------------------------------------------------------

    def before_commit(self, write: Callable[[], None]) -> None:
        """Call `write` at the start of every commit, to write collected rows."""
        self._before_commit.append(write)

    def after_close(self, close: Callable[[], None]) -> None:
        """Call `close` after the database has been closed, to close files that belong to it."""
        self._after_close.append(close)

    def commit(self) -> None:
        """Make everything since the last commit durable, in one transaction.

        If that fails (`DiskFull`), only this transaction is lost, but the database accepts no more writes: the state in
        memory is ahead of the file, so the crawl has to be opened again.
        """
        for write in self._before_commit:
            write()
        if self._connection.in_transaction or self._failed is not None:
            self._run("COMMIT")

    def sync(self) -> None:
        """Make committed data survive a power cut. May run in another thread, in parallel with any other call.

        SQLite itself syncs its WAL only when it merges it into the file, after thousands of pages. It never locks the
        WAL file, so opening and closing it here can't release a lock.
        """
        wal = Path(f"{self.path}-wal")
        if self.path != ":memory:" and wal.exists():
            sync_file(wal)

    def sync_names(self) -> None:
        """Make a new file, and what was committed to it, survive a power cut."""
        with self.guarded():
            self.sync()
            sync_folder(Path(self.path).parent)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run a statement that writes, inside the open transaction."""
        return self._run(sql, values)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        self._run(sql, rows, many=True)

    def _run(self, sql: str, values: Any = (), many: bool = False) -> sqlite3.Cursor:
        if self._failed is not None:
            raise self._failed
        connection = self._connection
        try:
            if not connection.in_transaction:
                connection.execute("BEGIN IMMEDIATE")
            return connection.executemany(sql, values) if many else connection.execute(sql, values)
        except (sqlite3.Error, OSError) as error:
            translated = translate_error(error, self.path)
            if isinstance(translated, OurFault):
                self._failed = translated
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            raise translated from error

    def rows(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, one by one."""
        with self.guarded():
            for row in self._connection.execute(sql, values):  # noqa: UP028 - `yield from` closes the cursor, too late
                yield row

    def row(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        try:  # not `guarded`, which is slower than the query: called for every new host
            row: tuple[Any, ...] | None = self._connection.execute(sql, values).fetchone()
        except (sqlite3.Error, OSError) as error:
            raise translate_error(error, self.path) from error
        return row

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Answer all queries inside as of one commit, although another process may be writing."""
        if self._connection.in_transaction:  # this process is writing, or it is inside a snapshot already
            yield
            return
        with self.guarded():
            self._connection.execute("BEGIN")
        try:
            yield
        finally:
            with self.guarded():
                self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close without a commit: call `commit` first."""
        with self.guarded():
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._connection.close()
        for close in self._after_close:
            close()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Translate SQLite errors into our own exceptions, such as `DiskFull`."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise translate_error(error, self.path) from error

    def drop_misfits(self, table: str) -> int:
        """Delete the rows whose cells do not fit the schema, and return their number."""
        condition = misfit(self._connection, table)
        return self.execute(f"DELETE FROM {table} WHERE {condition}").rowcount  # noqa: S608 - our own names

    def check(self) -> None:
        """Check every page of the file and the type of every cell. Raises `FileDamaged`."""
        problems = [str(row[0]) for row in self.rows("PRAGMA quick_check(10)")]
        if problems != ["ok"]:
            raise damaged(self.path, "; ".join(problems)[:500])
        with self.guarded():
            problem = cell_problem(self._connection)
        if problem:
            raise damaged(self.path, problem)

    def _prepare(self) -> None:
        with self.snapshot():  # another process may be creating the tables between two of these queries
            application = (self.row("PRAGMA application_id") or (0,))[0]
            version = (self.row("PRAGMA user_version") or (0,))[0]
            empty = version == 0 and self.row("SELECT 1 FROM sqlite_master LIMIT 1") is None
        if empty:
            with self.guarded():
                if self.read_only:  # the crawl was killed before its tables were created, so it has no pages
                    self._connection.close()
                    self._connection = sqlite3.connect(":memory:", isolation_level=None)
                self._create_tables()
        elif application != APPLICATION:
            raise FolderBroken(self.path, "is not the database of a crawl", "use a folder made by `scenthound crawl`")
        elif version > VERSION:
            problem = f"has version {version}; this scenthound reads up to version {VERSION}"
            raise FolderBroken(self.path, problem, "update scenthound")
        elif version < OLDEST:
            problem = f"has version {version}; this scenthound reads versions {OLDEST} to {VERSION}"
            raise FolderBroken(self.path, problem, "crawl again; `scenthound lab import warc` reads its pages")
        elif version < VERSION:
            with self.guarded():
                self._connection.executescript(
                    _VIEWS_OF_5
                    if self.read_only
                    else f"BEGIN IMMEDIATE; {_FROM_5} PRAGMA user_version={VERSION}; COMMIT;"
                )
        with self.guarded():
            if not self.read_only:
                self._use_wal()
                self._connection.execute("PRAGMA synchronous=NORMAL")
                self._connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT}")
                self._connection.execute(f"PRAGMA cache_size=-{CACHE * 1024}")
            problem = "" if 0 < version < VERSION and self.read_only else schema_problem(self._connection, SCHEMA)
        if problem:
            raise damaged(self.path, problem)

    def _use_wal(self) -> None:
        """Switch to WAL mode. Here SQLite fails at once if another process is in the file; BEGIN EXCLUSIVE waits."""
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
            self._connection.execute("BEGIN EXCLUSIVE")  # raises if the other one does not end
            self._connection.execute("ROLLBACK")

    def _create_tables(self) -> None:
        self._use_wal()
        try:
            self._connection.executescript(
                f"BEGIN IMMEDIATE; PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION}; {SCHEMA} COMMIT;"
            )
        except sqlite3.OperationalError:
            self._connection.rollback()
            if self._connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
                raise
            # another process (an order for a crawl that has just started) was here between our look and BEGIN

    def meta(self, key: str, default: str = "") -> str:
        row = self.row("SELECT value FROM meta WHERE key = ?", (key,))
        return default if row is None else str(row[0])

    def meta_number(self, key: str, default: int = 0) -> int:
        """The value of a key as an integer; the default if it is missing or damaged."""
        text = self.meta(key)
        return int(text) if re.fullmatch(r"-?\d{1,15}", text, re.ASCII) else default

    def save_meta(self, key: str, value: str) -> None:
        self.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, without_surrogates(value)))

    def save_state(self, key: str, state: Mapping[str, Any]) -> None:
        """Save the state of a strategy or of the loop: JSON and numpy arrays, never pickle."""
        self.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (key, pack(state)))

    def state(self, key: str) -> dict[str, Any] | None:
        row = self.row("SELECT value FROM state WHERE key = ?", (key,))
        if row is None:
            return None
        try:
            return unpack(row[0])
        except (ValueError, TypeError, RecursionError, OverflowError) as error:
            raise StateDamaged(self.path, f"has a damaged state `{key}`: {error}") from error

    def save_host(self, host: str, **changes: Any) -> None:
        """Update `next_allowed`, `failures` or `pages` of a host, or any other JSON value."""
        before = self.host(host)
        fields = {key: changes.pop(key) for key in ("next_allowed", "failures", "pages") if key in changes}
        more = {**before.more, **changes} if changes else before.more
        self._hosts[host] = before._replace(**fields, more=more)
        self._touched.add(host)

    def host(self, host: str) -> HostRow:
        """The state of a host, including changes in the open transaction."""
        state = self._hosts.get(host)
        if state is None:
            row = self.row("SELECT next_allowed, failures, pages, more FROM hosts WHERE host = ?", (host,))
            state = HostRow() if row is None else HostRow(row[0], row[1], row[2], as_mapping(row[3]))
        return state

    def hosts_with_pages(self) -> int:
        """How many hosts have returned a page, as of the last commit."""
        return int((self.row("SELECT count(*) FROM hosts WHERE pages > 0") or (0,))[0])

    def _write_hosts(self) -> None:
        if self._touched:
            rows = [(host, *self._hosts[host][:3], as_json(self._hosts[host].more)) for host in self._touched]
            self.executemany("INSERT OR REPLACE INTO hosts VALUES (?, ?, ?, ?, ?)", rows)
            self._touched.clear()
            if len(self._hosts) > HOSTS_CACHED:
                self._hosts.clear()

    def save_robots(self, origin: str, text: str, until: float, failures: int = 0) -> None:
        self.execute(
            "INSERT OR REPLACE INTO robots VALUES (?, ?, ?, ?)", (origin, without_surrogates(text), until, failures)
        )

    def robots(self, origin: str) -> Robots | None:
        row = self.row("SELECT text, until, failures FROM robots WHERE origin = ?", (origin,))
        return None if row is None else Robots(*row)

    def resting_hosts(self, now: float) -> list[str]:
        """Hosts that may not be requested yet."""
        return [row[0] for row in self.rows("SELECT host FROM hosts WHERE next_allowed > ?", (now,))]

    def set_clock(self, now: float, last: float, longest: float) -> None:
        """Move stored future times back if the clock was set back since `last`, the end of the last run.

        The length of the pause is unknown in that case, and counts as zero. No time is more than `longest` seconds
        ahead.
        """
        back = max(0.0, last - now)
        for table, column in (("hosts", "next_allowed"), ("robots", "until")):
            self.execute(
                f"UPDATE {table} SET {column} = min({column} - ?, ?) WHERE {column} > ?",  # noqa: S608 - our own names
                (back, now + longest, now + (0.0 if back else longest)),
            )

    def wake(self) -> None:
        """Make all candidates due: a host that was unreachable may be up again."""
        self.execute("UPDATE frontier SET due = 0 WHERE due > 0")

    def save_label(self, url: Url, on_topic: bool, now: float) -> None:
        self.execute("INSERT OR REPLACE INTO labels VALUES (?, ?, ?)", (url, on_topic, now))

    def labels(self) -> dict[Url, bool]:
        """The labels of pages, oldest first."""
        return {
            Url(url): bool(on_topic)
            for url, on_topic in self.rows("SELECT url, on_topic FROM labels ORDER BY time, url")
        }

    def save_links(self, source: Url, targets: Sequence[Url]) -> None:
        """Add a page's links to the link graph (rule 5: every link, followed or not)."""
        self.execute(SAVE_LINKS, (source, pack_urls(targets)))

    def links(self) -> Iterator[tuple[Url, list[Url]]]:
        """The link graph: pages in the order they were read, each with its links."""
        for source, targets in self.rows("SELECT source, targets FROM links ORDER BY rowid"):
            yield Url(source), self._unpacked(targets)

    def _unpacked(self, targets: bytes) -> list[Url]:
        try:
            return unpack_urls(targets)
        except ValueError as error:
            raise damaged(self.path, f"links: {error}") from error


def without_surrogates(text: str) -> str:
    """Text without lone surrogates, which SQLite rejects."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def as_json(value: Mapping[str, Any]) -> str | None:
    return json.dumps(dict(value), separators=(",", ":")) if value else None


def as_mapping(text: str | None) -> dict[str, Any]:
    """The inverse of `as_json`; empty if the text is damaged."""
    if not text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def database_files(path: str) -> list[Path]:
    """The database file and the files that SQLite keeps beside it."""
    return [] if path == ":memory:" else [Path(path + ending) for ending in ("", "-wal", "-shm", "-journal")]


def _open(path: str, read_only: bool, patience: float) -> sqlite3.Connection:
    if not read_only:
        for name in database_files(path):
            check_own_file(name)
        return _tolerant(sqlite3.connect(path, isolation_level=None, timeout=patience))
    for name in database_files(path):
        check_file(name)  # SQLite follows symbolic links, and writes beside their target
    if not Path(path).is_file():
        raise FolderBroken(path, "does not exist", "use a folder made by `scenthound crawl`")
    address = "file:" + quote(path)
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True, isolation_level=None, timeout=patience)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
    except sqlite3.OperationalError:  # on a read-only disk SQLite can't create the index of the WAL
        connection.close()
        connection = sqlite3.connect(f"{address}?immutable=1", uri=True, isolation_level=None)
    return _tolerant(connection)


def _tolerant(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Replace bytes that are not UTF-8. They mean damage, which must not stop a query."""
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    return connection
