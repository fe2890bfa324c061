"""The seed sources available in the browser.

A request may name a collection of the desk, a source that the desk was started with, or an address on the web. It can't
name files: the browser reads bookmarks files itself, and folders must be opened first.
"""

from __future__ import annotations

from collections.abc import Collection

from scenthound.desk.crawl_folders import Collections
from scenthound.errors import BadUsage

LONGEST = 2000
ON_THE_WEB = {
    "searxng": "a SearXNG search engine",
    "sitemap": "the sitemap of a site",
    "commoncrawl": "Common Crawl (pages of a site)",
}


def choices(collections: Collections, configured: Collection[str]) -> list[tuple[str, str]]:
    """The sources offered on the start page, as (value, label). A value that ends in `:` needs an address."""
    own = [(f"collections:{name}", f"my collection “{name}”") for name in collections.all()]
    return [
        *((source, source) for source in configured),
        *own,
        *((f"{kind}:", label) for kind, label in ON_THE_WEB.items()),
    ]


def checked_source(collections: Collections, configured: Collection[str], source: str) -> str:
    """Check a source from a request; return it as a command-line argument. Raises `BadUsage`.

    `configured` holds the sources that the desk was started with.
    """
    if source in configured:
        return source
    kind, _, rest = source.partition(":")
    if kind == "collections":
        path = collections.find(rest)
        if path is None:
            raise BadUsage(f"no collection called `{rest[:80]}`", "GET /api/collections lists them")
        return f"collections:{path}"
    if kind not in ON_THE_WEB:
        raise BadUsage(f"not a seed source: `{source[:80]}`", f"use one of: collections, {', '.join(ON_THE_WEB)}")
    if not rest.strip() or len(source) > LONGEST or not source.isprintable():
        raise BadUsage("this source needs an address", f"write it like {kind}:https://example.org/")
    return source
