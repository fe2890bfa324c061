"""The sitemaps of a site: a given file, or the files named in its robots.txt.

A sitemap lists the pages of a site, not what they contain, so pages with topic words in their address come first.
It has no links, so this source knows no back-links.
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
from scenthound.sources import best_by_words, check_address, source
from scenthound.web.robots import parse
from scenthound.web.sitemap_file import Sitemap, read_sitemap

MOST_FILES = 20
MOST_URLS = 200_000


@source("sitemap")
@dataclass(frozen=True)
class SitemapSource(Parameterised):
    """Read the sitemap of a site."""

    address: str = parameter("", "a site, e.g. https://example.org/, or the address of a sitemap file")
    matching: bool = parameter(False, "only pages with a topic word in their address")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_address(self.address, "sitemap")

    async def seeds(self, topic: Topic, most: int, asker: Asker) -> Sequence[FoundUrl]:
        host, waiting, requested = urls.host(self.address), deque(await self._files(asker)), set[str]()
        pages: list[FoundUrl] = []
        first_failure: SourceFailed | None = None
        while waiting and len(requested) < MOST_FILES and len(pages) < MOST_URLS:
            file = waiting.popleft()
            if file in requested or urls.host(file) != host:  # a sitemap is valid only for its own host
                continue
            requested.add(file)
            try:
                sitemap = read_sitemap(await asker.get(file), file)
            except SourceFailed as failure:
                first_failure = first_failure or failure
                continue
            waiting += sitemap.children
            pages += _pages(sitemap, host, asker)
        if not pages and first_failure is not None:
            raise first_failure
        return best_by_words(pages, topic, most, self.matching)

    async def _files(self, asker: Asker) -> list[str]:
        """The given file; else the files that robots.txt names, or the usual `/sitemap.xml`."""
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
    return [page for page in checked if page is not None and urls.host(page.url) == host]
