"""One process per crawl folder. The kernel holds the lock, so it ends with the process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from scenthound.errors import FolderInUse
from scenthound.files import open_in_place

NAME = "crawl.lock"


class Lock:
    """A lock; ends with `release`, with the `with` block, or with the process."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor

    def release(self) -> None:
        """The file stays: if it were deleted, two processes could lock two files of that name."""
        if self._descriptor >= 0:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def lock(folder: Path) -> Lock:
    """Lock the folder, or raise `FolderInUse` with the process that has it."""
    path = folder / NAME
    descriptor = open_in_place(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        process = _pid(descriptor)
        os.close(descriptor)
        who = f"process {process}" if process else "another process"
        error = FolderInUse(folder, f"is in use by {who}", "wait for it, or stop it; then run this again")
        error.process = process
        raise error from None
    except OSError:
        os.close(descriptor)
        raise
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return Lock(path, descriptor)


def holder(folder: Path) -> int | None:
    """The process that uses the folder now, or None."""
    try:
        descriptor = os.open(folder / NAME, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid(descriptor)
    finally:
        os.close(descriptor)
    return None


def _pid(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isdigit() else None
