"""The repository: WARC 1.1 files, one gzip member per record, rolled by size. The truth of a crawl.

A record goes to the operating system in one piece as soon as it is put, so it survives the death of
the process; `sync` makes it survive the death of the machine. A write that does not fit is taken
back, so a full disk leaves valid files. Requests are not kept: what we ask is the URL and nothing else.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from scenthound.errors import DiskFull, FolderBroken
from scenthound.model import NOTHING, Response
from scenthound.ports import Where
from scenthound.store.making import STORED, as_member, digest_of, info_record, response_record
from scenthound.store.records import LARGEST, MAGIC, Member, Record, member_at, members, records, response_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # fastwarc 1.1 warns of its own old names on import
    from fastwarc.warc import ArchiveIterator

ROLL = 1 << 30
LEVEL = 2  # half the time of level 6 for 8 % more bytes (docs/decisions/0004)
_PATTERN = re.compile(r"pages-(\d{5,})\.warc\.gz")
_PACKED = ("gzip", "x-gzip", "br", "zstd", "deflate", "compress")


class FileReport(NamedTuple):
    """What a look at one WARC file found."""

    file: str
    records: int
    size: int
    good: int
    """Where the last whole record ends: a file may be cut here without losing one."""
    problems: tuple[str, ...] = ()


class Cut(NamedTuple):
    """What was done to the repository at a resume."""

    dropped: int = 0
    """Bytes behind the last recorded offset."""
    removed: tuple[str, ...] = ()
    """Files that held nothing recorded."""
    missing: int = 0
    """Bytes that were recorded and are not there, as after a power cut."""


class WarcRepository:
    """The `Repository` port on a folder of WARC files."""

    def __init__(self, folder: Path, roll: int = ROLL, level: int = LEVEL, info: Mapping[str, str] = NOTHING) -> None:
        """`info` is said in each file's `warcinfo` record: software, operator, what for."""
        self.folder, self.roll, self.level, self.info = folder, roll, level, info
        folder.mkdir(parents=True, exist_ok=True)
        self._file: io.FileIO | None = None
        self._name, self._offset = "", 0
        self._has_records = False

    def put(self, response: Response, now: float) -> Where:
        """Store a response. Raises `DiskFull`, and then nothing has changed."""
        packed = response.header("content-encoding").strip().lower() in _PACKED
        member = as_member(response_record(response, now), STORED if packed else self.level)
        self._make_room(len(member), now)
        return self._append(member)

    def get(self, where: Where) -> Response:
        """The response stored there, as an archive holds it: put together, with `X-Crawler-` for what that changed."""
        if not _PATTERN.fullmatch(where.file):
            raise FolderBroken(f"`{where.file}` is no file of this repository")
        try:
            with (self.folder / where.file).open("rb") as file:
                data = os.pread(file.fileno(), min(where.length, LARGEST), where.offset)
            found = [response_of(record) for record in records(member_at(data, 0).data)]
        except (OSError, ValueError, OverflowError) as error:
            raise FolderBroken(f"{where.file} can't be read at {where.offset}: {error}") from error
        if len(found) != 1 or found[0] is None:
            raise FolderBroken(f"{where.file} holds no response at {where.offset}")
        return found[0]

    def end(self) -> tuple[str, int]:
        """The file written to, and how far it reaches."""
        return self._name, self._offset

    def flush(self) -> None:
        """Nothing to do: a record is with the operating system when `put` returns."""

    def sync(self) -> None:
        """Make everything put so far survive a power cut."""
        if self._file is not None:
            with _space(self._name):
                os.fsync(self._file.fileno())
            descriptor = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def close(self) -> None:
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

    def truncate_to(self, file: str, offset: int) -> Cut:
        """Cut everything that was written after the last recorded record; `("", 0)`: nothing was recorded.

        Whole files beyond it are set aside as `*.orphan`, not deleted. A name that is no file of ours is refused.
        """
        if file and not _PATTERN.fullmatch(file):
            raise FolderBroken(f"`{file}` is no file of this repository", "the crawl's database was tampered with")
        self.close()
        dropped, removed = 0, []
        for path in self.files():
            size = path.stat().st_size
            if path.name > file:
                dropped += size
                removed.append(path.name)
                path.replace(path.with_name(path.name + ".orphan"))
            elif path.name == file and size > offset:
                dropped += size - offset
                os.truncate(path, offset)
        if not file:
            return Cut(dropped, tuple(removed))
        size = (self.folder / file).stat().st_size if (self.folder / file).exists() else 0
        if size < offset:
            good = look_at(self.folder / file).good if size else 0
            if size:
                os.truncate(self.folder / file, good)
            return Cut(dropped, tuple(removed), offset - good)
        return Cut(dropped, tuple(removed))

    def cleaned(self, file: str) -> dict[int, int]:
        """Write a damaged file anew from its whole records; gives where each of them now begins.

        The damaged file is kept beside it as `*.damaged`.
        """
        path = self.folder / file
        part, places = path.with_name(file + ".part"), dict[int, int]()
        with _space(file), path.open("rb") as old, part.open("wb") as new:
            for member in members(path):
                if not problem_of(member):
                    places[member.offset] = new.tell()
                    new.write(os.pread(old.fileno(), member.length, member.offset))
            new.flush()
            os.fsync(new.fileno())
        path.replace(path.with_name(file + ".damaged"))
        part.replace(path)
        return places

    def heal(self) -> list[FileReport]:
        """Cut half-written tails off all files; used when the database can't say how far the record goes."""
        self.close()
        reports = check(self.folder)
        for report in reports:
            if report.good < report.size:
                os.truncate(self.folder / report.file, report.good)
        return reports

    def _make_room(self, length: int, now: float) -> None:
        """Open the last file, or a new one where the last is full."""
        if self._file is None:
            last = self.files()[-1:]
            self._open(last[0].name if last else _name(1), now)
        if self._has_records and self._offset + length > self.roll:
            self.sync()
            self.close()
            self._open(_name(_number(self._name) + 1), now)

    def _open(self, name: str, now: float) -> None:
        with _space(name):
            self._file = io.FileIO(self.folder / name, "ab")
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


def whole_records(member: Member) -> list[Record]:
    """The records of a member, each as its digest says; ValueError if something is wrong with one of them."""
    if member.problem:
        raise ValueError(member.problem)
    found = list(records(member.data))
    for record in found:
        if problem := _digest_problem(record):
            raise ValueError(problem)
    return found


def read_responses(path: Path, problems: list[str] | None = None) -> Iterator[tuple[int, int, Response]]:
    """Offset, length and response of each `response` (or http `resource`) record of anybody's WARC file.

    Plain or gzip, one member per record or one for all. What can't be read is passed over and said in
    `problems`; a record that is not whole is not given. In a file that is one member, offsets mean little.
    """
    said = problems if problems is not None else []
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
                said.append(f"{path.name} at {member.offset}: {error}")
    else:
        yield from _streamed(path, said)


def _streamed(path: Path, said: list[str]) -> Iterator[tuple[int, int, Response]]:
    """Through fastwarc: for plain files and those of a single member, of which only a stream can be made."""
    last: tuple[int, Response] | None = None
    with path.open("rb") as file:
        found = iter(ArchiveIterator(file, parse_http=False, max_content_length=LARGEST, quirks_mode=True))
        while True:
            try:
                raw = next(found)
                record = Record(
                    {name.lower(): value for name, value in raw.headers.astuples()}, raw.reader.read(LARGEST)
                )
                if record.headers.get("content-length", "") != str(len(record.block)):
                    raise ValueError("a WARC record that is cut short")
                response, position = response_of(record), raw.stream_pos
            except StopIteration:
                break
            except ValueError as error:
                said.append(f"{path.name}: {error}")
                continue
            except OSError as error:
                said.append(f"{path.name}: {error}; nothing behind it was read")
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


def _digest_problem(record: Record) -> str:
    said = record.headers.get("warc-block-digest", "")
    if said.startswith("sha1:") and said != digest_of(hashlib.sha1(record.block)):  # noqa: S324
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
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise DiskFull(f"no room left to write {name}", "make room, then go on") from error
        raise
