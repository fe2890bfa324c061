"""A finished crawl of a few pages given as HTML, with redirects and a robots.txt: for tests of applications."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from scenthound.loop.settings import Settings
from scenthound.model import Response
from scenthound.ports import Failure
from scenthound.wiring import begin

HTML = (("Content-Type", "text/html; charset=utf-8"),)


class HtmlPages:
    """A fetcher that knows these pages: HTML, `=> URL` for a redirect; all else is 404."""

    def __init__(self, web: Mapping[str, str]) -> None:
        self.web = web
        self.asked: list[str] = []
        """What was asked for, oldest first."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        self.asked.append(url)
        body = self.web.get(url)
        if body is None:
            return Response(url, 404, "Not Found", HTML, b"no")
        if body.startswith("=> "):
            return Response(url, 301, "Moved", (("Location", body[3:]),), b"")
        kind = (("Content-Type", "text/plain"),) if url.endswith(".txt") else HTML
        return Response(url, 200, "OK", kind, body.encode())


def html_crawl(
    out: Path,
    web: Mapping[str, str],
    seeds: Sequence[str],
    topic: str,
    strategy: str = "breadth-first",
    **settings: object,
) -> Path:
    """Crawl these pages from the seeds into a folder, to the end."""
    wanted = Settings(**{"delay": 0.0, "retries": 0, **settings})  # type: ignore[arg-type]
    session = begin(topic, seeds, out, strategy=strategy, settings=wanted, fetcher=HtmlPages(web))
    try:
        asyncio.run(session.run())
    finally:
        session.close()
    return out
