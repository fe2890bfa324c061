"""Bookmarks of a crawl of a generated web, which is served on this machine."""

from __future__ import annotations

import io
from pathlib import Path

from my_parts.bookmarks import bookmarks

import scenthound
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb


def test_bookmarks_hold_every_page_and_no_markup_of_the_web(tmp_path: Path) -> None:
    web = GeneratedWeb(100, seed=3)
    with serving(web) as address:
        folder = scenthound.crawl(
            web.topics[0].keywords, web.topics[0].seeds, pages=5, out=tmp_path / "crawl", proxy=f"http://{address}",
            delay=0,
        )  # fmt: skip
    out = io.BytesIO()
    with folder:
        assert bookmarks(folder, out) == 5
    assert out.getvalue().count(b"<A HREF=") == 5
