"""The generated web of `resuming` with a search engine in it: a fetcher that also speaks SearXNG's format."""

from __future__ import annotations

from functools import cache
from urllib.parse import parse_qs, urlsplit

from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.model import Response
from scenthound.ports import Failure
from support.resuming import TOPIC, WEB
from support.seed_servers import searxng_reply

ENGINE = "http://search.test"
SOURCE = f"searxng:{ENGINE}/"
PER_PAGE = 10


@cache
def known_web() -> PreparedBed:
    return prepare(WEB)


class SearchableWeb:
    """Knows the pages of the web; its search engine finds pages of the topic, and pages that link to an address."""

    def __init__(self, is_down: bool = False) -> None:
        self.is_down = is_down
        self.searches: list[str] = []
        self.asked: list[str] = []
        """Every address that was asked for."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        self.asked.append(url)
        if not url.startswith(ENGINE):
            return WEB.get(url) or Response(url, 404, "Not Found", (), b"")
        if url.endswith("/robots.txt"):
            return Response(url, 404, "Not Found", (), b"")
        query = parse_qs(urlsplit(url).query)
        words, page = query["q"][0], int(query["pageno"][0])
        self.searches.append(words)
        if self.is_down:
            return Failure("timeout")
        found = self._linking(words) if words.startswith('"') else [*TOPIC.seeds, *TOPIC.targets]
        shown = found[(page - 1) * PER_PAGE : page * PER_PAGE]
        return Response(url, 200, "OK", (), searxng_reply(words, [(str(one), "a page") for one in shown]))

    def _linking(self, words: str) -> list[str]:
        """Pages that link to the address in quotes, and one that does not."""
        bare = words[1:].partition('"')[0]
        graph = known_web().graph
        named = [name for name in (f"http://{bare}", f"http://{bare}/") if name in graph.names]
        return [*(link for name in named for link in graph.back_links(name, 30)), str(TOPIC.targets[0])]
