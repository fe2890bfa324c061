"""CSV export: a table for spreadsheets, without formulas."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, BinaryIO

from scenthound.exports import exporter
from scenthound.exports.jsonl import plain
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.page_rows import EVERYTHING, LONG, PageTable, Selection

_STARTS_A_FORMULA = tuple("=+-@\t\r\n＝＋－＠")


@exporter("csv")
def csv_table(folder: CrawlFolder, out: BinaryIO, selection: Selection = EVERYTHING) -> int:
    """One row per page under a heading, without texts unless you choose them with --fields; no cell is a formula."""
    table = PageTable.of(folder.history.trail(), selection, without=LONG)
    pages = 0
    text = io.TextIOWrapper(out, encoding="utf-8", errors="replace", newline="", write_through=True)
    try:
        writer = csv.writer(text)
        writer.writerow([cell(column.name) for column in table.columns])
        for row in table.rows(filter(selection.takes, folder.pages())):
            writer.writerow([cell(plain(value)) for value in row.values()])
            pages += 1
    finally:
        text.detach()  # the stream is the caller's to close
    folder.recovered += table.problems
    return pages


def cell(value: Any) -> Any:
    """A value as a cell. Text that starts like a formula gets an apostrophe.

    >>> cell("=1+1"), cell(-1.5), cell({"anchor": 0.8})
    ("'=1+1", -1.5, '{"anchor": 0.8}')
    """
    if value is None:
        return ""
    if isinstance(value, dict):
        return json.dumps(value) if value else ""
    if not isinstance(value, str):
        return value
    value = value.replace("\x00", "")
    return "'" + value if value.lstrip(" \u00a0").startswith(_STARTS_A_FORMULA) else value
