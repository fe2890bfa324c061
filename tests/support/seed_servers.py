"""Small servers on loopback that speak the formats of seed sources as their documentation shows them.

SearXNG: https://docs.searxng.org/dev/search_api.html. Common Crawl: https://commoncrawl.org/cdxj-index and pywb's CDX
server API. A server answers from a function, so a test says in one place what the web looks like.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

Reply = tuple[int, str, bytes]
"""Status, content type and body."""
NOT_FOUND: Reply = (404, "text/plain", b"no such page")


@contextmanager
def server(answer: Callable[[str, dict[str, list[str]]], Reply]) -> Iterator[str]:
    """A server that answers (path, query) so. Gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            status, kind, body = answer(parts.path, parse_qs(parts.query))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return None

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{made.server_address[1]}"
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


def searxng_reply(query: str, found: list[tuple[str, str]]) -> bytes:
    """What SearXNG sends for `format=json`: more keys than anybody needs."""
    results = [
        {
            "url": url,
            "title": title,
            "content": f"… {title} …",
            "thumbnail": None,
            "engine": "duckduckgo",
            "template": "default.html",
            "parsed_url": ["https", "example.org", "/", "", "", ""],
            "img_src": "",
            "priority": "",
            "engines": ["duckduckgo", "brave"],
            "positions": [1],
            "score": 1.0,
            "category": "general",
        }
        for url, title in found
    ]
    document = {
        "query": query,
        "number_of_results": 0,
        "results": results,
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": ["balloon festival"],
        "unresponsive_engines": [["google", "CAPTCHA"]],
    }
    return json.dumps(document).encode()


def searxng(pages: Callable[[str, int], list[tuple[str, str]]], robots: str = "") -> Callable[..., Reply]:
    """An instance of SearXNG that finds `pages(query, page)`."""

    def answer(path: str, query: dict[str, list[str]]) -> Reply:
        if path == "/robots.txt":
            return (200, "text/plain", robots.encode()) if robots else NOT_FOUND
        if path != "/search" or query.get("format") != ["json"]:
            return NOT_FOUND
        asked, page = query["q"][0], int(query.get("pageno", ["1"])[0])
        return 200, "application/json", searxng_reply(asked, pages(asked, page))

    return answer


def cdx_line(url: str, status: str = "200", mime: str = "text/html") -> str:
    """A line of Common Crawl's index with `fl=url,status,mime`."""
    return json.dumps({"url": url, "status": status, "mime": mime})


def collinfo(address: str) -> bytes:
    """The list of crawls, the newest first."""
    crawls = [
        {
            "id": name,
            "name": f"{name} Index",
            "timegate": f"{address}/{name}/",
            "cdx-api": f"{address}/{name}-index",
            "from": "2026-10-01T00:00:00",
            "to": "2026-10-14T00:00:00",
        }
        for name in ("CC-MAIN-2026-43", "CC-MAIN-2026-38")
    ]
    return json.dumps(crawls).encode()
