"""The first page in a real browser: seeds typed, from a bookmarks file, or found by a source; a search as a topic."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound.search import index_folder
from support.desk import browser_page, chromium, desk_process
from support.running_crawl import until
from support.seed_servers import searxng, server
from support.small_crawl import small_crawl

pytestmark = pytest.mark.slow


def test_seeds_come_from_a_file_a_collection_or_a_search_engine(tmp_path: Path) -> None:
    chromium()
    folder = small_crawl(tmp_path / "crawl")
    index_folder(folder)
    bookmarks = tmp_path / "bookmarks.html"
    bookmarks.write_text('<!DOCTYPE NETSCAPE-Bookmark-file-1><A HREF="http://x.test/">x</A>', encoding="utf-8")
    private = ("--set", "allow_private=loopback", "--set", "delay=0")
    with (
        server(searxng(lambda words, page: [("http://engine.test/found", "Found")])) as engine,
        desk_process(tmp_path / "home", str(folder), *private) as address,
        browser_page() as page,
    ):
        page.goto(address)
        page.set_input_files("#file", str(bookmarks))
        until(lambda: "http://x.test/" in page.input_value("#seeds"), "the file was not read")
        page.fill("#seeds", "http://typed.test/")
        page.click("#find")
        assert page.inner_text("#start-error") == "Say what you are looking for."
        page.fill("#topic", "cars")
        page.select_option("#source", "collections:crawl")
        assert page.is_hidden("#address")
        page.click("#find")
        until(lambda: page.inner_text("#found") == "2 pages found", "nothing was found")
        page.select_option("#source", "searxng:")
        page.fill("#address", engine)
        page.click("#find")
        until(lambda: page.inner_text("#found") == "1 page found", "nothing was found")
        assert page.input_value("#seeds").split() == [
            "http://typed.test/",
            "http://c.test/two",
            "http://c.test/three",
            "http://engine.test/found",
        ]


def test_a_search_becomes_a_topic_with_its_collection_as_the_source(tmp_path: Path) -> None:
    chromium()
    folder = small_crawl(tmp_path / "crawl")
    index_folder(folder)
    with desk_process(tmp_path / "home", str(folder)) as address, browser_page() as page:
        page.goto(address)
        page.goto(f"{address.partition('/#')[0]}/c/crawl/search?q=cars")
        page.click("text=Look for this on the web")
        assert page.input_value("#topic") == "cars"
        assert page.input_value("#source") == "collections:crawl"
        page.click("#find")
        until(lambda: page.inner_text("#found") == "2 pages found", "nothing was found")
