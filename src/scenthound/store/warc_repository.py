"""The repository of responses as WARC 1.1 files, with one gzip member per record and a limit on the file size.

A record is handed to the operating system in one piece, so it survives a crash of the process; `sync` makes it survive
a power cut. An incomplete write is undone, so a full disk leaves valid files. A request is written before its
response, in the same write.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from scenthound.errors import PATH_ERRORS, DiskFull, FolderBroken, IoFailed
from scenthound.files import NO_ROOM, check_own_file, make_folder, open_in_place, sync_file, sync_folder
from scenthound.model import NOTHING, Response
from scenthound.ports import Repository, Where
from scenthound.store.warc_read import (
    LARGEST,
    Member,
    Problem,
    WarcRecord,
    member_at,
    read_records,
    records,
    response_of,
)
from scenthound.store.warc_write import STORED, Headers, as_member, digest_of, exchange_records, info_record

ROLL = 1 << 30  # bytes: a larger file is closed and a new one started
MOST_WRITTEN = 20_000  # responses whose index entries are kept in memory: about 10 MB
LEVEL = 2  # gzip level: half the time of level 6 for 8 % more bytes (docs/decisions/0004)
_PATTERN = re.compile(r"pages-(\d{5,})\.warc\.gz")
_PACKED = ("gzip", "x-gzip", "br", "zstd", "deflate", "compress")


class End(NamedTuple):
    """The end of the repository: the last file and an offset in it. Empty if nothing is written yet."""

    file: str = ""
    offset: int = 0

    @classmethod
    def parse(cls, text: str) -> End:
        """The inverse of `str`; empty if the text is damaged. `FolderBroken` for a name that is not ours."""
        file, _, offset = text.rpartition(":")
        if file and not _PATTERN.fullmatch(file):
            raise FolderBroken(file, "is not a file of this repository", "the crawl's database was tampered with")
        return cls(file, int(offset)) if offset.isascii() and offset.isdigit() and len(offset) < 19 else cls()

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"

    def next_file(self) -> End:
        return End(_name(_number(self.file) + 1 if self.file else 1))


NOWHERE = End()


class Stored(NamedTuple):
    """A stored response, with the values for its index line."""

    where: Where
    url: str
    date: str
    content_type: str
    status: int
    digest: str


class WarcRepository(Repository):
    """The `Repository` port on a folder of WARC files."""

    def __init__(
        self,
        folder: Path,
        roll: int = ROLL,
        level: int = LEVEL,
        info: Mapping[str, str] = NOTHING,
        request_headers: Headers = (),
    ) -> None:
        """`info` goes into the `warcinfo` record of each file. With `request_headers`, requests are stored too."""
        self.request_headers = request_headers
        self.folder, self.roll, self.level, self.info = folder, roll, level, info
        make_folder(folder)
        self._file: io.FileIO | None = None
        self._name, self._offset = "", 0
        self._has_records = False
        self._next_name = ""
        self._syncing: tuple[BackgroundSync, End] | None = None
        self.synced = NOWHERE
        """The end of the data that would survive a power cut."""
        self.written: list[Stored] | None = None if self.files() else []
        """All stored responses, for an index; None if another object stored some, or if there are too many."""

    def put(self, response: Response, now: float) -> Where:
        """Store a response. If this raises `DiskFull`, nothing has changed."""
        is_compressed = response.header("content-encoding").strip().lower() in _PACKED
        exchange = exchange_records(response, now, self.request_headers)
        request = as_member(exchange.request, STORED) if exchange.request else b""
        member = as_member(exchange.response, STORED if is_compressed else self.level)
        self._make_room(len(request) + len(member), now)
        file, offset, length = self._append(request + member)
        where = Where(file, offset + len(request), length - len(request))
        if self.written is not None:
            kind = response.header("content-type")
            self.written.append(Stored(where, exchange.url, exchange.date, kind, response.status, exchange.digest))
            if len(self.written) > MOST_WRITTEN:
                self.written = None
        return where

    def get(self, where: Where) -> Response:
        """The response stored there, with `X-Crawler-` names for headers that the archive changed."""
        if not _PATTERN.fullmatch(where.file):
            raise FolderBroken(where.file, "is not a file of this repository")
        try:
            with (self.folder / where.file).open("rb") as file:
                data = os.pread(file.fileno(), min(where.length, LARGEST), where.offset)
            responses = [response_of(record) for record in records(member_at(data, 0).data)]
        except (OSError, ValueError, OverflowError) as error:
            if isinstance(error, OSError) and error.errno not in PATH_ERRORS:
                raise IoFailed.of(error, where.file) from error
            raise FolderBroken(where.file, f"can't be read at {where.offset}: {error}") from error
        if len(responses) != 1 or responses[0] is None:
            raise FolderBroken(where.file, f"has no response at {where.offset}")
        return responses[0]

    def holds(self, where: Where) -> bool:
        """Whether there is a valid record at this position, with this length."""
        try:
            with (self.folder / where.file).open("rb") as file:
                member = member_at(os.pread(file.fileno(), min(where.length, LARGEST), where.offset), 0)
        except (OSError, ValueError, OverflowError):
            return False
        return member.length == where.length and not problem_of(member)

    def end(self) -> End:
        """The current file and its length."""
        return End(self._name, self._offset)

    def continue_at(self, end: End) -> None:
        """Continue with this file, which may be new, and sync its current content."""
        self.close()
        self._next_name = end.file
        if (path := self.folder / end.file).is_file():
            check_own_file(path)
            sync_file(path)
        sync_folder(self.folder)
        self.synced = end

    def flush(self) -> None:
        """Do nothing: `put` has handed the record to the operating system."""

    def sync(self) -> None:
        """Make everything written so far survive a power cut."""
        self.finish_sync(wait=True)
        if self._file is not None:
            with _translated(self._name):
                os.fsync(self._file.fileno())
                sync_folder(self.folder)
            self.synced = self.end()

    def sync_soon(self, then: Callable[[], None]) -> bool:
        """Start a sync in the background, followed by `then` in its thread; False if the last sync is still running.

        `finish_sync` updates `synced`.
        """
        self.finish_sync()
        if self._syncing is not None:
            return False
        calls = [then]
        if self._file is not None and self.synced != self.end():
            calls = [partial(_sync_open_file, os.dup(self._file.fileno()), self.folder), then]
        self._syncing = (BackgroundSync(calls), self.end())
        return True

    def finish_sync(self, wait: bool = False) -> None:
        """If the background sync is done, update `synced` or raise its error. With `wait`, wait for it first."""
        if self._syncing is not None and (wait or self._syncing[0].is_done()):
            (syncing, end), self._syncing = self._syncing, None
            with _translated(end.file or str(self.folder)):
                syncing.result()
            self.synced = end if end.file else self.synced

    def close(self) -> None:
        if self._syncing is not None:
            self._syncing[0].wait()
            self._syncing = None
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> WarcRepository:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def files(self) -> list[Path]:
        """The repository's files in the order they were written."""
        return files_of(self.folder)

    def _make_room(self, length: int, now: float) -> None:
        """Open the last file, or a new one if `length` more bytes do not fit into it."""
        if self._file is None:
            last = self.files()[-1:]
            self._open(self._next_name or (last[0].name if last else _name(1)), now)
            self._next_name = ""
        if self._has_records and self._offset + length > self.roll:
            self.sync()
            self.close()
            self._open(_name(_number(self._name) + 1), now)

    def _open(self, name: str, now: float) -> None:
        with _translated(name):
            self._file = io.FileIO(open_in_place(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")
        self._name, self._offset = name, self._file.seek(0, os.SEEK_END)
        self._has_records = self._offset > 0
        if self._offset == 0:
            with _translated(name):
                sync_folder(self.folder)  # before a commit can refer to the file
            self._append(as_member(info_record(name, self.info, now), self.level))
            self._has_records = False

    def _append(self, member: bytes) -> Where:
        assert self._file is not None
        offset = self._offset
        try:
            with _translated(self._name):
                rest = memoryview(member)
                while rest:
                    rest = rest[self._file.write(rest) or 0 :]
        except BaseException:
            os.ftruncate(self._file.fileno(), offset)  # works on a full disk
            raise
        self._offset += len(member)
        self._has_records = True
        return Where(self._name, offset, len(member))


def _sync_open_file(descriptor: int, folder: Path) -> None:
    """Sync a file and its folder, and close the descriptor."""
    try:
        os.fsync(descriptor)
        sync_folder(folder)
    finally:
        os.close(descriptor)


def files_of(folder: Path) -> list[Path]:
    """The files of a `WarcRepository`, in order."""
    return sorted(path for path in folder.iterdir() if _PATTERN.fullmatch(path.name)) if folder.is_dir() else []


def problem_of(member: Member) -> str:
    """The problem of a member (compression, format or digest); empty if it is valid."""
    try:
        whole_records(member)
    except ValueError as error:
        return str(error)
    return ""


def whole_records(member: Member) -> list[WarcRecord]:
    """The records of a member. Raises ValueError if one is invalid."""
    if member.problem:
        raise ValueError(member.problem)
    whole = list(records(member.data))
    for record in whole:
        if problem := _digest_problem(record):
            raise ValueError(problem)
    return whole


def read_responses(path: Path, problems: list[str] | None = None) -> Iterator[tuple[int, int, Response]]:
    """Offset, length and response of each `response` (or http `resource`) record of any WARC file.

    If many records share one gzip member, their length may be 0. Unreadable and incomplete records are skipped, and
    their problems added to `problems`, one for each damaged part.
    """
    found: dict[int, str] = {}

    def report(problem: Problem) -> None:
        found.setdefault(problem.offset, problem.what)

    for offset, length, record, _ in read_records(path, report):
        try:
            response = response_of(record)
        except ValueError as error:
            found.setdefault(offset, str(error))
            continue
        if response is not None:
            yield offset, length, response
    if problems is not None:
        problems += [f"{path.name} at {offset}: {problem}" for offset, problem in found.items()]


def _digest_problem(record: WarcRecord) -> str:
    digest = record.headers.get("warc-block-digest", "")
    if digest.startswith("sha1:") and digest != digest_of(hashlib.sha1(record.block)):  # noqa: S324
        return "the block does not match its digest"
    return ""


def _name(number: int) -> str:
    return f"pages-{number:05d}.warc.gz"


def _number(name: str) -> int:
    return int(name.removeprefix("pages-").removesuffix(".warc.gz"))


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Raise `DiskFull` if there is no room, and `IoFailed` for any other system error."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull(name, "make room, then continue") from error
        raise IoFailed.of(error, name) from error


class BackgroundSync:
    """Runs `fsync` calls in a thread: they may take longer than a hundred pages. `result` raises their error."""

    def __init__(self, calls: Sequence[Callable[[], None]]) -> None:
        self._calls = calls
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def wait(self) -> None:
        self._thread.join()

    def result(self) -> None:
        """Wait for the calls to end; raises their error."""
        self.wait()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            for call in self._calls:
                call()
        except OSError as error:
            self._error = error
