"""Bookmarks: a file that every browser can import."""

from __future__ import annotations

from html import escape
from typing import BinaryIO

from scenthound.exports import exporter, refuse_columns
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.page_rows import EVERYTHING, Selection


@exporter("bookmarks")
def bookmarks(folder: CrawlFolder, out: BinaryIO, selection: Selection = EVERYTHING) -> int:
    """The pages in the order of the crawl, as a bookmarks file for browsers."""
    refuse_columns(selection, "bookmarks")
    out.write(b"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL>\n")
    pages = 0
    for page in filter(selection.takes, folder.pages()):
        title = escape(page.title or page.url)  # text from the web is never markup
        out.write(f'<DT><A HREF="{escape(page.url)}">{title}</A>\n'.encode())
        pages += 1
    out.write(b"</DL>\n")
    return pages
