"""Start, resume and steer crawls, and label their pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from scenthound.desk import request_parameters as read
from scenthound.desk import views
from scenthound.desk.api_base import PATIENCE, Unknown, begun, desk_of, folder_of
from scenthound.desk.api_operations import get, post
from scenthound.desk.seed_choices import allowed
from scenthound.desk.shapes import FLAG, NUMBER, TEXT, WHOLE, fields, listed
from scenthound.desk.starting import NewCrawl
from scenthound.desk.topic_api import topic_in
from scenthound.errors import BadUsage
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import ACTIONS, give_label, give_order, parse_order
from scenthound.report.explain import explain
from scenthound.store.lock import holder
from scenthound.store.order_table import Orders

MOST_SEEDS = 4_000_000  # characters
LONGEST_TOPIC = 2000

TOPIC = read.Field("topic", str, "What to look for.")
TOPIC_FILE = read.Field("topic_file", str, "The text of a topic file, which says more than the words.", "")
SEEDS = read.Field("seeds", str, "Pages to start from: one URL a line, or a bookmarks file.", "")
SOURCE = read.Field("source", str, "Without seeds: a seed source that finds some, as collections:NAME.", "")
PAGES = read.Field("pages", int, "How many pages to fetch.", 500, 1, 10**9)
DELAY = read.Field("delay", float, "Seconds between two requests to a host.", None, 0)
STRATEGY = read.Field("strategy", str, "Which algorithm chooses the next page; without it, hound.", "")
LOOKING_FOR = read.Field("looking_for", str, "What is on topic.", "auto", among=("auto", "pages", "sites"))
SCOPE = read.Field("scope", str, "Where to crawl.", "any", among=("any", "host", "domain"))
NEW = fields(name=TEXT, folder=TEXT)
FOLDER = fields(folder=TEXT)


async def start_crawl(request: Request) -> Any:
    desk, body = desk_of(request), await read.body_of(request)
    source, file = SOURCE.of(body), TOPIC_FILE.of(body)
    new = NewCrawl(
        topic=" ".join(TOPIC.of(body).split())[:LONGEST_TOPIC],
        described=topic_in(file) if file.strip() else None,
        seeds=SEEDS.of(body)[:MOST_SEEDS],
        source=allowed(desk.collections, desk.sources, source) if source else "",
        pages=PAGES.of(body),
        delay=DELAY.of(body),
        strategy=STRATEGY.of(body),
        looking_for=LOOKING_FOR.of(body),
        scope=SCOPE.of(body),
        options=desk.options,
    )
    name, path = await begun(desk, new)
    return JSONResponse({"name": name, "folder": str(path)}, 201)


async def resume_crawl(request: Request) -> Any:
    path = folder_of(request)
    await run_in_threadpool(desk_of(request).processes.resume, path)
    return {"folder": str(path)}


# ---- orders

ORDER = fields(order=WHOLE, action=TEXT, value=TEXT, time=NUMBER, taken=FLAG, outcome=TEXT)
ACTION = read.Field("action", str, "What to do.", among=tuple(ACTIONS))
VALUE = read.Field("value", str, "Of budget, seed, block and delay: the value.", "")


async def get_orders(request: Request) -> Any:
    def orders(path: Path) -> list[dict[str, Any]]:
        with CrawlFolder.look(path) as folder:
            return [order.as_plain() for order in Orders(folder.database).all()]

    return {"orders": await run_in_threadpool(orders, folder_of(request))}


async def post_order(request: Request) -> Any:
    desk, path, body = desk_of(request), folder_of(request), await read.body_of(request)
    action, value = ACTION.of(body), VALUE.of(body)
    parse_order(action, value or None)
    if action == "stop" and holder(path) is None:
        raise BadUsage("this crawl is not running", "there is nothing to stop")
    order = await run_in_threadpool(give_order, path, action, value or None, desk.clock(), PATIENCE)
    return JSONResponse(order.as_plain(), 202)


# ---- labels

URL = read.Field("url", str, "The address of a page.")
ON_TOPIC = read.Field("on_topic", bool, "Whether it is on topic.")


async def post_label(request: Request) -> Any:
    desk, path, body = desk_of(request), folder_of(request), await read.body_of(request)
    url, on_topic = views.url_of(URL.of(body)), ON_TOPIC.of(body)

    def give() -> None:
        with CrawlFolder.look(path) as folder:
            found = explain(folder, url)
        if found.state not in ("crawled", "waiting"):
            raise Unknown(f"this crawl has no such page: {found.why}", "label a page that it has fetched")
        page = found.path[-1].url if found.state == "crawled" else found.url
        give_label(path, page, on_topic, desk.clock(), PATIENCE)

    await run_in_threadpool(give)
    return JSONResponse({"url": url, "on_topic": on_topic}, 202)


ONE = "/api/collections/{name}"
ROUTES = [
    post(
        "/api/crawls",
        start_crawl,
        "Start a crawl.",
        NEW,
        (TOPIC, TOPIC_FILE, SEEDS, SOURCE, PAGES, DELAY, STRATEGY, LOOKING_FOR, SCOPE),
        201,
    ),
    post(f"{ONE}/resume", resume_crawl, "Continue a crawl that has ended.", FOLDER),
    get(f"{ONE}/orders", get_orders, "The orders given so far.", fields(orders=listed(ORDER))),
    post(f"{ONE}/orders", post_order, "Steer the crawl.", ORDER, (ACTION, VALUE), 202),
    post(f"{ONE}/labels", post_label, "Label a page.", fields(url=TEXT, on_topic=FLAG), (URL, ON_TOPIC), 202),
]
