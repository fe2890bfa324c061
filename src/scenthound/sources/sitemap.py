"""The sitemap of a site: a file, or what the robots.txt of the site names.

It says which pages a site has, not what is in them: those come first whose address has words of the topic. A sitemap
has no links, so this source knows no back-links.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from scenthound import url as urls
from scenthound.errors import NotAUrl, SourceFailed
from scenthound.model import Topic
from scenthound.parameters import Parameterised, parameter
from scenthound.seeding import Asker, FoundUrl
from scenthound.sources import check_address, source
from scenthound.sources.topic_match import best_by_words
from scenthound.web.robots import parse
from scenthound.web.sitemap_file import Sitemap, read_sitemap

MOST_FILES = 20
MOST_URLS = 200_000


@source("sitemap")
@dataclass(frozen=True)
class SitemapSource(Parameterised):
    """Read the sitemap of a site."""

    address: str = parameter("", "a site, as https://example.org/, or the address of a sitemap file")
    matching: bool = parameter(False, "only pages with a word of the topic in their address")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_address(self.address, "sitemap")

    async def seeds(self, topic: Topic, most: int, asker: Asker) -> Sequence[FoundUrl]:
        host, waiting, asked = urls.host(self.address), deque(await self._files(asker)), set[str]()
        found: list[FoundUrl] = []
        first: SourceFailed | None = None
        while waiting and len(asked) < MOST_FILES and len(found) < MOST_URLS:
            file = waiting.popleft()
            if file in asked or urls.host(file) != host:  # a sitemap is valid for its own host only
                continue
            asked.add(file)
            try:
                sitemap = read_sitemap(await asker.get(file), file)
            except SourceFailed as failure:
                first = first or failure
                continue
            waiting += sitemap.children
            found += _pages(sitemap, host, asker)
        if not found and first is not None:
            raise first
        return best_by_words(found, topic, most, self.matching)

    async def _files(self, asker: Asker) -> list[str]:
        """The address itself if it is a file, what robots.txt names, or the usual place."""
        path = self.address.partition("://")[2].partition("/")[2]
        if path:
            return [self.address]
        origin = urls.origin(self.address)
        try:
            named = parse(await asker.get(f"{origin}/robots.txt", robots=False), "").sitemaps
        except SourceFailed as failure:
            if failure.status != 404:
                raise
            named = ()
        return [*filter(None, (_resolved(name, origin) for name in named))] or [f"{origin}/sitemap.xml"]


def _resolved(name: str, origin: str) -> str | None:
    try:
        return urls.resolve(name, origin)
    except NotAUrl:
        return None


def _pages(sitemap: Sitemap, host: str, asker: Asker) -> list[FoundUrl]:
    checked = (asker.checked(entry.url) for entry in sitemap.urls)
    return [one for one in checked if one is not None and urls.host(one.url) == host]
