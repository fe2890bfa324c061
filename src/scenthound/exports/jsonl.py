"""JSON lines: the trail, one page per line."""

from __future__ import annotations

from typing import BinaryIO

from scenthound.exports import exporter
from scenthound.formats import full_trail_line, json_line
from scenthound.loop.folder import CrawlFolder


@exporter("jsonl")
def jsonl(folder: CrawlFolder, out: BinaryIO) -> int:
    """One JSON object a line: the trail line of each page, its title, rank and first URL."""
    pages = 0
    for step in folder.history.trail():
        out.write(json_line(full_trail_line(step)).encode() + b"\n")
        pages += 1
    return pages
