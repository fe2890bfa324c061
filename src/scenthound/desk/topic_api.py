"""Topics that are not typed: `POST /api/topics` reads a topic file, or finds the words of example pages."""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from scenthound.desk import request_parameters as read
from scenthound.desk.api_base import Desk, desk_of
from scenthound.desk.api_operations import post
from scenthound.desk.shapes import TEXT, TEXTS, fields
from scenthound.errors import BadConfig, BadUsage
from scenthound.loop.crawl_toml import check_seeds, some_seeds, topic_from
from scenthound.model import Topic

FILE = read.Field("file", str, "The text of a topic file.", "")
EXAMPLES = read.Field("examples", str, "Instead: example pages, one URL a line, or a bookmarks file.", "")
TOPIC = fields(keywords=TEXT, name=TEXT, description=TEXT, examples=TEXTS)
MOST_EXAMPLES = 20


def topic_in(text: str) -> Topic:
    """The topic of a topic file. Raises `BadConfig`."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadConfig(f"this is no topic file: {error}", 'it is TOML, as: keywords = "hot air balloons"') from None
    inner = data.get("topic")
    return topic_from(inner if isinstance(inner, dict) else data, "the topic file")


def topic_of_examples(desk: Desk, examples: str) -> Topic:
    """The words that tell these pages from others. Fetches them, as `scenthound topic new` does."""
    found = some_seeds(examples, "the example pages")[:MOST_EXAMPLES]
    urls = check_seeds([("example", url) for url in found])
    with tempfile.TemporaryDirectory(prefix="scenthound-") as temporary:
        listed, file = Path(temporary) / "examples.txt", Path(temporary) / "topic.toml"
        listed.write_text("\n".join(urls), encoding="utf-8")
        words = ["topic", "new", str(file), "--examples", str(listed), "--yes", "--json", *desk.options]
        answer = desk.processes.answer(words)
    return Topic(str(answer["keywords"]), examples=tuple(urls))


async def find_topic(request: Request) -> Any:
    desk, body = desk_of(request), await read.body_of(request)
    file, examples = FILE.of(body), EXAMPLES.of(body)
    if bool(file.strip()) == bool(examples.strip()):
        raise BadUsage("no topic file and no example pages", "send `file` or `examples`, one of them")
    topic = topic_in(file) if file.strip() else await run_in_threadpool(topic_of_examples, desk, examples)
    return {
        "keywords": topic.keywords,
        "name": topic.name,
        "description": topic.description,
        "examples": list(topic.examples),
    }


ROUTES = [
    post("/api/topics", find_topic, "Read a topic file, or find the words of example pages.", TOPIC, (FILE, EXAMPLES))
]
