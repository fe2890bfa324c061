"""`POST /api/topics` reads a topic from a topic file, or derives one from example pages."""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from scenthound.desk import request_parameters as params
from scenthound.desk.api_base import Desk, desk_of
from scenthound.desk.api_operations import post
from scenthound.desk.shapes import TEXT, TEXTS, fields
from scenthound.errors import BadConfig, BadUsage
from scenthound.loop.crawl_toml import check_seeds, some_seeds, topic_from
from scenthound.model import Topic

TOPIC = fields(keywords=TEXT, name=TEXT, description=TEXT, examples=TEXTS, looking_for=TEXT)
MOST_EXAMPLES = 20
EXAMPLES = "Instead of a file: example pages, one URL per line, or a bookmarks file."


class TopicSource(Struct):
    file: Annotated[str, Meta(description="The content of a topic file.")] = ""
    examples: Annotated[str, Meta(description=EXAMPLES)] = ""


def parse_topic_file(text: str) -> Topic:
    """Parse a topic file. Raises `BadConfig`."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadConfig(
            f"this is not a topic file: {error}", 'a topic file is TOML, such as: keywords = "hot air balloons"'
        ) from None
    inner = data.get("topic")
    return topic_from(inner if isinstance(inner, dict) else data, "the topic file")


def topic_of_examples(desk: Desk, examples: str) -> Topic:
    """Derive keywords from example pages, which are fetched by `scenthound topic new`."""
    addresses = some_seeds(examples, "the example pages")[:MOST_EXAMPLES]
    urls = check_seeds([("example", url) for url in addresses])
    with tempfile.TemporaryDirectory(prefix="scenthound-") as temporary:
        urls_file, file = Path(temporary) / "examples.txt", Path(temporary) / "topic.toml"
        urls_file.write_text("\n".join(urls), encoding="utf-8")
        arguments = ["topic", "new", str(file), "--examples", str(urls_file), "--yes", "--json", *desk.options]
        result = desk.processes.run_command(arguments)
    return Topic(str(result["keywords"]), examples=tuple(urls))


async def find_topic(request: Request) -> Any:
    desk, body = desk_of(request), await params.body_of(request, TopicSource)
    file, examples = body.file, body.examples
    if bool(file.strip()) == bool(examples.strip()):
        raise BadUsage("send either a topic file or example pages", "set `file` or `examples`, but not both")
    topic = parse_topic_file(file) if file.strip() else await run_in_threadpool(topic_of_examples, desk, examples)
    return {
        "keywords": topic.keywords,
        "name": topic.name,
        "description": topic.description,
        "examples": list(topic.examples),
        "looking_for": topic.looking_for,
    }


ROUTES = [
    post("/api/topics", find_topic, "Read a topic file, or derive keywords from example pages.", TOPIC, TopicSource)
]
