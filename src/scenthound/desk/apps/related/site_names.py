"""Find the name of a site's owner in the structured data of its home page: JSON-LD and Open Graph."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from scenthound.formats import replace_unprintable
from scenthound.web.guard import tame
from scenthound.web.html_document import WITHOUT_EVENTS

LONGEST_DATA = 200_000  # characters of one block of JSON-LD
LONGEST_NAME = 120
MOST_NODES = 2_000
_OWNERS = ("organization", "corporation", "ngo", "project", "website", "educationalorganization", "localbusiness")


def stated_name(html: str) -> str:
    """The organisation's name in structured data, or else the site's (`og:site_name`); empty if there is none.

    >>> stated_name('<script type="application/ld+json">{"@type": "Organization", "name": "Bees Ltd"}</script>')
    'Bees Ltd'
    """
    parser = LexborHTMLParser(tame(html).text.encode("utf-8", "replace"), options=WITHOUT_EVENTS)
    blocks = [node.text() for node in parser.css('script[type="application/ld+json" i]')[:20]]
    entries = [entry for block in blocks for entry in _entries(block[:LONGEST_DATA])]
    for kind in _OWNERS:
        for entry in entries:
            if kind in _kinds(entry) and (name := _tidy(entry.get("name"))):
                return name
    metas = parser.css('meta[property="og:site_name" i]')[:5]
    return next((name for node in metas if (name := _tidy(node.attributes.get("content")))), "")


def _entries(block: str) -> Iterator[dict[str, Any]]:
    """The objects in a block that may be an organisation: at the top, in lists and in `@graph`."""
    try:
        waiting: list[Any] = [json.loads(block)]
    except (ValueError, RecursionError):
        return
    for _ in range(MOST_NODES):
        if not waiting:
            return
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            yield value
            waiting += [value[key] for key in ("@graph", "publisher", "mainEntity") if key in value]


def _kinds(entry: dict[str, Any]) -> set[str]:
    kinds = entry.get("@type")
    return {str(kind).rpartition("/")[2].lower() for kind in (kinds if isinstance(kinds, list) else [kinds])}


def _tidy(name: object) -> str:
    return replace_unprintable(" ".join(name.split()))[:LONGEST_NAME] if isinstance(name, str) else ""
