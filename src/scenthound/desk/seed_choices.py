"""The seed sources that a person at the desk may ask.

The browser can name a collection of the desk, a source that the desk was started with, or an address on the web. It
can't name files: bookmarks are read by the browser, and folders are opened first.
"""

from __future__ import annotations

from collections.abc import Collection

from scenthound.desk.crawl_folders import Collections
from scenthound.errors import BadUsage

LONGEST = 2000
ON_THE_WEB = {
    "searxng": "a SearXNG search engine",
    "sitemap": "the sitemap of a site",
    "commoncrawl": "Common Crawl, pages of a site",
}


def choices(collections: Collections, given: Collection[str]) -> list[tuple[str, str]]:
    """The sources that the first page offers, as (value, words). A value that ends in `:` needs an address."""
    own = [(f"collections:{name}", f"my collection {name}") for name in collections.all()]
    return [*((source, source) for source in given), *own, *((f"{kind}:", words) for kind, words in ON_THE_WEB.items())]


def allowed(collections: Collections, given: Collection[str], asked: str) -> str:
    """The source as a command takes it. `given` are those that the desk was started with. Raises `BadUsage`."""
    if asked in given:
        return asked
    kind, _, rest = asked.partition(":")
    if kind == "collections":
        path = collections.find(rest)
        if path is None:
            raise BadUsage(f"no collection called `{rest[:80]}`", "GET /api/collections lists them")
        return f"collections:{path}"
    if kind not in ON_THE_WEB:
        raise BadUsage(f"not a source for the desk: `{asked[:80]}`", f"there are: collections, {', '.join(ON_THE_WEB)}")
    if not rest.strip() or len(asked) > LONGEST or not asked.isprintable():
        raise BadUsage("this source needs an address", f"write it as {kind}:https://example.org/")
    return asked
