"""The companion in a real browser: the extension is loaded from its folder, paired, switched on, and suggests."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from scenthound.desk.apps.companion import extension_folder
from scenthound.url import host
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
    options.wait_for_selector("text=Paired. Open the side panel")
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
        panel.wait_for_selector("text=The companion is off")
        assert kept(tmp_path)["pages"] == 0
        panel.click("#switch")
        page.bring_to_front()
        page.goto(START)
        until(lambda: kept(tmp_path)["pages"] == 1, "the page did not reach the desk")
        panel.bring_to_front()
        panel.wait_for_selector("#suggestions li >> nth=4")
        panel.wait_for_selector("text=checked.")  # until then reasons come from the links alone
        assert "matches your interests: " in panel.inner_text("#suggestions")
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


def test_it_stays_off_without_permission_and_reads_no_excluded_site(tmp_path: Path) -> None:
    with at_work(tmp_path, may_read=False) as (browser, printed):
        page = browser.new_page()
        page.goto(START)
        pair(browser, printed["code"])
        panel = opened(browser, "panel.html")
        panel.click("#switch")  # Chromium asks, and nobody answers
        panel.wait_for_timeout(500)
        assert panel.inner_text("#switch") == "Off"
        assert panel.evaluate("chrome.permissions.getAll()")["origins"] == ["http://127.0.0.1/*"]
        page.reload()
    assert kept(tmp_path)["pages"] == 0


def test_excluded_sites_are_not_sent_and_a_desk_that_is_gone_is_named(tmp_path: Path) -> None:
    with served(tmp_path / "log.jsonl") as proxy, browser_with_extension(tmp_path / "profile", proxy) as browser:
        with companion_process(tmp_path / "kept", "--port", "0", "--set", f"proxy={proxy}") as printed:
            pair(browser, printed["code"])
            options = opened(browser, "options.html")
            options.fill("#excluded", host(START))
            options.click("#excluding button")
            options.wait_for_selector("text=Saved.")
            options.fill("#code", "8770")
            options.click("#pairing button")
            options.wait_for_selector("text=A code looks like 8770-abcde-")
            panel = opened(browser, "panel.html")
            panel.click("#switch")
            panel.wait_for_selector("#switch[aria-checked=true]")
            page = browser.new_page()
            page.goto(START)
            panel.bring_to_front()
            panel.wait_for_selector("text=The companion doesn't read this page")
            assert kept(tmp_path)["pages"] == 0
            expected, deadline = [host(START).removeprefix("www.")], time.monotonic() + 20
            while kept(tmp_path)["excluded"] != expected and time.monotonic() < deadline:
                panel.wait_for_timeout(200)  # the extension passes its list on after it has saved it
            assert kept(tmp_path)["excluded"] == expected
            options.bring_to_front()
            options.fill("#excluded", "")
            options.click("#excluding button")
            options.wait_for_selector("text=Saved.")
            page.bring_to_front()
            until(lambda: kept(tmp_path)["pages"] == 1, "it is excluded no more")
        panel.bring_to_front()
        panel.wait_for_selector("text=Start it with: scenthound companion")


@contextmanager
def impostor(port: int) -> Iterator[list[str]]:
    """A server on the port of a desk that is gone. It agrees to everything; gives what it has received."""
    received: list[str] = []
    wrong = {"nonce": "a" * 64, "proof": "b" * 64, "token": "t", "excluded": [], "paired": [], "suggestions": []}
    answer = json.dumps({**wrong, "about": "evil words", "error": "evil words", "profile": {"words": [], "pages": 0}})

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            received.append(f"{self.requestline}\n{self.headers}\n{self.rfile.read(length).decode()}")
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(answer.encode())

        do_GET = do_POST  # noqa: N815

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_who_listens_on_the_port_of_a_desk_that_is_gone_learns_nothing(tmp_path: Path) -> None:
    with served(tmp_path / "log.jsonl") as proxy, browser_with_extension(tmp_path / "profile", proxy) as browser:
        with companion_process(tmp_path / "kept", "--port", "0", "--set", f"proxy={proxy}") as printed:
            pair(browser, printed["code"])
            panel = opened(browser, "panel.html")
            panel.click("#switch")
            panel.wait_for_selector("#switch[aria-checked=true]")
            options = opened(browser, "options.html")
            options.fill("#excluded", "https://www.No.test/page")
            options.click("#excluding button")
            options.wait_for_selector("text=Saved.")
            page = browser.new_page()
            page.goto(START)
            until(lambda: kept(tmp_path)["pages"] == 1, "the page did not reach the desk")
            title, words = page.title(), page.inner_text("body").split()
        key = next(iter(json.loads((tmp_path / "kept" / "pairings.json").read_text())["extensions"].values()))
        with impostor(int(printed["code"].partition("-")[0])) as received:
            page.reload()
            page.goto(START)
            until(lambda: len(received) >= 2, "the extension did not look for its desk")
            panel.bring_to_front()
            panel.wait_for_selector("text=is not the desk that this browser is paired with. Nothing was sent to it.")
            options.bring_to_front()
            options.fill("#excluded", "also-no.test")
            options.click("#excluding button")
            options.wait_for_selector("text=no site was removed")
            options.reload()
            options.wait_for_selector("text=is not the desk")
            assert options.input_value("#excluded").split() == ["also-no.test", "no.test"]
            options.fill("#code", printed["code"])
            options.click("#pairing button")
            options.wait_for_selector("text=does not know this code")
            assert "evil words" not in panel.inner_text("body") + options.inner_text("body")
        assert {request.partition("\n")[0] for request in received} == {"POST /api/companion/challenges HTTP/1.1"}
        text = "\n".join(received).lower()
        code = printed["code"].partition("-")[2]
        for secret in (key, code, code.replace("-", ""), host(START), title, "no.test", "authorization"):
            assert secret.lower() not in text
        assert not [word for word in words if len(word) > 8 and word.lower() in text]
        with companion_process(tmp_path / "kept", "--port", printed["code"].partition("-")[0]):
            page.bring_to_front()
            page.goto(START)
            until(lambda: kept(tmp_path)["pages"] >= 1, "the desk is not recognised")
            options.bring_to_front()
            options.reload()
            options.fill("#excluded", "also-no.test")
            options.click("#excluding button")
            options.wait_for_selector("text=Saved.")
            assert options.input_value("#excluded") == "also-no.test"
            assert kept(tmp_path)["excluded"] == ["also-no.test"]


def test_an_answer_of_the_desk_adds_excluded_sites_and_removes_none(tmp_path: Path) -> None:
    with at_work(tmp_path) as (browser, printed):
        pair(browser, printed["code"])
        options = opened(browser, "options.html")
        options.fill("#excluded", "own.test")
        options.click("#excluding button")
        options.wait_for_selector("text=Saved.")
        desk = browser.new_page()
        desk.goto(printed["address"])
        desk.wait_for_selector("text=On. 0 pages read")
        desk.fill("#excluded", "other.test")  # the person excludes another site there, and this one no longer
        desk.click("#excluding button")
        until(lambda: kept(tmp_path).get("excluded") == ["other.test"], "it was not saved")
        options.bring_to_front()
        options.reload()
        until(lambda: options.input_value("#excluded") == "other.test\nown.test", options.inner_text("body"))


def test_hostile_pages_stay_text_in_the_panel_and_at_the_desk(tmp_path: Path) -> None:
    with at_work(tmp_path) as (browser, printed):
        pair(browser, printed["code"])
        panel = opened(browser, "panel.html")
        panel.click("#switch")
        panel.wait_for_selector("#switch[aria-checked=true]")
        page = browser.new_page()
        page.goto(START)
        until(lambda: kept(tmp_path)["pages"] == 1, "the page did not reach the desk")
        attack = "<img src=x onerror=document.title='broken'> kayak paddle"
        page.evaluate(
            """(text) => { document.body.replaceChildren(...[1, 2].map((n) => Object.assign(document.createElement("a"),
            { href: `http://evil.test/${n}`, textContent: text }))); document.title = text; }""",
            attack,
        )
        panel.bring_to_front()
        page.bring_to_front()  # the page is reported again as it is now
        panel.bring_to_front()
        panel.wait_for_selector("#suggestions a[href^='http://evil.test/']")
        assert panel.inner_text("#suggestions a >> nth=0") == attack
        assert panel.locator("#suggestions img").count() == 0
        desk = browser.new_page()
        desk.goto(printed["address"])
        desk.wait_for_selector(f"#front a >> text={attack[:20]}")
        assert desk.locator("main img").count() == 0
        assert [tab.title() for tab in (panel, desk)] == ["Scenthound companion", "Companion · Scenthound"]
