"""A SearXNG or searx instance: a search engine that queries others.

It answers `/search?format=json` if its settings allow that format (`search: formats: [html, json]`). There is no
built-in address: run an instance yourself, or ask the owner of one. Its robots.txt usually forbids automated searches;
for your own instance write `searxng:http://127.0.0.1:8888,robots=false` and add `--allow-private loopback`.

Search engines no longer report which pages link to a URL. For back-links this source searches for the address as a
phrase, outside its own host: it finds pages that spell it out, many of which link to it. To be certain, fetch them and
check, as training does.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from scenthound import url as urls
from scenthound.errors import SourceFailed
from scenthound.model import Topic, Url
from scenthound.parameters import Parameterised, parameter
from scenthound.seeding import Asker, FoundUrl
from scenthound.sources import check_address, source

MOST_PAGES = 10  # pages of results
LONGEST_QUERY = 500  # characters


@source("searxng")
@dataclass(frozen=True)
class Searxng(Parameterised):
    """Ask a SearXNG instance, which queries other search engines."""

    address: str = parameter("", "the address of the instance, e.g. https://search.example.org/")
    language: str = parameter("", "search in this language, e.g. `de`; empty: the default of the instance")
    engines: str = parameter("", "only these engines of the instance, separated by spaces; empty: its default")
    robots: bool = parameter(True, "obey its robots.txt, which usually forbids automated searches")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_address(self.address, "searxng")

    async def seeds(self, topic: Topic, most: int, asker: Asker) -> Sequence[FoundUrl]:
        return await self._search(topic.keywords, most, asker)

    async def back_links(self, url: Url, most: int, asker: Asker) -> Sequence[FoundUrl]:
        address = url.partition("://")[2].rstrip("/").replace('"', "%22")
        pages = await self._search(f'"{address}" -site:{urls.host(url)}', most, asker)
        return [page for page in pages if urls.host(page.url) != urls.host(url)]

    async def _search(self, words: str, most: int, asker: Asker) -> list[FoundUrl]:
        by_url: dict[str, FoundUrl] = {}
        for page in range(1, MOST_PAGES + 1):
            results = await self._page(words, page, asker)
            before = len(by_url)
            for result in results:
                if isinstance(result, dict):
                    found_url = asker.checked(result.get("url"), result.get("title"))
                    if found_url is not None:
                        by_url.setdefault(found_url.url, found_url)
            if len(by_url) >= most or len(by_url) == before:
                break
        return list(by_url.values())[:most]

    async def _page(self, words: str, page: int, asker: Asker) -> list[Any]:
        query = {"q": words[:LONGEST_QUERY], "format": "json", "pageno": str(page)}
        if self.language:
            query["language"] = self.language
        if self.engines:
            query["engines"] = ",".join(self.engines.split())
        try:
            body = await asker.get(f"{self.address.rstrip('/')}/search?{urlencode(query)}", self.robots)
        except SourceFailed as failure:
            if failure.status == 403:
                failure.hint = "its settings must allow it: search: formats: [html, json]"
            raise
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise SourceFailed(
                f"{self.address} does not answer like SearXNG", "check that it is the address of an instance"
            )
        return results
