"""A crawl whose last hosts have to rest names them, with the reason and the time."""

from __future__ import annotations

import asyncio
from pathlib import Path

from scenthound import url as urls
from scenthound.desk.crawl_watch import Watch
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings, read
from scenthound.model import Response
from scenthound.report.crawl_facts import gather
from scenthound.report.explain import explain
from scenthound.wiring import begin

BROKEN = "http://broken.test/page"


class HalfBroken:
    """Two hosts, one of which answers every request with an error of its gateway."""

    async def fetch(self, url: str, most: int | None = None) -> Response:
        if urls.host(url) == "broken.test":
            return Response(url, 502, "Bad Gateway", (), b"")
        if url.endswith("/robots.txt"):
            return Response(url, 404, "Not Found", (), b"")
        return Response(url, 200, "OK", (("Content-Type", "text/html"),), f"<a href='{BROKEN}'>balloon</a>".encode())


def test_a_host_whose_robots_file_fails_is_named_with_the_reason_and_the_time(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    settings = read(Settings, {"delay": 0, "backoff": 0.1, "retries": 1})
    session = begin("balloon", ["http://a.test/"], folder, settings=settings, fetcher=HalfBroken())
    assert asyncio.run(session.run()) == "all that is left rests"
    session.close()
    named = "broken.test rests until 20"
    with CrawlFolder.look(folder) as opened:
        for why in (gather(opened).why, explain(opened, BROKEN).why):
            assert named in why
            assert "its robots.txt could not be fetched" in why
    watch = Watch(folder)
    watch.refresh()
    assert named in watch.overview(0.0)["why"]
    watch.close()
