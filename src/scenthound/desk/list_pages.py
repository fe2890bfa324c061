"""The lists behind the counts of a crawl: hosts, waiting list, failed requests, links not followed."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from scenthound.desk import api_base, list_data, main_pages
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get
from scenthound.desk.crawl_api import HOST
from scenthound.desk.live_lists import Slice
from scenthound.desk.shapes import ANY, FLAG, INTEGER, NUMBER, TEXT, TEXTS, fields, list_of, nullable

MOST = 200
REASON = params.Text("reason", "Only this reason.")
STATE = params.Choice("state", "Only hosts in this state.", {state: state for state in list_data.HOST_STATES})
LIMIT = params.Integer("limit", "Maximum number of rows.", 100, 1, MOST)
OFFSET = params.Integer("offset", "Number of rows to skip.", 0, 0, 10**9)
SCORE = {"type": ["number", "string"]}
LOST = fields(
    **dict.fromkeys(("url", "reason", "in_words", "detail", "anchor"), TEXT), parent=nullable(TEXT), time=NUMBER
)
WAITS = fields(url=TEXT, anchor=TEXT, parent=nullable(TEXT), depth=INTEGER, place=INTEGER, score=SCORE)
LEFT_OUT = fields(host=TEXT, reason=TEXT, in_words=TEXT, times=INTEGER)
HOST_ROW = fields(
    host=TEXT,
    state=TEXT,
    **dict.fromkeys(("pages", "on_topic", "failures"), INTEGER),
    next_in=nullable(NUMBER),
    is_working=FLAG,
)


def _part(request: Request) -> Slice:
    return Slice(LIMIT.of(request.query_params), OFFSET.of(request.query_params))


# ---- the API


async def get_failed(request: Request) -> Any:
    reason = REASON.of(request.query_params)
    return await run_in_threadpool(list_data.failed, api_base.folder_of(request), reason, _part(request))


async def get_waiting(request: Request) -> Any:
    return await run_in_threadpool(list_data.waiting, api_base.folder_of(request), _part(request))


async def get_hosts(request: Request) -> Any:
    state, now = STATE.of(request.query_params), api_base.desk_of(request).clock()
    return await run_in_threadpool(list_data.hosts, api_base.folder_of(request), state, now, _part(request))


async def get_not_followed(request: Request) -> Any:
    reason, host = REASON.of(request.query_params), HOST.of(request.query_params)
    return await run_in_threadpool(list_data.not_followed, api_base.folder_of(request), reason, host, _part(request))


# ---- the pages


async def _page(request: Request, template: str, listing: dict[str, Any], **values: Any) -> str:
    """Render a list, with links to its previous and next part if it is long."""
    part, total = _part(request), listing["total"]
    last = min(part.offset + part.limit, total)

    def at(offset: int) -> str:
        return request.url.include_query_params(offset=offset).query

    return await main_pages.collection_page(
        request,
        template,
        listing=listing,
        first=part.offset + 1,
        last=last,
        previous=at(max(0, part.offset - part.limit)) if part.offset else None,
        next=at(last) if last < total else None,
        **values,
    )


async def failed_page(request: Request) -> str:
    return await _page(request, "failed.html", await get_failed(request), reason=REASON.of(request.query_params))


async def waiting_page(request: Request) -> str:
    return await _page(request, "waiting.html", await get_waiting(request))


async def hosts_page(request: Request) -> str:
    state = STATE.of(request.query_params)
    return await _page(request, "hosts.html", await get_hosts(request), state=state, states=list_data.HOST_STATES)


async def not_followed_page(request: Request) -> str:
    reason, host = REASON.of(request.query_params), HOST.of(request.query_params)
    return await _page(
        request, "not_followed.html", await get_not_followed(request), reason=reason, host=host, most=MOST
    )


_ONE = "/api/collections/{name}"
PART = (LIMIT, OFFSET)
NOT_FOLLOWED = fields(total=INTEGER, links=INTEGER, rows=list_of(LEFT_OUT), urls=TEXTS, left=list_of(ANY))
ROUTES = [
    get(f"{_ONE}/failed", get_failed, "Failed requests.", fields(total=INTEGER, rows=list_of(LOST)), REASON, *PART),
    get(
        f"{_ONE}/waiting",
        get_waiting,
        "The waiting list.",
        fields(total=INTEGER, is_ordered=FLAG, rows=list_of(WAITS)),
        *PART,
    ),
    get(
        f"{_ONE}/hosts", get_hosts, "The hosts of a crawl.", fields(total=INTEGER, rows=list_of(HOST_ROW)), STATE, *PART
    ),
    get(
        f"{_ONE}/not-followed",
        get_not_followed,
        "Links not followed, by host and reason.",
        NOT_FOLLOWED,
        REASON,
        HOST,
        *PART,
    ),
    Route("/c/{name}/failed", main_pages.html_page(failed_page)),
    Route("/c/{name}/waiting", main_pages.html_page(waiting_page)),
    Route("/c/{name}/hosts", main_pages.html_page(hosts_page)),
    Route("/c/{name}/not-followed", main_pages.html_page(not_followed_page)),
]
