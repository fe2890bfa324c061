"""Seed sources: services and files that already know pages, and can tell a crawl where to start.

A source returns addresses (`seeding.FoundUrl`) from a search engine, an archive, a sitemap, bookmarks or own crawls.
They are used by `crawl` without seeds, re-seeding, training from sample pages, and the commands `seeds` and
`backlinks`.

Each file defines one source, a dataclass whose fields are its parameters. To add one, put a file here or register an
entry point of the group `scenthound.sources`; users choose it by name, e.g. `--source searxng:https://example.org/`. A
source sends its requests through the `Asker` that it receives (`polite_requests` is ours), and checks every address of
an answer with `Asker.checked`, since answers are not trusted.

`named_source` makes a source from the text that a person writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Any
from urllib.parse import unquote

from scenthound import url as urls
from scenthound.errors import BadConfig, NotAUrl
from scenthound.loop.crawl_toml import masked
from scenthound.loop.settings import read
from scenthound.model import Topic
from scenthound.plugins import Registry
from scenthound.seeding import FoundUrl, SeedSource
from scenthound.text.tokens import Analyser

SOURCES: Registry[type[Any]] = Registry("seed source", "scenthound.sources", __name__)
source = SOURCES.add
WAY_OUT = "write NAME:ADDRESS, e.g. searxng:https://search.example.org/ or collections:balloons"


def check_address(address: str, name: str) -> None:
    """Raise `BadConfig` unless the address of a source is an http(s) URL."""
    try:
        urls.make(address)
    except NotAUrl as error:
        raise BadConfig(f"the address of {name} is not a URL: {error.message}", WAY_OUT) from None


_PARAMETER = re.compile(r",([a-z_]+)=([^,]*)\Z")


def named_source(text: str) -> SeedSource:
    """Parse NAME:ADDRESS, with parameters at the end such as `,robots=false`. Raises `BadConfig`."""
    name, colon, rest = text.strip().partition(":")
    if not colon or not rest.strip():
        raise BadConfig(f"`{masked(text)[:120]}` is not a seed source with an address", WAY_OUT)
    source_class = SOURCES.get(name)
    parameter_names = {field.name for field in fields(source_class)} - {"address"}
    parameters: dict[str, str] = {}
    while (match := _PARAMETER.search(rest)) and match[1] in parameter_names:
        parameters.setdefault(match[1], match[2])
        rest = rest[: match.start()]
    if masked(rest) != rest:
        raise BadConfig(f"the address of {name} has a user name or a password", "leave it out: it would never be sent")
    source: SeedSource = read(source_class, {"address": rest.strip(), **parameters}, what=f"parameter of {name}")
    return source


def best_by_words(pages: Iterable[FoundUrl], topic: Topic, most: int, only_matching: bool) -> list[FoundUrl]:
    """The pages with the most topic words in address or title, without duplicate URLs; ties keep their order.

    With `only_matching`, pages without any of the words are left out.
    """
    analyser = Analyser()
    keywords = set(analyser.terms(topic.keywords))

    def matching_words(page: FoundUrl) -> int:
        return len(keywords.intersection(analyser.terms(f"{unquote(page.url)} {page.title}")))

    rated = [(matching_words(page), page) for page in {page.url: page for page in pages}.values()]
    rated.sort(key=lambda pair: -pair[0])
    return [page for words, page in rated if words or not only_matching][:most]
