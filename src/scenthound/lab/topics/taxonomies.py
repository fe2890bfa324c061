"""Categories with example pages, from what people have: an ODP dump, a bed's topics, or a folder of folders.

Of a dump the titles and descriptions that editors wrote stand for the pages; of a bed, the seeds of its topics; of a
folder, its text and HTML files, and every folder in it is a category. Symbolic links are not followed, so a loop of
them is no loop here.
"""

from __future__ import annotations

import hashlib
import html
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from scenthound.errors import BadConfig, NotAUrl, ScenthoundError, UnknownName
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.cache import digest_of
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.importers.odp_dump import Listing, Problems, records
from scenthound.lab.run.topic_lessons import category_name, topic_path
from scenthound.lab.topics.example_file import NOWHERE
from scenthound.model import Candidate, Url
from scenthound.page.page import Page
from scenthound.page.read import read_html
from scenthound.url import make
from scenthound.web.charset import to_text
from scenthound.web.mime import is_html

DEPTH = 2  # levels of a dump's tree that become categories; what lies deeper counts for the category above it
DEEPEST = 20
MOST_CATEGORIES = 5_000
MOST_PAGES = 200  # of one category
MOST_FILES = 50_000
LARGEST_PAGE = 1_000_000  # bytes
TEXTS = (".txt", ".text", ".md", ".rst")
PAGES = (".html", ".htm", ".xhtml", ".xht", ".shtml")
_WAY_OUT = "name an ODP dump (content.rdf.u8 or .xml), a bed with topics, or a folder with a folder for each category"


@dataclass(frozen=True, slots=True)
class Categories:
    """Categories by path, with the pages that lie in each."""

    kind: str
    """`odp`, `bed` or `folders`."""
    name: str
    digest: str
    placed: Mapping[tuple[str, ...], Sequence[Page]]

    @property
    def names(self) -> list[str]:
        """Every category, inner ones included."""
        return list(dict.fromkeys(category_name(path[:end]) for path in self.placed for end in range(1, len(path) + 1)))


def read_categories(path: str | Path, depth: int | None = None) -> Categories:
    """The categories of a source. `depth` cuts the tree; raises `BadConfig` where there is nothing to tell apart."""
    place = Path(path)
    if not place.exists():
        raise BadConfig(f"there is no taxonomy at {place}", _WAY_OUT)
    if depth is not None and depth < 1:
        raise BadConfig(f"a taxonomy can't be {depth} levels deep", "give 1 or more")
    if place.is_dir() and (place / "bed.toml").is_file():
        found = _of_bed(place, depth or DEEPEST)
    elif place.is_dir():
        found = _of_folder(place, depth or DEEPEST)
    else:
        found = _of_dump(place, depth or DEPTH)
    filled = {where: pages for where, pages in found.placed.items() if pages}
    if len(filled) < 2:
        raise BadConfig(f"the taxonomy {place} has {len(filled)} categories with pages in them", _WAY_OUT)
    return Categories(found.kind, found.name, found.digest, filled)


def path_named(name: str) -> tuple[str, ...]:
    """The path of a category from its name.

    >>> path_named("sea life / reefs")
    ('sea life', 'reefs')
    """
    return tuple(label.strip() for label in name.split("/") if label.strip()) or ("unnamed",)


def check_good(good: Sequence[str], names: Collection[str]) -> list[str]:
    """The good categories, if each is there and none lies above another."""
    found = list(dict.fromkeys(category_name(path_named(one)) for one in good))
    for one in found:
        if one not in names:
            raise UnknownName.among("category", one, names, "`scenthound topic new` shows the categories there are")
        below = next((other for other in found if other.startswith(f"{one}/")), None)
        if below is not None:
            raise BadConfig(
                f"the good category `{one}` lies above the good category `{below}`", "mark one of the two as good"
            )
    return found


# ---- a bed's topics


def _of_bed(folder: Path, depth: int) -> Categories:
    bed = Bed.open(folder)
    prepared = prepare(bed, jobs=1)  # mostly it is prepared already; and a script may be anybody's
    placed: dict[tuple[str, ...], dict[Url, Page]] = {}
    for topic in bed.topics:
        kept = placed.setdefault(topic_path(topic)[:depth], {})
        for url in topic.examples or topic.seeds:
            number = prepared.number(url)
            if number is not None and len(kept) < MOST_PAGES:
                page = prepared.fetch(Candidate(prepared.pages[number], 0.0))
                if isinstance(page, Page):
                    kept[page.url] = page
    return Categories("bed", bed.name, digest_of(bed), {path: list(pages.values()) for path, pages in placed.items()})


# ---- a dump


def _of_dump(file: Path, depth: int) -> Categories:
    placed: dict[tuple[str, ...], list[Page]] = {}
    problems, whole = Problems(), hashlib.sha256()
    try:
        for record in records(file, problems):
            if not isinstance(record, Listing):
                continue
            path = _labels(record.category)[:depth]
            if not path or (path not in placed and len(placed) >= MOST_CATEGORIES):
                continue
            pages = placed.setdefault(path, [])
            if len(pages) < MOST_PAGES and (page := _listed(record)) is not None:
                pages.append(page)
                whole.update(f"{category_name(path)}\n{page.url}\n{page.text}\n".encode("utf-8", "replace"))
    except OSError as error:
        raise BadConfig(f"the taxonomy {file} can't be read: {error.strerror}", _WAY_OUT) from None
    except ScenthoundError as error:
        raise BadConfig(f"the taxonomy {file} can't be read: {error.message}", _WAY_OUT) from None
    return Categories("odp", file.name, whole.hexdigest(), placed)


def _labels(category: str) -> tuple[str, ...]:
    labels = [label.replace("_", " ").strip() for label in category.split("/") if label.strip()]
    return tuple(labels[1:] if labels[:1] == ["Top"] else labels)


def _listed(record: Listing) -> Page | None:
    try:
        url = make(record.raw)
    except NotAUrl:
        return None
    written = f"<title>{html.escape(record.title)}</title><p>{html.escape(record.description)}</p>"
    return Page(url, Candidate(url, 0.0), read_html(written, url), size=len(written))


# ---- a folder of folders


def _of_folder(root: Path, depth: int) -> Categories:
    placed: dict[tuple[str, ...], list[Page]] = {}
    whole = hashlib.sha256()
    for labels, file in category_files(root):
        path = labels[:depth]
        if not path or (path not in placed and len(placed) >= MOST_CATEGORIES):
            continue
        pages = placed.setdefault(path, [])
        if len(pages) < MOST_PAGES and (page := page_on_disk(file, root)) is not None:
            pages.append(page)
            whole.update(f"{category_name(path)}\n{page.text}\n".encode("utf-8", "replace"))
    return Categories("folders", root.resolve().name, whole.hexdigest(), placed)


def category_files(root: Path) -> Iterator[tuple[tuple[str, ...], Path]]:
    """The files below a folder with the names of the folders they lie in, in a fixed order; links are left alone."""
    waiting: list[tuple[tuple[str, ...], Path]] = [((), root)]
    seen = 0
    while waiting:
        labels, folder = waiting.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            if folder == root:
                raise BadConfig(f"the folder {root} can't be read: {error.strerror}", "check the path") from None
            continue
        below = []
        for entry in entries:
            if entry.is_symlink() or entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if len(labels) < DEEPEST:
                    below.append(((*labels, os.fsencode(entry.name).decode("utf-8", "replace")), Path(entry.path)))
            elif seen < MOST_FILES:
                seen += 1
                yield labels, Path(entry.path)
        waiting += reversed(below)


def page_on_disk(file: Path, root: Path) -> Page | None:
    """A text or HTML file as a page; None for anything else."""
    suffix = file.suffix.lower()
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            body = opened.read(LARGEST_PAGE)
    except OSError:
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
