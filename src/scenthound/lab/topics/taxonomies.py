"""Reads categories with example pages: from an ODP dump, a bed's topics, or a folder of folders.

The pages of a dump are its editors' titles and descriptions; those of a bed are the examples or seeds of its
topics; those of a folder are its text and HTML files, where every subfolder is a category. Symbolic links are not
followed.
"""

from __future__ import annotations

import hashlib
import html
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

from scenthound.errors import PATH_ERRORS, BadConfig, NotAUrl, ScenthoundError, UnknownName, from_os_error
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.cache import digest_of
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.importers.html import SUFFIXES
from scenthound.lab.importers.odp_dump import Listing, Problems, records
from scenthound.lab.run.topic_lessons import category_name, page_at, topic_path
from scenthound.lab.topics.example_file import NOWHERE, text_page
from scenthound.model import Candidate, Url
from scenthound.page.page import Page
from scenthound.page.read import read_html
from scenthound.url import make
from scenthound.web.content_type import is_html, to_text

DEPTH = 2  # levels of a dump's tree that become categories; deeper pages belong to the category above them
MAX_DEPTH = 20
MAX_CATEGORIES = 5_000
MAX_PAGES = 200  # of one category
MAX_FILES = 50_000
MAX_PAGE_BYTES = 1_000_000
TEXTS = (".txt", ".text", ".md", ".rst")
PAGES = tuple(SUFFIXES)
_HINT = "give an ODP dump (content.rdf.u8 or .xml), a bed with topics, or a folder with a subfolder for each category"


@dataclass(frozen=True, slots=True)
class Categories:
    """A taxonomy: categories by path, with the pages of each."""

    kind: str
    """`odp`, `bed` or `folders`."""
    name: str
    digest: str
    pages: Mapping[tuple[str, ...], Sequence[Page]]

    @property
    def names(self) -> list[str]:
        """The names of all categories, including inner ones."""
        return list(dict.fromkeys(category_name(path[:end]) for path in self.pages for end in range(1, len(path) + 1)))


def read_categories(path: str | Path, depth: int | None = None) -> Categories:
    """The categories of a source, down to `depth`. Raises `BadConfig` if fewer than two of them have pages."""
    source = Path(path)
    if not source.exists():
        raise BadConfig(f"there is no taxonomy at {source}", _HINT)
    if depth is not None and depth < 1:
        raise BadConfig(f"a taxonomy can't be {depth} levels deep", "give 1 or more")
    if source.is_dir() and (source / "bed.toml").is_file():
        categories = _from_bed(source, depth or MAX_DEPTH)
    elif source.is_dir():
        categories = _from_folder(source, depth or MAX_DEPTH)
    else:
        categories = _from_dump(source, depth or DEPTH)
    filled = {labels: pages for labels, pages in categories.pages.items() if pages}
    if len(filled) < 2:
        raise BadConfig(f"the taxonomy {source} has {len(filled)} categories with pages in them", _HINT)
    return replace(categories, pages=filled)


def path_named(name: str) -> tuple[str, ...]:
    """The path of a category from its name.

    >>> path_named("sea life / reefs")
    ('sea life', 'reefs')
    """
    return tuple(label.strip() for label in name.split("/") if label.strip()) or ("unnamed",)


def check_good(good: Sequence[str], names: Collection[str]) -> list[str]:
    """The names of the good categories. Raises `UnknownName` for an unknown name, `BadConfig` for nested categories."""
    categories = list(dict.fromkeys(category_name(path_named(name)) for name in good))
    for name in categories:
        if name not in names:
            raise UnknownName.among("category", name, names, "`scenthound topic new` lists the categories")
        lower = next((other for other in categories if other.startswith(f"{name}/")), None)
        if lower is not None:
            raise BadConfig(
                f"the good category `{name}` is above the good category `{lower}`", "mark one of the two as good"
            )
    return categories


# ---- a bed's topics


def _from_bed(folder: Path, depth: int) -> Categories:
    bed = Bed.open(folder)
    prepared = prepare(bed, jobs=1)  # without processes: a script may lack a main guard
    by_path: dict[tuple[str, ...], dict[Url, Page]] = {}
    for topic in bed.topics:
        kept = by_path.setdefault(topic_path(topic)[:depth], {})
        for url in topic.examples or topic.seeds:
            if len(kept) < MAX_PAGES and (page := page_at(prepared, url)) is not None:
                kept[page.url] = page
    return Categories("bed", bed.name, digest_of(bed), {path: list(pages.values()) for path, pages in by_path.items()})


# ---- a dump


def _from_dump(file: Path, depth: int) -> Categories:
    listings = (record for record in records(file, Problems()) if isinstance(record, Listing))
    pages = ((_labels(record.category)[:depth], partial(_listing_page, record)) for record in listings)
    try:
        by_path, digest = _pages_by_path(pages, lambda page: f"{page.url}\n{page.text}")
    except OSError as error:
        bad_path = BadConfig(f"the taxonomy {file} can't be read: {error.strerror}", _HINT)
        raise from_os_error(error, file, bad_path) from None
    except ScenthoundError as error:
        raise BadConfig(f"the taxonomy {file} can't be read: {error.message}", _HINT) from None
    return Categories("odp", file.name, digest, by_path)


def _pages_by_path(
    pages: Iterable[tuple[tuple[str, ...], Callable[[], Page | None]]], text_of: Callable[[Page], str]
) -> tuple[dict[tuple[str, ...], list[Page]], str]:
    """The pages by category path, within the limits, and a digest of their texts."""
    by_path: dict[tuple[str, ...], list[Page]] = {}
    digest = hashlib.sha256()
    for path, make_page in pages:
        if not path or (path not in by_path and len(by_path) >= MAX_CATEGORIES):
            continue
        kept = by_path.setdefault(path, [])
        if len(kept) < MAX_PAGES and (page := make_page()) is not None:
            kept.append(page)
            digest.update(f"{category_name(path)}\n{text_of(page)}\n".encode("utf-8", "replace"))
    return by_path, digest.hexdigest()


def _labels(category: str) -> tuple[str, ...]:
    labels = [label.replace("_", " ").strip() for label in category.split("/") if label.strip()]
    return tuple(labels[1:] if labels[:1] == ["Top"] else labels)


def _listing_page(record: Listing) -> Page | None:
    try:
        return text_page(make(record.raw), record.title, record.description)
    except NotAUrl:
        return None


# ---- a folder of folders


def _from_folder(root: Path, depth: int) -> Categories:
    pages = ((labels[:depth], partial(page_on_disk, file, root)) for labels, file in category_files(root))
    by_path, digest = _pages_by_path(pages, lambda page: page.text)
    return Categories("folders", root.resolve().name, digest, by_path)


def category_files(root: Path) -> Iterator[tuple[tuple[str, ...], Path]]:
    """The files below a folder, each with the names of its subfolders, in a fixed order, without symbolic links."""
    pending: list[tuple[tuple[str, ...], Path]] = [((), root)]
    file_count = 0
    while pending:
        labels, folder = pending.pop()
        try:
            with os.scandir(folder) as scanned:
                entries = sorted(scanned, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            if folder == root:
                raise from_os_error(
                    error, root, BadConfig(f"the folder {root} can't be read: {error.strerror}", "check the path")
                ) from None
            continue
        subfolders = []
        for entry in entries:
            if entry.is_symlink() or entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if len(labels) < MAX_DEPTH:
                    subfolders.append(((*labels, os.fsencode(entry.name).decode("utf-8", "replace")), Path(entry.path)))
            elif file_count < MAX_FILES:
                file_count += 1
                yield labels, Path(entry.path)
        pending += reversed(subfolders)


def page_on_disk(file: Path, root: Path) -> Page | None:
    """A text or HTML file as a page; None for anything else."""
    suffix = file.suffix.lower()
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            body = opened.read(MAX_PAGE_BYTES)
    except OSError as error:
        if error.errno not in PATH_ERRORS:
            raise
        return None
    name = quote(os.fsencode(file.relative_to(root) if file.is_relative_to(root) else file.name))
    try:
        url = make(NOWHERE + name, longest=4000)
    except NotAUrl:
        return None
    if suffix in PAGES or (suffix not in TEXTS and is_html(None, body[:1024])):
        text = to_text(body)
    elif suffix in TEXTS:
        title, _, rest = body.decode("utf-8", "replace").strip().partition("\n")
        text = f"<title>{html.escape(title[:200])}</title><p>{html.escape(title[200:] + rest)}</p>"
    else:
        return None
    return Page(url, Candidate(url, 0.0), read_html(text, url), size=len(body))
