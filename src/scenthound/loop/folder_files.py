"""The files of a crawl folder: check that they exist and are safe to use, and raise errors with a hint if not."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from scenthound.errors import PATH_ERRORS, BadConfig, DiskFull, FileDamaged, FolderBroken, IoFailed
from scenthound.files import NO_ROOM, check_file, refuse_link
from scenthound.loop.crawl_toml import CrawlRequest
from scenthound.store.database import database_files
from scenthound.store.lock import NAME as LOCK

DATABASE, MODEL, PAGES, COPIES = "crawl.db", "model", "pages", "copies"
_FILES = ("crawl.toml", DATABASE, LOCK, "report.html")
_FOLDERS = (PAGES, "index", MODEL, COPIES)


def refuse_links(folder: Path) -> None:
    """Raise `UnsafeFile` if a file of the crawl is a link, or a pipe, which would never end.

    The folder itself may be a link.
    """
    for path in (*(folder / name for name in _FILES), *database_files(str(folder / DATABASE))):
        refuse_link(path)
    for inner in (folder / name for name in _FOLDERS):
        refuse_link(inner)
        if inner.is_dir():
            with os.scandir(inner) as entries:
                for entry in entries:
                    if not entry.is_file(follow_symlinks=False) and not entry.is_dir(follow_symlinks=False):
                        check_file(Path(entry.path))


def remove_crawl(folder: Path) -> None:
    """Delete the files of a crawl, unless there are other files in its folder."""
    refuse_links(folder)
    own = {
        "crawl.toml",
        "report.html",
        LOCK,
        PAGES,
        *(Path(name).name for name in database_files(str(folder / DATABASE))),
    }
    pages = folder / PAGES
    stored = [*pages.iterdir()] if pages.is_dir() else []
    if {entry.name for entry in folder.iterdir()} - own or not all(
        path.name.endswith((".warc.gz", ".cdxj")) for path in stored
    ):
        return
    for path in stored:
        path.unlink()
    if pages.is_dir():
        pages.rmdir()
    for name in sorted(own - {LOCK, PAGES, "crawl.toml"}):
        (folder / name).unlink(missing_ok=True)
    (folder / "crawl.toml").unlink()  # last, because it makes the folder a crawl


def is_part_of_a_crawl(path: Path) -> bool:
    """True if a path is a file of a crawl: crawl.toml, the database, the lock, the report, or anything in `pages/`."""
    for target in (path.parent.resolve() / path.name, path.resolve()):
        folders = [folder for folder in target.parents if (folder / "crawl.toml").is_file()]
        for folder in folders:
            first = target.relative_to(folder).parts[0]
            if first == PAGES or (target.parent == folder and first.startswith(_FILES)):
                return True
    return False


def read_request(path: Path) -> CrawlRequest:
    """Read the crawl.toml of a folder. Raises `BadConfig` if it is not a crawl folder."""
    hint = "give the folder of a crawl"
    file = path / "crawl.toml"
    try:
        if not path.is_dir():
            raise BadConfig(f"there is no folder {path}", hint)
        if not file.is_file():
            raise BadConfig(f"{path} is not a crawl: it has no crawl.toml", hint)
        return CrawlRequest.from_toml(file.read_text(encoding="utf-8"), file)
    except UnicodeDecodeError as error:
        raise FolderBroken(file, f"can't be read: {error}", "put the original back") from None
    except OSError as error:
        if error.errno not in PATH_ERRORS:
            raise IoFailed.of(error, file) from error
        raise BadConfig(f"{file} can't be read: {error.strerror}", "check the permissions of the folder") from None


def check_writable(path: Path) -> None:
    """Raise `BadConfig` if a part of the folder is not writable."""
    pages = path / "pages"
    for part in (path, pages, path / "crawl.db", path / LOCK, *sorted(pages.glob("*.warc.gz"))[-1:]):
        if part.exists() and not os.access(part, os.W_OK):
            raise BadConfig(f"{part} is not writable", "change its permissions, or copy the crawl elsewhere")


def missing_pages(path: Path, files: Mapping[str, int]) -> FolderBroken:
    """The error for missing WARC files, perhaps on a disk that is not mounted."""
    names = ", ".join(list(files)[:3]) + (" ..." if len(files) > 3 else "")
    return FolderBroken(
        path / PAGES,
        f"lacks {names}, with {sum(files.values()):,} recorded pages",
        f"put the files back, or fetch the pages again: scenthound resume {shlex.quote(str(path))} --refetch",
    )


@contextmanager
def explain_creation_errors(path: Path) -> Iterator[None]:
    """Give errors during the creation of a folder a hint: a full disk, a path that can't be used."""
    try:
        yield
    except FolderBroken as error:  # on a full disk SQLite reports that it can't open its files
        if _is_full(path):
            raise DiskFull(path, "make room and try again") from error
        if isinstance(error, FileDamaged):  # it was created a moment ago, so the disk is failing
            raise IoFailed(error.path, error.problem) from error
        raise
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull(path, "make room and try again") from error
        if error.errno not in PATH_ERRORS:
            raise IoFailed.of(error, path) from error
        raise BadConfig(f"{path} can't be created: {error.strerror}", "choose another folder as `out`") from error


def _is_full(path: Path) -> bool:
    return path.exists() and shutil.disk_usage(path).free < 1 << 20
