"""Bookmarks: a file that every browser can import."""

from __future__ import annotations

from html import escape
from typing import BinaryIO

from scenthound.exports import exporter
from scenthound.loop.folder import CrawlFolder


@exporter("bookmarks")
def bookmarks(folder: CrawlFolder, out: BinaryIO) -> int:
    """The pages in the order of the crawl, as a bookmarks file for browsers."""
    out.write(b"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL>\n")
    pages = 0
    for step in folder.history.trail():
        title = escape(step.title or step.url)  # text from the web is never markup
        out.write(f'<DT><A HREF="{escape(step.url)}">{title}</A>\n'.encode())
        pages += 1
    out.write(b"</DL>\n")
    return pages
