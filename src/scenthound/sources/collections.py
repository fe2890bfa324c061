"""The user's own crawls: the full-text index and the link graph of crawl folders. No requests are sent.

Seeds are the pages that match the topic's words best, whatever the topic of the crawl was. Back-links are pages of the
crawl that link to the URL, the most relevant to their own crawl first. The index is updated first.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from scenthound import search
from scenthound.errors import BadConfig, FolderBroken, FolderInUse
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Topic, Url
from scenthound.parameters import Parameterised, parameter
from scenthound.seeding import Asker, FoundUrl
from scenthound.sources import source
from scenthound.store.text_index import INDEX
from scenthound.text.tokens import STOP_LISTS

MOST_FOLDERS = 200
MOST_WORDS, LONGEST_WORD = 20, 40  # a query has at most 1,000 characters


@source("collections")
@dataclass(frozen=True)
class CollectionSource(Parameterised):
    """Look in your own crawls."""

    address: str = parameter("", "a crawl folder, or a folder with crawl folders")

    def place(self) -> Path:
        return Path(self.address).expanduser()

    async def seeds(self, topic: Topic, most: int, asker: Asker) -> Sequence[FoundUrl]:
        rated = await asyncio.to_thread(self._matching, topic.keywords, most)
        checked = (asker.checked(url, title) for _, url, title in rated)
        return list({found.url: found for found in checked if found is not None}.values())[:most]

    async def back_links(self, url: Url, most: int, asker: Asker) -> Sequence[FoundUrl]:
        rated = await asyncio.to_thread(self._linking, url)
        checked = (asker.checked(source_url, title) for _, source_url, title in rated[: 2 * most])
        return list({found.url: found for found in checked if found is not None}.values())[:most]

    def _folders(self) -> list[Path]:
        path = self.place()
        inside = sorted(path.iterdir())[:MOST_FOLDERS] if path.is_dir() else []
        folders = [folder for folder in (path, *inside) if (folder / "crawl.toml").is_file()]
        if not folders:
            raise BadConfig(f"{path} is not a crawl and contains none", "use a folder made by `scenthound crawl`")
        return folders

    def _matching(self, keywords: str, most: int) -> list[tuple[float, str, str]]:
        words = [word for word in re.findall(r"[^\W_]+", keywords) if word.lower() not in STOP_LISTS["english"]]
        query = " OR ".join(f'"{word[:LONGEST_WORD]}"' for word in words[:MOST_WORDS])
        rated: list[tuple[float, str, str]] = []
        for folder in self._folders():
            with suppress(FolderInUse, FolderBroken, OSError):  # another process is indexing it, or it is read-only
                search.index_folder(folder)
            if query and (folder / INDEX / "text.db").exists():
                results = search.search(folder, query, limit=most, weight=1.0).found
                rated += [(row.score, row.url, "".join(text for text, _ in row.title)) for row in results]
        return sorted(rated, key=lambda row: -row[0])

    def _linking(self, url: Url) -> list[tuple[float, str, str]]:
        rated: list[tuple[float, str, str]] = []
        for folder in self._folders():
            with CrawlFolder.look(folder) as opened:
                step = opened.history.step_of(url)
                names = {url} if step is None else {url, step.url, step.requested or url}
                for page, targets in opened.database.links():
                    if page not in names and not names.isdisjoint(targets):
                        linking = opened.history.step_of(page)
                        rated.append((linking.relevance if linking else 0.0, page, linking.title if linking else ""))
        return sorted(rated, key=lambda row: -row[0])
