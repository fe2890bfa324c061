"""Cuts the power of a crawl at any moment, in the manner of SQLite's own crash tests.

A crawl runs once under `disk_shim.c`, which logs every write, rename and `fsync` with its data. From that log comes the
state of the disk after a power cut at any point: what was synced is there; of what was not, each write is there, or
missing, or cut short, or garbled, and the last changes of names may be missing. Then the crawl is resumed from there.

Used by tests/loop/test_power_loss.py (a few points) and benchmarks/power_loss.py (1,000).
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import random
import shutil
import struct
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import NamedTuple

SHIM = Path(__file__).with_name("disk_shim.c")
CREATE, WRITE, TRUNCATE, RENAME, UNLINK, MKDIR, SYNC_BEGIN, SYNC_END, LINK, RMDIR, MARK = range(1, 12)
_HEAD = struct.Struct("<IIQQQd")
_DATA_OPS = (WRITE, RENAME, LINK)
PAGES = 300


def build_shim(folder: Path) -> Path | None:
    """The compiled shim; None if there is no C compiler, or it is no Linux."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    made = folder / "disk_shim.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-w", "-o", str(made), str(SHIM), "-ldl", "-lpthread"]
    return made if subprocess.run(command, capture_output=True, check=False).returncode == 0 else None


class Change(NamedTuple):
    """One line of the log."""

    op: int
    path: str
    inode: int
    offset: int
    data: bytes
    time: float


@dataclass
class Recording:
    """What a crawl wrote, and which pages it recorded, in order."""

    changes: list[Change]
    trail: list[str]
    commits: list[tuple[int, int]] = field(default_factory=list)
    """(index of the change, pages committed by then)."""
    syncs: list[tuple[int, int]] = field(default_factory=list)
    """Syncs of the archive and then of the database's WAL, as (end of the second, begin of the first)."""

    def __post_init__(self) -> None:
        began: dict[int, int] = {}
        archive = -1
        for index, change in enumerate(self.changes):
            if change.op == MARK:
                self.commits.append((index, int(change.path)))
            elif change.op == SYNC_BEGIN:
                began[change.offset] = index
            elif change.op == SYNC_END and change.path.endswith(".warc.gz"):
                archive = began[change.offset]
            elif change.op == SYNC_END and change.path.endswith("crawl.db-wal"):
                self.syncs.append((index, min(archive, began[change.offset])))

    def safe_pages(self, point: int) -> set[str]:
        """The pages that must survive a power cut at this point: committed before the last finished sync began."""
        begin = max((begin for end, begin in self.syncs if end < point), default=-1)
        count = max((pages for index, pages in self.commits if index < begin), default=0)
        return set(self.trail[:count])

    def longest_unsafe(self) -> float:
        """The longest time, in seconds, that a committed page was not safe."""
        longest = 0.0
        for index, _ in self.commits:
            end = min((end for end, begin in self.syncs if begin > index), default=None)
            if end is not None:
                longest = max(longest, self.changes[end].time - self.changes[index].time)
        return longest


def record(folder: Path, shim: Path, sync_time: float, pages: int = PAGES) -> Recording:
    """Run a crawl of a generated web under the shim; its folder is `folder / "crawl"`."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "changes.log"
    environment = {
        **os.environ,
        "LD_PRELOAD": str(shim),
        "SHIM_ROOT": str(folder / "disk"),
        "SHIM_LOG": str(log),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
    }
    command = [sys.executable, "-m", "support.power_loss", str(folder / "disk"), str(shim), str(sync_time), str(pages)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return Recording(list(_read_log(log.read_bytes())), done.stdout.split())


def _read_log(data: bytes) -> Iterator[Change]:
    at = 0
    while at < len(data):
        op, path_length, inode, offset, length, time = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        path = data[at : at + path_length].decode()
        at += path_length
        content = data[at : at + length] if op in _DATA_OPS else b""
        at += length if op in _DATA_OPS else 0
        yield Change(op, path, inode, offset, content, time)


# ---- the disk after a power cut


class Disk:
    """Files by inode and names by path: what is safe, and what the last syncs do not cover."""

    def __init__(self) -> None:
        self.safe: dict[int, bytearray] = {}
        self.unsafe: dict[int, list[tuple[int, Change]]] = defaultdict(list)
        self.names: dict[str, int] = {}
        self.unsafe_names: dict[str, list[tuple[int, Change]]] = defaultdict(list)
        self._began: dict[int, int] = {}

    def apply(self, index: int, change: Change) -> None:
        match change.op:
            case op if op in (WRITE, TRUNCATE):
                self.unsafe[change.inode].append((index, change))
            case op if op in (CREATE, MKDIR, UNLINK, RMDIR, RENAME, LINK):
                if op == CREATE:
                    self.safe[change.inode], self.unsafe[change.inode] = bytearray(), []
                self.unsafe_names[str(PurePath(change.path).parent)].append((index, change))
            case op if op == SYNC_BEGIN:
                self._began[change.offset] = index
            case op if op == SYNC_END:
                self._synced(change, self._began.pop(change.offset))

    def _synced(self, change: Change, begin: int) -> None:
        pending = self.unsafe.get(change.inode, [])
        for index, write in pending:
            if index < begin:
                _write(self.safe.setdefault(change.inode, bytearray()), write)
        self.unsafe[change.inode] = [(index, write) for index, write in pending if index > begin]
        pending = self.unsafe_names.get(change.path, [])
        for index, name in pending:
            if index < begin:
                _rename(self.names, name)
        self.unsafe_names[change.path] = [(index, name) for index, name in pending if index > begin]

    def after_power_cut(self, root: Path, to: Path, luck: random.Random) -> None:
        """Write to `to` what may be left of `root`."""
        names = dict(self.names)
        for pending in self.unsafe_names.values():
            for _, change in pending[: luck.choice((0, len(pending), luck.randint(0, len(pending))))]:
                _rename(names, change)
        for name, inode in sorted(names.items()):
            path = to / PurePath(name).relative_to(root)
            if inode == 0:
                path.mkdir(parents=True, exist_ok=True)
            elif path.parent.is_dir() and not name.endswith("-shm"):
                path.write_bytes(self._content(inode, luck))

    def _content(self, inode: int, luck: random.Random) -> bytes:
        content = bytearray(self.safe.get(inode, b""))
        fate = luck.choice(("none", "all", "some", "some", "some"))
        for _, change in self.unsafe.get(inode, []):
            if fate == "all" or (fate == "some" and luck.random() < 0.6):
                _write(content, change if fate == "all" else _harmed(change, luck))
        return bytes(content)


def _harmed(change: Change, luck: random.Random) -> Change:
    """A write as a power cut may leave it: whole, cut short, or partly garbled."""
    if change.op != WRITE or len(change.data) < 2:
        return change
    kind = luck.choice(("whole", "whole", "cut", "garbled"))
    if kind == "cut":
        return change._replace(data=change.data[: luck.randrange(1, len(change.data))])
    if kind == "garbled":
        begin = luck.randrange(len(change.data))
        end = min(len(change.data), begin + 512)
        return change._replace(data=change.data[:begin] + luck.randbytes(end - begin) + change.data[end:])
    return change


def _write(content: bytearray, change: Change) -> None:
    if change.op == TRUNCATE:
        if change.offset < len(content):
            del content[change.offset :]
        else:
            content.extend(bytes(change.offset - len(content)))
        return
    if len(content) < change.offset:
        content.extend(bytes(change.offset - len(content)))
    content[change.offset : change.offset + len(change.data)] = change.data


def _rename(names: dict[str, int], change: Change) -> None:
    match change.op:
        case op if op == CREATE:
            names[change.path] = change.inode
        case op if op == MKDIR:
            names[change.path] = 0
        case op if op in (UNLINK, RMDIR):
            names.pop(change.path, None)
        case op if op in (RENAME, LINK):
            to = change.data.decode()
            if change.path in names:
                for name in [name for name in names if name == change.path or name.startswith(change.path + "/")]:
                    names[to + name[len(change.path) :]] = names.pop(name) if op == RENAME else names[name]


def disks(recording: Recording, points: Sequence[int]) -> Iterator[tuple[int, Disk]]:
    """The disk at each of these points, which are in order. It is the same object each time."""
    disk, done = Disk(), 0
    for point in points:
        for index in range(done, point):
            disk.apply(index, recording.changes[index])
        done = point
        yield point, disk


def points_of(recording: Recording, count: int, luck: random.Random) -> list[int]:
    """Random points of the crawl, each after a whole call."""
    return sorted(luck.randrange(1, len(recording.changes)) for _ in range(count))


# ---- resumed


@dataclass
class Outcome:
    """What a power cut did."""

    point: int
    safe: int
    """Pages that had to survive."""
    kept: int
    """Pages that did."""
    problems: list[str]


def resumed(recording: Recording, point: int, folder: Path, finish: bool = False) -> Outcome:
    """Resume the crawl in `folder` as a power cut at `point` left it, and compare it with what was safe."""
    from scenthound.errors import BadConfig
    from scenthound.store.warc_read import members
    from scenthound.store.warc_repository import problem_of
    from scenthound.wiring import resume
    from support.resuming import Recorded

    safe = recording.safe_pages(point)
    try:
        session = resume(folder, fetcher=Recorded(), clock=lambda: 0.0)
    except BadConfig as error:  # the power went before crawl.toml was there
        return Outcome(point, len(safe), 0, [str(error)] if safe or recording.syncs[0][0] < point else [])
    problems = [note for note in session.folder.recovered if note.startswith("recovered")]
    try:
        history, repository = session.folder.history, session.folder.repository
        kept = {step.url for step in history.trail()}
        problems += [f"lost: {url}" for url in sorted(safe - kept)]
        problems += [f"no record: {url}" for url, where in history.places() if not repository.holds(where)]
        for file in repository.files():
            problems += [f"{file.name}: {problem}" for m in members(file) if (problem := problem_of(m))]
        if finish:
            end = asyncio.run(session.run())
            if session.crawl.pages != len(recording.trail):
                problems.append(f"ended at {session.crawl.pages} pages: {end}")
    finally:
        session.close()
    return Outcome(point, len(safe), len(kept), problems)


def cut_power(recording: Recording, folder: Path, count: int, seed: int, finish_every: int = 0) -> Iterator[Outcome]:
    """Cut the power at `count` random points and resume; some of the crawls to their end."""
    luck = random.Random(seed)
    for number, (point, disk) in enumerate(disks(recording, points_of(recording, count, luck))):
        left = folder / f"left-{number}"
        left.mkdir(parents=True)
        disk.after_power_cut(folder / "disk", left, luck)
        yield resumed(recording, point, left / "crawl", bool(finish_every) and number % finish_every == 0)
        shutil.rmtree(left)


# ---- the crawl that is recorded


def _crawl(root: Path, shim: Path, sync_time: float, pages: int) -> None:
    from scenthound.loop.folder import CrawlFolder
    from support.resuming import Recorded, born

    mark = ctypes.CDLL(str(shim)).shim_mark
    commit = CrawlFolder.commit

    class Slow(Recorded):
        async def fetch(self, url: str, most: int | None = None):  # type: ignore[no-untyped-def]
            await asyncio.sleep(0.01)
            return await super().fetch(url, most)

    def marked(folder: CrawlFolder, now: float, reserve: bool = True) -> None:
        commit(folder, now, reserve)
        mark(str(len(folder.history)).encode())

    CrawlFolder.commit = marked  # type: ignore[method-assign]
    root.mkdir()
    session = born(root / "crawl", pages=pages, sync_time=sync_time, warc_roll=400_000)
    session._fetcher = Slow()
    try:
        asyncio.run(session.run())
    finally:
        session.close()
    with CrawlFolder.look(root / "crawl") as done:
        print("\n".join(step.url for step in done.history.trail()))


if __name__ == "__main__":
    _crawl(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
