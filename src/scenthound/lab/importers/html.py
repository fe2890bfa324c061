"""Imports a folder of HTML files as a bed: each file becomes a page below a base URL."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from scenthound.errors import PATH_ERRORS, BadConfig, NotAUrl
from scenthound.lab.beds.bed import new_response
from scenthound.lab.importers import importer
from scenthound.lab.importers.interface import Brought, Notes, Options
from scenthound.lab.topics.directory import slug
from scenthound.loop.settings import option
from scenthound.model import Response
from scenthound.url import resolve
from scenthound.web.mime import is_html

SUFFIXES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".shtml": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".xht": "application/xhtml+xml",
}
# What a browser does not escape in a path, so that a link written as the file's name leads to the file.
_UNESCAPED = "!$&'()*+,;=:@|[]~^"


@dataclass(frozen=True, slots=True)
class HtmlOptions(Options):
    """The URL of the folder, and which files are too large."""

    base: str = option("", "URL of the folder, as http://name.test/; by default made of the folder's name")
    largest: int = option(10_000_000, "skip larger files", "bytes", least=1)


@importer("html", HtmlOptions)
def html(source: Path, options: HtmlOptions, notes: Notes) -> Brought:
    """A folder of HTML files, with all its subfolders."""
    folders = [(source, _base(options.base, source))]
    for extra in map(Path, options.also):
        folders.append((extra, resolve(f"{_encoded(extra.resolve().name)}/", folders[0][1])))
    for folder, _ in folders:
        if not folder.is_dir():
            raise BadConfig(f"{folder} is not a folder", "name the folder that holds the HTML files")
    responses = (response for folder, base in folders for response in _pages(folder, base, options.largest, notes))
    return Brought(responses, origin=f"HTML files of the folder {source.resolve().name}")


def _base(given: str, source: Path) -> str:
    raw = given or f"http://{slug('Top/' + source.resolve().name).encode('ascii', 'ignore').decode() or 'web'}.test/"
    try:
        base = resolve(raw)
    except NotAUrl as error:
        raise BadConfig(f"option `base`: {error.message}", "write it as http://name.test/") from None
    if "?" in base:
        raise BadConfig(f"option `base` can't have a query: {base}", "write it as http://name.test/")
    return base if base.endswith("/") else base + "/"


def _pages(root: Path, base: str, largest: int, notes: Notes) -> Iterator[Response]:
    """The files as responses, folder by folder. A folder with an index also gets the redirect to its slash."""
    inside = root.resolve()
    waiting = [(root, base)]
    done = 0
    while waiting:
        folder, address = waiting.pop()
        below: list[tuple[Path, str]] = []
        has_index = False
        for entry in _entries(folder, notes):
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                below.append((path, f"{address}{_encoded(entry.name)}/"))
                continue
            page = _page(path, inside, f"{address}{_encoded(entry.name)}", largest, notes)
            done += 1
            notes.progress(done, 0)
            if page is not None:
                has_index = has_index or entry.name.lower() in ("index.html", "index.htm")
                yield page
        if has_index and address != base:
            yield _to_folder(address)
        waiting += reversed(below)


def _entries(folder: Path, notes: Notes) -> list[os.DirEntry[str]]:
    """The entries of a folder by name; index.html first, before other files with the same canonical URL."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: (entry.name != "index.html", os.fsencode(entry.name)))
    except OSError as error:
        if error.errno not in PATH_ERRORS:
            raise
        notes.count("skipped, folders that can't be read", str(folder))
        return []


def _page(path: Path, inside: Path, url: str, largest: int, notes: Notes) -> Response | None:
    """The file as a response without a charset: the page itself names it."""
    try:
        if path.is_symlink() and not (path.resolve(strict=True).is_relative_to(inside) and path.is_file()):
            notes.count("skipped, symbolic links to folders or out of the folder", str(path))
            return None
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                notes.count("skipped, not a regular file", str(path))
                return None
            start = file.read(1024)
            kind = SUFFIXES.get(path.suffix.lower(), "text/html" if is_html(None, start) else "")
            if not kind:
                notes.count(f"skipped, not HTML ({path.suffix.lower()[:20] or 'no suffix'})", str(path))
                return None
            if about.st_size > largest:
                notes.count(f"skipped, larger than {largest:,} bytes", str(path))
                return None
            body = start + file.read(largest - len(start)) if largest > len(start) else start
    except (OSError, RuntimeError) as error:  # RuntimeError: symbolic links in a circle
        if isinstance(error, OSError) and error.errno not in PATH_ERRORS:
            raise
        notes.count("skipped, files that can't be read", str(path))
        return None
    return new_response(url, kind, body)


def _to_folder(address: str) -> Response:
    """What every web server answers when the slash is missing."""
    return Response(address[:-1], 301, "Moved Permanently", (("Location", address), ("Content-Length", "0")), b"")


def _encoded(name: str) -> str:
    """A file name as part of a URL path.

    >>> _encoded("50% off?.html"), _encoded("a(b)|c.html")
    ('50%25%20off%3F.html', 'a(b)|c.html')
    """
    return quote(os.fsencode(name), safe=_UNESCAPED)
