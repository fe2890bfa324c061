"""Exports with a row per page: JSON Lines, CSV for spreadsheets, without formulas, and Parquet with typed columns."""

from __future__ import annotations

import csv
import io
import itertools
import json
from datetime import datetime
from typing import Any, BinaryIO

from scenthound.exports import exporter
from scenthound.extras import require
from scenthound.formats import json_line, json_number
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.page_rows import EVERYTHING, LONG, PageTable, Selection


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


ROWS = 2_000  # rows per group, which bounds the memory for crawls of any length


@exporter("parquet")
def parquet(folder: CrawlFolder, out: BinaryIO, selection: Selection = EVERYTHING) -> int:
    """One row per page in typed columns, including the text; needs the extra `parquet`."""
    require("parquet", "Parquet")
    import pyarrow as pa
    from pyarrow import parquet as files

    types = {
        "whole": pa.int64(),
        "real": pa.float64(),
        "text": pa.string(),
        "flag": pa.bool_(),
        "time": pa.timestamp("us", "UTC"),
    }
    table = PageTable.of(folder.history.trail(), selection)
    schema = pa.schema([(column.name, types[column.kind]) for column in table.columns])
    pages = 0
    with files.ParquetWriter(out, schema, compression="zstd") as writer:
        rows = table.rows(filter(selection.takes, folder.pages()))
        while group := list(itertools.islice(rows, ROWS)):
            writer.write_table(pa.Table.from_pylist([_writable(row) for row in group], schema))
            pages += len(group)
    folder.recovered += table.problems
    return pages


def _writable(row: dict[str, object]) -> dict[str, object]:
    """A row without lone surrogates, which UTF-8 can't encode."""
    return {
        name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in row.items()
    }
