"""A collection as a search engine for other programs: OpenSearch, JSON and RSS, safe whatever its pages say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from scenthound.search import index_folder
from support.desk import TOKEN, client
from support.small_crawl import small_crawl

ONE = "/api/collections/crawl/opensearch"
NAMES = {"os": "http://a9.com/-/spec/opensearch/1.1/"}
NASTY = "</title><script>alert(1)</script> & \x1b[31m ]]> \ufffe balloons"
WEB = {
    "http://a.test/": (NASTY, f"hot air balloons {NASTY}", [f"http://a.test/{n}?x=1&y=2" for n in range(30)]),
    **{f"http://a.test/{n}?x=1&y=2": (f"Balloon {n}", "hot air balloons fly", []) for n in range(30)},
}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = small_crawl(tmp_path_factory.mktemp("opensearch") / "crawl", WEB)
    index_folder(folder)
    return folder


@pytest.fixture
def desk(crawl: Path, tmp_path: Path) -> Iterator[TestClient]:
    with client(tmp_path / "home", crawl) as made:
        yield made


def test_the_description_leads_to_every_form_of_the_results(desk: TestClient) -> None:
    answer = desk.get(f"{ONE}.xml")
    assert answer.headers["content-type"] == "application/opensearchdescription+xml"
    root = ElementTree.fromstring(answer.content)
    assert root.findtext("os:ShortName", namespaces=NAMES) == "crawl"
    kinds = {url.get("type"): url.get("template") or "" for url in root.findall("os:Url", NAMES)}
    assert set(kinds) == {"text/html", "application/rss+xml", "application/json"}
    for kind, template in kinds.items():
        assert template.startswith("http://127.0.0.1:8770/")
        filled = template.replace("{searchTerms}", "balloons")
        for optional in ("{startIndex?}", "{count?}", "{startPage?}"):
            filled = filled.replace(optional, "")  # left empty, as the standard says
        found = desk.get(filled)
        assert found.status_code == 200, found.text
        assert found.headers["content-type"].partition(";")[0] == kind


def test_json_is_paged_by_page_or_by_first_result(desk: TestClient) -> None:
    def urls(**query: object) -> list[str]:
        found = desk.get(f"{ONE}.json", params={"q": "balloons", **query}).json()  # type: ignore[arg-type]
        assert found["totalResults"] == 31
        return [one["url"] for one in found["results"]]

    whole = urls(count=100)
    assert len(set(whole)) == 31
    assert urls(count=10, page=2) == urls(count=10, start=11) == whole[10:20]
    assert len(urls()) == 20
    one = desk.get(f"{ONE}.json", params={"q": "balloons", "count": 1}).json()["results"][0]
    assert "balloons" in one["content"]


def test_rss_is_well_formed_whatever_a_page_says(desk: TestClient) -> None:
    answer = desk.get(f"{ONE}.rss", params={"q": "script OR balloons", "count": 40})
    assert answer.headers["content-type"] == "application/rss+xml"
    assert b"<script" not in answer.content
    channel = ElementTree.fromstring(answer.content).find("channel")
    assert channel is not None
    assert channel.findtext("os:totalResults", namespaces=NAMES) == "31"
    links = {item.findtext("link") for item in channel.findall("item")}
    assert "http://a.test/3?x=1&y=2" in links
    assert any("<script>" in (item.findtext("title") or "") for item in channel.findall("item")), "text stays text"


@pytest.mark.parametrize(
    "query", ["", "q=", "q=balloons&count=0", "q=balloons&count=x", "q=balloons&start=0", 'q="open']
)
def test_a_bad_search_is_refused_in_words(desk: TestClient, query: str) -> None:
    for kind in ("json", "rss"):
        answer = desk.get(f"{ONE}.{kind}?{query}")
        assert answer.status_code == 400
        assert answer.json()["hint"]


def test_the_rules_of_the_desk_hold_for_search_engines_too(crawl: Path, tmp_path: Path, desk: TestClient) -> None:
    for kind in ("xml", "json", "rss"):
        address = f"{ONE}.{kind}?q=balloons"
        assert desk.get(address, headers={"Host": "evil.test"}).status_code == 421
        assert desk.get(address, headers={"Origin": "http://evil.test"}).status_code == 403
        assert desk.get(address.replace("crawl", "other")).status_code == 404
    with client(tmp_path / "home", crawl, host="192.0.2.7") as beyond:
        assert beyond.get(f"{ONE}.json?q=balloons").status_code == 401
        assert beyond.get(f"{ONE}.json?q=balloons", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_a_search_can_become_a_topic(desk: TestClient) -> None:
    words = '<b>"hot air"</b>'
    page = desk.get("/c/crawl/search", params={"q": words}).text
    start = page.partition('href="/?')[2].partition('"')[0]
    assert start, "there is a way to the first page"
    first = desk.get("/?" + start.replace("&amp;", "&"))
    assert 'value="&lt;b&gt;&quot;hot air&quot;&lt;/b&gt;"' in first.text or "&lt;b&gt;" in first.text
    assert "<b>" not in first.text
    assert 'value="collections:crawl" selected' in first.text
