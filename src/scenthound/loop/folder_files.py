"""The files of a crawl folder, and checks that they are safe to use."""

from __future__ import annotations

import os
from pathlib import Path

from scenthound.files import refuse_link
from scenthound.store.database import database_files
from scenthound.store.lock import NAME as LOCK

DATABASE, MODEL, PAGES, COPIES = "crawl.db", "model", "pages", "copies"
_FILES = ("crawl.toml", DATABASE, LOCK, "report.html")
_FOLDERS = (PAGES, "index", MODEL, COPIES)


def refuse_links(folder: Path) -> None:
    """Raise `UnsafeFile` if a file of the crawl is a symbolic link. The folder itself may be one."""
    for path in (*(folder / name for name in _FILES), *database_files(str(folder / DATABASE))):
        refuse_link(path)
    for inner in (folder / name for name in _FOLDERS):
        refuse_link(inner)
        if inner.is_dir():
            with os.scandir(inner) as entries:
                for entry in entries:
                    refuse_link(Path(entry.path))


def remove_crawl(folder: Path) -> None:
    """Delete the files of a crawl, if there are no others in its folder."""
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
    (folder / "crawl.toml").unlink()  # last: until then it is a crawl


def is_part_of_a_crawl(path: Path) -> bool:
    """True for a file of a crawl: crawl.toml, its database and lock, its report, all of `pages/`."""
    for target in (path.parent.resolve() / path.name, path.resolve()):
        folders = [folder for folder in target.parents if (folder / "crawl.toml").is_file()]
        for folder in folders:
            first = target.relative_to(folder).parts[0]
            if first == PAGES or (target.parent == folder and first.startswith(_FILES)):
                return True
    return False
