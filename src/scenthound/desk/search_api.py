"""Search over what a crawl has gathered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request

from scenthound import search as engine
from scenthound.apps.portal.build_portal import pages_in
from scenthound.desk import request_parameters as read
from scenthound.desk import views
from scenthound.desk.api_base import Desk, desk_of, folder_of
from scenthound.desk.api_operations import get
from scenthound.desk.shapes import ANY, NUMBER, TEXT, WHOLE, fields, listed
from scenthound.errors import ScenthoundError
from scenthound.store.text_index import INDEX, Filters, TextIndex

WORDS = read.Words("q", 'Words, "a phrase", title:word, -without, one OR other, begin*.')
LIKE = read.Words("like", "Instead of words: pages like this one.")
HOSTS = read.Several("host", "Only these hosts.")
LANGUAGES = read.Several("language", "Only pages that declare one of these languages.")
SINCE = read.Day("since", "Only pages fetched on this day or later, as 2026-01-31.")
UNTIL = read.Day("until", "Only pages fetched before the end of this day.")
CATEGORY = read.Words("category", "Only pages that the portal of the crawl has in this category.")
LEAST = read.Share("min_relevance", "Only pages at least this relevant.")
WEIGHT = read.Share("weight", "What the match of the text counts in the order.")
LIMIT = read.Whole("limit", "How many.", 10, 0, 100)
OFFSET = read.Whole("offset", "How many to skip.", 0, 0, 10**6)
RESULTS = fields(total=WHOLE, indexed=WHOLE, weight=NUMBER, order=TEXT, results=listed(ANY))


def search_folder(desk: Desk, path: Path, query: QueryParams) -> dict[str, Any]:
    """Search with the parameters of a request."""
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
        return engine.like(path, views.url_of(like), filters, limit, offset, weight).as_plain()
    return engine.search(path, WORDS.of(query), filters, limit, offset, weight).as_plain()


async def get_search(request: Request) -> Any:
    return await run_in_threadpool(search_folder, desk_of(request), folder_of(request), request.query_params)


def languages_of(path: Path) -> dict[str, int]:
    """The languages in an index; empty if there is none."""
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
