"""A crawl folder in the formats of other tools: tables, graphs, web archives.

An exporter is a function that reads an open `CrawlFolder` and writes bytes to a stream, once, from front to back. It
returns the number of pages, and adds to `folder.recovered` what it had to leave out. Put a file here (or register an
entry point of the group `scenthound.exporters`) and `scenthound export --to NAME` finds it. Text from the web is made
harmless for the format: no formulas in tables, no control characters in XML.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from scenthound.plugins import Registry

if TYPE_CHECKING:
    from scenthound.loop.folder import CrawlFolder

Exporter = Callable[["CrawlFolder", BinaryIO], int]
"""Writes a crawl to a stream and returns the number of pages. Its docstring is its description."""

EXPORTERS: Registry[Exporter] = Registry("export format", "scenthound.exporters", __name__)
exporter = EXPORTERS.add
