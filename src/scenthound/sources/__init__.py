"""Seed sources: services and files that already know pages, and can tell a crawl where to start.

A source returns addresses (`seeding.FoundUrl`) from a search engine, an archive, a sitemap, bookmarks or own crawls.
They are used by `crawl` without seeds, re-seeding, training from sample pages, and the commands `seeds` and
`backlinks`.

Each file defines one source, a dataclass whose fields are its parameters. To add one, put a file here or register an
entry point of the group `scenthound.sources`; users choose it by name, e.g. `--source searxng:https://example.org/`. A
source sends its requests through the `Asker` that it receives (`polite_requests` is ours), and checks every address of
an answer with `Asker.checked`, since answers are not trusted.

Shared parts: `parse_source` makes a source from the text that a person writes; `topic_match` ranks addresses by their
words.
"""

from __future__ import annotations

from typing import Any

from scenthound import url as urls
from scenthound.errors import BadConfig, NotAUrl
from scenthound.plugins import Registry

SOURCES: Registry[type[Any]] = Registry("seed source", "scenthound.sources", __name__)
source = SOURCES.add
WAY_OUT = "write NAME:ADDRESS, e.g. searxng:https://search.example.org/ or collections:balloons"


def check_address(address: str, name: str) -> None:
    """Raise `BadConfig` unless the address of a source is an http(s) URL."""
    try:
        urls.make(address)
    except NotAUrl as error:
        raise BadConfig(f"the address of {name} is not a URL: {error.message}", WAY_OUT) from None
