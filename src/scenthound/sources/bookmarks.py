"""A browser's bookmarks: HTML as every browser exports it, Chromium's `Bookmarks` file, a backup of Firefox in JSON.

Those whose title, folder or address has a word of the topic. `--seeds FILE` starts from all of them. Bookmarks say
nothing about links.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import BadConfig, of_system
from scenthound.model import Topic
from scenthound.parameters import Parameterised, parameter
from scenthound.seeding import Asker, FoundUrl
from scenthound.sources import source
from scenthound.sources.topic_match import best_by_words
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
        rated: list[FoundUrl] = []
        for bookmark in bookmarks:
            one = asker.checked(bookmark.url, bookmark.title)
            if one is not None:
                titles[one.url] = one.title
                rated.append(one._replace(title=f"{one.title} {bookmark.folder}"))
        best = best_by_words(rated, topic, most, only_matching=True)
        return [one._replace(title=titles[one.url]) for one in best]


def read_file(path: Path) -> list[Bookmark]:
    """The bookmarks in a file. Raises `BadConfig`."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_FILE).decode("utf-8-sig", "replace")
    except OSError as error:
        raise of_system(
            error, path, BadConfig(f"the bookmarks {path} can't be read: {error.strerror}", "check the path")
        ) from None
    found = read_bookmarks(text)
    if found is None:
        raise BadConfig(f"{path} holds no bookmarks", "export them as HTML, or name Chromium's or Firefox's JSON file")
    return found
