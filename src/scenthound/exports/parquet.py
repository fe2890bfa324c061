"""Parquet export: one row per page, in typed columns."""

from __future__ import annotations

import itertools
from typing import BinaryIO

from scenthound.exports import exporter
from scenthound.extras import require
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.page_rows import EVERYTHING, PageTable, Selection

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
