"""The portal at the desk: made at a click, served as a visitor sees it, without trust in the folder."""

from __future__ import annotations

import http.server
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from scenthound.desk.apps.portal import build_portal
from scenthound.search.portal_categories import categories_of
from support.desk import WITH_TOKEN, browser_page, chromium, client, desk_process
from support.running_crawl import until
from support.small_crawl import small_crawl


def done(desk: TestClient) -> dict[str, Any] | None:
    job = desk.get("/api/collections/crawl/portal").json()
    assert job["state"] in ("working", "done"), job
    return job["answer"]


def test_a_portal_that_can_not_be_made_says_why(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    (folder / "portal").mkdir()
    (folder / "portal" / "mine.txt").write_text("not a portal")
    with client(tmp_path / "home", folder) as desk:
        desk.post("/api/collections/crawl/portal", headers=WITH_TOKEN)
        job = until(lambda: _ended(desk), "it never ended")
        assert job["state"] == "failed"
        assert "exists and is not a portal" in job["said"]
        assert "choose a new folder" in job["said"]


def _ended(desk: TestClient) -> dict[str, Any] | None:
    job = desk.get("/api/collections/crawl/portal").json()
    return None if job["state"] == "working" else job


def test_it_is_made_and_served(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with client(tmp_path / "home", folder) as desk:
        assert "Build the portal" in desk.get("/c/crawl/portal").text
        assert desk.get("/c/crawl/portal/index.html").status_code == 404
        assert desk.post("/api/collections/crawl/portal").status_code == 401
        assert desk.get("/api/collections/crawl/portal").json()["state"] == "none"
        begun = desk.post("/api/collections/crawl/portal", headers=WITH_TOKEN)
        assert begun.status_code == 202
        made = until(lambda: done(desk), "the portal was never made")
        assert made["pages"] == 4
        assert "Open the portal" in desk.get("/c/crawl/portal").text
        home = desk.get("/c/crawl/portal/index.html")
        assert "hot air balloons" in home.text
        assert "script-src http://127.0.0.1:8770/c/crawl/portal/assets/;" in home.headers["content-security-policy"]
        assert desk.get("/c/crawl/portal/p/1.html").status_code == 200
        assert desk.get("/c/crawl/portal/search/about.json").json()["pages"] == 4
        assert "javascript" in desk.get("/c/crawl/portal/assets/search.js").headers["content-type"]


def test_categories_are_named_at_the_desk_and_keep_their_pages(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    build_portal(folder)
    before = categories_of(folder)
    with client(tmp_path / "home", folder) as desk:
        page = desk.get("/c/crawl/portal").text
        category = page.partition('data-category="')[2].partition('"')[0]
        names, url = {"category": category, "name": "  My  burners "}, "/api/collections/crawl/portal/names"
        assert desk.post(url, json=names).status_code == 401
        assert desk.post(url, json=names, headers=WITH_TOKEN).status_code == 200
        assert 'value="My burners"' in desk.get("/c/crawl/portal").text
        for wrong in ({"category": "none", "name": "x"}, {"category": category, "name": " "}):
            assert desk.post(url, json=wrong, headers=WITH_TOKEN).status_code == 400
    build_portal(folder)
    after = categories_of(folder)
    assert "My burners" in after
    assert sorted(after.values()) == sorted(before.values())


def test_nothing_but_pages_of_a_portal_is_served(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    build_portal(folder)
    site = folder / "portal"
    (site / "assets" / "evil.js").write_text("alert(1)")
    (site / "assets" / "search.js").write_text("alert(1)")
    (site / "p" / "9.html").symlink_to(folder / "crawl.toml")
    with client(tmp_path / "home", folder) as desk:
        for name in (
            "assets/evil.js",
            "p/9.html",
            "categories.toml",
            ".portal/read.jsonl",
            "..%2Fcrawl.toml",
            "p/..%2f..%2fcrawl.toml",
            "search/about.js",
        ):
            assert desk.get(f"/c/crawl/portal/{name}").status_code == 404, name
        assert "alert" not in desk.get("/c/crawl/portal/assets/search.js").text, "scripts come from the package"


@pytest.mark.slow
def test_search_works_in_the_browser_at_the_desk_and_on_any_server(tmp_path: Path) -> None:
    chromium()
    folder = small_crawl(tmp_path / "crawl")
    with desk_process(tmp_path / "home", str(folder)) as address, browser_page() as page:
        page.goto(address)
        page.goto(f"{address.partition('/#')[0]}/c/crawl/portal")
        page.click("#build")
        page.wait_for_url("**/portal/index.html")
        page.fill("input[name=q]", "The BALLOON")  # a stop word, capitals, and the beginning of a word
        page.click("header button")
        until(lambda: page.inner_text("#said") == "3 pages.", "the search found something else")
        page.click("#found li:first-child a")
        page.wait_for_url("**/p/*.html")
    handler = partial(Quiet, directory=str(folder / "portal"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, browser_page() as page:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page.goto(f"http://127.0.0.1:{server.server_port}/search.html?q=cars+balloons")
        until(lambda: page.inner_text("#said") == "1 page.", "the search found something else")
        assert page.inner_text("#found li a") == "Three"
        page.goto(f"http://127.0.0.1:{server.server_port}/search.html?q=cars+hot")
        until(lambda: "No page has all 2 words" in page.inner_text("#said"), "no word about what was left out")
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        pass
