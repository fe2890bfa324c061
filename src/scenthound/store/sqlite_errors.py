"""Translate SQLite errors into our own exceptions for a full disk, a damaged file, a file in use and so on."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from scenthound.errors import DiskFull, FileDamaged, FolderBroken, FolderInUse, IoFailed

_CHUNK = 1 << 20


def damaged(path: str, detail: str) -> FileDamaged:
    return FileDamaged(
        path, f"is damaged: {detail}", "the readable part can be recovered; the damaged file will be kept"
    )


def disk_full(path: str) -> DiskFull:
    return DiskFull(path, "make room, then run `scenthound resume`")


def translate_error(error: sqlite3.Error | OSError, path: str) -> Exception:
    """Our exception for this error, with a hint on what to do; the error itself if it is unknown."""
    if isinstance(error, OSError):
        return disk_full(path) if error.errno in (errno.ENOSPC, errno.EDQUOT) else IoFailed.of(error, path)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return disk_full(path)
    if (
        getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CORRUPT_VTAB
    ):  # reported by FTS5: no need to read the file
        return damaged(path, str(error))
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return _unreadable(path) or damaged(path, str(error))
    if code == sqlite3.SQLITE_CANTOPEN and os.access(Path(path).parent, os.W_OK):
        return IoFailed(path, str(error), "check the disk and the limit on open files, then run this again")
    if code == sqlite3.SQLITE_CANTOPEN:
        return FolderBroken(path, "can't be opened", "does its folder exist, and may you write there?")
    if code == sqlite3.SQLITE_BUSY:
        return FolderInUse(path, "is being written by another process without a break", "try again in a moment")
    if code == sqlite3.SQLITE_READONLY:
        return FolderBroken(path, "may not be written to", "copy the crawl to a folder that you may write to")
    if code == sqlite3.SQLITE_IOERR and _no_room(path):
        return disk_full(path)
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM):
        return IoFailed(path, str(error))
    if code == sqlite3.SQLITE_ERROR:  # our SQL is correct, so the tables must be wrong
        return damaged(path, str(error))
    return error


def _unreadable(path: str) -> IoFailed | None:
    """The I/O error if the disk failed. SQLite reports that as damage too, so the whole file is read again."""
    try:
        with open(path, "rb") as file:
            while file.read(_CHUNK):
                pass
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)) as again:
            if again.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",):
                return IoFailed(path, "a read failed, but succeeded when it was tried again")
    except (FileNotFoundError, sqlite3.Error):
        return None
    except OSError as error:
        return IoFailed.of(error, path)
    return None


def _no_room(path: str) -> bool:
    """Whether the file system is full. SQLite reports some failed writes only as an I/O error."""
    try:
        disk = os.statvfs(Path(path).parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < 1 << 20
