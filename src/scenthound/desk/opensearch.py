"""Make a collection searchable for other programs: an OpenSearch 1.1 description, and results as JSON and RSS.

A metasearch engine, a browser or a feed reader can use it. As everywhere at the desk, reading is open on loopback and
requires the token elsewhere. Titles and texts come from the web, so they are escaped, and characters that XML forbids
are removed.
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

from scenthound.desk import request_parameters as params
from scenthound.desk.api_base import desk_of, folder_of
from scenthound.desk.api_operations import get
from scenthound.desk.search_api import search_folder
from scenthound.desk.shapes import INTEGER, NUMBER, TEXT, fields, list_of
from scenthound.loop.folder import CrawlFolder

DESCRIPTION, RSS = "application/opensearchdescription+xml", "application/rss+xml"
NAMESPACE = "http://a9.com/-/spec/opensearch/1.1/"
WORDS = params.Text("q", "What to search for.", is_required=True)
COUNT = params.Integer("count", "Maximum number of results.", 20, 1, 100)
START = params.Integer("start", "Number of the first result, from 1.", 1, 1, 10**6)
PAGE = params.Integer("page", "Instead of start: the page of results, from 1.", 1, 1, 10_000)
RESULT = fields(url=TEXT, title=TEXT, content=TEXT, score=NUMBER, relevance=NUMBER, fetched=TEXT)
FOUND = fields(query=TEXT, totalResults=INTEGER, startIndex=INTEGER, itemsPerPage=INTEGER, results=list_of(RESULT))
SHORT_NAME = 16  # characters; limit of the standard
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parse_query(query: Mapping[str, str]) -> tuple[QueryParams, int, int]:
    """Return the search parameters, the number of the first result (from 1) and the count. Ignores empty parameters."""
    values = {name: value for name, value in query.items() if value}
    count = COUNT.of(values)
    start = START.of(values, (PAGE.of(values) - 1) * count + 1)
    return QueryParams(q=WORDS.of(values), limit=str(count), offset=str(start - 1)), start, count


async def search_results(request: Request) -> dict[str, Any]:
    """Run the search; return the results with the field names of OpenSearch."""
    parameters, start, count = parse_query(request.query_params)
    results = await run_in_threadpool(search_folder, desk_of(request), folder_of(request), parameters)
    return {
        "query": parameters["q"],
        "totalResults": results["total"],
        "startIndex": start,
        "itemsPerPage": count,
        "results": [_result(row) for row in results["results"]],
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
    return await search_results(request)


async def get_rss(request: Request) -> Response:
    results, name = await search_results(request), request.path_params["name"]
    base = _base(request)
    page = f"{base}/c/{quote(name)}/search?{urlencode({'q': results['query']})}"
    items = "".join(
        f"<item><title>{_xml(result['title'])}</title><link>{_xml(result['url'])}</link><guid>{_xml(result['url'])}</guid>"
        f"<description>{_xml(result['content'])}</description>"
        f"<pubDate>{format_datetime(datetime.fromisoformat(result['fetched']))}</pubDate></item>"
        for result in results["results"]
    )
    feed = (
        f'<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:opensearch="{NAMESPACE}" '
        f'xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>{_xml(results["query"])} · {_xml(name)}</title>'
        f"<link>{_xml(page)}</link><description>Pages of the collection {_xml(name)}</description>"
        f"<opensearch:totalResults>{results['totalResults']}</opensearch:totalResults>"
        f"<opensearch:startIndex>{results['startIndex']}</opensearch:startIndex>"
        f"<opensearch:itemsPerPage>{results['itemsPerPage']}</opensearch:itemsPerPage>"
        f'<opensearch:Query role="request" searchTerms={_attribute(results["query"])}/>'
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
    parameters = "?q={searchTerms}&start={startIndex?}&count={count?}&page={startPage?}"
    addresses = [
        ("text/html", f"{base}/c/{quote(name)}/search?q={{searchTerms}}"),
        (RSS, _service(base, name, "rss") + parameters),
        ("application/json", _service(base, name, "json") + parameters),
    ]
    urls = "".join(f'<Url type="{kind}" template={_attribute(template)}/>' for kind, template in addresses)
    document = (
        f'<?xml version="1.0" encoding="UTF-8"?><OpenSearchDescription xmlns="{NAMESPACE}">'
        f"<ShortName>{_xml(name[:SHORT_NAME])}</ShortName>"
        f"<Description>Pages about {_xml(topic[:900])}, gathered by Scenthound</Description>{urls}"
        f"<InputEncoding>UTF-8</InputEncoding><OutputEncoding>UTF-8</OutputEncoding></OpenSearchDescription>"
    )
    return Response(document.encode(), media_type=DESCRIPTION)


def _base(request: Request) -> str:
    """The URL of the desk as requested; `Guard` has checked that the host is the desk."""
    return f"http://{request.headers['host']}"


def _service(base: str, name: str, kind: str) -> str:
    return f"{base}/api/collections/{quote(name)}/opensearch.{kind}"


def _xml(text: str) -> str:
    return escape(_FORBIDDEN.sub("", text))


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("", text))


ONE = "/api/collections/{name}/opensearch"
ROUTES = [
    get(f"{ONE}.xml", get_description, "The OpenSearch 1.1 description of this collection.", TEXT, kinds=[DESCRIPTION]),
    get(f"{ONE}.json", get_json, "Search results as JSON.", FOUND, WORDS, COUNT, START, PAGE),
    get(f"{ONE}.rss", get_rss, "Search results as RSS 2.0.", TEXT, WORDS, COUNT, START, PAGE, kinds=[RSS]),
]
