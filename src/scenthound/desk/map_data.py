"""The data of the map: pages of a crawl, their hosts and the links between them. The browser computes the layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scenthound import url as urls
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Url
from scenthound.store import live_queries
from scenthound.store.sqlite_history import OLD_RULE

MOST_PAGES = 10_000
MOST_LINKS = 30_000


def map_of(path: Path, most: int = MOST_PAGES, with_links: bool = False) -> dict[str, Any]:
    """The most relevant pages in fetch order, each with the number of the page it was found on.

    `links` has pairs of page numbers, at most `MOST_LINKS`; None unless `with_links`.
    """
    with CrawlFolder.look(path) as folder:
        query = live_queries.Wanted("best", limit=most)
        rows = live_queries.pages(folder.database, query, folder.request.settings.relevant or OLD_RULE)
        rows.sort(key=lambda row: row.n)
        numbers = {row.url: row.n for row in rows}
        pages = [
            {
                "n": row.n,
                "url": row.url,
                "host": urls.host(row.url),
                "title": row.title,
                "relevance": min(max(row.relevance, 0.0), 1.0),
                "on_topic": bool(row.relevant),
                "time": row.time,
                "parent": None if row.parent is None else numbers.get(row.parent),
            }
            for row in rows
        ]
        links = _links(folder, numbers) if with_links else None
        return {"total": len(folder.history), "pages": pages, "links": links}


def _links(folder: CrawlFolder, numbers: dict[Url, int]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for source, targets in folder.database.links():
        source_number = numbers.get(Url(source))
        if source_number is None:
            continue
        target_numbers = (numbers.get(Url(target)) for target in targets)
        pairs += [
            (source_number, number) for number in target_numbers if number is not None and number != source_number
        ]
        if len(pairs) >= MOST_LINKS:
            return pairs[:MOST_LINKS]
    return pairs


def hosts_of(pages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The hosts of these pages, those with the most pages first."""
    hosts: dict[str, dict[str, Any]] = {}
    for page in pages:
        host = hosts.setdefault(page["host"], {"host": page["host"], "pages": 0, "on_topic": 0, "first": page["n"]})
        host["pages"] += 1
        host["on_topic"] += page["on_topic"]
    return sorted(hosts.values(), key=lambda host: (-host["pages"], host["first"]))
