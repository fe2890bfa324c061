"""The API for full-text search in a collection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request

from scenthound import search as engine
from scenthound.desk import crawl_data
from scenthound.desk import request_parameters as params
from scenthound.desk.api_base import Desk, desk_of, folder_of
from scenthound.desk.api_operations import get
from scenthound.desk.shapes import ANY, INTEGER, NUMBER, TEXT, fields, list_of
from scenthound.errors import ScenthoundError
from scenthound.search.portal_categories import pages_in
from scenthound.store.text_index import INDEX, Filters, TextIndex

WORDS = params.Text("q", 'Words, "a phrase", title:word, -excluded, this OR that, prefix*.')
LIKE = params.Text("like", "Instead of words: find pages similar to this URL.")
HOSTS = params.Texts("host", "Only these hosts.")
LANGUAGES = params.Texts("language", "Only pages that declare one of these languages.")
SINCE = params.Day("since", "Only pages fetched on this day or later, such as 2026-01-31.")
UNTIL = params.Day("until", "Only pages fetched on this day or earlier.")
CATEGORY = params.Text("category", "Only pages in this category of the portal.")
LEAST = params.Share("min_relevance", "Only pages at least this relevant.")
WEIGHT = params.Share("weight", "Weight of the text match in the ranking; the rest is relevance to the topic.")
LIMIT = params.Integer("limit", "Maximum number of results.", 10, 0, 100)
OFFSET = params.Integer("offset", "Number of results to skip.", 0, 0, 10**6)
RESULTS = fields(total=INTEGER, indexed=INTEGER, weight=NUMBER, order=TEXT, results=list_of(ANY))


def search_folder(desk: Desk, path: Path, query: QueryParams) -> dict[str, Any]:
    """Search a collection with the query parameters of a request."""
    desk.processes.follow(path)
    until, category = UNTIL.of(query), CATEGORY.of(query)
    filters = Filters(
        hosts=tuple(host.lower() for host in HOSTS.of(query)),
        languages=LANGUAGES.of(query),
        least_relevance=LEAST.of(query),
        since=SINCE.of(query),
        until=None if until is None else until + engine.DAY,
        pages=tuple(pages_in(path, category)) if category else None,
    )
    weight, limit, offset = WEIGHT.of(query), LIMIT.of(query), OFFSET.of(query)
    weight = engine.WEIGHT if weight is None else weight
    if not (path / INDEX / "text.db").exists():
        return engine.Results(0, 0, engine.WEIGHT).as_plain()
    if like := LIKE.of(query):
        return engine.like(path, crawl_data.url_of(like), filters, limit, offset, weight).as_plain()
    return engine.search(path, WORDS.of(query), filters, limit, offset, weight).as_plain()


async def get_search(request: Request) -> Any:
    return await run_in_threadpool(search_folder, desk_of(request), folder_of(request), request.query_params)


def languages_of(path: Path) -> dict[str, int]:
    """The languages in the index of a crawl, with page counts; empty if there is no index."""
    try:
        with TextIndex(path / INDEX) as index:
            return index.languages()
    except ScenthoundError:
        return {}


ROUTES = [
    get(
        "/api/collections/{name}/search",
        get_search,
        "Search the text of the pages.",
        RESULTS,
        *(WORDS, LIKE, HOSTS, LANGUAGES, LEAST, SINCE, UNTIL, CATEGORY, WEIGHT, LIMIT, OFFSET),
    )
]
