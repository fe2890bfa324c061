"""The pages of a crawl as rows of a table: the columns that exports, `to_pandas` and scripts share."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from scenthound.errors import BadUsage, FolderBroken, UnknownName
from scenthound.extras import require
from scenthound.loop.stored_page import StoredPage
from scenthound.model import Step

if TYPE_CHECKING:
    import pandas

Kind = Literal["whole", "real", "text", "flag", "time"]
Row = dict[str, Any]
PART = "part_"
_NOT_A_WORD = re.compile(r"\W+")
MOST_PARTS = 50  # columns for parts of scores


@dataclass(frozen=True, slots=True)
class PageColumn:
    """A column of the table, with the function that gets its value from a page."""

    name: str
    kind: Kind
    doc: str
    get: Callable[[StoredPage], Any]
    needs_text_extra: bool = False
    """Whether its value can only be computed with the extra `text`."""


def _step_column(name: str, kind: Kind, doc: str) -> PageColumn:
    return PageColumn(name, kind, doc, lambda page: getattr(page.step, name))


COLUMNS: tuple[PageColumn, ...] = (
    _step_column("n", "whole", "number of the page in the crawl"),
    _step_column("url", "text", "canonical URL"),
    PageColumn("host", "text", "host of the URL", lambda page: page.host),
    _step_column("title", "text", "title of the page"),
    PageColumn("time", "time", "when it was fetched (UTC)", lambda page: page.time),
    PageColumn("relevance", "real", "how relevant the page is, 0 to 1", lambda page: page.relevance),
    PageColumn("relevant", "flag", "whether it counts as relevant", lambda page: page.is_relevant),
    _step_column("similarity", "real", "cosine similarity of the page to the keywords"),
    _step_column("score", "real", "score when it was chosen; a seed's is infinite (none in JSON and CSV)"),
    _step_column("rank", "whole", "rank among all waiting URLs when it was chosen; 1 is the best"),
    _step_column("depth", "whole", "number of links from a seed"),
    _step_column("parent", "text", "page that linked to it; none for a seed"),
    _step_column("anchor", "text", "text of that link"),
    _step_column("requested", "text", "URL that was requested first, if it redirected"),
    _step_column("status", "whole", "HTTP status"),
    _step_column("bytes", "whole", "size of the body as received"),
    PageColumn("content_type", "text", "Content-Type header", lambda page: page.content_type),
    PageColumn("language", "text", "language code, identified offline; extra `text`", lambda page: page.language, True),
    PageColumn("last_modified", "time", "Last-Modified header (UTC)", lambda page: page.last_modified),
    PageColumn("digest", "text", "SHA-1 of the stored body, as in WARC and CDXJ", lambda page: page.digest),
    PageColumn("duplicate_of", "text", "URL of the first page with the same content", lambda page: None),
    PageColumn("warc_file", "text", "file in `pages/`", lambda page: page.where.file if page.where else None),
    PageColumn("warc_offset", "whole", "offset in that file", lambda page: page.where.offset if page.where else None),
    PageColumn("warc_length", "whole", "length of the record", lambda page: page.where.length if page.where else None),
    PageColumn("text", "text", "all visible text", lambda page: page.text),
    PageColumn("main_text", "text", "text without menus and footers; extra `text`", lambda page: page.main_text, True),
)
BY_NAME = {column.name: column for column in COLUMNS}
LONG = ("text", "main_text")
ON_REQUEST = ("main_text",)
"""Columns that are included only if they are selected by name."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which pages and columns to include."""

    columns: tuple[str, ...] = ()
    """Column names in order; if empty, the default columns. `parts` stands for all parts of the score."""
    only_relevant: bool = False
    min_relevance: float | None = None

    def takes(self, page: StoredPage) -> bool:
        enough = self.min_relevance is None or page.relevance >= self.min_relevance
        return enough and (page.is_relevant or not self.only_relevant)


EVERYTHING = Selection()


@dataclass(slots=True)
class PageTable:
    """Turns the pages of a crawl into rows. `problems` lists, in sentences, what had to be left out."""

    columns: tuple[PageColumn, ...]
    problems: list[str] = field(default_factory=list)
    _first: dict[bytes, str] = field(default_factory=dict)
    """The URL of the first page with each content, by digest."""

    @classmethod
    def of(cls, steps: Iterable[Step], selection: Selection = EVERYTHING, without: Sequence[str] = ()) -> PageTable:
        """The table for a selection. Part columns come from `steps`. `without` names default columns to leave out.

        Raises `UnknownName` for an unknown column, `BadUsage` for a column whose extra is missing.
        """
        parts = _part_columns(_part_names(steps))
        problems: list[str] = []
        if selection.columns:
            return cls(tuple(_columns_by_name(selection.columns, parts)), problems)
        columns = [column for column in COLUMNS if column.name not in (*without, *ON_REQUEST)]
        if not _has_text_extra():
            absent = [column.name for column in columns if column.needs_text_extra]
            columns = [column for column in columns if not column.needs_text_extra]
            problems += [f"{name} is left out; to include it: pip install 'scenthound[text]'" for name in absent]
        return cls((*columns, *parts), problems)

    def rows(self, pages: Iterable[StoredPage]) -> Iterator[Row]:
        """One row per page. A stored page that can't be read has empty cells and is counted in `problems`."""
        damaged = 0
        for page in pages:
            try:
                yield self._row(page)
            except FolderBroken:
                damaged += 1
                yield self._row(StoredPage(page.step, None, *page.source))
        if damaged:
            self.problems.append(f"{damaged:,} stored pages can't be read; their text and headers are empty")

    def _row(self, page: StoredPage) -> Row:
        row = {column.name: column.get(page) for column in self.columns}
        if "duplicate_of" in row and page.content:
            first = self._first.setdefault(hashlib.sha256(page.content).digest()[:16], page.url)
            row["duplicate_of"] = first if first != page.url else None
        return row


def page_table(pages: Iterable[StoredPage], steps: Iterable[Step]) -> pandas.DataFrame:
    """The pages as a pandas table, without their texts. Raises `BadConfig` if pandas is not installed."""
    require("pandas", "to_pandas")
    import pandas

    table = PageTable.of(steps, without=LONG)
    frame = pandas.DataFrame(list(table.rows(pages)), columns=[column.name for column in table.columns])
    for column in table.columns:
        if column.kind == "time":
            frame[column.name] = pandas.to_datetime(frame[column.name], utc=True)
    return frame


def _columns_by_name(names: Sequence[str], parts: Sequence[PageColumn]) -> Iterator[PageColumn]:
    choices = BY_NAME | {column.name: column for column in parts}
    for name in names:
        if name.startswith(PART):
            name = part_column_name(name.removeprefix(PART))
        if name == "parts":
            yield from parts
        elif name not in choices:
            raise UnknownName.among("field", name, [*choices, "parts"])
        elif choices[name].needs_text_extra and not _has_text_extra():
            raise BadUsage(f"{name} needs the package resiliparse", "pip install 'scenthound[text]'")
        else:
            yield choices[name]


def _part_names(steps: Iterable[Step]) -> list[str]:
    names: dict[str, None] = {}
    for step in steps:
        names.update(dict.fromkeys(step.parts))
        if len(names) >= MOST_PARTS:
            break
    return list(names)[:MOST_PARTS]


def part_column_name(part: str) -> str:
    """The name of a part's column: one lower-case word, which every query language accepts without quotes.

    >>> part_column_name("words of the link"), part_column_name("best leaf Top/Arts")
    ('part_words_of_the_link', 'part_best_leaf_top_arts')
    """
    return PART + _NOT_A_WORD.sub("_", part.lower()).strip("_")


def _part_columns(names: Iterable[str]) -> list[PageColumn]:
    """A column per part. Parts whose names differ in signs or case only get a number: column names must differ."""
    columns: dict[str, PageColumn] = {}
    for name in names:
        base = column_name = part_column_name(name)
        number = 1
        while column_name in columns:
            number += 1
            column_name = f"{base}_{number}"
        columns[column_name] = PageColumn(column_name, "real", f"part `{name}` of the score", _part_getter(name))
    return list(columns.values())


def _part_getter(name: str) -> Callable[[StoredPage], float | None]:
    return lambda page: page.step.parts.get(name)


def _has_text_extra() -> bool:
    return importlib.util.find_spec("resiliparse") is not None
