"""The URL index of Common Crawl, or of another archive with a CDX server (pywb).

It lists the archived pages of a domain, or below an address; pages with topic words in their address come first.
It can't search page texts, so it needs a domain or address: `commoncrawl:example.org`. It knows no back-links, since
the index has no links. Common Crawl publishes graphs of hosts and domains, but as files of many gigabytes without a
service; use `collections` or `searxng` for back-links.

The public server is asked only if this source is chosen; `server` sets a different one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from scenthound import url as urls
from scenthound.errors import NotAUrl, SourceFailed
from scenthound.model import Topic
from scenthound.parameters import Parameterised, parameter
from scenthound.seeding import Asker, FoundUrl
from scenthound.sources import best_by_words, check_address, source

PUBLIC = "https://index.commoncrawl.org"
FIELDS = "url,status,mime"


@source("commoncrawl")
@dataclass(frozen=True)
class CommonCrawl(Parameterised):
    """Ask the URL index of Common Crawl which pages of a site it has."""

    address: str = parameter("", "where to look: a domain, e.g. example.org, or a prefix of addresses")
    server: str = parameter(PUBLIC, "the index server")
    crawl: str = parameter("", "which crawl, e.g. CC-MAIN-2026-10; empty: the newest")
    look_at: int = parameter(2000, "number of addresses to read and choose from", least=1, most=15_000)
    robots: bool = parameter(True, "obey the robots.txt of the server")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_address(self.server, "commoncrawl")

    async def seeds(self, topic: Topic, most: int, asker: Asker) -> Sequence[FoundUrl]:
        query = [
            ("url", self.address),
            ("matchType", "prefix" if "/" in self.address else "domain"),
            ("output", "json"),
            ("fl", FIELDS),
            ("filter", "=status:200"),
            ("filter", "mime:html"),
            ("limit", str(self.look_at)),
        ]
        try:
            body = await asker.get(f"{await self._index(asker)}?{urlencode(query)}", self.robots)
        except SourceFailed as failure:
            if failure.status == 404:  # it has no captures there
                return []
            raise
        pages = (asker.checked(row.get("url")) for row in _rows(body, self.server))
        return best_by_words(filter(None, pages), topic, most, only_matching=False)

    async def _index(self, asker: Asker) -> str:
        """The address of the index of `crawl`, or of the newest crawl that the server lists."""
        server = self.server.rstrip("/")
        if self.crawl:
            return f"{server}/{self.crawl}-index"
        try:
            crawls = json.loads(await asker.get(f"{server}/collinfo.json", self.robots))
            newest = str(crawls[0]["cdx-api"])
            address = urls.resolve(newest)
        except (ValueError, RecursionError, LookupError, TypeError, NotAUrl):
            raise SourceFailed(f"{server} does not list its crawls", "choose one: ,crawl=CC-MAIN-2026-10") from None
        if urls.origin(address) != urls.origin(server):
            raise SourceFailed(f"{server} refers to another server, {urls.host(address)}", "choose a crawl: ,crawl=…")
        return address


def _rows(body: bytes, server: str) -> Iterator[dict[str, Any]]:
    """The rows of an answer: one JSON object per line."""
    lines = body.splitlines()
    for line in filter(None, map(bytes.strip, lines)):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise SourceFailed(f"{server} does not answer like an index of Common Crawl", "check the server")
        yield row
