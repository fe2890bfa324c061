"""A collection as a search engine for other programs: an OpenSearch 1.1 description, answers as JSON and as RSS.

A metasearch engine, a browser or a feed reader can search a crawl with it. Reading is open on loopback, as all reading
at the desk is; beyond that the token has to be sent. Titles and texts come from the web: they are escaped, and without
the characters that XML forbids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote, urlencode
from xml.sax.saxutils import escape, quoteattr

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from scenthound.desk import request_parameters as read
from scenthound.desk.api_base import desk_of, folder_of
from scenthound.desk.api_operations import get
from scenthound.desk.search_api import search_folder
from scenthound.desk.shapes import NUMBER, TEXT, WHOLE, fields, listed
from scenthound.loop.folder import CrawlFolder

DESCRIPTION, RSS = "application/opensearchdescription+xml", "application/rss+xml"
NAMESPACE = "http://a9.com/-/spec/opensearch/1.1/"
WORDS = read.Words("q", "What to search for.", is_required=True)
COUNT = read.Whole("count", "How many.", 20, 1, 100)
START = read.Whole("start", "The first of them, from 1 on.", 1, 1, 10**6)
PAGE = read.Whole("page", "Instead: which page of so many.", 1, 1, 10_000)
RESULT = fields(url=TEXT, title=TEXT, content=TEXT, score=NUMBER, relevance=NUMBER, fetched=TEXT)
FOUND = fields(query=TEXT, totalResults=WHOLE, startIndex=WHOLE, itemsPerPage=WHOLE, results=listed(RESULT))
SHORT_NAME = 16  # characters, by the standard
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def asked_of(query: Mapping[str, str]) -> tuple[QueryParams, int, int]:
    """The query, the number of the first result from 1 on, and how many. An empty parameter counts as left out."""
    given = {name: value for name, value in query.items() if value}
    count = COUNT.of(given)
    start = START.of(given, (PAGE.of(given) - 1) * count + 1)
    return QueryParams(q=WORDS.of(given), limit=str(count), offset=str(start - 1)), start, count


async def found_for(request: Request) -> dict[str, Any]:
    """What was found, in the terms of OpenSearch."""
    asked, start, count = asked_of(request.query_params)
    found = await run_in_threadpool(search_folder, desk_of(request), folder_of(request), asked)
    return {
        "query": asked["q"],
        "totalResults": found["total"],
        "startIndex": start,
        "itemsPerPage": count,
        "results": [_result(row) for row in found["results"]],
    }


def _result(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "url": row["url"],
        "title": row["title"] or row["url"],
        "content": "".join(part["text"] for part in row["snippet"]),
        "score": row["score"],
        "relevance": row["relevance"],
        "fetched": datetime.fromtimestamp(row["time"], UTC).isoformat(timespec="seconds"),
    }


async def get_json(request: Request) -> Any:
    return await found_for(request)


async def get_rss(request: Request) -> Response:
    found, name = await found_for(request), request.path_params["name"]
    base = _base(request)
    page = f"{base}/c/{quote(name)}/search?{urlencode({'q': found['query']})}"
    items = "".join(
        f"<item><title>{_xml(one['title'])}</title><link>{_xml(one['url'])}</link><guid>{_xml(one['url'])}</guid>"
        f"<description>{_xml(one['content'])}</description>"
        f"<pubDate>{format_datetime(datetime.fromisoformat(one['fetched']))}</pubDate></item>"
        for one in found["results"]
    )
    feed = (
        f'<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:opensearch="{NAMESPACE}" '
        f'xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>{_xml(found["query"])} · {_xml(name)}</title>'
        f"<link>{_xml(page)}</link><description>Pages of the collection {_xml(name)}</description>"
        f"<opensearch:totalResults>{found['totalResults']}</opensearch:totalResults>"
        f"<opensearch:startIndex>{found['startIndex']}</opensearch:startIndex>"
        f"<opensearch:itemsPerPage>{found['itemsPerPage']}</opensearch:itemsPerPage>"
        f'<opensearch:Query role="request" searchTerms={_attribute(found["query"])}/>'
        f'<atom:link rel="search" type="{DESCRIPTION}" href={_attribute(_service(base, name, "xml"))}/>'
        f"{items}</channel></rss>"
    )
    return Response(feed.encode(), media_type=RSS)


async def get_description(request: Request) -> Response:
    name, path, base = request.path_params["name"], folder_of(request), _base(request)

    def keywords() -> str:
        with CrawlFolder.look(path) as folder:
            return folder.request.topic.keywords

    topic = await run_in_threadpool(keywords)
    asked = "?q={searchTerms}&start={startIndex?}&count={count?}&page={startPage?}"
    addresses = [
        ("text/html", f"{base}/c/{quote(name)}/search?q={{searchTerms}}"),
        (RSS, _service(base, name, "rss") + asked),
        ("application/json", _service(base, name, "json") + asked),
    ]
    listed = "".join(f'<Url type="{kind}" template={_attribute(template)}/>' for kind, template in addresses)
    document = (
        f'<?xml version="1.0" encoding="UTF-8"?><OpenSearchDescription xmlns="{NAMESPACE}">'
        f"<ShortName>{_xml(name[:SHORT_NAME])}</ShortName>"
        f"<Description>Pages about {_xml(topic[:900])}, gathered by Scenthound</Description>{listed}"
        f"<InputEncoding>UTF-8</InputEncoding><OutputEncoding>UTF-8</OutputEncoding></OpenSearchDescription>"
    )
    return Response(document.encode(), media_type=DESCRIPTION)


def _base(request: Request) -> str:
    """The address of the desk as it was asked for; `Guard` has checked that it is the desk's."""
    return f"http://{request.headers['host']}"


def _service(base: str, name: str, kind: str) -> str:
    return f"{base}/api/collections/{quote(name)}/opensearch.{kind}"


def _xml(text: str) -> str:
    return escape(_FORBIDDEN.sub("", text))


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("", text))


ONE = "/api/collections/{name}/opensearch"
ROUTES = [
    get(
        f"{ONE}.xml", get_description, "This collection as a search engine: OpenSearch 1.1.", TEXT, kinds=[DESCRIPTION]
    ),
    get(f"{ONE}.json", get_json, "Search results for other search engines.", FOUND, WORDS, COUNT, START, PAGE),
    get(f"{ONE}.rss", get_rss, "Search results as RSS 2.0.", TEXT, WORDS, COUNT, START, PAGE, kinds=[RSS]),
]
