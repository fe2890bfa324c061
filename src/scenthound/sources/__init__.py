"""Seed sources: what knows pages already, and can tell a crawl where to start.

Made here: addresses (`seeding.FoundUrl`), from a search engine, an archive, a sitemap, bookmarks or our own crawls.
Used by: `crawl` without seeds, re-seeding, training from sample pages, and the commands `seeds` and `backlinks`.

A source is a dataclass whose fields are its parameters. Put a file here, or register an entry point of the group
`scenthound.sources`; then it is chosen by name, as `--source searxng:https://search.example.org/`. Requests go through
the `Asker` that it is given, and every address of an answer through `Asker.checked`: answers are not to be trusted.
"""

from __future__ import annotations

from typing import Any

from scenthound import url as urls
from scenthound.errors import BadConfig, NotAUrl
from scenthound.plugins import Registry

SOURCES: Registry[type[Any]] = Registry("seed source", "scenthound.sources", __name__)
source = SOURCES.add
WAY_OUT = "write NAME:ADDRESS, as searxng:https://search.example.org/ or collections:balloons"


def check_address(address: str, name: str) -> None:
    """Raise `BadConfig` unless the address of a source is an http(s) URL."""
    try:
        urls.make(address)
    except NotAUrl as error:
        raise BadConfig(f"the address of {name} is no URL: {error.message}", WAY_OUT) from None
