"""The JSON API: what it answers, what it refuses, and that its description is true."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from scenthound.desk.start_processes import Processes
from scenthound.loop.figures import FORECAST_FROM
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import give_order
from scenthound.search import index_folder
from scenthound.store.label_table import Labels
from scenthound.store.order_table import Orders
from support.desk import WITH_TOKEN, client
from support.html_crawl import html_crawl
from support.resuming import born, step_through
from support.small_crawl import small_crawl

ONE = "/api/collections/crawl"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = small_crawl(tmp_path_factory.mktemp("api") / "crawl")
    index_folder(folder)
    return folder


@pytest.fixture
def desk(crawl: Path, tmp_path: Path) -> Iterator[TestClient]:
    with client(tmp_path / "home", crawl) as made:
        yield made


@pytest.fixture
def half(tmp_path: Path) -> Iterator[TestClient]:
    """A desk that shows a crawl with URLs that wait."""
    session = born(tmp_path / "half")
    step_through(session, 20, commit_every=1)
    session.close()
    with client(tmp_path / "home", tmp_path / "half") as made:
        yield made


def test_the_figures_are_those_of_the_status_command(desk: TestClient, crawl: Path) -> None:
    from scenthound.report.crawl_facts import gather

    with CrawlFolder.look(crawl) as folder:
        facts = gather(folder)
    shown = desk.get(ONE).json()
    assert (shown["pages"], shown["on_topic"], shown["bytes"]) == (
        facts.figures.pages,
        facts.figures.relevant,
        facts.bytes,
    )
    assert shown["share"] == facts.figures.harvest
    assert shown["state"] == facts.ended == "frontier empty"
    assert shown["failed"] == facts.figures.misses
    assert shown["curve"][-1][0] == facts.figures.pages
    assert [row["name"] for row in desk.get("/api/collections").json()["collections"]] == ["crawl"]


def test_a_crawl_without_pages_says_why_and_what_to_do(tmp_path: Path) -> None:
    web = {"http://a.test/robots.txt": "User-agent: *\nDisallow: /", "http://a.test/": "<p>hot air balloons"}
    folder = html_crawl(tmp_path / "crawl", web, ["http://a.test/"], "hot air balloons")
    with client(tmp_path / "home", folder) as desk:
        why = desk.get(ONE).json()["why"]
        assert why == (
            "no seed could be fetched: robots 1 (robots.txt forbids it). Start from pages that robots.txt allows"
        )
        assert "No pages yet" in desk.get("/c/crawl/search?q=balloons").text


def test_the_estimate_of_what_is_left_is_that_of_the_status_command(tmp_path: Path) -> None:
    from scenthound.report.crawl_facts import gather

    links = [f"http://h{n % 9}.test/{n}" for n in range(FORECAST_FROM + 20)]
    web = {"http://a.test/": ("hub", "hot air balloons", links)}
    web |= {link: ("page", "hot air balloons" if n % 3 else "cars", []) for n, link in enumerate(links)}
    folder = small_crawl(tmp_path / "crawl", web, pages=1000, traps=False, host_patience=0)
    with CrawlFolder.look(folder) as opened:
        facts = gather(opened)
    assert facts.left is not None
    assert facts.left.expected > 10
    with client(tmp_path / "home", folder) as desk:
        shown = desk.get(ONE).json()
        assert shown["expected"] == pytest.approx(facts.left.expected)
        assert shown["expected_share"] == pytest.approx(facts.left.share)
        assert shown["outlook"] == facts.outlook


def test_pages_can_be_ordered_and_filtered(desk: TestClient) -> None:
    def found(**query: object) -> list[str]:
        return [row["url"] for row in desk.get(f"{ONE}/pages", params=query).json()["pages"]]  # type: ignore[arg-type]

    assert found(order="new")[-1] == "http://a.test/"
    best = desk.get(f"{ONE}/pages", params={"order": "best"}).json()["pages"]
    values = [row["relevance"] for row in best]
    assert values == sorted(values, reverse=True)
    assert set(found(host="c.test")) == {"http://c.test/two", "http://c.test/three"}
    assert not found(host="_.test")
    assert found(min_relevance=values[0], order="best") == [row["url"] for row in best if row["relevance"] >= values[0]]
    assert found(limit=1, offset=1) == found()[1:2]
    assert any(part["marked"] for part in best[0]["snippet"])


def test_a_page_is_explained_with_its_path_and_links(desk: TestClient) -> None:
    shown = desk.get(f"{ONE}/explanation", params={"url": "http://b.test/one.html"}).json()
    assert [step["url"] for step in shown["path"]] == ["http://a.test/", "http://b.test/one.html"]
    assert shown["page"]["anchor"] == "Balloons"
    links = desk.get(f"{ONE}/links", params={"url": "http://b.test/one.html"}).json()
    assert {link["url"]: link["state"] for link in links["links"]} == {
        "http://a.test/": "fetched",
        "http://d.test/gone": "failed",
    }
    assert desk.get(f"{ONE}/links", params={"url": "http://nowhere.test/"}).status_code == 404


def test_a_url_that_waits_has_a_place_and_what_stands_before_it(half: TestClient, tmp_path: Path) -> None:
    from scenthound.desk import live_queries

    with CrawlFolder.look(tmp_path / "half") as folder:
        waiting = live_queries.first_waiting(folder.database, 10**6)
    third = waiting[2]
    shown = half.get("/api/collections/half/explanation", params={"url": third.url}).json()
    assert shown["state"] == "waiting"
    assert shown["waiting_list"]["place"] == 3
    assert shown["waiting_list"]["length"] == len(waiting)
    assert [row["url"] for row in shown["waiting_list"]["ahead"][:2]] == [row.url for row in waiting[:2]]
    html = half.get("/c/half/why", params={"url": third.url}).text
    assert f"Number 3 of {len(waiting):,} in the " in html
    assert "Also, the crawl is not running: " in html


def test_a_url_says_that_its_host_rests_or_that_the_crawl_is_paused(tmp_path: Path) -> None:
    from scenthound.desk import crawl_data, live_queries

    session = born(tmp_path / "half")  # it holds the lock: as a crawl that runs
    step_through(session, 20, commit_every=1)
    with CrawlFolder.look(tmp_path / "half") as folder:
        url = live_queries.first_waiting(folder.database, 1)[0].url

    def held_up(now: float) -> str:
        return str(crawl_data.explanation(tmp_path / "half", url, now)["waiting_list"]["held_up"])

    until = crawl_data.explanation(tmp_path / "half", url, 0.0)["waiting_list"]["host_rests_until"]
    assert held_up(until - 2.5) == "its host is resting for another 2.5 s"
    assert held_up(until) == ""
    give_order(tmp_path / "half", "pause", None, 1.0)
    assert held_up(until) == "the crawl is paused"
    session.close()


def test_search_is_the_search_of_the_command(desk: TestClient, crawl: Path) -> None:
    from scenthound.search import search

    shown = desk.get(f"{ONE}/search", params={"q": "balloons cars"}).json()
    assert shown == search(crawl, "balloons cars").as_plain()
    assert desk.get(f"{ONE}/search", params={"like": "http://a.test/"}).json()["results"]
    assert desk.get(f"{ONE}/search", params={"q": '"open'}).status_code == 400


class NoProcesses(Processes):
    """Starts nothing."""

    def resume(self, path: Path) -> None:
        pass


def test_resuming_a_crawl_that_has_spent_its_budget_says_how_to_raise_it(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "spent", pages=2)
    one = "/api/collections/spent"
    with client(tmp_path / "home", folder, processes=NoProcesses()) as desk:
        resumed = desk.post(f"{one}/resume", json={}, headers=WITH_TOKEN)
        assert "All 2 pages have been fetched" in resumed.json()["note"]
        assert "larger budget" in resumed.json()["note"]
        desk.post(f"{one}/orders", json={"action": "budget", "value": "9"}, headers=WITH_TOKEN)
        assert desk.post(f"{one}/resume", json={}, headers=WITH_TOKEN).json()["note"] == ""


def test_orders_and_labels_reach_the_folder(half: TestClient, tmp_path: Path) -> None:
    one = "/api/collections/half"
    sent = half.post(f"{one}/orders", json={"action": "budget", "value": "77"}, headers=WITH_TOKEN)
    assert sent.status_code == 202
    assert sent.json()["is_running"] is False, "the page says that it takes effect when the crawl is resumed"
    page = half.get(f"{one}/pages").json()["pages"][0]["url"]
    labelled = half.post(f"{one}/labels", json={"url": page, "on_topic": False}, headers=WITH_TOKEN)
    assert labelled.status_code == 202
    with CrawlFolder.look(tmp_path / "half") as folder:
        assert [(order.action, order.value) for order in Orders(folder.database).all()] == [("budget", "77")]
        assert [(label.url, label.on_topic) for label in Labels(folder.database).all()] == [(page, False)]
    assert half.get(f"{one}/pages", params={"label": "off"}).json()["pages"][0]["label"] == "off topic"
    assert half.get(f"{one}/orders").json()["orders"][0]["taken"] is False


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/orders", {"action": "dance"}, "invalid value for `action`: dance"),
        ("/orders", {"action": "budget"}, "needs a value"),
        ("/orders", {"action": "stop"}, "not running"),
        ("/orders", [], "not a JSON object"),
        ("/orders", {}, "`action` is missing"),
        ("/labels", {"url": "nowhere", "on_topic": True}, "not a URL"),
        ("/labels", {"url": "http://a.test/", "on_topic": "yes"}, "wrong type"),
        ("/labels", {"url": "http://nowhere.test/", "on_topic": True}, "no such page"),
    ],
)
def test_a_bad_request_is_refused_in_words(desk: TestClient, path: str, body: object, says: str) -> None:
    answer = desk.post(f"{ONE}{path}", json=body, headers=WITH_TOKEN)
    assert answer.status_code in (400, 404)
    assert says in answer.json()["error"]
    assert answer.json()["hint"]


@pytest.mark.parametrize(
    "query", ["limit=x", "limit=-1", "limit=1000000", "offset=1e9", "order=worst", "min_relevance=2", "label=maybe"]
)
def test_a_bad_parameter_is_refused_in_words(desk: TestClient, query: str) -> None:
    answer = desk.get(f"{ONE}/pages?{query}")
    assert answer.status_code == 400
    assert query.partition("=")[0] in answer.json()["error"]


def test_a_folder_can_be_opened_and_a_wrong_one_is_refused(desk: TestClient, tmp_path: Path) -> None:
    small_crawl(tmp_path / "more" / "one")
    small_crawl(tmp_path / "more" / "two")
    opened = desk.post("/api/collections", json={"folder": str(tmp_path / "more")}, headers=WITH_TOKEN)
    assert opened.json() == {"names": ["one", "two"], "experiments": []}
    for wrong in (str(tmp_path / "none"), "/etc", "a\0b"):
        assert desk.post("/api/collections", json={"folder": wrong}, headers=WITH_TOKEN).status_code == 400


def test_a_crawl_that_can_not_start_says_why(desk: TestClient) -> None:
    for body, says in (
        ({"topic": "the of and", "seeds": "http://a.test/"}, "only stop words"),
        ({"topic": "balloons", "seeds": " "}, "no starting pages"),
        ({"topic": "balloons", "seeds": "http://a.test/", "pages": 0}, "invalid value for `pages`: 0"),
        ({"topic": "balloons", "seeds": "http://a.test/", "scope": "moon"}, "invalid value for `scope`: moon"),
        ({"topic": "balloons", "seeds": "ftp://a.test/"}, "http"),
    ):
        answer = desk.post("/api/crawls", json=body, headers=WITH_TOKEN)
        assert answer.status_code == 400, answer.text
        assert says in answer.json()["error"]


def test_metrics_are_in_the_format_of_prometheus(desk: TestClient) -> None:
    answer = desk.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'scenthound_pages{collection="crawl"} 4\n' in answer.text


def test_a_broken_folder_does_not_break_the_desk(desk: TestClient, crawl: Path, tmp_path: Path) -> None:
    broken = small_crawl(tmp_path / "broken")
    desk.post("/api/collections", json={"folder": str(broken)}, headers=WITH_TOKEN)
    (broken / "crawl.db").write_bytes(b"no database" * 100)
    rows = {row["name"]: row for row in desk.get("/api/collections").json()["collections"]}
    assert rows["broken"]["state"] == "broken"
    assert desk.get("/").status_code == 200
    assert desk.get("/c/broken").status_code == 400


@pytest.mark.parametrize("folder", ["~nobody-here/crawl", "a" * 5000, "a\0b", ""])
def test_what_is_not_a_path_is_not_a_folder(desk: TestClient, folder: str) -> None:
    sent = json.dumps({"folder": folder})
    answer = desk.post("/api/collections", content=sent, headers=WITH_TOKEN)
    assert answer.status_code == 400
    assert "folder of a crawl" in answer.json()["hint"]


def test_the_description_names_every_address(desk: TestClient) -> None:
    described = desk.get("/api/openapi.json").json()["paths"]
    for route in desk.app.routes:  # type: ignore[attr-defined]
        if not route.path.startswith(("/api/", "/metrics")):
            continue
        methods = {method.lower() for method in route.methods or ()} - {"head"}
        assert methods <= set(described[route.path]), route.path


def test_a_search_is_narrowed_by_day_and_by_category(tmp_path: Path) -> None:
    from scenthound.desk.apps.portal.build_portal import build_portal
    from scenthound.search.portal_categories import categories_of

    folder = small_crawl(tmp_path / "crawl")
    index_folder(folder)
    with client(tmp_path / "home", folder) as desk:

        def found(**query: str) -> list[int]:
            results = desk.get(f"{ONE}/search", params={"q": "", **query}).json()["results"]
            return sorted(row["page"] for row in results)

        rows = desk.get(f"{ONE}/pages").json()["pages"]
        every, day = sorted(row["n"] for row in rows), datetime.fromtimestamp(rows[0]["time"], UTC).date()
        assert found(since=str(day), until=str(day)) == every
        assert found(since=str(day + timedelta(days=1))) == found(until=str(day - timedelta(days=1))) == []
        refused = desk.get(f"{ONE}/search", params={"q": "", "since": "yesterday"})
        assert (refused.status_code, refused.json()["error"]) == (400, "not a day: `yesterday`")
        assert desk.get(f"{ONE}/search", params={"q": "", "category": "x"}).json()["error"].endswith("no categories")
        build_portal(folder, clusters=2)
        categories = categories_of(folder)
        assert len(categories) > 1
        assert sorted(number for numbers in categories.values() for number in numbers) == every
        for name, numbers in categories.items():
            assert found(category=name) == sorted(numbers)
            assert f'value="{escape(name)}"' in desk.get("/c/crawl/search").text
        assert "categories: " in desk.get(f"{ONE}/search", params={"q": "", "category": "x"}).json()["hint"]
