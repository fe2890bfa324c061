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
from scenthound.lab.importers.interface import Notes, Options, SourceContent
from scenthound.lab.topics.directory import slug
from scenthound.loop.settings import option
from scenthound.model import Response
from scenthound.url import resolve
from scenthound.web.content_type import is_html

SUFFIXES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".shtml": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".xht": "application/xhtml+xml",
}
# The characters that a browser does not escape in a path, so that a link with the file's name leads to the file.
_UNESCAPED = "!$&'()*+,;=:@|[]~^"


@dataclass(frozen=True, slots=True)
class HtmlOptions(Options):
    """The URL of the folder, and the largest size of a file."""

    base: str = option("", "URL of the folder, such as http://name.test/; by default from the folder's name")
    largest: int = option(10_000_000, "skip larger files", "bytes", least=1)


@importer("html", HtmlOptions)
def html(source: Path, options: HtmlOptions, notes: Notes) -> SourceContent:
    """A folder of HTML files, with all its subfolders."""
    folders = [(source, _base(options.base, source))]
    for extra in map(Path, options.also):
        folders.append((extra, resolve(f"{_encoded(extra.resolve().name)}/", folders[0][1])))
    for folder, _ in folders:
        if not folder.is_dir():
            raise BadConfig(f"{folder} is not a folder", "give the folder with the HTML files")
    responses = (response for folder, base in folders for response in _pages(folder, base, options.largest, notes))
    return SourceContent(responses, origin=f"HTML files of the folder {source.resolve().name}")


def _base(base_option: str, source: Path) -> str:
    raw = (
        base_option
        or f"http://{slug('Top/' + source.resolve().name).encode('ascii', 'ignore').decode() or 'web'}.test/"
    )
    try:
        base = resolve(raw)
    except NotAUrl as error:
        raise BadConfig(f"option `base`: {error.message}", "write it as http://name.test/") from None
    if "?" in base:
        raise BadConfig(f"option `base` can't have a query: {base}", "write it as http://name.test/")
    return base if base.endswith("/") else base + "/"


def _pages(root: Path, base: str, largest: int, notes: Notes) -> Iterator[Response]:
    """The files as responses, folder by folder. A folder with an index gets a redirect from its URL without slash."""
    resolved_root = root.resolve()
    pending = [(root, base)]
    done = 0
    while pending:
        folder, url = pending.pop()
        subfolders: list[tuple[Path, str]] = []
        has_index = False
        for entry in _entries(folder, notes):
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                subfolders.append((path, f"{url}{_encoded(entry.name)}/"))
                continue
            page = _page(path, resolved_root, f"{url}{_encoded(entry.name)}", largest, notes)
            done += 1
            notes.progress(done, 0)
            if page is not None:
                has_index = has_index or entry.name.lower() in ("index.html", "index.htm")
                yield page
        if has_index and url != base:
            yield _slash_redirect(url)
        pending += reversed(subfolders)


def _entries(folder: Path, notes: Notes) -> list[os.DirEntry[str]]:
    """The entries of a folder, sorted by name. index.html is first: other files may have the same canonical URL."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: (entry.name != "index.html", os.fsencode(entry.name)))
    except OSError as error:
        if error.errno not in PATH_ERRORS:
            raise
        notes.count("skipped, folders that can't be read", str(folder))
        return []


def _page(path: Path, root: Path, url: str, largest: int, notes: Notes) -> Response | None:
    """The file as a response, without a charset in its header; None if it is skipped."""
    try:
        if path.is_symlink() and not (path.resolve(strict=True).is_relative_to(root) and path.is_file()):
            notes.count("skipped, symbolic links to folders or out of the source", str(path))
            return None
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                notes.count("skipped, not a regular file", str(path))
                return None
            start = file.read(1024)
            content_type = SUFFIXES.get(path.suffix.lower(), "text/html" if is_html(None, start) else "")
            if not content_type:
                notes.count(f"skipped, not HTML ({path.suffix.lower()[:20] or 'no suffix'})", str(path))
                return None
            if status.st_size > largest:
                notes.count(f"skipped, larger than {largest:,} bytes", str(path))
                return None
            body = start + file.read(largest - len(start)) if largest > len(start) else start
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
        if isinstance(error, OSError) and error.errno not in PATH_ERRORS:
            raise
        notes.count("skipped, files that can't be read", str(path))
        return None
    return new_response(url, content_type, body)


def _slash_redirect(url: str) -> Response:
    """The redirect that web servers send when the slash of a folder is missing."""
    return Response(url[:-1], 301, "Moved Permanently", (("Location", url), ("Content-Length", "0")), b"")


def _encoded(name: str) -> str:
    """A file name as part of a URL path.

    >>> _encoded("50% off?.html"), _encoded("a(b)|c.html")
    ('50%25%20off%3F.html', 'a(b)|c.html')
    """
    return quote(os.fsencode(name), safe=_UNESCAPED)
