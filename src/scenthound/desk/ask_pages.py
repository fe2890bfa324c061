"""Questions: a form, results that appear as a short crawl finds them, and buttons to keep or delete the results."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from scenthound.desk import api_base, main_pages, steering_api
from scenthound.desk import request_parameters as params
from scenthound.desk.api_operations import get, post
from scenthound.desk.apps.ask import (
    PAGES,
    QUESTION_STRATEGIES,
    STRATEGY_HELP,
    Hit,
    QuestionStrategy,
    hits_of,
    ranked,
    strategy_for_question,
)
from scenthound.desk.page_templates import render
from scenthound.desk.seed_choices import checked_source, choices
from scenthound.desk.start_processes import LOG, NewCrawl
from scenthound.errors import BadUsage, FolderInUse
from scenthound.files import free_name
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import give_order
from scenthound.store.lock import holder

MOST_PAGES = 2_000
STOP_TIMEOUT = 30.0  # seconds to wait for a crawl to stop before its folder is deleted
STRATEGY_LABELS = {
    "hound": "hound: learns as it goes",
    "best-first": "best-first: what matches your words best",
    "infospiders": "InfoSpiders: random choice",
}


# ---- the API


class QuestionRequest(Struct):
    query: Annotated[str, Meta(description="What to look for.")]
    seeds: steering_api.SeedText = ""
    source: steering_api.SeedSource = ""
    pages: Annotated[int, Meta(ge=1, le=MOST_PAGES, description="How many pages to fetch.")] = PAGES
    strategy: Annotated[QuestionStrategy, Meta(description="The strategy.")] = "hound"
    per_seed: Annotated[bool, Meta(description="One frontier for each starting page.")] = False
    looking_for: steering_api.WhatFor = ""


AFTER = params.Integer("after", "Only results with a larger number.", 0, 0, 10**9)


@dataclass(frozen=True, slots=True)
class HitsAnswer:
    """The results of a question so far."""

    hits: list[Hit]
    ranked: list[Hit]
    is_running: bool
    kept: bool


async def ask(request: Request) -> Any:
    desk, body = api_base.desk_of(request), await params.body_of(request, QuestionRequest)
    strategy, parameters = strategy_for_question(body.strategy, body.per_seed)
    new = NewCrawl(
        topic=" ".join(body.query.split())[: steering_api.LONGEST_TOPIC],
        seeds=body.seeds[: steering_api.MOST_SEEDS],
        source=checked_source(desk.collections, desk.sources, body.source) if body.source else "",
        pages=body.pages,
        strategy=strategy,
        parameters=parameters,
        options=desk.options,
        looking_for=body.looking_for,
    )
    name, path = await api_base.start_new_crawl(desk, new)
    desk.questions.add(path.resolve())
    return JSONResponse({"name": name, "folder": str(path)}, 201)


async def get_hits(request: Request) -> Any:
    desk, path = api_base.desk_of(request), api_base.folder_of(request)
    after = AFTER.of(request.query_params)

    def read_hits() -> HitsAnswer:
        is_running = holder(path) is not None  # read first, so that the last hits are not missed
        with CrawlFolder.look(path) as folder:
            hits, best = hits_of(folder)[after:], [] if is_running else ranked(folder)
        return HitsAnswer(hits, best, is_running, kept=path not in desk.questions)

    return await run_in_threadpool(read_hits)


async def keep(request: Request) -> Any:
    api_base.desk_of(request).questions.discard(path := api_base.folder_of(request))
    return {"folder": str(path)}


async def discard(request: Request) -> Any:
    """Stop a question's crawl and delete its folder."""
    desk, path = api_base.desk_of(request), api_base.folder_of(request)
    if path not in desk.questions:
        raise BadUsage("only questions that were not kept can be deleted here", f"delete the folder {path} yourself")
    if holder(path) is not None:
        await run_in_threadpool(give_order, path, "stop", None, desk.clock(), api_base.PATIENCE)
    deadline = desk.clock() + STOP_TIMEOUT
    while holder(path) is not None:
        if desk.clock() > deadline:
            raise FolderInUse(path, "is still in use", "try again in a moment")
        await asyncio.sleep(0.1)
    await run_in_threadpool(_delete, desk, path)
    return {"folder": str(path)}


def _delete(desk: api_base.Desk, path: Path) -> None:
    desk.processes.unfollow(path)
    desk.questions.discard(path)
    trash = free_name(path, "thrown-away")
    path.rename(trash)  # atomic: no half-deleted collection is ever listed
    shutil.rmtree(trash, ignore_errors=True)
    path.with_name(path.name + LOG).unlink(missing_ok=True)


# ---- the page


async def ask_page(request: Request) -> str:
    desk = api_base.desk_of(request)
    return render(
        "ask.html",
        query=request.query_params.get("q", "")[:2000],
        sources=await run_in_threadpool(choices, desk.collections, desk.sources),
        strategies={name: STRATEGY_LABELS[name] for name in QUESTION_STRATEGIES},
        strategy_help=STRATEGY_HELP,
        pages=PAGES,
    )


_ONE = "/api/collections/{name}"
ROUTES = [
    Route("/ask", main_pages.html_page(ask_page)),
    post(
        "/api/questions",
        ask,
        "Ask a question.",
        steering_api.NEW,
        QuestionRequest,
        201,
    ),
    get(
        f"{_ONE}/hits",
        get_hits,
        "Relevant pages in the order in which they were found; ranked once the crawl has ended.",
        HitsAnswer,
        AFTER,
    ),
    post(f"{_ONE}/keep", keep, "Keep the results of a question as a collection.", steering_api.FOLDER),
    post(f"{_ONE}/discard", discard, "Delete the results of a question.", steering_api.FOLDER),
]
