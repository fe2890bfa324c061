"""The companion in a real browser: the extension is loaded from its folder, paired, switched on, and suggests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scenthound.apps.companion import extension_folder
from support.companion import browser_with_extension, companion_process, extension_id
from support.running_crawl import WEB, requests, served, until

pytestmark = pytest.mark.slow
START = WEB.topics[0].seeds[0]


@contextmanager
def at_work(folder: Path, may_read: bool = True) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A browser, and the companion of it; pages come from a generated web."""
    with (
        served(folder / "log.jsonl") as proxy,
        companion_process(folder / "kept", "--port", "0", "--delay", "0.1", "--set", f"proxy={proxy}") as printed,
        browser_with_extension(folder / "profile", proxy, may_read) as browser,
    ):
        yield browser, printed


def opened(browser: Any, page: str) -> Any:
    """A page of the extension in a tab."""
    tab = browser.new_page()
    tab.goto(f"chrome-extension://{extension_id(extension_folder().resolve())}/{page}")
    return tab


def pair(browser: Any, code: str) -> None:
    options = opened(browser, "options.html")
    options.fill("#code", code)
    options.click("#pairing button")
    options.wait_for_selector("text=Paired. Open the panel")
    options.close()


def kept(folder: Path) -> dict[str, Any]:
    path = folder / "kept" / "profile.json"
    document: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"pages": 0, "words": []}
    return document


def test_from_loading_the_extension_to_following_a_suggestion_and_forgetting_all(tmp_path: Path) -> None:
    with at_work(tmp_path) as (browser, printed):
        assert printed["extension"] == str(extension_folder())
        page = browser.new_page()
        page.goto(START)
        panel = opened(browser, "panel.html")
        panel.wait_for_selector("text=Not paired yet")
        pair(browser, printed["code"])
        panel.bring_to_front()
        panel.wait_for_selector("text=Off: nothing is read and nothing is sent")
        assert kept(tmp_path)["pages"] == 0
        panel.click("#switch")
        page.bring_to_front()
        page.goto(START)
        until(lambda: kept(tmp_path)["pages"] == 1, "the page did not reach the desk")
        panel.bring_to_front()
        panel.wait_for_selector("#suggestions li >> nth=4")
        assert "as what you read" in panel.inner_text("#suggestions")
        panel.wait_for_selector("text=looked at.")
        asked = {one["path"] for one in requests(tmp_path / "log.jsonl")}
        assert len(asked) > 10
        link = panel.locator("#suggestions li a").first
        target = link.get_attribute("href")
        link.click()
        page.wait_for_url(target)
        until(lambda: kept(tmp_path)["pages"] == 2, "the followed page did not reach the desk")

        desk = browser.new_page()
        desk.goto(printed["address"])
        desk.wait_for_selector("text=On. 2 pages read")
        words = {one["word"] for one in kept(tmp_path)["words"]}
        assert desk.locator("#words li span").first.inner_text() in words
        desk.click("#forget")
        desk.wait_for_selector("text=0 pages read, 0 words")
        assert kept(tmp_path) == {"version": 1, "pages": 0, "words": [], "removed": {}, "excluded": []}
