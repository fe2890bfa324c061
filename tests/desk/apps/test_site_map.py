"""The map of a site: a tree by link path, the topic marked, the rest folded; and its files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scenthound.cli.root_command import run
from scenthound.desk.apps.site_map import SiteMap, html_of, markdown_of, site_map, sitemap_of, svg_of
from scenthound.errors import BadUsage
from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.folder import CrawlFolder
from support.application_webs import HOME, SITE, site_crawl
from support.html_crawl import html_crawl


def made(folder: Path, unfolded: bool = False) -> SiteMap:
    with CrawlFolder.look(folder) as opened:
        return site_map(opened, unfolded)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site_crawl(tmp_path_factory.mktemp("map") / "crawl")


def paths(site: SiteMap) -> list[tuple[int, str]]:
    return [(depth, branch.url.removeprefix("http://site.test")) for depth, branch in site.rows()]


def test_pages_stand_below_the_page_that_led_to_them_and_the_rest_is_folded(folder: Path) -> None:
    site = made(folder)
    assert (site.pages, site.on_topic, site.site) == (7, 2, "site.test")
    assert sorted(paths(site)) == [(0, "/"), (1, "/a"), (1, "/new"), (2, "/b"), (2, "/e")]
    assert site.roots[0].folded == 2, "the cars"
    assert site.roots[0].pages_below == 6
    assert [branch.url for _, branch in site.rows() if branch.on_topic] == ["http://site.test/b", "http://site.test/e"]
    assert len(list(made(folder, unfolded=True).rows())) == 7


def test_the_files_say_the_same_and_nothing_from_the_web_is_markup(folder: Path) -> None:
    site = made(folder)
    svg = ElementTree.fromstring(svg_of(site))
    hits = svg.findall(".//{http://www.w3.org/2000/svg}circle[@class='hit']")
    assert len(hits) == 2
    assert float(hits[0].attrib["r"]) > 5, "relevant pages are large"
    html = html_of(site)
    assert "<script" not in html
    assert "src=" not in html, "one file that loads nothing"
    assert html.count("<li>") == html.count("</li>") == 5
    assert html.count("<ul>") == html.count("</ul>")
    assert "+ 2 off-topic pages" in html
    listed = ElementTree.fromstring(sitemap_of(site).encode())
    assert [entry.text for entry in listed.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")] == [
        "http://site.test/b",
        "http://site.test/e",
    ]
    outline = markdown_of(site)
    assert re.search(r"^    - \*\*\[Ballooning\]\(<http://site.test/e>\)\*\*", outline, re.MULTILINE)
    assert r"\<script\>" in outline or "script" not in outline


def test_a_page_on_topic_behind_one_that_is_not_is_kept_with_its_path(folder: Path) -> None:
    site = made(folder)
    section = next(branch for _, branch in site.rows() if branch.title == "Section")
    assert not section.on_topic
    assert section.found_below == 1


def test_the_command_maps_a_crawl_that_there_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["map", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["pages"], told["on_topic"]) == (7, 2)
    assert [Path(name).name for name in told["files"]] == ["map.html", "map.svg", "map.md", "sitemap.xml"]
    assert all(Path(name).is_file() for name in told["files"])
    assert run(["map", str(folder)]) == 0
    assert "● " in capsys.readouterr().out
    assert run(["map", str(folder), "balloons"]) == 2
    assert "a topic is for a new crawl" in capsys.readouterr().err


def test_the_command_crawls_one_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = GeneratedWeb(400, 3)
    topic = web.topics[0]
    seed, out = topic.seeds[0], tmp_path / "crawl"
    with serving(web) as address:
        words = ["--proxy", f"http://{address}", "--delay", "1 ms", "--pages", "15", "--out", str(out), "--json"]
        assert run(["map", seed, topic.keywords, *words]) == 0
    told = json.loads(capsys.readouterr().out)
    assert 1 <= told["pages"] <= 15
    with CrawlFolder.look(out) as opened:
        assert opened.request.strategy == "shark-search"
        assert {stored.host for stored in opened.pages()} == {told["site"]}


def test_a_topic_without_hits_still_gets_a_map_and_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = html_crawl(tmp_path / "crawl", SITE, [HOME], "quantum chromodynamics", judge="keywords:threshold=0.2")
    assert run(["map", str(folder)]) == 0
    told = capsys.readouterr()
    assert "0 of 7 pages on topic" in told.out
    assert "No links are left to follow: try other words" in told.err
    assert "No page is on topic" in (folder / "map" / "map.html").read_text()


def test_a_site_that_forbids_robots_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = GeneratedWeb(60, 3)
    with serving(BedServer(web, ServerOptions(robots="deny"))) as address:
        words = ["--proxy", f"http://{address}", "--out", str(tmp_path / "crawl")]
        assert run(["map", web.topics[0].seeds[0], "balloons", *words]) == 1
    told = capsys.readouterr().err
    assert "no seed could be fetched: robots" in told
    assert "hint: " in told
    with CrawlFolder.look(tmp_path / "crawl") as opened, pytest.raises(BadUsage, match="no pages yet"):
        site_map(opened)


def test_without_a_topic_the_command_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["map", "http://site.test/"]) == 2
    assert 'scenthound map http://site.test/ "hot air ballooning"' in capsys.readouterr().err
