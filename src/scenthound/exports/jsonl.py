"""JSON Lines export: one page per line."""

from __future__ import annotations

from datetime import datetime
from typing import Any, BinaryIO

from scenthound.exports import exporter
from scenthound.formats import json_line, json_number
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.page_rows import EVERYTHING, PageTable, Selection


@exporter("jsonl")
def jsonl(folder: CrawlFolder, out: BinaryIO, selection: Selection = EVERYTHING) -> int:
    """One JSON object per page: URL, title, text, relevance, headers, position in the WARC, and why it was fetched."""
    table = PageTable.of(folder.history.trail(), selection)
    pages = 0
    for row in table.rows(filter(selection.takes, folder.pages())):
        out.write(json_line({name: plain(value) for name, value in row.items()}).encode("utf-8", "replace") + b"\n")
        pages += 1
    folder.recovered += table.problems
    return pages


def plain(value: Any) -> Any:
    """A value of a row as text formats have it: times in ISO 8601, no infinite numbers.

    >>> from datetime import UTC
    >>> plain(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)), plain(float("inf")), plain(True)
    ('2026-01-02T03:04:05.000000Z', None, True)
    """
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return json_number(value) if isinstance(value, float) else value
