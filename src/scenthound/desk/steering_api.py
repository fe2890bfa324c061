"""The API to start, resume and steer crawls, and to label their pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from scenthound.desk import crawl_data
from scenthound.desk import request_parameters as params
from scenthound.desk.api_base import PATIENCE, NotFound, desk_of, folder_of, start_new_crawl
from scenthound.desk.api_operations import get, post
from scenthound.desk.seed_choices import checked_source
from scenthound.desk.shapes import FLAG, INTEGER, NUMBER, TEXT, fields, list_of
from scenthound.desk.start_processes import NewCrawl
from scenthound.desk.topic_api import parse_topic_file
from scenthound.errors import BadUsage
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import ActionName, give_label, give_order, parse_order
from scenthound.report.explain import explain
from scenthound.store.lock import holder
from scenthound.store.order_table import Orders

MOST_SEEDS = 4_000_000  # characters
LONGEST_TOPIC = 2000

TopicWords = Annotated[str, Meta(description="What to look for.")]
SeedText = Annotated[str, Meta(description="Starting pages: one URL per line, or a bookmarks file.")]
SeedSource = Annotated[str, Meta(description="A seed source to use if there are no seeds, such as collections:NAME.")]
ABOUT_FILE = "The content of a topic file, which can contain more than keywords."
ABOUT_TARGET = "Whether to look for pages or for whole sites; if empty, what the topic file says, or else pages."
NEW = fields(name=TEXT, folder=TEXT)
FOLDER = fields(folder=TEXT)


WhatFor = Annotated[Literal["", "pages", "sites"], Meta(description=ABOUT_TARGET)]


class NewCrawlRequest(Struct):
    topic: TopicWords
    topic_file: Annotated[str, Meta(description=ABOUT_FILE)] = ""
    seeds: SeedText = ""
    source: SeedSource = ""
    pages: Annotated[int, Meta(ge=1, le=10**9, description="How many pages to fetch.")] = 500
    delay: (
        Annotated[float, Meta(ge=0, le=86_400, description="Seconds between two requests to a host.")] | UnsetType
    ) = UNSET
    strategy: Annotated[str, Meta(description="The strategy that chooses the next page; hound by default.")] = ""
    looking_for: WhatFor = ""
    scope: Annotated[Literal["any", "host", "domain"], Meta(description="Where to crawl.")] = "any"


async def start_crawl(request: Request) -> Any:
    desk, body = desk_of(request), await params.body_of(request, NewCrawlRequest)
    new = NewCrawl(
        topic=" ".join(body.topic.split())[:LONGEST_TOPIC],
        described_topic=parse_topic_file(body.topic_file) if body.topic_file.strip() else None,
        seeds=body.seeds[:MOST_SEEDS],
        source=checked_source(desk.collections, desk.sources, body.source) if body.source else "",
        pages=body.pages,
        delay=None if body.delay is UNSET else body.delay,
        strategy=body.strategy,
        looking_for=body.looking_for,
        scope=body.scope,
        options=desk.options,
    )
    name, path = await start_new_crawl(desk, new)
    return JSONResponse({"name": name, "folder": str(path)}, 201)


async def resume_crawl(request: Request) -> Any:
    path = folder_of(request)
    note = await run_in_threadpool(_spent, path)
    await run_in_threadpool(desk_of(request).processes.resume, path)
    return {"folder": str(path), "note": note}


def _spent(path: Path) -> str:
    """A sentence for a crawl that has fetched all the pages it may; empty for others."""
    with CrawlFolder.look(path) as folder:
        pages, budget = len(folder.history), folder.budget
        for order in Orders(folder.database).pending():
            budget = int(order.value) if order.action == "budget" and order.value.isdecimal() else budget
    if pages < budget:
        return ""
    return f"All {budget:,} pages have been fetched, so no more will be. Set a larger budget under More…, then resume."


# ---- orders

ORDER = fields(order=INTEGER, action=TEXT, value=TEXT, time=NUMBER, taken=FLAG, outcome=TEXT)
GIVEN = fields(order=INTEGER, action=TEXT, value=TEXT, time=NUMBER, taken=FLAG, outcome=TEXT, is_running=FLAG)
RESUMED = fields(folder=TEXT, note=TEXT)


class NewOrder(Struct):
    action: Annotated[ActionName, Meta(description="What to do.")]
    value: Annotated[str, Meta(description="The value, for actions that need one.")] = ""


async def get_orders(request: Request) -> Any:
    def orders(path: Path) -> list[dict[str, Any]]:
        with CrawlFolder.look(path) as folder:
            return [order.as_plain() for order in Orders(folder.database).all()]

    return {"orders": await run_in_threadpool(orders, folder_of(request))}


async def post_order(request: Request) -> Any:
    desk, path, body = desk_of(request), folder_of(request), await params.body_of(request, NewOrder)
    parse_order(body.action, body.value or None)
    if body.action == "stop" and holder(path) is None:
        raise BadUsage("this crawl is not running", "there is nothing to stop")
    order = await run_in_threadpool(give_order, path, body.action, body.value or None, desk.clock(), PATIENCE)
    return JSONResponse({**order.as_plain(), "is_running": holder(path) is not None}, 202)


# ---- labels


class LabelRequest(Struct):
    url: Annotated[str, Meta(description="The URL of a page.")]
    on_topic: Annotated[bool, Meta(description="Whether it is on topic.")]


async def post_label(request: Request) -> Any:
    desk, path, body = desk_of(request), folder_of(request), await params.body_of(request, LabelRequest)
    url = crawl_data.url_of(body.url)

    def save_label() -> None:
        with CrawlFolder.look(path) as folder:
            explained = explain(folder, url)
        if explained.state not in ("crawled", "waiting"):
            raise NotFound(f"this crawl has no such page: {explained.why}", "label a page that was fetched")
        page = explained.path[-1].url if explained.state == "crawled" else explained.url
        give_label(path, page, body.on_topic, desk.clock(), PATIENCE)

    await run_in_threadpool(save_label)
    return JSONResponse({"url": url, "on_topic": body.on_topic}, 202)


ONE = "/api/collections/{name}"
ROUTES = [
    post(
        "/api/crawls",
        start_crawl,
        "Start a crawl.",
        NEW,
        NewCrawlRequest,
        201,
    ),
    post(f"{ONE}/resume", resume_crawl, "Resume a crawl that has ended.", RESUMED),
    get(f"{ONE}/orders", get_orders, "The orders given so far.", fields(orders=list_of(ORDER))),
    post(f"{ONE}/orders", post_order, "Give an order to the crawl.", GIVEN, NewOrder, 202),
    post(f"{ONE}/labels", post_label, "Label a page.", fields(url=TEXT, on_topic=FLAG), LabelRequest, 202),
]
