"""Exporters: write a crawl folder in the formats of other tools, such as tables, graphs and web archives.

Each file implements one format, for `scenthound export --to NAME`. To add one, put a file here or register an entry
point of the group `scenthound.exporters`. An exporter is a function that reads an open `CrawlFolder` and writes the
pages of a `Selection` to a binary stream, sequentially, with its columns if the format has columns (`loop/page_rows.py`
lists them). It returns the number of pages, and adds a note to `folder.recovered` about anything it had to leave out.
Text from the web is made harmless for the format: no formulas in tables, no control characters in XML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Protocol

from scenthound.errors import BadUsage
from scenthound.loop.page_rows import EVERYTHING, Selection
from scenthound.plugins import Registry

if TYPE_CHECKING:
    from scenthound.loop.folder import CrawlFolder


class Exporter(Protocol):
    """Writes the selected pages of a crawl to a stream and returns their number. Its docstring is its description."""

    def __call__(self, folder: CrawlFolder, out: BinaryIO, selection: Selection = EVERYTHING) -> int: ...


def refuse_columns(selection: Selection, name: str) -> None:
    """Raise `BadUsage` if columns are selected for a format that has none."""
    if selection.columns:
        raise BadUsage(f"{name} has no fields to choose", "leave out --fields, or export to jsonl, csv or parquet")


EXPORTERS: Registry[Exporter] = Registry("export format", "scenthound.exporters", __name__)
exporter = EXPORTERS.add
