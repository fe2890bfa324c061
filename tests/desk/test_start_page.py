"""The first page in a real browser: seeds typed, from a bookmarks file, or found by a source; a search as a topic."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scenthound.loop.folder import CrawlFolder
from scenthound.search import index_folder
from scenthound.store.lock import holder
from support.desk import browser_page, chromium, desk_process
from support.running_crawl import WEB, served, until
from support.seed_servers import searxng, server
from support.small_crawl import small_crawl

pytestmark = pytest.mark.slow
DROP = """([name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  document.getElementById('start').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
}"""


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
        until(lambda: page.input_value("#seeds") == "http://x.test/", "the file was not read")
        page.evaluate(DROP, ["topic.toml", 'keywords = "hot air balloons"'])
        until(lambda: page.input_value("#topic") == "hot air balloons", "the dropped file was not read")
        page.fill("#topic", "")
        page.fill("#seeds", "http://typed.test/")
        page.click("#find")
        assert page.inner_text("#start-error") == "Enter what you are looking for."
        page.fill("#topic", "cars")
        for number in ("0", "-5", "", "1.5", "99999999999"):
            page.fill("#pages", number)
            page.click("#start button.primary")
            assert page.inner_text("#start-error").startswith("Enter how many pages to fetch: a whole number from 1 to")
        assert page.url.startswith(address.partition("#")[0]), "nothing was started"
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
        page.wait_for_url("**/?topic=*")  # loaded: its script listens
        assert page.input_value("#topic") == "cars"
        assert page.input_value("#source") == "collections:crawl"
        page.click("#find")
        until(lambda: page.inner_text("#found") == "2 pages found", "nothing was found")


def test_a_topic_comes_from_example_pages_or_a_file_and_the_crawl_keeps_what_the_file_says(tmp_path: Path) -> None:
    chromium()
    home, topic = tmp_path / "home", WEB.topics[0]
    file = tmp_path / "balloons.toml"
    seed = str(topic.seeds[0])
    file.write_text(f'keywords = "{topic.keywords}"\ndescription = "clubs"\nexamples = ["{seed}"]\n', encoding="utf-8")
    with (
        served(tmp_path / "log.jsonl") as proxy,
        desk_process(home, "--set", f"proxy={proxy}", "--set", "delay=0.05") as address,
        browser_page() as page,
    ):
        page.goto(address)
        page.click("#find-words")
        assert page.inner_text("#start-error") == "Enter example pages below."
        page.fill("#seeds", "\n".join(topic.seeds[:3]))
        page.click("button.primary")
        assert "derive keywords from these pages" in page.inner_text("#start-error")
        page.click("#find-words")
        until(lambda: len(page.input_value("#topic").split()) >= 3, "no words were found", 60)
        page.fill("#seeds", "")
        page.set_input_files("#topic-file", str(file))
        until(lambda: page.input_value("#topic") == topic.keywords, "the file was not read")
        assert page.input_value("#seeds") == seed
        page.fill("#pages", "5")
        page.click("button.primary")
        page.wait_for_url(re.compile("/c/"))
        (folder,) = [path for path in home.iterdir() if path.is_dir()]
        until(lambda: holder(folder) is None, "it did not end", 60)
    with CrawlFolder.look(folder) as opened:
        assert (opened.request.topic.keywords, opened.request.topic.description) == (topic.keywords, "clubs")
