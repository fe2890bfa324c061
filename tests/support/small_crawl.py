"""A small finished crawl in a folder, without a network: what tests of exports and commands look at."""

from __future__ import annotations

import asyncio
import html
from collections.abc import Mapping
from pathlib import Path

from scenthound.loop.settings import Settings
from scenthound.model import Response
from scenthound.ports import Failure
from scenthound.wiring import begin

SEED = "http://a.test/"
WEB = {
    "http://a.test/": ("Balloons", "hot air balloons", ["http://b.test/one.html", "http://c.test/two"]),
    "http://b.test/one.html": ("One", "hot air balloons fly", ["http://a.test/", "http://d.test/gone"]),
    "http://c.test/two": ("Two", "cars", ["http://b.test/one.html", "http://c.test/three"]),
    "http://c.test/three": ("Three", "balloons and cars", []),
}


class Pages:
    """A fetcher that knows a few pages; everything else is 404."""

    def __init__(self, web: Mapping[str, tuple[str, str, list[str]]]) -> None:
        self.web = web

    async def fetch(self, url: str) -> Response | Failure:
        if url not in self.web:
            return Response(url, 404, "Not Found", (("Content-Type", "text/html"),), b"no")
        title, text, links = self.web[url]
        anchors = "".join(f'<a href="{html.escape(link)}">{html.escape(title)}</a> ' for link in links)
        body = f"<title>{html.escape(title)}</title><p>{html.escape(text)}</p>{anchors}".encode()
        return Response(url, 200, "OK", (("Content-Type", "text/html; charset=utf-8"),), body)


def small_crawl(
    out: Path,
    web: Mapping[str, tuple[str, str, list[str]]] = WEB,
    topic: str = "hot air balloons",
    strategy: str = "best-first",
    **settings: object,
) -> Path:
    """Crawl `web` from its first page into `out`, to the end."""
    wanted = Settings(**{"delay": 0.0, "robots": False, "retries": 0, **settings})  # type: ignore[arg-type]
    session = begin(topic, [next(iter(web))], out, strategy=strategy, settings=wanted, fetcher=Pages(web))
    try:
        asyncio.run(session.run())
    finally:
        session.close()
    return out
