"""The lines of a PDF file, each with its place on the page and its type size. The only file that knows pypdf."""

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
RAISED = 0.8  # of the type size of its line: a mark is smaller than this and is left out


@dataclass(frozen=True, slots=True)
class Line:
    page: int
    x: float
    y: float
    """From the bottom of the page, in points."""
    size: float
    text: str


@dataclass(frozen=True, slots=True)
class PdfText:
    """What was read of a file."""

    title: str
    """As the file states it, which may be anything."""
    author: str
    lines: list[Line]
    links: list[str]


def read_lines(content: bytes, seconds: float) -> PdfText:
    """The text of a PDF file: at most so many pages and characters, and no page after so many seconds of CPU time.

    Raises whatever pypdf raises for a file that it can't read.
    """
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    until = time.process_time() + seconds
    reader = PdfReader(io.BytesIO(content))
    stated: Mapping[str, Any] = reader.metadata or {}
    lines: list[Line] = []
    links: dict[str, None] = {}
    characters = 0
    for number, page in enumerate(reader.pages):
        if number >= MOST_PAGES or characters > MOST_CHARACTERS or time.process_time() > until:
            break
        found = _page_lines(number, page)
        characters += sum(len(line.text) for line in found)
        lines += found
        links |= dict.fromkeys(_links(page))
    return PdfText(
        _clean(str(stated.get("/Title") or "")),
        _clean(str(stated.get("/Author") or "")),
        lines,
        list(links)[:MOST_LINKS],
    )


@dataclass(slots=True)
class _Open:
    """A line that may get more text."""

    x: float
    y: float
    size: float
    """That of its longest piece."""
    end: float
    """Where its last piece begins."""
    longest: int
    parts: list[str] = field(default_factory=list)


def _page_lines(number: int, page: PageObject) -> list[Line]:
    found: list[_Open] = []

    def visit(text: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        if not text.strip():
            if found and text:
                found[-1].parts.append(" ")
            return
        x, y = tm[4] * cm[0] + tm[5] * cm[2] + cm[4], tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        across, up = tm[0] * cm[0] + tm[1] * cm[2], tm[0] * cm[1] + tm[1] * cm[3]
        if abs(up) > abs(across):
            return  # written upwards: labels of a figure, stamps in the margin
        height = abs(size) * math.hypot(across, up)
        line = found[-1] if found else None
        if line is None or abs(y - line.y) > 0.6 * max(line.size, height) or x < line.end - 1:
            found.append(_Open(x, y, height, x, len(text), [text]))
        elif height < RAISED * line.size and y > line.y + 0.1 * line.size and len(text.strip()) <= 3:
            line.parts.append(" ")  # the mark of a footnote or an affiliation
        else:
            line.parts.append(text)
            line.end = x
            if len(text) > line.longest:
                line.size, line.longest = height, len(text)

    page.extract_text(visitor_text=visit)
    cleaned = ((line, _clean("".join(line.parts))) for line in found)
    return [Line(number, line.x, line.y, line.size, text) for line, text in cleaned if text]


def _clean(text: str) -> str:
    """Ligatures as letters, control characters as blanks."""
    flat = unicodedata.normalize("NFKC", text.replace("\xad", ""))
    return " ".join("".join(c if c.isprintable() else " " for c in flat).split())


def _links(page: PageObject) -> Iterator[str]:
    """The web addresses that a page links to."""
    try:
        for annotation in list(page.get("/Annots") or ())[:MOST_LINKS]:
            address = annotation.get_object().get("/A", {}).get("/URI")
            if isinstance(address, str) and address.startswith(("http://", "https://")) and len(address) < LONGEST_LINK:
                yield address
    except Exception:  # a broken list of links is no reason to lose the text
        return
