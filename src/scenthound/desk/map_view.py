"""The page with the map of a crawl. Without JavaScript it is a table of hosts."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from scenthound.desk import api_base, main_pages
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get
from scenthound.desk.map_data import MOST_PAGES, hosts_of, map_of
from scenthound.desk.shapes import FLAG, INTEGER, NUMBER, TEXT, fields, list_of, nullable

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
