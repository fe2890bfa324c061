"""Read one PDF file as HTML. The child process that `page.pdf` starts: the file on its input, HTML on its output.

`read_lines` reads the lines with position and type size; it is the only function that uses pypdf. `read_paper` finds
title, authors, paragraphs and references of a paper in them, and `paper_html` writes these as HTML: authors in the meta
tags that publishers use, a reference list, links.

References begin at the left edge of their column and continue indented, or are numbered, or have extra space between
them; whichever of these applies to the list is used. An entry with neither a year nor an address is not a reference.
"""

from __future__ import annotations

import contextlib
import io
import logging
import math
import re
import resource
import sys
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby, pairwise
from statistics import median
from typing import Any

from pypdf import PageObject, PdfReader

from scenthound.page.references import is_reference, is_reference_heading

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


TOP = 0.6  # share of the first page's lines that may contain title and authors
MOST_AUTHORS = 30
MOST_LINES = 16  # lines below the title that may name authors
LONGEST_TITLE = 300
LONG_RUN = 8  # lines: in a column this long, a single line does not define the left edge
INDENTED = (3.0, 60.0)  # points: how far the further lines of a reference may be indented
_END = re.compile(r"(affiliations?\s*:|appendix\b|acknowledge?ments?\b|received\b.*\baccepted\b|e-?mail\s*:)", re.I)
_ABSTRACT = re.compile(r"\W*(abstract|summary|keywords|introduction|1\.? introduction)\b", re.I)
_NUMBERED = re.compile(r"\[?\(?\d{1,3}[\].)]\s")
_PARTICLE = r"(?:(?:van|von|de|der|den|del|della|di|da|du|la|le|ter|el|al)\s+)*"
_WORD = r"[^\W\d_a-z][\w.'’-]*"
_NAME = re.compile(rf"{_WORD}(?:\s+{_PARTICLE}{_WORD}){{1,3}}")
_NOT_A_NAME = re.compile(
    r"\b(universit|institut|department|school|college|inc\b|gmbh|project|laborator|research|cent(er|re)\b)", re.I
)
_BAD_TITLE = re.compile(r"(?i)(microsoft word|untitled|\.(dvi|tex|docx?|pdf|ps|indd)\b|^\W*$)")


@dataclass(frozen=True, slots=True)
class PdfPaper:
    """The parts of a paper that were found in its PDF file."""

    title: str
    authors: list[str]
    paragraphs: list[str]
    references: list[str]
    links: list[str]


def read_paper(pdf: PdfText) -> PdfPaper:
    """The parts of a paper, as far as its lines show them."""
    lines = _without_margins(pdf.lines)
    first = [line for line in pdf.lines if line.page == 0]
    title_lines = _title_lines(first)
    title = _title(pdf.title, title_lines, first)
    begin, end = _reference_section(lines)
    return PdfPaper(
        title,
        _authors(pdf.author, title_lines, first),
        [*_paragraphs(lines[: max(begin - 1, 0)] if begin else lines), *_paragraphs(lines[end:] if begin else [])],
        _entries(lines[begin:end]) if begin else [],
        pdf.links,
    )


# ---- title and authors


def _title_lines(first: Sequence[Line]) -> list[Line]:
    """The lines in the largest type near the top of the first page."""
    top = [line for line in first[: max(8, int(TOP * len(first)))] if len(line.text) > 3]
    if not top:
        return []
    largest = max(line.size for line in top)
    begin = next(index for index, line in enumerate(top) if line.size > 0.97 * largest)
    end = begin
    while end < len(top) and top[end].size > 0.97 * largest and end - begin < 5:
        end += 1
    return top[begin:end]


def _title(metadata_title: str, title_lines: Sequence[Line], first: Sequence[Line]) -> str:
    """The title in the metadata if the first page contains it, else the text in the largest type."""
    page = squashed(" ".join(line.text for line in first))
    if not _BAD_TITLE.search(metadata_title) and len(metadata_title.split()) > 1 and squashed(metadata_title) in page:
        return metadata_title[:LONGEST_TITLE]
    return joined(line.text for line in title_lines)[:LONGEST_TITLE] or metadata_title[:LONGEST_TITLE]


def _authors(metadata_author: str, title: Sequence[Line], first: Sequence[Line]) -> list[str]:
    page = squashed(" ".join(line.text for line in first))
    names = [name for name in _names(metadata_author) if squashed(name.split()[-1]) in page]
    if names or not title:
        return names
    below = first[first.index(title[-1]) + 1 :][:MOST_LINES]
    end = next((index for index, line in enumerate(below) if _ABSTRACT.match(line.text)), len(below))
    named = [(line.size, _names(line.text, whole=True)) for line in below[:end]]
    largest = max((size for size, line_names in named if line_names), default=0.0)  # affiliations are printed smaller
    authors = [name for size, line_names in named for name in line_names if size > 0.97 * largest]
    return list(dict.fromkeys(authors))[:MOST_AUTHORS]


def _names(text: str, whole: bool = False) -> list[str]:
    """The names of people in a line; with `whole`, none unless the line contains nothing else."""
    cleaned = re.sub(r"\[[^]]*\]\S*|[\d*†‡§¶∗]+|^\s*by\b", " ", text, flags=re.IGNORECASE)
    parts = [" ".join(part.split()) for part in re.split(r"[,;&]|\band\b", cleaned)]
    parts = [part for part in parts if part]
    names = [part for part in parts if _NAME.fullmatch(part) and not _NOT_A_NAME.search(part)]
    return [] if whole and len(names) < len(parts) else names[:MOST_AUTHORS]


# ---- text


def _without_margins(lines: Sequence[Line]) -> list[Line]:
    """The lines without running heads and page numbers: the first and last line of a page, if set apart."""
    kept: list[Line] = []
    for _, group in groupby(lines, key=lambda line: line.page):
        page = list(group)
        heights = sorted({round(line.y, 1) for line in page}, reverse=True)
        apart = set()
        if len(heights) > 3:
            apart |= {heights[0]} if heights[0] - heights[1] > 2.2 * page[0].size else set()
            apart |= {heights[-1]} if heights[-2] - heights[-1] > 2.2 * page[-1].size else set()
        kept += [line for line in page if round(line.y, 1) not in apart and not line.text.isdigit()]
    return kept


def _paragraphs(lines: Sequence[Line]) -> list[str]:
    paragraphs: list[list[str]] = []
    last: Line | None = None
    for line in lines:
        continues = (
            last is not None
            and abs(line.size - last.size) < 0.15 * last.size
            and (line.page != last.page or line.y > last.y or last.y - line.y < 1.5 * last.size)
        )
        if continues:
            paragraphs[-1].append(line.text)
        else:
            paragraphs.append([line.text])
        last = line
    return [joined(part) for part in paragraphs]


def joined(lines: Iterator[str] | Sequence[str]) -> str:
    """Lines as running text; a word that was hyphenated at the end of a line is joined.

    >>> joined(["a uni-", "fying view of M-", "Estimation"])
    'a unifying view of M-Estimation'
    """
    text = ""
    for line in lines:
        if text.endswith("-") and line[:1].isalpha():
            text = text[:-1] + line if line[:1].islower() else text + line
        else:
            text = f"{text} {line}" if text else line
    return text


def squashed(text: str) -> str:
    """Only letters and digits, in lower case."""
    return "".join(character for character in text.casefold() if character.isalnum())


# ---- references


def _reference_section(lines: Sequence[Line]) -> tuple[int, int]:
    """Where the lines of the last reference list begin and end; (0, 0) without one."""
    heads = [index for index, line in enumerate(lines) if is_reference_heading(line.text)]
    if not heads:
        return 0, 0
    head = heads[-1]
    begin = head + 1
    if begin >= len(lines):
        return 0, 0
    usual = median(line.size for line in lines[begin : begin + 40])
    end = begin
    while end < len(lines):
        line = lines[end]
        is_heading = line.size > max(1.12 * usual, 0.97 * lines[head].size)
        if end > begin and (is_heading or _END.match(line.text)):
            break
        end += 1
    return begin, end


def _entries(lines: Sequence[Line]) -> list[str]:
    """The references in these lines."""
    if not lines:
        return []
    runs = list(_runs(lines))
    starts = _numbered_starts(lines) or _indented_starts(runs) or _spaced_starts(runs)
    entries: list[list[str]] = []
    for line, is_start in zip(lines, starts, strict=True):
        if is_start or not entries:
            entries.append([line.text])
        else:
            entries[-1].append(line.text)
    texts = (joined(part) for part in entries)
    return [text for text in texts if is_reference(text)]


def _runs(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Split lines into runs: the lines of one column of one page."""
    run: list[Line] = []
    for line in lines:
        if run and (line.page != run[-1].page or line.y > run[-1].y + line.size):
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _numbered_starts(lines: Sequence[Line]) -> list[bool]:
    starts = [_NUMBERED.match(line.text) is not None for line in lines]
    return starts if starts[0] and sum(starts) > 1 else []


def _indented_starts(runs: Sequence[Sequence[Line]]) -> list[bool]:
    """Whether each line begins a reference: it is at the left edge, and other lines of the list are indented."""
    least, most = INDENTED
    edges = list(map(_edge, runs))
    if not any(least < line.x - edge < most for run, edge in zip(runs, edges, strict=True) for line in run):
        return []
    starts: list[bool] = []
    for run, edge in zip(runs, edges, strict=True):
        if all(line.x - edge <= least for line in run):  # perhaps the indented rest of one reference
            edge = min([edge, *(other for other in edges if least < edge - other < most)])
        starts += [line.x - edge <= least for line in run]
    return starts


def _edge(run: Sequence[Line]) -> float:
    """The left edge of a column; in a long column at least two lines begin there, so that a footnote does not count."""
    begins = sorted(line.x for line in run)
    if len(run) < LONG_RUN:
        return begins[0]
    return next((x for x, following in pairwise(begins) if following - x < 1), begins[0])


def _spaced_starts(runs: Sequence[Sequence[Line]]) -> list[bool]:
    """Whether each line begins a reference: it follows more than the usual space."""
    spaces = [above.y - below.y for run in runs for above, below in pairwise(run)]
    usual = median(spaces) if spaces else 0.0
    starts: list[bool] = []
    for run in runs:
        starts.append(not starts)
        starts += [above.y - below.y > 1.25 * usual for above, below in pairwise(run)]
    return starts


MOST_IN_ELEMENT = 3_000_000


def paper_html(paper: PdfPaper) -> str:
    """The HTML of a paper. All text from the file is escaped."""
    title = escape(paper.title)
    head = f'<meta charset="utf-8"><title>{title}</title><meta name="citation_title" content="{title}">'
    head += "".join(f'<meta name="citation_author" content="{escape(name)}">' for name in paper.authors)
    body = "\n".join(f"<p>{escape(text)}</p>" for text in paper.paragraphs)
    if paper.references:
        entries = "\n".join(f"<li>{escape(text)}</li>" for text in paper.references)
        body += f"\n<h2>References</h2>\n<ol>\n{entries}\n</ol>"
    if paper.links:
        links = "\n".join(f'<li><a href="{escape(link)}">{escape(link)}</a></li>' for link in paper.links)
        body += f"\n<h2>Links</h2>\n<ul>\n{links}\n</ul>"
    return f"<!doctype html>\n<html><head>{head}</head><body><article>{body[:MOST_IN_ELEMENT]}</article></body></html>"


CPU_SECONDS = 8  # of CPU time, after which no further page is read
HARD_SECONDS = 15  # of CPU time, after which the process is killed
MEMORY = 1 << 30  # bytes of address space


def main() -> None:
    for kind, most in (
        (resource.RLIMIT_CPU, HARD_SECONDS),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, 0),  # it does not write files
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a stricter limit may already be set
            resource.setrlimit(kind, (most, most))
    try:
        html = paper_html(read_paper(read_lines(sys.stdin.buffer.read(), CPU_SECONDS)))
    except Exception as error:  # pypdf raises many types for broken files; the file is at fault, not our code
        sys.stderr.write(f"{type(error).__name__}: {error}"[:200])
        sys.exit(1)
    sys.stdout.buffer.write(html.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
