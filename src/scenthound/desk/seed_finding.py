"""Finds pages to start from for whoever fills in the first page: `POST /api/seeds` runs `scenthound seeds`."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from scenthound.desk import request_parameters as read
from scenthound.desk.api_base import desk_of
from scenthound.desk.api_operations import post
from scenthound.desk.seed_choices import allowed
from scenthound.desk.shapes import TEXT, TEXTS, fields, listed
from scenthound.desk.steering_api import LONGEST_TOPIC, TOPIC
from scenthound.model import Topic
from scenthound.wiring import check_topic

SOURCE = read.Field("source", str, "collections:NAME, searxng:ADDRESS, sitemap:ADDRESS or commoncrawl:DOMAIN.")
LIMIT = read.Field("limit", int, "How many.", 20, 1, 500)
FOUND = fields(seeds=TEXTS, found=listed(fields(url=TEXT, title=TEXT)))


async def find_seeds(request: Request) -> Any:
    desk, body = desk_of(request), await read.body_of(request)
    topic, limit = " ".join(TOPIC.of(body).split())[:LONGEST_TOPIC], LIMIT.of(body)
    check_topic(Topic(topic))
    source = await run_in_threadpool(allowed, desk.collections, desk.sources, SOURCE.of(body))
    words = ["seeds", "--json", "--source", source, "--limit", str(limit), *desk.options]
    found = await run_in_threadpool(desk.processes.answer, [*words, "--", topic + " "])  # never the name of a file
    return {"seeds": found["seeds"], "found": [one for answer in found["answers"] for one in answer["found"]]}


ROUTES = [post("/api/seeds", find_seeds, "Find pages to start from.", FOUND, (TOPIC, SOURCE, LIMIT))]
