"""Write files safely. Every file is written with one of these functions, or inside a folder that they created.

A file is replaced as a whole or not at all: it is written under a new name next to the old one, synced, and renamed. A
file that is changed in place (a lock, a database, a growing archive) must be a regular file without a hard link in
another folder. No write follows a symbolic link, because a crawl folder may come from a stranger. The folder that the
user named may be a link; the files in it may not.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import secrets
import shlex
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from scenthound.errors import PATH_ERRORS, BadConfig, DiskFull, IoFailed, UnsafeFile, from_os_error

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CHUNK = 1 << 20
_UNFINISHED = re.compile(r"\.[^/]{1,40}\.[0-9a-f]{8}\.part")


# ---- checks


def refuse_link(path: Path) -> None:
    """Raise `UnsafeFile` if there is a symbolic link at `path`, even a broken one."""
    if path.is_symlink():
        raise UnsafeFile(
            path,
            "is a symbolic link, and nothing is written through a link",
            "remove the link; if the file is needed, put the file itself there",
        )


def check_file(path: Path) -> None:
    """Raise `UnsafeFile` if there is something other than a regular file at `path`."""
    refuse_link(path)
    with suppress(FileNotFoundError, NotADirectoryError):
        _check_regular(path, path.lstat())


def check_own_file(path: Path) -> None:
    """Raise `UnsafeFile` if there is something other than a regular file without hard links in other folders."""
    refuse_link(path)
    with suppress(FileNotFoundError, NotADirectoryError):
        _check_own(path, path.lstat())


def _check_regular(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnsafeFile(path, "is not a regular file", "move it away: a file of that name is needed")


def _check_own(path: Path, status: os.stat_result) -> None:
    _check_regular(path, status)
    if status.st_nlink > 1 and status.st_nlink > _links_beside(path, status):
        raise UnsafeFile(path, "is a hard link: a file elsewhere would change with it", "put a copy in its place")


def _links_beside(path: Path, status: os.stat_result) -> int:
    """The number of hard links in its own folder. A repair briefly gives a database a second one."""
    with os.scandir(path.parent) as entries:
        return sum(entry.inode() == status.st_ino and not entry.is_symlink() for entry in entries)


# ---- files that are replaced


@contextmanager
def replacing(path: Path, mode: int = 0o666, durable: bool = True, scratch: Path | None = None) -> Iterator[BinaryIO]:
    """Write a file that replaces `path` when the block ends without an error. Yields the stream.

    The umask applies to `mode`. Until then the file is in the folder of `path`, or in `scratch`, a folder on the same
    disk; a killed process leaves it there. Once replaced, a `durable` file survives a power cut. Raises `UnsafeFile`
    for a link, `BadConfig` if the file can't be written, `DiskFull` if there is no room, `IoFailed` if the disk fails.
    """
    refuse_link(path)
    if scratch is not None:
        refuse_link(scratch)
    with _translated(path):
        descriptor, part = _new_file(path if scratch is None else scratch / path.name, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            with _translated(path):
                file.flush()
                if durable:
                    os.fsync(file.fileno())
        with _translated(path):
            os.replace(part, path)
            if durable:
                sync_folder(path.parent)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise _error_for(path, error) from error
        raise
    finally:
        part.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes, mode: int = 0o666, durable: bool = True) -> None:
    """Write a whole file or nothing; see `replacing`."""
    with replacing(path, mode, durable) as file:
        file.write(data)


def write_text(path: Path, text: str, mode: int = 0o666, durable: bool = True, scratch: Path | None = None) -> None:
    """Write text as UTF-8; see `replacing`."""
    with replacing(path, mode, durable, scratch) as file:
        file.write(text.encode("utf-8", "replace"))


def replace(source: Path, target: Path) -> None:
    """Rename a finished file or folder, durably."""
    os.replace(source, target)
    sync_folder(target.parent)


def remove_unfinished(folder: Path) -> None:
    """Remove files that a killed process began to write in this folder. Call it with the folder's lock held."""
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if _UNFINISHED.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                Path(entry.path).unlink(missing_ok=True)


def _new_file(path: Path, mode: int) -> tuple[int, Path]:
    """Create a temporary file next to `path`. Returns its descriptor and its path."""
    while True:
        part = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.part")
        with suppress(FileExistsError):
            return os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), part


# ---- files that are changed in place


def open_in_place(path: Path, flags: int, mode: int = 0o666) -> int:
    """Open a regular file and return its descriptor. Raises `UnsafeFile` for a link, a pipe, or a hard link."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):
            check_own_file(path)
        raise
    try:
        _check_own(path, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


# ---- files that are moved aside


def free_name(path: Path, ending: str) -> Path:
    """The first of `path.ending-1`, `path.ending-2`, ... that does not exist, not even as a broken link."""
    numbers = itertools.count(1)
    return next(name for n in numbers if not os.path.lexists(name := path.with_name(f"{path.name}.{ending}-{n}")))


def move_aside(path: Path, ending: str) -> Path:
    """Rename a file to the first free `path.ending-N` and return the new path."""
    new_path = free_name(path, ending)
    replace(path, new_path)
    return new_path


def move_tail(path: Path, offset: int, ending: str) -> Path:
    """Move the bytes from `offset` on to the first free `path.ending-N` and return the new path.

    The copy is durable before the cut: a crash in between leaves the tail in both files, so nothing is lost.
    """
    if offset <= 0:
        return move_aside(path, ending)
    new_path = free_name(path, ending)
    source = open_in_place(path, os.O_RDWR)
    try:
        with replacing(new_path) as tail:
            while chunk := os.pread(source, _CHUNK, offset + tail.tell()):
                tail.write(chunk)
        os.ftruncate(source, offset)
        os.fsync(source)
    finally:
        os.close(source)
    return new_path


# ---- folders


def make_folder(path: Path) -> None:
    """Make a folder and its parents, durably, if it does not exist. Raises `UnsafeFile` for a link."""
    refuse_link(path)
    if path.is_dir():
        return
    missing = [parent for parent in (path, *path.parents) if not parent.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        sync_folder(folder.parent)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder to fill. It is renamed to `path` when the block ends without an error, and removed otherwise.

    An empty folder at `path` is replaced. No other user can write to the new folder before it is renamed, so the files
    in it may be written in any way.
    """
    refuse_link(path)
    scratch = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}.", dir=path.parent))
    try:
        folder = scratch / "new"
        folder.mkdir(0o755)
        yield folder
        _sync_tree(folder)
        replace(folder, path)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def unfinished(folder: Path) -> Iterator[None]:
    """If the disk fails while `folder` is filled, raise an error whose hint says to remove it before the next try."""
    retry = f"remove {shlex.quote(str(folder))} if it is there, then run this again"
    try:
        yield
    except (OSError, DiskFull, IoFailed) as error:
        bad_path = BadConfig(f"{folder} can't be written to: {error}", "name another folder")
        failed = from_os_error(error, folder, bad_path) if isinstance(error, OSError) else error
        if isinstance(failed, DiskFull):
            raise DiskFull(failed.path, f"make room, {retry}", failed.left) from error
        if isinstance(failed, IoFailed):
            raise IoFailed(failed.path, failed.cause, f"check the disk, {retry}") from error
        raise failed from error


def sync_folder(path: Path) -> None:
    """Make new names in a folder durable."""
    _sync(path, os.O_RDONLY | os.O_DIRECTORY)


def _sync_tree(folder: Path) -> None:
    for inner, _, names in os.walk(folder):
        for name in names:
            sync_file(Path(inner, name))
        sync_folder(Path(inner))


def sync_file(path: Path) -> None:
    """Make the content of a file durable."""
    _sync(path, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# ---- errors


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _error_for(path, error) from error


def _error_for(path: Path, error: OSError) -> BadConfig | DiskFull | IoFailed:
    """The error to raise for an `OSError` while `path` is written."""
    if error.errno in NO_ROOM:
        return DiskFull(path)
    if error.errno not in PATH_ERRORS:
        return IoFailed.of(error, path)
    if error.errno == errno.ENOENT:
        return BadConfig(f"{path} can't be written: there is no folder {path.parent}", "create the folder first")
    return BadConfig(f"{path} can't be written: {error.strerror}", "choose a file in a folder that you can write to")
