"""Collect the pages of a crawl for a portal, with the links and citations between them.

Extracted data is cached, so that only new pages are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from scenthound.desk.apps.portal.citations import Paper, Papers
from scenthound.desk.apps.portal.page_metadata import extract_metadata
from scenthound.errors import BadUsage, FolderBroken
from scenthound.files import replacing
from scenthound.formats import printable
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.stored_page import StoredPage
from scenthound.page.references import references
from scenthound.typed_data import from_json

FORMAT = 1
LONGEST_TEXT = 100_000  # characters of a page that are shown and searched
CACHE_FILE = "read.jsonl"


@dataclass(frozen=True, slots=True)
class PortalPage:
    """One page of the portal."""

    n: int
    """Page number in the crawl; also its file name."""
    url: str
    title: str
    text: str
    """Paragraphs, one per line."""
    authors: tuple[str, ...]
    date: str
    references: tuple[str, ...]
    relevance: float
    relevant: bool
    fetched: float


@dataclass(frozen=True, slots=True)
class CollectedPages:
    """The pages of a portal and how they cite each other."""

    entries: list[PortalPage]
    new: int
    """Number of pages that were read from the archive, not from the cache."""
    left_out: int
    """Number of pages left out because their authors forbid storing them or because the stored record is unreadable."""
    links: dict[int, list[int]]
    """Page number -> pages of the portal that it links to."""
    cites: dict[int, list[int]]
    """Page number -> papers of the portal that its reference list unambiguously cites."""


def collect(
    folder: CrawlFolder, cache: Path, relevant_only: bool, progress: Callable[[int], None] = lambda pages: None
) -> CollectedPages:
    """Collect the pages of a crawl, or only the relevant ones; pages read before come from the file `cache`."""
    cached = {entry.n: entry for entry in read_cache(cache)}
    entries, new, left_out = list[PortalPage](), 0, 0
    for page in folder.pages():
        if relevant_only and not page.is_relevant:
            continue
        entry = cached.get(page.n)
        if entry is None or entry.url != page.url or entry.fetched != page.step.time:
            entry = _read(page)
            new += entry is not None
            progress(new)
        if entry is None:
            left_out += 1
        else:
            entries.append(entry)
    papers = Papers({entry.n: Paper(entry.title, entry.authors, entry.date) for entry in entries})
    cites = {entry.n: [n for n in papers.cited_in(entry.references) if n != entry.n] for entry in entries}
    return CollectedPages(entries, new, left_out, _links(folder, entries), cites)


def _read(page: StoredPage) -> PortalPage | None:
    try:
        html = page.html if page.where is not None else ""
    except FolderBroken:
        return None
    if not html:
        return None
    metadata = extract_metadata(html)
    return PortalPage(
        page.n,
        page.url,
        metadata.title or printable(page.title, 300),
        _text(page)[:LONGEST_TEXT],
        metadata.authors,
        metadata.date,
        tuple(references(html)),
        round(min(max(page.relevance, 0.0), 1.0), 6),
        page.is_relevant,
        page.step.time,
    )


def _text(page: StoredPage) -> str:
    """The main text if the optional dependency `text` is installed and can extract it, otherwise all text."""
    try:
        text = page.main_text
    except BadUsage:
        text = ""
    lines = (printable(line) for line in (text or page.text).splitlines())
    return "\n".join(line for line in lines if line)


def _links(folder: CrawlFolder, entries: list[PortalPage]) -> dict[int, list[int]]:
    """The link graph between these pages; a link to a redirect counts as a link to its target."""
    numbers = {entry.url: entry.n for entry in entries}
    own_numbers = set(numbers.values())
    for step in folder.history.trail():
        if step.requested is not None and step.n in own_numbers:
            numbers.setdefault(step.requested, step.n)
    graph: dict[int, list[int]] = {}
    for source, targets in folder.database.links():
        source_number = numbers.get(source)
        if source_number is not None:
            target_numbers = dict.fromkeys(numbers.get(target) for target in targets)
            graph[source_number] = [
                number for number in target_numbers if number is not None and number != source_number
            ]
    return graph


def read_cache(file: Path) -> Iterator[PortalPage]:
    """Yield the cached pages; none if the file is missing, damaged or has another format version."""
    if not file.is_file() or file.is_symlink():
        return
    with file.open(encoding="utf-8") as lines:
        try:
            if json.loads(next(lines, "null")) != {"format": FORMAT}:
                return
            for line in lines:
                yield from_json(line, PortalPage)
        except (ValueError, RecursionError):
            return


def write_cache(file: Path, entries: list[PortalPage]) -> None:
    with replacing(file) as stream:
        stream.write(json.dumps({"format": FORMAT}).encode() + b"\n")
        for entry in entries:
            stream.write(json.dumps(asdict(entry)).encode() + b"\n")
