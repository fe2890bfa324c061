"""Collections and what is known of each: figures, pages, explanations, links."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from scenthound.desk import request_parameters as read
from scenthound.desk import views
from scenthound.desk.api_base import Desk, Unknown, desk_of, folder_of, listing, overview
from scenthound.desk.api_operations import description, get, post
from scenthound.desk.shapes import ANY, FLAG, NUMBER, TEXT, TEXTS, WHOLE, fields, listed, maybe
from scenthound.desk.watching import Watch
from scenthound.store.live_queries import Wanted

EVERY = 1.0  # seconds between two looks at a crawl that is shown
QUIET = 15.0  # seconds after which a comment keeps the connection open
METRICS = "text/plain; version=0.0.4"

# ---- all collections

COLLECTION = fields(name=TEXT, folder=TEXT, topic=TEXT, pages=WHOLE, budget=WHOLE, state=TEXT, error=TEXT)
FOLDER = read.Field("folder", str, "A folder on this machine.")


async def get_collections(request: Request) -> Any:
    return {"collections": await run_in_threadpool(listing, desk_of(request))}


async def open_collection(request: Request) -> Any:
    path = Path(FOLDER.of(await read.body_of(request)))
    opened = await run_in_threadpool(desk_of(request).collections.open, path)
    return {"names": opened.crawls, "experiments": opened.experiments}


async def get_metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    rows = await run_in_threadpool(listing, desk_of(request))
    lines = ["# HELP scenthound_pages Pages of a crawl.", "# TYPE scenthound_pages gauge"]
    lines += [f'scenthound_pages{{collection="{row["name"]}"}} {row["pages"]}' for row in rows]
    lines += ["# HELP scenthound_running Whether a crawl runs.", "# TYPE scenthound_running gauge"]
    lines += [f'scenthound_running{{collection="{row["name"]}"}} {int(row["state"] == "running")}' for row in rows]
    return PlainTextResponse("\n".join(lines) + "\n", media_type=METRICS)


async def get_openapi(request: Request) -> Any:
    return description(request.app.routes)


# ---- the figures of one

OVERVIEW = fields(
    ["name", "topic", "state", "pages", "budget", "share"],
    **dict.fromkeys(("name", "folder", "topic", "strategy", "state", "state_in_words", "why", "outlook"), TEXT),
    **dict.fromkeys(("pages", "budget", "on_topic", "recent", "bytes", "waiting"), WHOLE),
    **dict.fromkeys(("share", "share_recent", "pages_per_second"), NUMBER),
    **dict.fromkeys(("expected", "expected_share", "exploration"), maybe(NUMBER)),
    **dict.fromkeys(("hosts", "failed", "not_followed", "in_words"), ANY),
    is_running=FLAG,
    blocked=TEXTS,
    curve=listed(listed(NUMBER)),
)


async def get_collection(request: Request) -> Any:
    desk, path = desk_of(request), folder_of(request)
    await run_in_threadpool(desk.processes.follow, path)
    return await run_in_threadpool(overview, desk, request.path_params["name"], path)


async def get_events(request: Request) -> Response:
    """Server-sent events: `overview` whenever the figures have changed."""
    desk, path, name = desk_of(request), folder_of(request), request.path_params["name"]
    return StreamingResponse(_events(desk, path, name), media_type="text/event-stream")


async def _events(desk: Desk, path: Path, name: str) -> AsyncIterator[str]:
    loop, executor = asyncio.get_running_loop(), ThreadPoolExecutor(1)  # a database belongs to one thread
    watch = await loop.run_in_executor(executor, Watch, path)
    sent, sent_at = "", 0.0

    def look() -> str:
        if watch.refresh() or not sent:
            desk.processes.follow(path)
        return json.dumps({"name": name, "folder": str(path), **watch.overview(desk.clock())}, allow_nan=False)

    try:
        while not desk.is_closing:
            now = await loop.run_in_executor(executor, look)
            if now != sent:
                sent, sent_at = now, loop.time()
                yield f"event: overview\ndata: {now}\n\n"
            elif loop.time() - sent_at > QUIET:
                sent_at = loop.time()
                yield ": still here\n\n"
            await asyncio.sleep(EVERY)
    finally:
        executor.submit(watch.close)
        executor.shutdown(wait=False)


# ---- its pages

PAGE = fields(
    ["n", "url", "title", "relevance"],
    **dict.fromkeys(("url", "host", "title", "anchor"), TEXT),
    **dict.fromkeys(("n", "depth"), WHOLE),
    **dict.fromkeys(("relevance", "time"), NUMBER),
    **dict.fromkeys(("parent", "label"), maybe(TEXT)),
    on_topic=FLAG,
    score={"type": ["number", "string"]},
    why=TEXTS,
    snippet=listed(fields(text=TEXT, marked=FLAG)),
)
ORDER = read.Among("order", "Which come first.", {"new": "new", "best": "best"})
HOST = read.Words("host", "Only this host.")
LEAST = read.Share("min_relevance", "Only pages at least this relevant.")
ON_TOPIC = read.Among("on_topic", "Only pages that the judge calls on topic.", {"": None, "yes": True, "no": False})
LABEL = read.Among("label", "Only pages with this label.", {"": None, "on": True, "off": False})
LIMIT = read.Whole("limit", "How many.", 30, 0, 200)
OFFSET = read.Whole("offset", "How many to skip.", 0, 0, 10**9)


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
    return await run_in_threadpool(views.pages, path, wanted)


# ---- one page

URL = read.Words("url", "The address of a page.", is_required=True)
EXPLANATION = fields(["url", "state", "why", "path"], url=TEXT, state=TEXT, why=TEXT, path=listed(ANY))
LINKS = fields(url=TEXT, links=listed(fields(url=TEXT, anchor=TEXT, state=TEXT, detail=TEXT)), counts=ANY)


async def get_explanation(request: Request) -> Any:
    path, url = folder_of(request), URL.of(request.query_params)
    return await run_in_threadpool(views.explanation, path, url, desk_of(request).clock())


async def get_links(request: Request) -> Any:
    path, url = folder_of(request), URL.of(request.query_params)
    found = await run_in_threadpool(views.links, path, url)
    if found is None:
        raise Unknown("this page is not stored", "only fetched pages have links")
    return found


ALL, ONE = "/api/collections", "/api/collections/{name}"
EVENTS = "The figures whenever they change, as server-sent events."
ROUTES = [
    get(ALL, get_collections, "All collections.", fields(collections=listed(COLLECTION))),
    post(
        ALL,
        open_collection,
        "Open the folder of a crawl or an experiment.",
        fields(names=TEXTS, experiments=TEXTS),
        (FOLDER,),
    ),
    get(ONE, get_collection, "The figures of a crawl.", OVERVIEW),
    get(f"{ONE}/events", get_events, EVENTS, TEXT, kinds=["text/event-stream"]),
    get(
        f"{ONE}/pages",
        get_pages,
        "Fetched pages.",
        fields(pages=listed(PAGE), total=WHOLE),
        *(ORDER, HOST, LEAST, ON_TOPIC, LABEL, LIMIT, OFFSET),
    ),
    get(f"{ONE}/explanation", get_explanation, "Why a page was fetched, or not.", EXPLANATION, URL),
    get(f"{ONE}/links", get_links, "The links of a stored page, and what became of them.", LINKS, URL),
    get("/api/openapi.json", get_openapi, "This description.", ANY),
    get("/metrics", get_metrics, "Figures for Prometheus.", TEXT, kinds=[METRICS]),
]
