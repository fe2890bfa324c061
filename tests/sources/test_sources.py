"""Every seed source keeps the contract, on replies in the documented formats; and each source works."""

from __future__ import annotations

import asyncio
import json
import runpy
from collections.abc import Mapping
from pathlib import Path

import pytest

from scenthound.errors import BadConfig, ScenthoundError, SourceFailed, UnknownName
from scenthound.lab.testing import seed_source_contract
from scenthound.lab.testing.seed_source import ReplyFetcher
from scenthound.model import Topic, Url
from scenthound.seeding import FoundUrl, KnowsBackLinks, SeedSource
from scenthound.sources import SOURCES, named_source
from scenthound.sources.polite_requests import LARGEST_ANSWER, PoliteAsker
from support.seed_servers import cdx_line, collinfo, searxng_reply
from support.small_crawl import small_crawl

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "custom_seed_source.py"
SEARCH, INDEX, SITE = "https://search.test", "https://index.test", "http://site.test"
FOUND = [
    ("http://b.test/balloon", "Hot air balloons"),
    ("http://c.test/", "Balloon\u202e\x1b[31m club"),
    ("http://b.test/balloon", "twice"),
]
SITEMAP = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://site.test/about</loc></url><url><loc>http://site.test/hot-air-balloons/</loc></url>
<url><loc>http://other.test/balloon</loc></url></urlset>"""
LINES = "\n".join(map(cdx_line, ("http://site.test/", "http://site.test/balloon", "http://www.site.test/air-balloon")))
BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1><TITLE>Bookmarks</TITLE><DL><p>
<DT><A HREF="http://b.test/balloon" ADD_DATE="1">Balloon club</A><DT><A HREF="http://cars.test/">Cars</A>
<DT><A HREF="javascript:alert(1)">Balloon button</A></DL>"""
CHROMIUM = json.dumps(
    {
        "checksum": "0",
        "roots": {
            "bookmark_bar": {
                "children": [
                    {"type": "url", "name": "Club", "url": "http://b.test/balloon"},
                    {
                        "type": "folder",
                        "name": "Balloons",
                        "children": [{"type": "url", "name": "x", "url": "http://c.test/"}],
                    },
                    {"type": "url", "name": "Settings", "url": "chrome://settings/"},
                ],
                "name": "Bookmarks bar",
                "type": "folder",
            }
        },
        "version": 1,
    }
)
FIREFOX = json.dumps(
    {
        "guid": "root________",
        "typeCode": 2,
        "type": "text/x-moz-place-container",
        "children": [
            {
                "title": "menu",
                "type": "text/x-moz-place-container",
                "children": [
                    {"title": "Balloons", "type": "text/x-moz-place", "uri": "http://b.test/balloon"},
                    {"title": "Recent", "type": "text/x-moz-place", "uri": "place:sort=8"},
                    {"type": "text/x-moz-place-separator"},
                ],
            }
        ],
    }
)
REPLIES: Mapping[str, Mapping[str, bytes]] = {
    "searxng": {f"{SEARCH}/search": searxng_reply("hot air balloon", FOUND)},
    "commoncrawl": {f"{INDEX}/collinfo.json": collinfo(INDEX), f"{INDEX}/CC-MAIN-2026-43-index": LINES.encode()},
    "sitemap": {f"{SITE}/sitemap.xml": SITEMAP},
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The text that names each source."""
    folder = tmp_path_factory.mktemp("sources")
    small_crawl(folder / "crawl")
    (folder / "bookmarks.html").write_text(BOOKMARKS, encoding="utf-8")
    return {
        "searxng": f"searxng:{SEARCH}",
        "commoncrawl": f"commoncrawl:site.test,server={INDEX}",
        "sitemap": f"sitemap:{SITE}",
        "bookmarks": f"bookmarks:{folder / 'bookmarks.html'}",
        "collections": f"collections:{folder}",
    }


OURS = [name for name, kind in SOURCES.items() if kind.__module__.startswith("scenthound.")]


@pytest.mark.parametrize("name", OURS)
def test_a_source_keeps_the_contract(name: str, written: Mapping[str, str]) -> None:
    linked = "http://b.test/one.html" if name == "collections" else "http://a.test/page"
    for says, check in seed_source_contract(lambda: named_source(written[name]), REPLIES.get(name), linked):
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"{name}: {says}: {error}") from error


def test_the_contract_finds_a_source_that_trusts_its_answers() -> None:
    class Trusting:
        async def seeds(self, topic: Topic, most: int, asker: PoliteAsker) -> list[FoundUrl]:
            return [FoundUrl(r["url"]) for r in json.loads(await asker.get(f"{SEARCH}/search"))["results"]][:most]

    checks = dict(seed_source_contract(Trusting, REPLIES["searxng"]))
    with pytest.raises((AssertionError, ValueError, KeyError, TypeError)):
        checks["whatever the reply, it fails only with `SourceFailed`"]()


def ask(source: SeedSource, fetcher: ReplyFetcher, words: str = "hot air balloon", most: int = 10) -> list[str]:
    asker = PoliteAsker(fetcher, "scenthound", 0.0)
    return [one.url for one in asyncio.run(source.seeds(Topic(words), most, asker))]


def linking(source: SeedSource, url: str, fetcher: ReplyFetcher) -> list[str]:
    assert isinstance(source, KnowsBackLinks)
    return [one.url for one in asyncio.run(source.back_links(Url(url), 10, PoliteAsker(fetcher, "scenthound", 0.0)))]


def test_searxng_is_asked_page_by_page_until_there_is_nothing_new() -> None:
    fetcher = ReplyFetcher(REPLIES["searxng"])
    assert ask(named_source(f"searxng:{SEARCH}/,language=de"), fetcher) == ["http://b.test/balloon", "http://c.test/"]
    searches = [url for url in fetcher.asked if "/search?" in url]
    assert [url.rpartition("pageno=")[2] for url in searches] == ["1&language=de", "2&language=de"]
    assert all("q=hot+air+balloon&format=json" in url for url in searches)


def test_searxng_searches_for_the_address_as_a_phrase() -> None:
    fetcher = ReplyFetcher(REPLIES["searxng"])
    assert linking(named_source(f"searxng:{SEARCH}"), "http://c.test/", fetcher) == ["http://b.test/balloon"]
    assert "q=%22c.test%22+-site%3Ac.test" in fetcher.asked[-1]


def test_robots_txt_of_a_search_engine_is_obeyed_unless_its_owner_says_otherwise() -> None:
    robots = {**REPLIES["searxng"], f"{SEARCH}/robots.txt": b"User-agent: *\nDisallow: /*?*q=*\n"}
    with pytest.raises(SourceFailed, match=r"robots\.txt of search\.test forbids") as failed:
        ask(named_source(f"searxng:{SEARCH}"), ReplyFetcher(robots))
    assert "robots=false" in failed.value.hint
    assert ask(named_source(f"searxng:{SEARCH}/,robots=false"), ReplyFetcher(robots))


def test_searxng_without_json_says_what_its_settings_lack() -> None:
    with pytest.raises(SourceFailed) as failed:
        ask(named_source(f"searxng:{SEARCH}"), ReplyFetcher({}, b"Forbidden", 403))
    assert "formats: [html, json]" in failed.value.hint


def test_an_answer_that_is_too_large_is_refused() -> None:
    with pytest.raises(SourceFailed, match="larger than"):
        ask(named_source(f"searxng:{SEARCH}"), ReplyFetcher({}, b" " * (LARGEST_ANSWER + 1)))


def test_common_crawl_lists_a_domain_and_orders_it_by_words() -> None:
    fetcher = ReplyFetcher(REPLIES["commoncrawl"])
    found = ask(named_source(f"commoncrawl:site.test,server={INDEX}"), fetcher)
    assert found == ["http://www.site.test/air-balloon", "http://site.test/balloon", "http://site.test/"]
    assert "url=site.test&matchType=domain&output=json" in fetcher.asked[-1]
    assert "filter=%3Dstatus%3A200" in fetcher.asked[-1]
    assert not isinstance(named_source("commoncrawl:site.test"), KnowsBackLinks)


def test_an_index_server_can_not_refer_to_another_server() -> None:
    moved = {f"{INDEX}/collinfo.json": collinfo("http://evil.test")}
    with pytest.raises(SourceFailed, match=r"another server, evil\.test"):
        ask(named_source(f"commoncrawl:site.test,server={INDEX}"), ReplyFetcher(moved))


def test_common_crawl_without_captures_has_no_answer() -> None:
    nothing = {f"{INDEX}/collinfo.json": collinfo(INDEX)}
    assert ask(named_source(f"commoncrawl:site.test,server={INDEX}"), ReplyFetcher(nothing)) == []


def test_a_sitemap_gives_pages_of_its_own_host_best_matches_first() -> None:
    assert ask(named_source(f"sitemap:{SITE}/"), ReplyFetcher(REPLIES["sitemap"])) == [
        "http://site.test/hot-air-balloons/",
        "http://site.test/about",
    ]
    named = {f"{SITE}/robots.txt": b"Sitemap: /maps/all.xml\n", f"{SITE}/maps/all.xml": SITEMAP}
    assert ask(named_source(f"sitemap:{SITE},matching=true"), ReplyFetcher(named)) == [
        "http://site.test/hot-air-balloons/"
    ]


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        (BOOKMARKS, ["http://b.test/balloon"]),
        (CHROMIUM, ["http://b.test/balloon", "http://c.test/"]),
        (FIREFOX, ["http://b.test/balloon"]),
    ],
    ids=["netscape", "chromium", "firefox"],
)
def test_bookmarks_on_the_topic_in_every_format(tmp_path: Path, text: str, urls: list[str]) -> None:
    (tmp_path / "file").write_text(text, encoding="utf-8")
    assert ask(named_source(f"bookmarks:{tmp_path / 'file'}"), ReplyFetcher({})) == urls


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', "[" * 100_000, "plain words", '{"roots": [1]}'])
def test_a_file_without_bookmarks_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text, encoding="utf-8")
    with pytest.raises(BadConfig, match="has no bookmarks"):
        ask(named_source(f"bookmarks:{tmp_path / 'file'}"), ReplyFetcher({}))


def test_collections_search_the_text_and_know_the_links(written: Mapping[str, str]) -> None:
    source, nobody = named_source(written["collections"]), ReplyFetcher({})
    assert ask(source, nobody, "cars") == ["http://c.test/two", "http://c.test/three"]
    assert set(linking(source, "http://b.test/one.html", nobody)) == {"http://a.test/", "http://c.test/two"}
    assert nobody.asked == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("searxng", BadConfig),
        ("searxng:", BadConfig),
        ("searxng:nowhere", BadConfig),
        ("searxng:https://me:secret@search.test/", BadConfig),
        ("google:https://search.test/", UnknownName),
        ("collections:here,depth=2", ScenthoundError),
        ("commoncrawl:a.test,look_at=none", BadConfig),
    ],
)
def test_text_that_is_not_a_source_is_refused(text: str, kind: type[ScenthoundError]) -> None:
    fetcher = ReplyFetcher({})
    with pytest.raises(kind) as failed:
        ask(named_source(text), fetcher)
    assert failed.value.hint
    assert "secret" not in failed.value.message
    assert not fetcher.asked


def paced(delay: float) -> float:
    """How many seconds a search with two pages of results takes."""

    async def seconds() -> float:
        loop = asyncio.get_running_loop()
        began, asker = loop.time(), PoliteAsker(ReplyFetcher(REPLIES["searxng"]), "scenthound", delay)
        await named_source(f"searxng:{SEARCH},robots=false").seeds(Topic("balloon"), 10, asker)
        return loop.time() - began

    return asyncio.run(seconds())


def test_requests_to_one_host_are_spaced() -> None:
    assert paced(0.2) >= 0.2
    assert paced(0.0) < 0.2


def test_the_source_of_the_example_keeps_the_contract() -> None:
    module = runpy.run_path(str(EXAMPLE), run_name="custom_seed_source")
    replies = {"http://links.test/": b'<a href="http://a.test/">balloon</a><a href="/b">b</a><a href="/b">again</a>'}
    for _, check in seed_source_contract(lambda: module["LinksOf"]("http://links.test/"), replies):
        check()
