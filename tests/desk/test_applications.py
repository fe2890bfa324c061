"""The pages of related organisations and of the map of a site, and what they offer to scripts."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

from scenthound.loop.folder import CrawlFolder
from scenthound.wiring import resume
from support.application_webs import CLUB_SEEDS, CLUBS, SITE, site_crawl
from support.desk import WITH_TOKEN, browser_page, client, desk_process
from support.html_crawl import HtmlPages, html_crawl

ONE = "/api/collections/crawl"


def organisations(folder: Path) -> Path:
    return html_crawl(folder, CLUBS, CLUB_SEEDS, "balloon clubs")


def test_organisations_are_listed_with_evidence_and_can_be_decided_on(tmp_path: Path) -> None:
    folder = organisations(tmp_path / "crawl")
    with client(tmp_path / "home", folder) as desk:
        html = desk.get("/c/crawl/related").text
        assert "Gamma e.V." in html
        assert "under “Balloon clubs”" in html
        assert 'data-url="http://gamma.test/" data-on-topic="true"' in html
        assert 'href="/c/crawl/related" aria-current="page"' in html
        assert "/c/crawl/site-map" not in html, "its seeds are on two hosts"
        label = {"url": "http://cars.test/", "on_topic": False}
        assert desk.post(f"{ONE}/labels", json=label, headers=WITH_TOKEN).status_code == 202
        after = desk.get(f"{ONE}/related").json()
        assert [one["key"] for one in after["rejected"]] == ["cars.test"]
        assert "<h2>Rejected</h2>" in desk.get("/c/crawl/related").text
        table = desk.get(f"{ONE}/related.csv")
        assert table.text.splitlines()[1].startswith("1,")
        assert desk.get(f"{ONE}/related?limit=0").status_code == 400


def test_an_empty_collection_has_no_organisations_and_says_what_to_do(tmp_path: Path) -> None:
    folder = html_crawl(tmp_path / "crawl", {}, CLUB_SEEDS, "balloon clubs")
    with client(tmp_path / "home", folder) as desk:
        assert desk.get(f"{ONE}/related").status_code == 400
        page = desk.get("/c/crawl/related")
        assert "no pages yet" in page.text
        assert "scenthound status" in page.text


def test_the_map_of_a_site_is_a_tree_with_files(tmp_path: Path) -> None:
    folder = site_crawl(tmp_path / "crawl")
    with client(tmp_path / "home", folder) as desk:
        html = desk.get("/c/crawl/site-map").text
        assert "2 of 7 pages of site.test are on topic" in html
        assert html.count("<li data-url=") == 5
        assert "+ 2 off-topic pages" in html
        assert "/c/crawl/related" not in html, "its seeds are on one host"
        assert desk.get("/c/crawl/site-map?folded=no").text.count("<li data-url=") == 7
        assert len(desk.get(f"{ONE}/site-map").json()["branches"]) == 5
        assert ElementTree.fromstring(desk.get(f"{ONE}/site-map/map.svg").text) is not None
        assert desk.get(f"{ONE}/site-map/map.exe").status_code == 404


def test_decisions_and_folding_work_in_the_browser(tmp_path: Path) -> None:
    folder = organisations(tmp_path / "crawl")
    site = site_crawl(tmp_path / "site")
    with desk_process(tmp_path / "home", str(folder), str(site)) as address, browser_page() as page:
        base, _, token = address.partition("/#")
        page.goto(address)
        page.goto(f"{base}/c/crawl/related#{token}")
        row = page.locator(".result", has_text="Gamma")
        row.get_by_role("button", name="Accept").click()
        row.locator("[aria-pressed=true]", has_text="Accept").wait_for()
        tab = page.context.new_page()  # it asks the other tab for the token
        tab.goto(f"{base}/c/crawl/related")
        tab.click("[data-url='http://cars.test/'][data-on-topic=false]")
        tab.wait_for_selector("[data-url='http://cars.test/'][aria-pressed=true]")
        page.goto(f"{base}/c/site/site-map")
        page.get_by_text("Ballooning").wait_for()
        with page.expect_download() as saved:
            page.get_by_role("button", name="map.png").click()
        assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")
        page.locator("summary").first.click(position={"x": 2, "y": 8})
        page.get_by_text("Ballooning").wait_for(state="hidden")
    with CrawlFolder.look(folder) as opened:
        assert opened.database.labels() == {"http://gamma.test/": True, "http://cars.test/": False}


def go_on(folder: Path) -> None:
    """Crawl the rest of the site."""
    session = resume(folder, pages=20, fetcher=HtmlPages(SITE))
    try:
        asyncio.run(session.run())
    finally:
        session.close()


def test_the_map_grows_while_the_crawl_runs(tmp_path: Path) -> None:
    folder = site_crawl(tmp_path / "site", pages=2)
    with desk_process(tmp_path / "home", str(folder)) as address, browser_page() as page:
        page.goto(f"{address.partition('/#')[0]}/c/site/site-map")
        page.get_by_text("0 of 2 pages").wait_for()
        with ThreadPoolExecutor(1) as thread:  # the browser's driver has an event loop in this one
            thread.submit(go_on, folder).result()
        page.get_by_text("2 of 7 pages").wait_for()
        page.get_by_text("Ballooning").wait_for()
