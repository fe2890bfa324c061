"""The map of a crawl: its pages, their hosts and the links between them. The browser computes the layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from scenthound import url as urls
from scenthound.desk import api_base, live_queries, main_pages
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get
from scenthound.desk.shapes import FLAG, INTEGER, NUMBER, TEXT, fields, list_of, nullable
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Url

MOST_PAGES = 10_000
MOST_LINKS = 30_000
LIMIT = params.Integer("limit", "Maximum number of pages; the most relevant are returned.", MOST_PAGES, 1, MOST_PAGES)
LINKS = params.Choice("links", "Whether to return all links between the pages.", {"no": False, "yes": True})
PAGE = fields(
    **dict.fromkeys(("url", "host", "title"), TEXT),
    **dict.fromkeys(("relevance", "time"), NUMBER),
    n=INTEGER,
    on_topic=FLAG,
    parent=nullable(INTEGER),
)
MAP = fields(total=INTEGER, pages=list_of(PAGE), links=nullable(list_of(list_of(INTEGER))))


def map_of(path: Path, most: int = MOST_PAGES, with_links: bool = False) -> dict[str, Any]:
    """The most relevant pages in fetch order, each with the number of the page it was found on.

    `links` has pairs of page numbers, at most `MOST_LINKS`; None unless `with_links`.
    """
    with CrawlFolder.look(path) as folder:
        query = live_queries.Wanted("best", limit=most)
        rows = live_queries.pages(folder.database, query)
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


# ---- the API and the page


async def get_map(request: Request) -> Any:
    path, query = api_base.folder_of(request), request.query_params
    return await run_in_threadpool(map_of, path, LIMIT.of(query), LINKS.of(query))


async def map_page(request: Request) -> str:
    data = await run_in_threadpool(map_of, api_base.folder_of(request))
    hosts, pages = hosts_of(data["pages"]), len(data["pages"])
    return await main_pages.collection_page(request, "map.html", hosts=hosts, pages=pages, total=data["total"])


ROUTES = [
    get("/api/collections/{name}/map", get_map, "The pages of a map and the links between them.", MAP, LIMIT, LINKS),
    Route("/c/{name}/map", main_pages.html_page(map_page)),
]
