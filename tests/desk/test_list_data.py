"""Every count on a crawl's page leads to the list behind it, and the list has as many rows as the count says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from support.desk import client
from support.resuming import born, step_through
from support.small_crawl import small_crawl

HUB = "http://a.test/"
WEB = {
    HUB: (
        "Hub",
        "hot air balloons",
        ["http://b.test/1", "http://c.test/gone", "http://c.test/gone2", "http://b.test/2"],
    ),
    "http://b.test/1": ("One", "hot air balloons", ["mailto:x@y.test", "http://far.test/", HUB]),
    "http://b.test/2": ("Two", "cars", []),
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Desk with a crawl that has failures, links out of scope and off-topic pages; and one that has agents."""
    home = tmp_path_factory.mktemp("lists")
    folder = small_crawl(home / "crawl", WEB, hosts=("a.test", "b.test", "c.test"))
    wide = {HUB: ("Hub", "hot air balloons", [f"http://b.test/{n}" for n in range(30)])}
    wide |= {f"http://b.test/{n}": ("Page", "hot air balloons", []) for n in range(30)}
    spiders = small_crawl(home / "spiders", wide, strategy="infospiders", pages=5)
    with client(home / "home", folder, spiders) as made:
        yield made


def links_of(page: str, inside: str) -> list[tuple[str, str]]:
    """Address and text of the links in the part of a page that begins with `inside`."""
    part = page.partition(inside)[2].partition("</section>")[0]
    found = re.findall(r'<a [^>]*href="([^"]+)"[^>]*>([^<]*)</a>', part)
    return [(unescape(address), words) for address, words in found]


def rows_of(page: str) -> int:
    return page.partition("<tbody>")[2].partition("</tbody>")[0].count("<tr>")


def test_each_reason_of_failure_leads_to_the_pages_that_failed(desk: TestClient) -> None:
    page = desk.get("/c/crawl").text
    assert "not found (404)" in page
    ((address, count),) = links_of(page, 'id="failed"')
    listed = desk.get(address)
    assert listed.status_code == 200
    assert rows_of(listed.text) == int(count) == 2
    assert "http://c.test/gone2" in listed.text


def test_each_reason_not_to_follow_leads_to_hosts_and_these_to_the_addresses_that_were_met(desk: TestClient) -> None:
    shown = dict(links_of(desk.get("/c/crawl").text, 'id="not-followed"'))
    scope = next(address for address in shown if "out-of-scope" in address)
    hosts = desk.get(scope).text
    assert rows_of(hosts) == 1
    ((host, words),) = links_of(hosts, "<tbody>")
    assert words == "far.test"
    assert "http://far.test/" in desk.get(host).text


@pytest.mark.parametrize(
    ("state", "hosts"), [("with pages", ["a.test", "b.test"]), ("asleep", []), ("", ["a.test", "b.test", "c.test"])]
)
def test_hosts_are_listed_by_state(desk: TestClient, state: str, hosts: list[str]) -> None:
    found = desk.get("/api/collections/crawl/hosts", params={"state": state}).json()
    assert sorted(row["host"] for row in found["rows"]) == hosts
    counted = desk.get("/api/collections/crawl").json()["hosts"]
    key = {"with pages": "with_pages", "asleep": "asleep"}.get(state)
    assert key is None or counted[key] == found["total"]


def test_the_pages_on_topic_are_listed_with_their_filter_set(desk: TestClient) -> None:
    page = desk.get("/c/crawl").text
    address, count = next((a, w) for a, w in links_of(page, 'id="crawl"') if "on_topic=yes" in a)
    listed = desk.get(address).text
    assert listed.count('class="result"') == int(count) == 2
    assert '<option value="yes" selected>' in listed
    assert desk.get("/c/crawl?on_topic=no").text.count('class="result"') == 1


def test_the_waiting_list_has_its_order_and_as_many_rows_as_are_counted(tmp_path: Path) -> None:
    session = born(tmp_path / "half")
    step_through(session, 20, commit_every=1)
    session.close()
    with client(tmp_path / "home", tmp_path / "half") as desk:
        counted = desk.get("/api/collections/half").json()["waiting"]
        found = desk.get("/api/collections/half/waiting", params={"limit": 200}).json()
        assert found["is_ordered"]
        assert found["total"] == counted == len(found["rows"]) > 2
        scores = [row["score"] for row in found["rows"]]
        assert scores == sorted(scores, reverse=True)
        second = desk.get("/api/collections/half/waiting", params={"limit": 1, "offset": 1}).json()["rows"]
        assert second == found["rows"][1:2]
        page = desk.get("/c/half/waiting?limit=2").text
        assert "1 to 2 of" in page
        assert "offset=2" in page


def test_agents_have_waiting_lists_of_their_own(desk: TestClient) -> None:
    found = desk.get("/api/collections/spiders/waiting").json()
    counted = desk.get("/api/collections/spiders").json()["waiting"]  # those in flight are counted too
    assert counted >= found["total"] == len(found["rows"]) > 15
    assert not found["is_ordered"]
    assert "Each agent has its own list" in desk.get("/c/spiders/waiting").text
