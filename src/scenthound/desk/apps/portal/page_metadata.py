"""Extract the title, authors and date that a page declares.

The title comes from meta tags, the authors from JSON-LD or meta tags, the date from JSON-LD, meta tags or `<time>`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from scenthound.formats import printable

LONGEST_HTML = 2_000_000  # characters
LONGEST_NAME = 120
MOST_AUTHORS = 50
MOST_ITEMS = 200  # objects of structured data that are examined
_DATE = re.compile(r"\s*(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?!\d)")
_AUTHORS = ("citation_author", "dc.creator", "dcterms.creator", "author", "article:author", "parsely-author")
_DATES = (
    "citation_publication_date",
    "citation_date",
    "article:published_time",
    "dc.date",
    "dcterms.date",
    "dc.date.issued",
    "date",
    "article:modified_time",
)
_TITLES = ("citation_title", "dc.title", "og:title")


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """Metadata declared by a page; missing fields are empty."""

    title: str = ""
    authors: tuple[str, ...] = ()
    date: str = ""
    """2026, 2026-01 or 2026-01-31."""


def extract_metadata(html: str) -> PageMetadata:
    """Extract the metadata of an HTML page. Never raises, whatever the page contains."""
    tree = LexborHTMLParser(html[:LONGEST_HTML])
    items = list(_structured(tree))
    meta = _meta(tree)
    authors = _authors_of(items) or tuple(
        name for key in _AUTHORS if key in meta for name in _names(meta[key]) if not _is_url_or_handle(name)
    )
    dates = [str(item.get(key, "")) for key in ("datePublished", "dateCreated", "dateModified") for item in items]
    dates += [value for key in _DATES for value in meta.get(key, ())]
    dates += [node.attributes.get("datetime") or "" for node in tree.css("time[datetime]")[:5]]
    titles = [value for key in _TITLES for value in meta.get(key, ())]
    return PageMetadata(
        printable(titles[0], 300) if titles else "",
        tuple(dict.fromkeys(authors))[:MOST_AUTHORS],
        next(filter(None, map(normalised_date, dates)), ""),
    )


def normalised_date(text: str) -> str:
    """Normalise a date to YYYY, YYYY-MM or YYYY-MM-DD, depending on its precision; empty if the text is not a date.

    >>> [normalised_date(text) for text in ("2004/7/1", "2026-01-31T10:00:00Z", "yesterday", "2026-13")]
    ['2004-07-01', '2026-01-31', '', '2026']
    """
    match = _DATE.match(text[:40])
    if match is None or not "1000" <= match[1] <= "2999":
        return ""
    year, month, day = match.groups()
    if month is None or not 1 <= int(month) <= 12:
        return str(year)
    if day is None or not 1 <= int(day) <= 31:
        return f"{year}-{int(month):02}"
    return f"{year}-{int(month):02}-{int(day):02}"


def _structured(tree: LexborHTMLParser) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON-LD objects, including those in `@graph`."""
    seen = 0
    for node in tree.css('script[type="application/ld+json"]')[:20]:
        try:
            queue = [json.loads(node.text(deep=True) or "null")]
        except (ValueError, RecursionError):
            continue
        while queue and seen < MOST_ITEMS:
            item, seen = queue.pop(0), seen + 1
            if isinstance(item, list):
                queue += item[:MOST_ITEMS]
            elif isinstance(item, dict):
                yield item
                queue += item["@graph"][:MOST_ITEMS] if isinstance(item.get("@graph"), list) else []


def _authors_of(items: list[Mapping[str, Any]]) -> tuple[str, ...]:
    authors: list[str] = []
    for item in items:
        for key in ("author", "creator"):
            value = item.get(key)
            for author in value if isinstance(value, list) else [value]:
                name = author.get("name") if isinstance(author, dict) else author
                if isinstance(name, str):
                    authors += [cleaned for cleaned in _names([name]) if not _is_url_or_handle(cleaned)]
        if authors:
            break
    return tuple(authors)


def _meta(tree: LexborHTMLParser) -> dict[str, list[str]]:
    meta: dict[str, list[str]] = {}
    for node in tree.css("meta[content]")[:500]:
        key = node.attributes.get("name") or node.attributes.get("property") or ""
        if content := (node.attributes.get("content") or "").strip():
            meta.setdefault(key.strip().lower(), []).append(content)
    return meta


def _names(values: list[str]) -> list[str]:
    return [name for value in values if (name := printable(value, LONGEST_NAME))]


def _is_url_or_handle(name: str) -> bool:
    return name.lower().startswith(("http://", "https://", "//", "@"))
