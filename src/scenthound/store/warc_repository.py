"""The repository: WARC 1.1 files, one gzip member per record, rolled by size. The truth of a crawl.

A record goes to the operating system in one piece as soon as it is put, so it survives the death of
the process; `sync` makes it survive the death of the machine. A write that does not fit is taken
back, so a full disk leaves valid files. Requests are not kept: what we ask is the URL and nothing else.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from scenthound.errors import DiskFull, FolderBroken
from scenthound.files import NO_ROOM, check_own_file, open_in_place, sync_file, sync_folder
from scenthound.model import NOTHING, Response
from scenthound.ports import Repository, Where
from scenthound.store.warc_read import LARGEST, MAGIC, Member, WarcRecord, member_at, members, records, response_of
from scenthound.store.warc_write import STORED, as_member, digest_of, info_record, response_record

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # fastwarc 1.1 warns of its own old names on import
    from fastwarc.warc import ArchiveIterator

ROLL = 1 << 30
LEVEL = 2  # half the time of level 6 for 8 % more bytes (docs/decisions/0004)
UNSYNCED = 64 << 20  # bytes after which a sync is begun: a second's work to check at a resume
_PATTERN = re.compile(r"pages-(\d{5,})\.warc\.gz")
_PACKED = ("gzip", "x-gzip", "br", "zstd", "deflate", "compress")


class FileReport(NamedTuple):
    """What a look at one WARC file found."""

    file: str
    records: int
    size: int
    good: int
    """Where the last whole record ends."""
    problems: tuple[str, ...] = ()


class End(NamedTuple):
    """How far the repository reaches: the file written to, and the offset in it. Empty: nothing is written yet."""

    file: str = ""
    offset: int = 0

    @classmethod
    def parse(cls, text: str) -> End:
        """What `str` gave; nothing where somebody has damaged the text. `FolderBroken` for a name that is not ours."""
        file, _, offset = text.rpartition(":")
        if file and not _PATTERN.fullmatch(file):
            raise FolderBroken(file, "is no file of this repository", "the crawl's database was tampered with")
        return cls(file, int(offset)) if offset.isascii() and offset.isdigit() and len(offset) < 19 else cls()

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"

    def next_file(self) -> End:
        return End(_name(_number(self.file) + 1 if self.file else 1))


NOWHERE = End()


class WarcRepository(Repository):
    """The `Repository` port on a folder of WARC files."""

    def __init__(self, folder: Path, roll: int = ROLL, level: int = LEVEL, info: Mapping[str, str] = NOTHING) -> None:
        """`info` is said in each file's `warcinfo` record: software, operator, what for."""
        self.folder, self.roll, self.level, self.info = folder, roll, level, info
        folder.mkdir(parents=True, exist_ok=True)
        self._file: io.FileIO | None = None
        self._name, self._offset = "", 0
        self._has_records = False
        self._next_name = ""
        self._syncing: _Sync | None = None
        self.synced = NOWHERE
        """What survives a power cut by now."""

    def put(self, response: Response, now: float) -> Where:
        """Store a response. Raises `DiskFull`, and then nothing has changed."""
        packed = response.header("content-encoding").strip().lower() in _PACKED
        member = as_member(response_record(response, now), STORED if packed else self.level)
        self._make_room(len(member), now)
        return self._append(member)

    def get(self, where: Where) -> Response:
        """The response stored there, as an archive holds it: put together, with `X-Crawler-` for what that changed."""
        if not _PATTERN.fullmatch(where.file):
            raise FolderBroken(where.file, "is no file of this repository")
        try:
            with (self.folder / where.file).open("rb") as file:
                data = os.pread(file.fileno(), min(where.length, LARGEST), where.offset)
            responses = [response_of(record) for record in records(member_at(data, 0).data)]
        except (OSError, ValueError, OverflowError) as error:
            raise FolderBroken(where.file, f"can't be read at {where.offset}: {error}") from error
        if len(responses) != 1 or responses[0] is None:
            raise FolderBroken(where.file, f"holds no response at {where.offset}")
        return responses[0]

    def holds(self, where: Where) -> bool:
        """Whether there is a whole record of this length."""
        try:
            with (self.folder / where.file).open("rb") as file:
                member = member_at(os.pread(file.fileno(), min(where.length, LARGEST), where.offset), 0)
        except (OSError, ValueError, OverflowError):
            return False
        return member.length == where.length and not problem_of(member)

    def end(self) -> End:
        """The file written to, and how far it reaches."""
        return End(self._name, self._offset)

    def continue_at(self, end: End) -> None:
        """Let the next record go to this file, an old one or a new one, and sync what there is of it."""
        self.close()
        self._next_name = end.file
        if (path := self.folder / end.file).is_file():
            check_own_file(path)
            sync_file(path)
        sync_folder(self.folder)
        self.synced = end

    def flush(self) -> None:
        """Nothing to do: a record is with the operating system when `put` returns."""

    def sync(self) -> None:
        """Make everything put so far survive a power cut."""
        self._finish_sync(wait=True)
        if self._file is not None:
            with _space(self._name):
                os.fsync(self._file.fileno())
            sync_folder(self.folder)
            self.synced = self.end()

    def sync_soon(self) -> None:
        """Begin to sync beside the crawl when `UNSYNCED` bytes were written since; `synced` tells when it is done."""
        self._finish_sync()
        written = self._offset - (self.synced.offset if self.synced.file == self._name else 0)
        if self._file is not None and self._syncing is None and written >= UNSYNCED:
            self._syncing = _Sync(self._file.fileno(), self.folder, self.end())

    def _finish_sync(self, wait: bool = False) -> None:
        if self._syncing is not None and (wait or self._syncing.is_done()):
            syncing, self._syncing = self._syncing, None
            with _space(syncing.end.file):
                syncing.result()
            self.synced = syncing.end

    def close(self) -> None:
        if self._syncing is not None:
            self._syncing.wait()
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
        """Open the last file, or a new one where the last is full."""
        if self._file is None:
            last = self.files()[-1:]
            self._open(self._next_name or (last[0].name if last else _name(1)), now)
            self._next_name = ""
        if self._has_records and self._offset + length > self.roll:
            self.sync()
            self.close()
            self._open(_name(_number(self._name) + 1), now)

    def _open(self, name: str, now: float) -> None:
        with _space(name):
            self._file = io.FileIO(open_in_place(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")
        self._name, self._offset = name, self._file.seek(0, os.SEEK_END)
        self._has_records = self._offset > 0
        if self._offset == 0:
            self._append(as_member(info_record(name, self.info, now), self.level))
            self._has_records = False

    def _append(self, member: bytes) -> Where:
        assert self._file is not None
        offset = self._offset
        try:
            with _space(self._name):
                rest = memoryview(member)
                while rest:
                    rest = rest[self._file.write(rest) or 0 :]
        except BaseException:
            os.ftruncate(self._file.fileno(), offset)  # takes no room, so it works on a full disk
            raise
        self._offset += len(member)
        self._has_records = True
        return Where(self._name, offset, len(member))


class _Sync:
    """An `fsync` that runs beside the crawl, in a thread of its own."""

    def __init__(self, descriptor: int, folder: Path, end: End) -> None:
        self.end = end
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._run, args=(os.dup(descriptor), folder), daemon=True)
        self._thread.start()

    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def wait(self) -> None:
        self._thread.join()

    def result(self) -> None:
        """Wait for it; raises what went wrong."""
        self.wait()
        if self._error is not None:
            raise self._error

    def _run(self, descriptor: int, folder: Path) -> None:
        try:
            os.fsync(descriptor)
            sync_folder(folder)
        except OSError as error:
            self._error = error
        finally:
            os.close(descriptor)


def files_of(folder: Path) -> list[Path]:
    """The WARC files a `WarcRepository` wrote in a folder, in order."""
    return sorted(path for path in folder.iterdir() if _PATTERN.fullmatch(path.name)) if folder.is_dir() else []


def check(folder: Path) -> list[FileReport]:
    """Read every record of every file: inflate it, measure it, compare its digest."""
    return [look_at(path) for path in files_of(folder)]


def look_at(path: Path) -> FileReport:
    count = good = 0
    problems: list[str] = []
    for member in members(path):
        problem = problem_of(member)
        if problem:
            problems.append(f"{path.name} at {member.offset}: {problem}")
        else:
            count += 1
            good = member.offset + member.length
    return FileReport(path.name, count, path.stat().st_size, good, tuple(problems[:100]))


def problem_of(member: Member) -> str:
    """What is wrong with a member: it does not inflate, is no record, or its digest is another."""
    try:
        whole_records(member)
    except ValueError as error:
        return str(error)
    return ""


def whole_records(member: Member) -> list[WarcRecord]:
    """The records of a member, each as its digest says; ValueError if something is wrong with one of them."""
    if member.problem:
        raise ValueError(member.problem)
    whole = list(records(member.data))
    for record in whole:
        if problem := _digest_problem(record):
            raise ValueError(problem)
    return whole


def read_responses(path: Path, problems: list[str] | None = None) -> Iterator[tuple[int, int, Response]]:
    """Offset, length and response of each `response` (or http `resource`) record of anybody's WARC file.

    Plain or gzip, one member per record or one for all. What can't be read is passed over and said in
    `problems`; a record that is not whole is not given. In a file that is one member, offsets mean little.
    """
    problem_list = problems if problems is not None else []
    with path.open("rb") as file:
        start = file.read(1 << 20)
    if start.startswith(MAGIC) and _is_one_record(member_at(start, 0, 16 << 20).data):
        for member in members(path):
            try:
                if member.problem:
                    raise ValueError(member.problem)
                for record in records(member.data):
                    response = response_of(record)
                    if response is not None:
                        yield member.offset, member.length, response
            except ValueError as error:
                problem_list.append(f"{path.name} at {member.offset}: {error}")
    else:
        yield from _streamed(path, problem_list)


def _streamed(path: Path, problems: list[str]) -> Iterator[tuple[int, int, Response]]:
    """Through fastwarc: for plain files and those of a single member, of which only a stream can be made."""
    last: tuple[int, Response] | None = None
    with path.open("rb") as file:
        archive = iter(ArchiveIterator(file, parse_http=False, max_content_length=LARGEST, quirks_mode=True))
        while True:
            try:
                raw = next(archive)
                record = WarcRecord(
                    {name.lower(): value for name, value in raw.headers.astuples()}, raw.reader.read(LARGEST)
                )
                if record.headers.get("content-length", "") != str(len(record.block)):
                    raise ValueError("a WARC record that is cut short")
                response, position = response_of(record), raw.stream_pos
            except StopIteration:
                break
            except ValueError as error:
                problems.append(f"{path.name}: {error}")
                continue
            except OSError as error:
                problems.append(f"{path.name}: {error}; nothing behind it was read")
                break
            if last is not None:
                yield last[0], max(0, position - last[0]), last[1]
            last = (position, response) if response is not None else None
    if last is not None:
        yield last[0], max(0, path.stat().st_size - last[0]), last[1]


def _is_one_record(data: bytes) -> bool:
    try:
        return len(list(records(data))) == 1
    except ValueError:
        return False


def _digest_problem(record: WarcRecord) -> str:
    digest = record.headers.get("warc-block-digest", "")
    if digest.startswith("sha1:") and digest != digest_of(hashlib.sha1(record.block)):  # noqa: S324
        return "the block is not what its digest says"
    return ""


def _name(number: int) -> str:
    return f"pages-{number:05d}.warc.gz"


def _number(name: str) -> int:
    return int(name.removeprefix("pages-").removesuffix(".warc.gz"))


@contextmanager
def _space(name: str) -> Iterator[None]:
    """Say `DiskFull` where the system says that there is no room."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull(name, "make room, then go on") from error
        raise
