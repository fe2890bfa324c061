"""Read the lines of a PDF file, with position and type size. The only module that uses pypdf."""

from __future__ import annotations

import io
import logging
import math
import time
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pypdf import PageObject, PdfReader

MOST_PAGES = 200
MOST_CHARACTERS = 2_000_000
MOST_LINKS = 500
LONGEST_LINK = 2_000
RAISED = 0.8  # a raised mark smaller than this share of its line's type size is left out


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, with the position of its beginning in points."""

    page: int
    x: float
    y: float
    """From the bottom of the page."""
    size: float
    text: str


@dataclass(frozen=True, slots=True)
class PdfText:
    """The lines, links and metadata of a file."""

    title: str
    """From the metadata, which may be wrong."""
    author: str
    lines: list[Line]
    links: list[str]


def read_lines(content: bytes, seconds: float) -> PdfText:
    """The text of a PDF file, within limits of pages and characters; no page is begun after `seconds` of CPU time.

    Raises whatever pypdf raises for a file that it can't read.
    """
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    until = time.process_time() + seconds
    reader = PdfReader(io.BytesIO(content))
    metadata: Mapping[str, Any] = reader.metadata or {}
    lines: list[Line] = []
    links: dict[str, None] = {}
    characters = 0
    for page_number, page in enumerate(reader.pages):
        if page_number >= MOST_PAGES or characters > MOST_CHARACTERS or time.process_time() > until:
            break
        page_lines = _page_lines(page_number, page)
        characters += sum(len(line.text) for line in page_lines)
        lines += page_lines
        links |= dict.fromkeys(_links(page))
    return PdfText(
        _clean(str(metadata.get("/Title") or "")),
        _clean(str(metadata.get("/Author") or "")),
        lines,
        list(links)[:MOST_LINKS],
    )


@dataclass(slots=True)
class _OpenLine:
    """A line that may get more text."""

    x: float
    y: float
    size: float
    """The type size of its longest piece."""
    end: float
    """Where its last piece begins."""
    longest: int
    parts: list[str] = field(default_factory=list)


def _page_lines(page_number: int, page: PageObject) -> list[Line]:
    lines: list[_OpenLine] = []

    def visit(text: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        if not text.strip():
            if lines and text:
                lines[-1].parts.append(" ")
            return
        x, y = tm[4] * cm[0] + tm[5] * cm[2] + cm[4], tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        across, up = tm[0] * cm[0] + tm[1] * cm[2], tm[0] * cm[1] + tm[1] * cm[3]
        if abs(up) > abs(across):
            return  # written upwards: labels of a figure, stamps in the margin
        height = abs(size) * math.hypot(across, up)
        line = lines[-1] if lines else None
        if line is None or abs(y - line.y) > 0.6 * max(line.size, height) or x < line.end - 1:
            lines.append(_OpenLine(x, y, height, x, len(text), [text]))
        elif height < RAISED * line.size and y > line.y + 0.1 * line.size and len(text.strip()) <= 3:
            line.parts.append(" ")  # the mark of a footnote or an affiliation
        else:
            line.parts.append(text)
            line.end = x
            if len(text) > line.longest:
                line.size, line.longest = height, len(text)

    page.extract_text(visitor_text=visit)
    cleaned = ((line, _clean("".join(line.parts))) for line in lines)
    return [Line(page_number, line.x, line.y, line.size, text) for line, text in cleaned if text]


def _clean(text: str) -> str:
    """Text with ligatures as letters, and control characters as spaces."""
    flat = unicodedata.normalize("NFKC", text.replace("\xad", ""))
    return " ".join("".join(c if c.isprintable() else " " for c in flat).split())


def _links(page: PageObject) -> Iterator[str]:
    """The web addresses of a page's links."""
    try:
        for annotation in list(page.get("/Annots") or ())[:MOST_LINKS]:
            address = annotation.get_object().get("/A", {}).get("/URI")
            if isinstance(address, str) and address.startswith(("http://", "https://")) and len(address) < LONGEST_LINK:
                yield address
    except Exception:  # a broken list of links is no reason to lose the text
        return
