"""Finds pages to start from for whoever fills in the first page: `POST /api/seeds` runs `scenthound seeds`."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from scenthound.desk import parameters as read
from scenthound.desk.api import answers, desk_of
from scenthound.desk.seed_choices import allowed
from scenthound.errors import BadUsage
from scenthound.model import Topic
from scenthound.wiring import check_topic


async def find_seeds(request: Request) -> Any:
    desk, body = desk_of(request), await read.body_of(request)
    topic = " ".join(read.field(body, "topic", str).split())[:2000]
    limit = read.field(body, "limit", int, 20)
    if not 1 <= limit <= 500:
        raise BadUsage("not a number of seeds", "it is a whole number from 1 to 500")
    check_topic(Topic(topic))
    source = await run_in_threadpool(allowed, desk.collections, desk.sources, read.field(body, "source", str))
    words = ["seeds", "--json", "--source", source, "--limit", str(limit), *desk.options]
    found = await run_in_threadpool(desk.processes.answer, [*words, "--", topic + " "])  # never the name of a file
    return {"seeds": found["seeds"], "found": [one for answer in found["answers"] for one in answer["found"]]}


ROUTES = [Route("/api/seeds", answers(find_seeds), methods=["POST"])]
