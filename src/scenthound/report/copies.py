"""Write stored copies of a crawl's best pages as files beside its report, and make a snippet of each.

A copy is the text of the page and its links, in our own markup: no code from the page is ever run.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import NamedTuple

from scenthound.errors import OurFault
from scenthound.files import make_folder, write_text
from scenthound.formats import printable
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.folder_files import COPIES, refuse_links
from scenthound.loop.stored_page import StoredPage
from scenthound.model import Step
from scenthound.report.report_layout import document, section
from scenthound.report.web_text import link, text

LONGEST_COPY = 60_000  # characters of text in a copy
PARAGRAPH = 700  # longest paragraph in characters; longer lines are split
LINKS = 200
BEFORE, AROUND = 50, 200  # characters of a snippet before its first keyword, and in total


class Copy(NamedTuple):
    """A readable copy of a stored page: its file, relative to the report, and a snippet as HTML."""

    file: str
    snippet: str


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
    style = resources.files("scenthound.report").joinpath("crawl_report.css").read_text(encoding="utf-8")
    title = text(page.title, 300) or "(no title)"
    relevance = f"relevance {page.relevance:.3f}"
    links = "".join(f"<li>{link(target.url, target.anchor or target.url)}</li>" for target in page.links[:LINKS])
    more = f"<li>and {len(page.links) - LINKS:,} more</li>" if len(page.links) > LINKS else ""
    head = (
        f'<header><p class="kicker">Stored copy, text only</p><h1>{title}</h1>'
        f'<p class="lead">{link(page.url)}<br>fetched {page.time:%-d %B %Y, %H:%M} UTC, page {page.n:,} of the crawl, '
        f'{relevance}</p><p class="note"><a href="../report.html">Back to the report</a></p></header>'
    )
    body = "".join(f"<p>{text(part, PARAGRAPH * 2)}</p>" for part in _paragraphs(page.text[:LONGEST_COPY]))
    parts = [head, section("Text", "", f'<div class="copy">{body}</div>')]
    parts += [section("Links", "", f'<ul class="seeds">{links}{more}</ul>')] if links else []
    return document(f"{title} · stored copy", style, parts)


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


def snippet(page_text: str, keywords: str) -> str:
    """A piece of the text around the first keyword, as HTML with the keywords marked.

    >>> snippet("Fly in a <big> balloon today.", "hot air balloons")
    'Fly in a &lt;big&gt; <mark>balloon</mark> today.'
    """
    words = sorted({re.escape(word[:-1] if word.endswith("s") else word) for word in keywords.split() if len(word) > 2})
    pattern = re.compile(rf"\b(?:{'|'.join(words)})", re.IGNORECASE) if words else None
    flat = " ".join(page_text[:LONGEST_COPY].split())
    first = pattern.search(flat) if pattern else None
    start = max(0, first.start() - BEFORE) if first else 0
    start = flat.find(" ", start) + 1 if start else 0
    piece = printable(flat[start : start + AROUND], AROUND)
    marked = _marked(piece, pattern)
    return ("… " if start else "") + marked + (" …" if start + AROUND < len(flat) else "")


def _marked(piece: str, pattern: re.Pattern[str] | None) -> str:
    """A printable text as HTML, with the matches of the pattern marked."""
    parts, end = [], 0
    for match in pattern.finditer(piece) if pattern else ():
        parts += [html.escape(piece[end : match.start()]), f"<mark>{html.escape(match[0])}</mark>"]
        end = match.end()
    marked = "".join([*parts, html.escape(piece[end:])])
    return marked if piece.isascii() else f"<bdi>{marked}</bdi>"


def copy_link(copies: Mapping[int, Copy], step: Step) -> str:
    """A link to the stored copy of a page; empty if there is none."""
    copy = copies.get(step.n)
    return f'<a class="stored" href="{copy.file}">stored copy</a>' if copy else ""
