"""Files that are written whole or not at all, and errors that name the file a person asked for."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from scenthound.errors import BadConfig, DiskFull

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_OWN = ("crawl.toml", "crawl.db", "crawl.lock", "report.html")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A stream for a file that appears under its name when the block is left without an error.

    Raises `BadConfig` where it can't be written there, `DiskFull` where there is no room.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        file = part.open("wb")
    except OSError as error:
        raise _refusal(path, error) from error
    try:
        with file:
            yield file
            _finish(path, file)
        try:
            part.replace(path)
        except OSError as error:
            raise _refusal(path, error) from error
    except OSError as error:
        if error.errno in NO_ROOM:
            raise _refusal(path, error) from error
        raise
    finally:
        part.unlink(missing_ok=True)


def is_part_of_a_crawl(path: Path) -> bool:
    """True for what a crawl keeps for itself: crawl.toml, its database and lock, its report, all of `pages/`."""
    for target in (path.parent.resolve() / path.name, path.resolve()):
        folders = [folder for folder in target.parents if (folder / "crawl.toml").is_file()]
        for folder in folders:
            first = target.relative_to(folder).parts[0]
            if first == "pages" or (target.parent == folder and first.startswith(_OWN)):
                return True
    return False


def _finish(path: Path, file: BinaryIO) -> None:
    try:
        file.flush()
    except OSError as error:
        raise _refusal(path, error) from error


def _refusal(path: Path, error: OSError) -> BadConfig | DiskFull:
    if error.errno in NO_ROOM:
        return DiskFull(f"no room left to write {path}", "make room, then run this again")
    if error.errno == errno.ENOENT:
        return BadConfig(f"{path} can't be written: there is no folder {path.parent}", "make the folder first")
    return BadConfig(f"{path} can't be written: {error.strerror}", "name a file in a folder that is yours")
