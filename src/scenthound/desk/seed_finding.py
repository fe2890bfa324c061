"""Find starting pages for the form on the start page: `POST /api/seeds` runs `scenthound seeds`."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from scenthound.desk import request_parameters as params
from scenthound.desk.api_base import desk_of
from scenthound.desk.api_operations import post
from scenthound.desk.seed_choices import checked_source
from scenthound.desk.shapes import TEXT, TEXTS, fields, list_of
from scenthound.desk.steering_api import LONGEST_TOPIC, TopicWords
from scenthound.model import Topic
from scenthound.wiring import check_topic

SOURCES = "collections:NAME, searxng:ADDRESS, sitemap:ADDRESS or commoncrawl:DOMAIN."
FOUND = fields(seeds=TEXTS, found=list_of(fields(url=TEXT, title=TEXT)))


class SeedRequest(Struct):
    topic: TopicWords
    source: Annotated[str, Meta(description=SOURCES)]
    limit: Annotated[int, Meta(ge=1, le=500, description="Maximum number of pages.")] = 20


async def find_seeds(request: Request) -> Any:
    desk, body = desk_of(request), await params.body_of(request, SeedRequest)
    topic = " ".join(body.topic.split())[:LONGEST_TOPIC]
    check_topic(Topic(topic))
    source = await run_in_threadpool(checked_source, desk.collections, desk.sources, body.source)
    arguments = ["seeds", "--json", "--source", source, "--limit", str(body.limit), *desk.options]
    # the space keeps the topic from being taken for a file name
    result = await run_in_threadpool(desk.processes.run_command, [*arguments, "--", topic + " "])
    return {"seeds": result["seeds"], "found": [page for answer in result["answers"] for page in answer["found"]]}


ROUTES = [post("/api/seeds", find_seeds, "Find starting pages.", FOUND, SeedRequest)]
