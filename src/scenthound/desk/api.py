"""The JSON API of the desk. What a page can do, a script can do; `openapi` describes it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from scenthound import search as engine
from scenthound.apps.companion import Companion
from scenthound.desk import parameters as read
from scenthound.desk import views
from scenthound.desk.collections import Collections
from scenthound.desk.pairing import Pairings
from scenthound.desk.security import Access, refused
from scenthound.desk.seed_choices import allowed
from scenthound.desk.starting import NewCrawl, Processes
from scenthound.desk.watching import Watch
from scenthound.errors import BadUsage, FolderInUse, OurFault, ScenthoundError
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import ACTIONS, give_label, give_order, parse_order
from scenthound.report.explain import explain
from scenthound.store.live_queries import Wanted
from scenthound.store.lock import holder
from scenthound.store.order_table import Orders
from scenthound.store.text_index import INDEX, Filters, TextIndex

EVERY = 1.0  # seconds between two looks at a crawl that is shown
QUIET = 15.0  # seconds after which a comment keeps the connection open
PATIENCE = 10.0  # seconds to wait for a busy crawl
LABELS = {"": None, "on": True, "off": False}
MOST_SEEDS = 4_000_000  # characters


@dataclass(slots=True)
class Desk:
    """What all requests share."""

    access: Access
    collections: Collections
    processes: Processes = field(default_factory=Processes)
    options: tuple[str, ...] = ()
    """Further words for the command that starts a crawl."""
    sources: tuple[str, ...] = ()
    """Seed sources that the first page offers."""
    questions: set[Path] = field(default_factory=set)
    """Crawls that answer a question and were not kept yet: these, and no others, may be thrown away."""
    companion: Companion | None = None
    pairings: Pairings | None = None
    """The extensions that may use the companion."""
    is_closing: bool = False
    clock: Callable[[], float] = time.time


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def folder_of(request: Request) -> Path:
    """The folder that the address names. Raises `Unknown`."""
    name = request.path_params["name"]
    path = desk_of(request).collections.find(name)
    if path is None:
        raise Unknown(f"no collection called `{name[:80]}`", "GET /api/collections lists them")
    return path


class Unknown(OurFault):
    """The address names nothing that there is."""


Handler = Callable[[Request], Awaitable[Any]]


def status_of(error: ScenthoundError) -> int:
    kinds = {Unknown: 404, FolderInUse: 409, read.TooMuch: 413}
    return next((status for kind, status in kinds.items() if isinstance(error, kind)), 400)


def answers(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Turn what a handler returns into JSON, and its errors into statuses."""

    @wraps(handler)
    async def answer(request: Request) -> Response:
        try:
            result = await handler(request)
        except ScenthoundError as error:
            return refused(status_of(error), error.message, error.hint)
        return result if isinstance(result, Response) else JSONResponse(result)

    return answer


def overview(desk: Desk, name: str, path: Path) -> dict[str, Any]:
    """The figures of a crawl, read from the beginning."""
    watch = Watch(path)
    try:
        watch.refresh()
        return {"name": name, "folder": str(path), **watch.overview(desk.clock())}
    finally:
        watch.close()


def listing(desk: Desk) -> list[dict[str, Any]]:
    """All collections, those that run first, then by name."""
    rows = []
    for name, path in desk.collections.all().items():
        try:
            with CrawlFolder.look(path) as folder:
                state = "running" if holder(path) is not None else "ended"
                if state == "running" and Orders(folder.database).is_paused():
                    state = "paused"
                topic, pages = folder.request.topic.keywords, len(folder.history)
                rows.append(
                    {
                        "name": name,
                        "folder": str(path),
                        "topic": topic,
                        "pages": pages,
                        "budget": folder.budget,
                        "state": state,
                        "error": "",
                    }
                )
        except ScenthoundError as error:
            rows.append(
                {
                    "name": name,
                    "folder": str(path),
                    "topic": "",
                    "pages": 0,
                    "budget": 0,
                    "state": "broken",
                    "error": error.message,
                }
            )
    return sorted(rows, key=lambda row: (row["state"] not in ("running", "paused"), str(row["name"])))


async def get_collections(request: Request) -> Any:
    return {"collections": await run_in_threadpool(listing, desk_of(request))}


async def open_collection(request: Request) -> Any:
    body = await read.body_of(request)
    path = Path(read.field(body, "folder", str))
    if "\0" in str(path):
        raise BadUsage("not a folder", "name a folder that a crawl was written to")
    opened = await run_in_threadpool(desk_of(request).collections.open, path)
    return {"names": opened.crawls, "experiments": opened.experiments}


async def start_crawl(request: Request) -> Any:
    desk, body = desk_of(request), await read.body_of(request)
    source = read.field(body, "source", str, "")
    new = NewCrawl(
        topic=" ".join(read.field(body, "topic", str).split())[:2000],
        seeds=read.field(body, "seeds", str, "")[:MOST_SEEDS],
        source=allowed(desk.collections, desk.sources, source) if source else "",
        pages=read.field(body, "pages", int, 500),
        delay=read.field(body, "delay", float) if "delay" in body else None,
        strategy=read.field(body, "strategy", str, ""),
        scope=read.field(body, "scope", str, "any"),
        options=desk.options,
    )
    if not 1 <= new.pages <= 10**9:
        raise BadUsage("not a number of pages", "it is a whole number from 1 on")
    if new.scope not in ("any", "host", "domain"):
        raise BadUsage("not a scope", "there are: any, host, domain")
    name, path = await begun(desk, new)
    return JSONResponse({"name": name, "folder": str(path)}, 201)


async def begun(desk: Desk, new: NewCrawl) -> tuple[str, Path]:
    """Start a crawl in the desk's home folder; gives its name and its folder."""
    path = desk.collections.free_path(new.topic)
    await run_in_threadpool(desk.processes.start_crawl, path, new)
    opened = await run_in_threadpool(desk.collections.open, path)
    return opened.crawls[0], path


async def resume_crawl(request: Request) -> Any:
    path = folder_of(request)
    await run_in_threadpool(desk_of(request).processes.resume, path)
    return {"folder": str(path)}


async def get_collection(request: Request) -> Any:
    desk, path = desk_of(request), folder_of(request)
    await run_in_threadpool(desk.processes.follow, path)
    return await run_in_threadpool(overview, desk, request.path_params["name"], path)


async def get_pages(request: Request) -> Any:
    path, query = folder_of(request), request.query_params
    wanted = Wanted(
        order=read.among(query, "order", {"new": "new", "best": "best"}),
        host=query.get("host", "")[:300],
        on_topic=read.among(query, "on_topic", {"": None, "yes": True, "no": False}),
        least=read.share(query, "min_relevance"),
        label=read.among(query, "label", LABELS),
        limit=read.whole(query, "limit", 30, 0, 200),
        offset=read.whole(query, "offset", 0, 0, 10**9),
    )
    return await run_in_threadpool(views.pages, path, wanted)


async def get_explanation(request: Request) -> Any:
    path, url = folder_of(request), read.required(request.query_params, "url")
    return await run_in_threadpool(views.explanation, path, url)


async def get_links(request: Request) -> Any:
    path, url = folder_of(request), read.required(request.query_params, "url")
    found = await run_in_threadpool(views.links, path, url)
    if found is None:
        raise Unknown("this page is not stored", "only fetched pages have links")
    return found


def search_folder(desk: Desk, path: Path, query: Any) -> dict[str, Any]:
    """Search with the parameters of a request."""
    desk.processes.follow(path)
    filters = Filters(
        hosts=tuple(host.lower() for host in query.getlist("host") if host)[:20],
        languages=tuple(query.getlist("language"))[:20] if query.get("language") else (),
        least_relevance=read.share(query, "min_relevance"),
    )
    weight = read.share(query, "weight")
    limit, offset = read.whole(query, "limit", 10, 0, 100), read.whole(query, "offset", 0, 0, 10**6)
    like, words = query.get("like", "").strip(), query.get("q", "")
    if not (path / INDEX / "text.db").exists():
        return engine.Results(0, 0, engine.WEIGHT).as_plain()
    if like:
        results = engine.like(
            path, views.url_of(like), filters, limit, offset, engine.WEIGHT if weight is None else weight
        )
    else:
        results = engine.search(path, words, filters, limit, offset, engine.WEIGHT if weight is None else weight)
    return results.as_plain()


async def get_search(request: Request) -> Any:
    return await run_in_threadpool(search_folder, desk_of(request), folder_of(request), request.query_params)


async def get_orders(request: Request) -> Any:
    def orders(path: Path) -> list[dict[str, Any]]:
        with CrawlFolder.look(path) as folder:
            return [order.as_plain() for order in Orders(folder.database).all()]

    return {"orders": await run_in_threadpool(orders, folder_of(request))}


async def post_order(request: Request) -> Any:
    desk, path, body = desk_of(request), folder_of(request), await read.body_of(request)
    action, value = read.field(body, "action", str), read.field(body, "value", str, "")
    parse_order(action, value or None)
    if action == "stop" and holder(path) is None:
        raise BadUsage("this crawl is not running", "there is nothing to stop")
    order = await run_in_threadpool(give_order, path, action, value or None, desk.clock(), PATIENCE)
    return JSONResponse(order.as_plain(), 202)


async def post_label(request: Request) -> Any:
    desk, path, body = desk_of(request), folder_of(request), await read.body_of(request)
    url, on_topic = views.url_of(read.field(body, "url", str)), read.field(body, "on_topic", bool)

    def give() -> None:
        with CrawlFolder.look(path) as folder:
            found = explain(folder, url)
        if found.state not in ("crawled", "waiting"):
            raise Unknown(f"this crawl has no such page: {found.why}", "label a page that it has fetched")
        page = found.path[-1].url if found.state == "crawled" else found.url
        give_label(path, page, on_topic, desk.clock(), PATIENCE)

    await run_in_threadpool(give)
    return JSONResponse({"url": url, "on_topic": on_topic}, 202)


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


async def get_metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    rows = await run_in_threadpool(listing, desk_of(request))
    lines = ["# HELP scenthound_pages Pages of a crawl.", "# TYPE scenthound_pages gauge"]
    lines += [f'scenthound_pages{{collection="{row["name"]}"}} {row["pages"]}' for row in rows]
    lines += ["# HELP scenthound_running Whether a crawl runs.", "# TYPE scenthound_running gauge"]
    lines += [f'scenthound_running{{collection="{row["name"]}"}} {int(row["state"] == "running")}' for row in rows]
    return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


async def get_openapi(request: Request) -> Any:
    from scenthound.desk.openapi import description

    return description()


def languages_of(path: Path) -> dict[str, int]:
    """The languages in an index; empty if there is none."""
    try:
        with TextIndex(path / INDEX) as index:
            return index.languages()
    except ScenthoundError:
        return {}


ROUTES = [
    Route("/api/collections", answers(get_collections), methods=["GET"]),
    Route("/api/collections", answers(open_collection), methods=["POST"]),
    Route("/api/crawls", answers(start_crawl), methods=["POST"]),
    Route("/api/collections/{name}", answers(get_collection), methods=["GET"]),
    Route("/api/collections/{name}/events", answers(get_events), methods=["GET"]),
    Route("/api/collections/{name}/pages", answers(get_pages), methods=["GET"]),
    Route("/api/collections/{name}/explanation", answers(get_explanation), methods=["GET"]),
    Route("/api/collections/{name}/links", answers(get_links), methods=["GET"]),
    Route("/api/collections/{name}/search", answers(get_search), methods=["GET"]),
    Route("/api/collections/{name}/orders", answers(get_orders), methods=["GET"]),
    Route("/api/collections/{name}/orders", answers(post_order), methods=["POST"]),
    Route("/api/collections/{name}/labels", answers(post_label), methods=["POST"]),
    Route("/api/collections/{name}/resume", answers(resume_crawl), methods=["POST"]),
    Route("/api/openapi.json", answers(get_openapi), methods=["GET"]),
    Route("/metrics", answers(get_metrics), methods=["GET"]),
]
ACTION_NAMES = tuple(ACTIONS)
