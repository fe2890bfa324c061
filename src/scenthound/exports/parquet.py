"""Parquet: the trail as typed columns."""

from __future__ import annotations

import itertools
import json
from typing import BinaryIO

from scenthound.errors import BadUsage
from scenthound.exports import exporter
from scenthound.formats import json_number
from scenthound.loop.folder import CrawlFolder

ROWS = 10_000  # rows of a group: bounded memory however long the crawl


@exporter("parquet")
def parquet(folder: CrawlFolder, out: BinaryIO) -> int:
    """One row a page as typed columns; needs the extra `parquet`."""
    try:
        import pyarrow as pa
        from pyarrow import parquet as files
    except ImportError:
        raise BadUsage("Parquet needs the package pyarrow", "pip install 'scenthound[parquet]'") from None
    text, real = pa.string(), pa.float64()
    schema = pa.schema(
        [
            ("n", pa.int64()), ("url", text), ("parent", text), ("anchor", text), ("score", real),
            ("parts", text), ("similarity", real), ("relevance", real), ("relevant", pa.bool_()),
            ("depth", pa.int32()), ("status", pa.int32()),
            ("bytes", pa.int64()), ("time", real), ("title", text), ("rank", pa.int64()), ("requested", text),
        ]
    )  # fmt: skip
    pages = 0
    with files.ParquetWriter(out, schema, compression="zstd") as writer:
        trail = iter(folder.history.trail())
        while steps := list(itertools.islice(trail, ROWS)):
            rows = [
                {
                    **{name: getattr(step, name) for name in schema.names},
                    "parts": json.dumps({name: json_number(value) for name, value in step.parts.items()}),
                }
                for step in steps
            ]
            writer.write_table(pa.Table.from_pylist(rows, schema))
            pages += len(steps)
    return pages
