"""Lock a crawl folder so that only one process uses it. The kernel holds the lock, so it ends with the process.

Two things are locked: the file `crawl.lock`, which names the process, and the folder itself, so deleting the file does
not release the lock. Some network file systems can't lock a folder; there the file is the only lock.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from scenthound.errors import FolderInUse
from scenthound.files import open_in_place

NAME = "crawl.lock"


class Lock:
    """A held lock. It ends with `release`, with the `with` block, or with the process."""

    def __init__(self, path: Path, descriptor: int, folder: int) -> None:
        self.path, self._descriptor, self._folder = path, descriptor, folder

    def release(self) -> None:
        """Release the lock. The file stays: if it were deleted, two processes could lock two files of that name."""
        if self._descriptor >= 0:
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            os.close(self._folder)
            self._descriptor = -1

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def lock(folder: Path) -> Lock:
    """Lock the folder. Raises `FolderInUse`, with the id of the process, if another process holds the lock."""
    path = folder / NAME
    descriptor = open_in_place(path, os.O_RDWR | os.O_CREAT, 0o644)
    folder_descriptor = -1
    try:
        folder_descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if not (_take(descriptor, fcntl.LOCK_EX) and _take_folder(folder_descriptor, fcntl.LOCK_EX)):
            raise _in_use(folder, _pid(descriptor))
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except BaseException:
        os.close(descriptor)
        if folder_descriptor >= 0:
            os.close(folder_descriptor)
        raise
    return Lock(path, descriptor, folder_descriptor)


def holder(folder: Path) -> int | None:
    """The id of the process that holds the lock; 0 if the id is unknown; None if the folder is not locked."""
    for path, take in ((folder / NAME, _take), (folder, _take_folder)):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            continue
        try:
            if not take(descriptor, fcntl.LOCK_SH):
                return (path != folder and _pid(descriptor)) or 0
        finally:
            os.close(descriptor)
    return None


def _take(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _take_folder(descriptor: int, kind: int) -> bool:
    """Like `_take`, but returns True if the file system can't lock folders."""
    try:
        return _take(descriptor, kind)
    except OSError:
        return True


def _in_use(folder: Path, process: int | None) -> FolderInUse:
    who = f"process {process}" if process else "another process"
    error = FolderInUse(folder, f"is in use by {who}", "wait for it, or stop it; then run this again")
    error.process = process
    return error


def _pid(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isascii() and text.isdigit() else None
