"""The API for collections: figures, pages, explanations and links."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from scenthound.desk import crawl_data
from scenthound.desk import request_parameters as params
from scenthound.desk.api_base import Desk, NotFound, desk_of, folder_of, listing, overview
from scenthound.desk.api_operations import description, get, post
from scenthound.desk.crawl_watch import Watch
from scenthound.desk.live_queries import Wanted
from scenthound.desk.shapes import ANY, FLAG, INTEGER, NUMBER, TEXT, TEXTS, fields, list_of, nullable

POLL_INTERVAL = 1.0  # seconds between two reads of a crawl that is being watched
KEEP_ALIVE = 15.0  # seconds without an event after which a comment is sent
METRICS = "text/plain; version=0.0.4"

# ---- all collections

COLLECTION = fields(name=TEXT, folder=TEXT, topic=TEXT, pages=INTEGER, budget=INTEGER, state=TEXT, error=TEXT)


class FolderToOpen(Struct):
    folder: Annotated[str, Meta(description="The path of a folder on this machine.")]


async def get_collections(request: Request) -> Any:
    return {"collections": await run_in_threadpool(listing, desk_of(request))}


async def open_collection(request: Request) -> Any:
    body = await params.body_of(request, FolderToOpen)
    opened = await run_in_threadpool(desk_of(request).collections.open, Path(body.folder))
    return {"names": opened.crawls, "experiments": opened.experiments}


async def get_metrics(request: Request) -> Response:
    """Metrics for Prometheus."""
    rows = await run_in_threadpool(listing, desk_of(request))
    lines = ["# HELP scenthound_pages Number of pages fetched by a crawl.", "# TYPE scenthound_pages gauge"]
    lines += [f'scenthound_pages{{collection="{row["name"]}"}} {row["pages"]}' for row in rows]
    lines += ["# HELP scenthound_running Whether a crawl is running.", "# TYPE scenthound_running gauge"]
    lines += [f'scenthound_running{{collection="{row["name"]}"}} {int(row["state"] == "running")}' for row in rows]
    return PlainTextResponse("\n".join(lines) + "\n", media_type=METRICS)


async def get_openapi(request: Request) -> Any:
    return description(request.app.routes)


# ---- the figures of one collection

OVERVIEW = fields(
    ["name", "topic", "state", "pages", "budget", "share"],
    **dict.fromkeys(("name", "folder", "topic", "strategy", "state", "state_in_words", "why", "outlook"), TEXT),
    **dict.fromkeys(("links_in_words", "looking_for", "looking_for_in_words"), TEXT),
    **dict.fromkeys(("pages", "budget", "on_topic", "recent", "bytes", "waiting"), INTEGER),
    **dict.fromkeys(("share", "share_recent", "pages_per_second"), NUMBER),
    **dict.fromkeys(("expected", "expected_share", "exploration"), nullable(NUMBER)),
    **dict.fromkeys(("hosts", "failed", "not_followed", "links", "in_words"), ANY),
    is_running=FLAG,
    blocked=TEXTS,
    curve=list_of(list_of(NUMBER)),
)


async def get_collection(request: Request) -> Any:
    desk, path = desk_of(request), folder_of(request)
    await run_in_threadpool(desk.processes.follow, path)
    return await run_in_threadpool(overview, desk, request.path_params["name"], path)


async def get_events(request: Request) -> Response:
    """Server-sent events: `overview` whenever the figures change."""
    desk, path, name = desk_of(request), folder_of(request), request.path_params["name"]
    return StreamingResponse(_events(desk, path, name), media_type="text/event-stream")


async def _events(desk: Desk, path: Path, name: str) -> AsyncIterator[str]:
    loop, executor = asyncio.get_running_loop(), ThreadPoolExecutor(1)  # the database connection belongs to one thread
    watch = await loop.run_in_executor(executor, Watch, path)
    sent, sent_at = "", 0.0

    def read_overview() -> str:
        if watch.refresh() or not sent:
            desk.processes.follow(path)
        return json.dumps({"name": name, "folder": str(path), **watch.overview(desk.clock())}, allow_nan=False)

    try:
        while not desk.is_closing:
            current = await loop.run_in_executor(executor, read_overview)
            if current != sent:
                sent, sent_at = current, loop.time()
                yield f"event: overview\ndata: {current}\n\n"
            elif loop.time() - sent_at > KEEP_ALIVE:
                sent_at = loop.time()
                yield ": still here\n\n"
            await asyncio.sleep(POLL_INTERVAL)
    finally:
        executor.submit(watch.close)
        executor.shutdown(wait=False)


# ---- the pages of a collection

PAGE = fields(
    ["n", "url", "title", "relevance"],
    **dict.fromkeys(("url", "host", "title", "anchor"), TEXT),
    **dict.fromkeys(("n", "depth"), INTEGER),
    **dict.fromkeys(("relevance", "time"), NUMBER),
    **dict.fromkeys(("parent", "label"), nullable(TEXT)),
    on_topic=FLAG,
    score=nullable(NUMBER),
    why=TEXTS,
    snippet=list_of(fields(text=TEXT, marked=FLAG)),
)
ORDER = params.Choice("order", "Sort order.", {"new": "new", "best": "best"})
HOST = params.Text("host", "Only this host.")
LEAST = params.Share("min_relevance", "Only pages at least this relevant.")
ON_TOPIC = params.Choice(
    "on_topic",
    "Only pages that the judge considers on topic (yes) or off topic (no).",
    {"": None, "yes": True, "no": False},
)
LABEL = params.Choice("label", "Only pages with this label.", {"": None, "on": True, "off": False})
LIMIT = params.Integer("limit", "Maximum number of pages.", 30, 0, 200)
OFFSET = params.Integer("offset", "Number of pages to skip.", 0, 0, 10**9)


async def get_pages(request: Request) -> Any:
    path, query = folder_of(request), request.query_params
    wanted = Wanted(
        order=ORDER.of(query),
        host=HOST.of(query),
        on_topic=ON_TOPIC.of(query),
        least=LEAST.of(query),
        label=LABEL.of(query),
        limit=LIMIT.of(query),
        offset=OFFSET.of(query),
    )
    return await run_in_threadpool(crawl_data.pages, path, wanted)


# ---- one page

URL = params.Text("url", "The URL of a page.", is_required=True)
EXPLANATION = fields(["url", "state", "why", "path"], url=TEXT, state=TEXT, why=TEXT, path=list_of(ANY))
LINKS = fields(url=TEXT, links=list_of(fields(url=TEXT, anchor=TEXT, state=TEXT, detail=TEXT)), counts=ANY)


async def get_explanation(request: Request) -> Any:
    path, url = folder_of(request), URL.of(request.query_params)
    return await run_in_threadpool(crawl_data.explanation, path, url, desk_of(request).clock())


async def get_links(request: Request) -> Any:
    path, url = folder_of(request), URL.of(request.query_params)
    links = await run_in_threadpool(crawl_data.links, path, url)
    if links is None:
        raise NotFound("this page is not stored", "links are known only for stored pages")
    return links


ALL, ONE = "/api/collections", "/api/collections/{name}"
EVENTS = "The figures of a crawl whenever they change, as server-sent events."
ROUTES = [
    get(ALL, get_collections, "All collections.", fields(collections=list_of(COLLECTION))),
    post(
        ALL,
        open_collection,
        "Open the folder of a crawl or an experiment.",
        fields(names=TEXTS, experiments=TEXTS),
        FolderToOpen,
    ),
    get(ONE, get_collection, "The figures of a crawl.", OVERVIEW),
    get(f"{ONE}/events", get_events, EVENTS, TEXT, kinds=["text/event-stream"]),
    get(
        f"{ONE}/pages",
        get_pages,
        "Fetched pages.",
        fields(pages=list_of(PAGE), total=INTEGER),
        *(ORDER, HOST, LEAST, ON_TOPIC, LABEL, LIMIT, OFFSET),
    ),
    get(f"{ONE}/explanation", get_explanation, "Why a page was fetched or not.", EXPLANATION, URL),
    get(f"{ONE}/links", get_links, "The links of a stored page, each with its state.", LINKS, URL),
    get("/api/openapi.json", get_openapi, "This description.", ANY),
    get("/metrics", get_metrics, "Metrics for Prometheus.", TEXT, kinds=[METRICS]),
]
