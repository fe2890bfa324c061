"""The data of the map: pages in order, who led to whom, the most relevant first where there are too many."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound.desk.map_pages import hosts_of, map_of
from support.desk import client
from support.small_crawl import small_crawl

SEED, ONE = "http://a.test/", "http://b.test/one.html"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_crawl(tmp_path_factory.mktemp("map") / "crawl")


def test_pages_are_in_order_of_time_with_the_page_that_led_to_them(crawl: Path) -> None:
    found = map_of(crawl)
    assert found["total"] == len(found["pages"]) == 4
    assert [page["n"] for page in found["pages"]] == [1, 2, 3, 4]
    first = {page["url"]: page for page in found["pages"]}
    assert first[SEED]["parent"] is None
    assert first[ONE]["parent"] == first[SEED]["n"]
    assert first[ONE]["host"] == "b.test"
    assert found["links"] is None


def test_links_between_pages_are_given_as_pairs_of_numbers(crawl: Path) -> None:
    found = map_of(crawl, with_links=True)
    numbers = {page["url"]: page["n"] for page in found["pages"]}
    assert (numbers[SEED], numbers[ONE]) in found["links"]
    assert (numbers[ONE], numbers[SEED]) in found["links"]
    assert len(found["links"]) == len(set(found["links"])) == 5


def test_of_too_many_pages_the_most_relevant_are_shown(crawl: Path) -> None:
    every = sorted(map_of(crawl)["pages"], key=lambda page: (-page["relevance"], page["n"]))
    some = map_of(crawl, most=2)
    assert some["total"] == 4
    assert {page["url"] for page in some["pages"]} == {page["url"] for page in every[:2]}


def test_hosts_are_counted(crawl: Path) -> None:
    hosts = {host["host"]: host for host in hosts_of(map_of(crawl)["pages"])}
    assert hosts["c.test"]["pages"] == 2
    assert next(iter(hosts)) == "c.test", "the largest comes first"


def test_the_page_can_be_read_without_scripts(crawl: Path, tmp_path: Path) -> None:
    with client(tmp_path / "home", crawl) as desk:
        html = desk.get("/c/crawl/map").text
        assert "4 pages on 3 hosts" in html
        assert 'href="/c/crawl?host=c.test"' in html
        listed = desk.get("/c/crawl?host=c.test").text
        assert listed.count('class="result"') == 2
        assert desk.get("/api/collections/crawl/map?limit=0").status_code == 400
