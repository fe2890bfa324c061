"""Write stored copies of a crawl's best pages as files beside its report, and make a snippet of each.

A copy is the text of the page and its links, in our own markup: no code from the page is ever run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from scenthound.errors import OurFault
from scenthound.files import make_folder, write_text
from scenthound.formats import printable
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.folder_files import COPIES, refuse_links
from scenthound.loop.stored_page import StoredPage
from scenthound.model import Step
from scenthound.templates import Markup, environment

LONGEST_COPY = 60_000  # characters of text in a copy
PARAGRAPH = 700  # longest paragraph in characters; longer lines are split
BEFORE, AROUND = 50, 200  # characters of a snippet before its first keyword, and in total


class Copy(NamedTuple):
    """A readable copy of a stored page: its file, relative to the report, and a snippet as HTML."""

    file: str
    snippet: Markup


def write_copies(folder: CrawlFolder, steps: Iterable[Step]) -> dict[int, Copy]:
    """Replace earlier copies with copies of these pages, except those not stored. Returns them by page number."""
    copies_folder, steps = folder.path / COPIES, list(steps)
    refuse_links(folder.path)
    if steps:
        make_folder(copies_folder)
    for old in copies_folder.glob("page-*.html"):
        old.unlink()
    keywords = folder.request.topic.keywords
    copies = {}
    for step in steps:
        page = folder.stored(step)
        try:
            if page.where is not None:
                name = f"page-{step.n:06d}.html"
                write_text(copies_folder / name, render_copy(page), durable=False)  # `report` can write them again
                copies[step.n] = Copy(f"{COPIES}/{name}", snippet(_without_title(page), keywords))
        except OurFault:  # the stored record can't be read
            continue
    return copies


def render_copy(page: StoredPage) -> str:
    """The copy of a page as one HTML document."""
    paragraphs = _paragraphs(page.text[:LONGEST_COPY])
    return (
        environment("scenthound.report")
        .get_template("copy.html")
        .render(page=page, paragraphs=paragraphs, longest=PARAGRAPH * 2)
    )


def _without_title(page: StoredPage) -> str:
    """The text without the title at its beginning, which is shown separately."""
    return page.text.removeprefix(page.title).lstrip()


def _paragraphs(page_text: str) -> list[str]:
    """The text split at line breaks, and long lines at the end of a sentence."""
    pieces = []
    for line in filter(str.strip, page_text.splitlines()):
        while len(line) > PARAGRAPH:
            end = line.rfind(". ", 0, PARAGRAPH) + 1 or line.rfind(" ", 0, PARAGRAPH) + 1 or PARAGRAPH
            pieces.append(line[:end])
            line = line[end:]
        pieces.append(line)
    return pieces


def snippet(page_text: str, keywords: str) -> Markup:
    """A piece of the text around the first keyword, as HTML with the keywords marked.

    >>> str(snippet("Fly in a <big> balloon today.", "hot air balloons"))
    'Fly in a &lt;big&gt; <mark>balloon</mark> today.'
    """
    words = sorted({re.escape(word[:-1] if word.endswith("s") else word) for word in keywords.split() if len(word) > 2})
    pattern = re.compile(rf"\b({'|'.join(words)})", re.IGNORECASE) if words else None
    flat = " ".join(page_text[:LONGEST_COPY].split())
    first = pattern.search(flat) if pattern else None
    start = max(0, first.start() - BEFORE) if first else 0
    start = flat.find(" ", start) + 1 if start else 0
    piece = printable(flat[start : start + AROUND], AROUND)
    parts = pattern.split(piece) if pattern else [piece]  # every second part is a keyword
    marked = Markup().join(Markup("<mark>{}</mark>").format(part) if n % 2 else part for n, part in enumerate(parts))
    if not piece.isascii():
        marked = Markup("<bdi>{}</bdi>").format(marked)
    return ("… " if start else "") + marked + (" …" if start + AROUND < len(flat) else "")
