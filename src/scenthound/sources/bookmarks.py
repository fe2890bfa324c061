"""A browser's bookmarks: HTML as every browser exports it, Chromium's `Bookmarks` file, or Firefox's JSON backup.

Seeds are the bookmarks with a topic word in their title, folder or address; `--seeds FILE` starts from all of them.
Bookmarks have no links, so this source knows no back-links.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import BadConfig, from_os_error
from scenthound.model import Topic
from scenthound.parameters import Parameterised, parameter
from scenthound.seeding import Asker, FoundUrl
from scenthound.sources import best_by_words, source
from scenthound.web.bookmarks_file import Bookmark, read_bookmarks

LARGEST_FILE = 50_000_000  # bytes


@source("bookmarks")
@dataclass(frozen=True)
class BookmarkSource(Parameterised):
    """Look for the topic in a browser's bookmarks."""

    address: str = parameter("", "the file: HTML, Chromium's JSON or Firefox's backup")

    def place(self) -> Path:
        return Path(self.address)

    async def seeds(self, topic: Topic, most: int, asker: Asker) -> Sequence[FoundUrl]:
        bookmarks = await asyncio.to_thread(read_file, self.place())
        titles: dict[str, str] = {}
        with_folders: list[FoundUrl] = []
        for bookmark in bookmarks:
            found = asker.checked(bookmark.url, bookmark.title)
            if found is not None:
                titles[found.url] = found.title
                with_folders.append(found._replace(title=f"{found.title} {bookmark.folder}"))
        best = best_by_words(with_folders, topic, most, only_matching=True)
        return [found._replace(title=titles[found.url]) for found in best]


def read_file(path: Path) -> list[Bookmark]:
    """The bookmarks in a file. Raises `BadConfig`."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_FILE).decode("utf-8-sig", "replace")
    except OSError as error:
        raise from_os_error(
            error, path, BadConfig(f"the bookmarks {path} can't be read: {error.strerror}", "check the path")
        ) from None
    bookmarks = read_bookmarks(text)
    if bookmarks is None:
        raise BadConfig(f"{path} has no bookmarks", "export them as HTML, or use Chromium's or Firefox's JSON file")
    return bookmarks
