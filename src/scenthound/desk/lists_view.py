"""The lists behind the counts of a crawl: hosts, waiting list, failed requests, links not followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from scenthound.desk import api_base, list_data, main_pages
from scenthound.desk import page_layout as layout
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get
from scenthound.desk.crawl_api import HOST
from scenthound.desk.markup import Content, Markup, element
from scenthound.desk.shapes import ANY, FLAG, INTEGER, NUMBER, TEXT, TEXTS, fields, list_of, nullable
from scenthound.report.miss_reasons import in_words
from scenthound.store.live_lists import Slice

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

Column = tuple[Content, str]
NUMBERS = "number"


def _table(columns: Sequence[Column], rows: Sequence[Sequence[Content]], about: str) -> Markup:
    head = element("tr", *(element("th", label, scope="col", class_=kind or None) for label, kind in columns))
    body = [
        element("tr", *(element("td", cell, class_=kind or None) for cell, (_, kind) in zip(row, columns, strict=True)))
        for row in rows
    ]
    table = element("table", element("thead", head), element("tbody", *body), data_sortable="true", aria_label=about)
    return element("div", table, class_="wide long broad")


def _link(name: str, url: str, text: str = "") -> Markup:
    return element("a", text or layout.short(url), href=layout.address(name, "page", url=url), title=url)


def _found_on(name: str, row: Mapping[str, Any]) -> Content:
    if row["parent"] is None:
        return "starting page"
    anchor = f"“{row['anchor'][:60]}” on " if row["anchor"].strip() else ""
    return [anchor, _link(name, row["parent"], layout.short(row["parent"], 48))]


def _number(value: int) -> str:
    return f"{value:,}"


async def _page(request: Request, title: str, about: str, content: Content, total: int, tabs: Content = None) -> str:
    path, name = api_base.folder_of(request), request.path_params["name"]
    head = element(
        "section",
        element("p", element("a", "Back to the crawl", href=layout.collection_address(name)), class_="quiet-text"),
        element("h1", title),
        element("p", about, class_="quiet-text"),
        tabs,
        class_="crawl-head",
    )
    nav = await run_in_threadpool(main_pages.nav_of, path, name, "/list")
    body = layout.card(None, content, _pagination(request, total)) if total else layout.empty("Nothing to list here")
    return layout.page(title, head, body, nav=nav)


def _pagination(request: Request, total: int) -> Content:
    """Links to the previous and next part of a long list."""
    part = _part(request)
    last = min(part.offset + part.limit, total)
    if part.offset == 0 and last >= total:
        return None

    def link(label: str, offset: int) -> Markup:
        address = request.url.include_query_params(offset=offset)
        return element("a", label, href=f"?{address.query}", class_="button")

    previous = link("Previous", max(0, part.offset - part.limit)) if part.offset else None
    following = link("Next", last) if last < total else None
    return element("p", f"{part.offset + 1:,} to {last:,} of {total:,} ", previous, " ", following, class_="quiet-text")


async def failed_page(request: Request) -> str:
    listing, name = await get_failed(request), request.path_params["name"]
    reason = REASON.of(request.query_params)
    columns = [("page", ""), ("why", ""), ("found on", "")]
    rows = [
        (
            _link(name, row["url"]),
            f"{row['in_words']}{': ' + row['detail'][:120] if _detail_adds(row) else ''}",
            _found_on(name, row),
        )
        for row in listing["rows"]
    ]
    title = f"Failed: {in_words(reason)}" if reason else "Failed"
    about = f"{_number(listing['total'])} requests failed. Latest first."
    return await _page(request, title, about, _table(columns, rows, "Failed requests"), listing["total"])


def _detail_adds(row: Mapping[str, Any]) -> bool:
    """Whether the detail says more than the reason."""
    detail = row["detail"].strip().lower()
    return bool(detail) and detail not in row["in_words"].lower()


async def waiting_page(request: Request) -> str:
    listing, name = await get_waiting(request), request.path_params["name"]
    columns = [("position", NUMBERS), ("page", ""), ("score", NUMBERS), ("found on", "")]
    rows = [
        (
            _number(row["place"]),
            _link(name, row["url"]),
            f"{row['score']:.3g}" if isinstance(row["score"], float | int) else "first",
            _found_on(name, row),
        )
        for row in listing["rows"]
    ]
    order = "The best page is next, once its host is available." if listing["is_ordered"] else ORDER_OF_AGENTS
    about = f"{_number(listing['total'])} pages are waiting to be fetched. {order}"
    table = _table(columns if listing["is_ordered"] else [("", NUMBERS), *columns[1:]], rows, "Waiting list")
    return await _page(request, "Waiting list", about, table, listing["total"])


ORDER_OF_AGENTS = "Each agent has its own list and chooses when its turn comes, so there is no common order."
ABOUT_STATE = {
    "": "",
    "with pages": "",
    "working": " Each delivered a page in the last 10 s.",
    "resting": " Each was visited a moment ago and is not contacted again until its delay is over.",
    "asleep": " Each failed too often, or had nothing relevant for a long time.",
}
ASLEEP = {"failing": "asleep: failed too often", "barren": "asleep: nothing relevant for a long time", "awake": ""}


async def hosts_page(request: Request) -> str:
    listing, name = await get_hosts(request), request.path_params["name"]
    state = STATE.of(request.query_params)
    columns = [("host", ""), ("on topic", NUMBERS), ("pages", NUMBERS), ("failures in a row", NUMBERS), ("now", "")]
    rows = [
        (
            element("a", row["host"], href=layout.collection_address(name, host=row["host"])),
            _number(row["on_topic"]),
            _number(row["pages"]),
            _number(row["failures"]),
            ASLEEP.get(row["state"], f"resting for {row['next_in'] or 0:.1f} s"),
        )
        for row in listing["rows"]
    ]
    choices = [
        element(
            "a",
            label,
            href=layout.address(name, "hosts", **({"state": value} if value else {})),
            aria_current="page" if value == state else None,
        )
        for value, label in list_data.HOST_STATES.items()
    ]
    tabs = element("nav", *choices, class_="tabs", aria_label="Filter hosts")
    count = f"{_number(listing['total'])} {'host' if listing['total'] == 1 else 'hosts'}"
    about = f"{count}.{ABOUT_STATE[state]} Select a host to see its pages."
    return await _page(request, "Hosts", about, _table(columns, rows, "Hosts"), listing["total"], tabs)


async def not_followed_page(request: Request) -> str:
    listing, name = await get_not_followed(request), request.path_params["name"]
    reason, host = REASON.of(request.query_params), HOST.of(request.query_params)
    columns = [("host", ""), ("why", ""), ("links", NUMBERS)]
    rows = [
        (
            element("a", _host_label(row["host"]), href=layout.address(name, "not-followed", host=row["host"])),
            row["in_words"],
            _number(row["times"]),
        )
        for row in listing["rows"]
    ]
    title = f"Not followed: {in_words(reason)}" if reason else f"Not followed{f' on {host}' if host else ''}"
    about = (
        f"{_number(listing['links'])} links were found but not followed, counted by host. Select a host to see "
        "addresses found there."
    )
    content: list[Content] = [_table(columns, rows, "Links not followed")]
    if listing["left"]:
        patterns = [element("li", _pattern(facts)) for facts in listing["left"][:MOST]]
        content += [element("h2", "Address patterns that led to nothing new"), element("ul", *patterns)]
    if listing["urls"]:
        seen = [element("li", _link(name, url)) for url in listing["urls"]]
        content += [
            element("h2", "Found on this host, neither fetched nor waiting"),
            element("ul", *seen, class_="plain"),
        ]
    return await _page(request, title, about, content, listing["total"])


def _host_label(host: str) -> str:
    return "other hosts" if host == "*" else host or "no host"


def _pattern(facts: Mapping[str, Any]) -> str:
    return f"{facts.get('pattern', '')} on {facts.get('host', '')}: {facts.get('pages', 0)} pages"[:200]


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
