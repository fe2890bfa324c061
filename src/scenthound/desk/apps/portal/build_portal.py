"""Build or update a portal from a crawl folder; only files that have changed are written.

The changed files are written in `.portal/new/`. Only when all of them are complete, they are moved to their places. So
a build that is killed leaves the published files as they were, or, while they are moved, a mixture of complete old and
new files, which the next build completes; nothing half-written is ever among them. `.portal/` also holds a cache of
the data extracted from the pages, so that the next run reads only new pages, and a list of the portal's files; it need
not be published.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from scenthound.desk.apps.portal import categories as categorising
from scenthound.desk.apps.portal.collect import CACHE_FILE, CollectedPages, collect, write_cache
from scenthound.desk.apps.portal.naming import title_terms
from scenthound.desk.apps.portal.page_vectors import Vectors, make_vectors, most_similar, term_counts
from scenthound.desk.apps.portal.portal_html import Site, site_files
from scenthound.desk.apps.portal.search_files import search_files
from scenthound.errors import BadConfig
from scenthound.files import (
    check_file,
    make_folder,
    move_aside,
    refuse_link,
    remove_unfinished,
    replace,
    write_bytes,
    write_text,
)
from scenthound.loop.folder import CrawlFolder
from scenthound.search.portal_categories import FILES, PORTAL, STATE, PortalState, portal_state
from scenthound.store.lock import lock
from scenthound.url import host

NEW = "new"  # the folder in `.portal/` for files that are not published yet
FOLDERS = ("assets", "c", "p", "search")
_OURS = re.compile(r"(?:assets|c|p|search)/[a-z0-9_.-]+|index\.html|search\.html")


@dataclass(frozen=True, slots=True)
class Portal:
    """Summary of a build."""

    path: Path
    pages: int
    new: int
    left_out: int
    categories: list[tuple[str, int]]
    """Name and number of pages of each category."""
    written: int
    removed: int
    files: int
    bytes: int
    """Size of all files."""
    search_bytes: int
    """Size of the search index."""
    cites: int
    """Number of (citing page, cited page) pairs."""
    references: int
    """Number of those pairs that were found in reference lists."""

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
    progress: Callable[[str], None] = lambda message: None,
) -> Portal:
    """Build the portal of a crawl, or update it. `out` is `FOLDER/portal` by default.

    If `clusters` is set, that many new categories are proposed, and the old categories file is renamed. Raises
    `BadConfig` if the folder is not a crawl or has no pages, and for invalid categories.
    """
    path = out or folder / PORTAL
    with CrawlFolder.look(folder) as crawl:
        _check_output(path, _identity(crawl))
        if not len(crawl.history):
            raise BadConfig(f"the crawl in {folder} has no pages yet", "let it fetch some first")
        make_folder(path)
        make_folder(path / STATE)
        folder_lock = lock(path / STATE)
        try:
            _remove_leftovers(path)
            collected = collect(
                crawl, path / STATE / CACHE_FILE, relevant_only, lambda n: progress(f"{n:,} new pages read")
            )
            if not collected.entries:
                raise BadConfig(f"no page of the crawl in {folder} can be shown", _why_none(relevant_only))
            return _write(path, crawl, collected, taxonomy, clusters, progress)
        finally:
            folder_lock.release()


def _remove_leftovers(path: Path) -> None:
    """Remove what a killed build has left."""
    shutil.rmtree(path / STATE / NEW, ignore_errors=True)
    for folder in (path, path / STATE, *(path / name for name in FOLDERS)):
        if not folder.is_symlink():
            remove_unfinished(folder)


def _why_none(relevant_only: bool) -> str:
    return "leave out --relevant-only" if relevant_only else "none of its pages are stored"


def _identity(crawl: CrawlFolder) -> dict[str, Any]:
    return {"topic": crawl.request.topic.keywords, "started": crawl.request.started}


def _check_output(path: Path, identity: dict[str, Any]) -> None:
    """Raise `BadConfig` if the folder contains anything other than a portal of this crawl."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if not (path / STATE).is_dir():
        raise BadConfig(f"{path} exists and is not a portal", "choose a new folder with --out")
    before = portal_state(path).crawl
    if before not in (None, identity):
        raise BadConfig(
            f"{path} is the portal of another crawl, on “{str(before)[:80]}”", "choose another folder with --out"
        )


def _write(
    path: Path,
    crawl: CrawlFolder,
    collected: CollectedPages,
    taxonomy: Path | None,
    clusters: int | None,
    progress: Callable[[str], None],
) -> Portal:
    entries = collected.entries
    progress(f"comparing {len(entries):,} pages")
    counts = [term_counts(entry.title, entry.text) for entry in entries]
    vectors = make_vectors(counts)
    if taxonomy is not None:
        sorted_pages = categorising.sort_by_taxonomy(taxonomy, entries)
    else:
        titles = title_terms([(host(entry.url), entry.title) for entry in entries])
        sorted_pages = categorising.sort_by_words(
            _own_categories(path / categorising.FILE, vectors, titles, clusters, crawl), vectors
        )
    numbers = [entry.n for entry in entries]
    cites = _merged(numbers, collected)
    site = Site(
        crawl.request.topic.name or crawl.request.topic.keywords,
        sorted_pages.categories,
        {entry.n: entry for entry in entries},
        dict(zip(numbers, sorted_pages.category_ids, strict=True)),
        cites,
        _inverted(cites),
        {number: frozenset(cited) for number, cited in collected.cites.items()},
        {
            number: [numbers[index] for index in similar]
            for number, similar in zip(numbers, most_similar(vectors.rows), strict=True)
        },
    )
    names = {category.id: category.name for category in sorted_pages.categories}
    category_names = [names[category] for category in sorted_pages.category_ids]
    files = chain(site_files(site), search_files(entries, counts, category_names))
    output = _PortalWriter(path, progress)
    output.write(files)
    removed = output.remove_old(portal_state(path).files)
    write_cache(path / STATE / CACHE_FILE, entries)
    pages_by_category: dict[str, list[int]] = {}
    for number, name in zip(numbers, category_names, strict=True):
        pages_by_category.setdefault(name, []).append(number)
    state = PortalState(_identity(crawl), sorted(output.sizes), pages_by_category)
    write_text(path / STATE / FILES, json.dumps(asdict(state)))
    sizes = Counter(sorted_pages.category_ids)
    return Portal(
        path,
        len(entries),
        collected.new,
        collected.left_out,
        [(category.name, sizes[category.id]) for category in sorted_pages.categories],
        output.written,
        removed,
        len(output.sizes),
        sum(output.sizes.values()),
        sum(size for name, size in output.sizes.items() if name.startswith("search/")),
        sum(map(len, cites.values())),
        sum(map(len, collected.cites.values())),
    )


def _own_categories(
    file: Path, vectors: Vectors, titles: Sequence[Collection[str]], clusters: int | None, crawl: CrawlFolder
) -> list[categorising.PortalCategory]:
    """Read the categories file; propose and write categories if there is none, or if `clusters` is set."""
    check_file(file)
    if file.exists() and clusters is None:
        return categorising.read_categories(file)
    proposals = categorising.propose_categories(vectors, titles, clusters, crawl.request.topic.keywords)
    if file.exists():
        move_aside(file, "old")
    if proposals:
        categorising.write_categories(file, proposals)
    return proposals


def _merged(numbers: list[int], collected: CollectedPages) -> dict[int, list[int]]:
    """The pages that each page cites: those in its reference list first, then those it links to."""
    return {
        number: list(dict.fromkeys([*collected.cites.get(number, ()), *collected.links.get(number, ())]))
        for number in numbers
    }


def _inverted(cites: dict[int, list[int]]) -> dict[int, list[int]]:
    cited_by: dict[int, list[int]] = {}
    for number, targets in cites.items():
        for target in targets:
            cited_by.setdefault(target, []).append(number)
    return cited_by


class _PortalWriter:
    """Writes the files of a portal that are new or different, and removes files that are no longer part of it."""

    def __init__(self, path: Path, progress: Callable[[str], None]) -> None:
        self.path, self._progress = path, progress
        self.sizes: dict[str, int] = {}
        self.written = 0

    def write(self, files: Iterable[tuple[str, bytes]]) -> None:
        new = self.path / STATE / NEW
        for folder in FOLDERS:
            make_folder(new / folder)
        changed = []
        for name, content in files:
            file = self.path / name
            self.sizes[name] = len(content)
            self._progress(f"{len(self.sizes):,} files written")
            if file.is_symlink() or not file.is_file() or file.read_bytes() != content:
                refuse_link(file)
                write_bytes(new / name, content)
                changed.append(name)
        for folder in FOLDERS:
            make_folder(self.path / folder)
        for name in changed:
            replace(new / name, self.path / name)
        shutil.rmtree(new)
        self.written = len(changed)

    def remove_old(self, names: Iterable[str]) -> int:
        """Remove files of the last run that are not part of this one; other files are never removed."""
        removed = 0
        for name in sorted(set(names) - self.sizes.keys()):
            if _OURS.fullmatch(name) and (self.path / name).is_file():
                (self.path / name).unlink()
                removed += 1
        return removed
