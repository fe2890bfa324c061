"""Builds a portal from a crawl folder, and brings it up to date: only files that have changed are written.

Each file is replaced whole or not at all. `.portal/` has what was read of the pages, so that the next run reads only
new ones, and the list of the portal's files; it need not be put on a web server.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from scenthound.apps.portal import categories as sorting
from scenthound.apps.portal.collect import READ, Collected, collect, write_kept
from scenthound.apps.portal.naming import title_terms
from scenthound.apps.portal.page_vectors import Vectors, make_vectors, related, term_counts
from scenthound.apps.portal.portal_html import Site, site_files
from scenthound.apps.portal.search_files import search_files
from scenthound.errors import BadConfig, BadUsage
from scenthound.files import check_file, make_folder, move_aside, refuse_link, write_bytes, write_text
from scenthound.loop.folder import CrawlFolder
from scenthound.store.lock import lock
from scenthound.url import host

PORTAL, STATE, FILES = "portal", ".portal", "files.json"
_OURS = re.compile(r"(?:assets|c|p|search)/[a-z0-9_.-]+|index\.html|search\.html")


@dataclass(frozen=True, slots=True)
class Portal:
    """What was built."""

    path: Path
    pages: int
    new: int
    left_out: int
    categories: list[tuple[str, int]]
    """Names, with the number of pages."""
    written: int
    removed: int
    files: int
    bytes: int
    """Of all files."""
    search_bytes: int
    """Of the search index."""
    cites: int
    """Pairs of pages of which one cites the other."""
    references: int
    """Those of them that were found in reference lists."""

    def as_plain(self) -> dict[str, Any]:
        return {
            "site": str(self.path),
            "pages": self.pages,
            "new": self.new,
            "left_out": self.left_out,
            "categories": [{"name": name, "pages": pages} for name, pages in self.categories],
            "files": self.files,
            "written": self.written,
            "removed": self.removed,
            "bytes": self.bytes,
            "search_bytes": self.search_bytes,
            "cites": self.cites,
            "references": self.references,
        }


def build_portal(
    folder: Path,
    out: Path | None = None,
    taxonomy: Path | None = None,
    clusters: int | None = None,
    relevant_only: bool = False,
    progress: Callable[[str], None] = lambda words: None,
) -> Portal:
    """Make the portal of a crawl, or bring it up to date. `out` is `FOLDER/portal` by default.

    With `clusters` new categories are proposed, and the old file is kept under another name. Raises `BadConfig` for a
    folder that is no crawl or has no pages, and for categories that can't be used.
    """
    path = out or folder / PORTAL
    with CrawlFolder.look(folder) as crawl:
        _check_place(path, _identity(crawl))
        if not len(crawl.history):
            raise BadConfig(f"the crawl in {folder} has no pages yet", "let it fetch some first")
        make_folder(path)
        make_folder(path / STATE)
        held = lock(path / STATE)
        try:
            collected = collect(crawl, path / STATE / READ, relevant_only, lambda n: progress(f"{n:,} new pages read"))
            if not collected.entries:
                raise BadConfig(f"no page of the crawl in {folder} can be shown", _why_none(relevant_only))
            return _write(path, crawl, collected, taxonomy, clusters, progress)
        finally:
            held.release()


def _why_none(relevant_only: bool) -> str:
    return "leave out --relevant-only" if relevant_only else "none of its pages is stored"


def _identity(crawl: CrawlFolder) -> dict[str, Any]:
    return {"topic": crawl.request.topic.keywords, "started": crawl.request.started}


def _check_place(path: Path, identity: dict[str, Any]) -> None:
    """Raise `BadConfig` if a folder has something else in it than a portal of this crawl."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not (path / STATE).is_dir():
        raise BadConfig(f"{path} exists and is not a portal", "name a new folder as --out")
    if (before := _state(path).get("crawl", identity)) != identity:
        raise BadConfig(
            f"{path} is the portal of another crawl, on “{str(before)[:80]}”", "name another folder as --out"
        )


def _state(path: Path) -> dict[str, Any]:
    """What the last run noted. Raises `UnsafeFile` for a link: nothing outside of the folder is read and shown."""
    refuse_link(path)
    refuse_link(path / STATE)
    file = path / STATE / FILES
    check_file(file)
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return {}
    return plain if isinstance(plain, dict) else {}


def categories_of(folder: Path) -> dict[str, list[int]]:
    """The categories in the portal of a crawl folder, each with the numbers of its pages; empty without a portal."""
    found = _state(folder / PORTAL).get("categories", {})
    if not isinstance(found, dict):
        return {}
    return {
        str(name): [number for number in numbers if isinstance(number, int)]
        for name, numbers in found.items()
        if isinstance(numbers, list)
    }


def pages_in(folder: Path, category: str) -> list[int]:
    """The numbers of the pages in a category. Raises `BadUsage` if there is none of this name."""
    known = categories_of(folder)
    if not known:
        raise BadUsage("this crawl has no categories", f"make its portal first: scenthound portal {folder}")
    if category not in known:
        raise BadUsage(f"no category called `{category[:80]}`", f"there are: {'; '.join(known)}")
    return known[category]


def _write(
    path: Path,
    crawl: CrawlFolder,
    collected: Collected,
    taxonomy: Path | None,
    groups: int | None,
    progress: Callable[[str], None],
) -> Portal:
    entries = collected.entries
    progress(f"comparing {len(entries):,} pages")
    counts = [term_counts(entry.title, entry.text) for entry in entries]
    vectors = make_vectors(counts)
    if taxonomy is not None:
        done = sorting.sort_by_taxonomy(taxonomy, entries)
    else:
        titles = title_terms([(host(entry.url), entry.title) for entry in entries])
        done = sorting.sort_by_words(_own_categories(path / sorting.FILE, vectors, titles, groups, crawl), vectors)
    numbers = [entry.n for entry in entries]
    cites = _merged(numbers, collected)
    site = Site(
        crawl.request.topic.name or crawl.request.topic.keywords,
        done.categories,
        {entry.n: entry for entry in entries},
        dict(zip(numbers, done.places, strict=True)),
        cites,
        _turned(cites),
        {number: frozenset(cited) for number, cited in collected.cites.items()},
        {
            number: [numbers[place] for place in near]
            for number, near in zip(numbers, related(vectors.rows), strict=True)
        },
    )
    names = {category.id: category.name for category in done.categories}
    in_words = [names[place] for place in done.places]
    files = chain(site_files(site), search_files(entries, counts, in_words))
    made = _Written(path, progress)
    made.write(files)
    removed = made.remove_old(_state(path).get("files", []))
    write_kept(path / STATE / READ, entries)
    sorted_pages: dict[str, list[int]] = {}
    for number, name in zip(numbers, in_words, strict=True):
        sorted_pages.setdefault(name, []).append(number)
    state = {"crawl": _identity(crawl), "files": sorted(made.sizes), "categories": sorted_pages}
    write_text(path / STATE / FILES, json.dumps(state))
    sizes = Counter(done.places)
    return Portal(
        path,
        len(entries),
        collected.new,
        collected.left_out,
        [(category.name, sizes[category.id]) for category in done.categories],
        made.written,
        removed,
        len(made.sizes),
        sum(made.sizes.values()),
        sum(size for name, size in made.sizes.items() if name.startswith("search/")),
        sum(map(len, cites.values())),
        sum(map(len, collected.cites.values())),
    )


def _own_categories(
    file: Path, vectors: Vectors, titles: Sequence[Collection[str]], groups: int | None, crawl: CrawlFolder
) -> list[sorting.PortalCategory]:
    """Those of the portal's file; proposed and written if there is none, or if others are asked for."""
    check_file(file)
    if file.exists() and groups is None:
        return sorting.read_proposed(file)
    found = sorting.proposed(vectors, titles, groups, crawl.request.topic.keywords)
    if file.exists():
        move_aside(file, "old")
    if found:
        sorting.write_categories(file, found)
    return found


def _merged(numbers: list[int], collected: Collected) -> dict[int, list[int]]:
    """Whom each page cites: by its reference list first, then by links."""
    return {
        number: list(dict.fromkeys([*collected.cites.get(number, ()), *collected.links.get(number, ())]))
        for number in numbers
    }


def _turned(cites: dict[int, list[int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number, cited in cites.items():
        for one in cited:
            found.setdefault(one, []).append(number)
    return found


class _Written:
    """Writes files of a portal that are new or different, and removes those that it has no more."""

    def __init__(self, path: Path, progress: Callable[[str], None]) -> None:
        self.path, self._progress = path, progress
        self.sizes: dict[str, int] = {}
        self.written = 0

    def write(self, files: Iterable[tuple[str, bytes]]) -> None:
        for folder in ("assets", "c", "p", "search"):
            make_folder(self.path / folder)
        for name, content in files:
            file = self.path / name
            self.sizes[name] = len(content)
            self._progress(f"{len(self.sizes):,} files made")
            if file.is_symlink() or not file.is_file() or file.read_bytes() != content:
                write_bytes(file, content)
                self.written += 1

    def remove_old(self, names: Any) -> int:
        """Remove files of the last run that this one did not make; never anything that a portal does not write."""
        listed = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
        removed = 0
        for name in sorted(listed - self.sizes.keys()):
            if _OURS.fullmatch(name) and (self.path / name).is_file():
                (self.path / name).unlink()
                removed += 1
        return removed
