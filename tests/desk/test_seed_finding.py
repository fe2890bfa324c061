"""Seeds found at the desk: by a collection, by a search engine; and what a browser may not ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from scenthound.desk.start_processes import NewCrawl
from scenthound.loop.folder import CrawlFolder
from support.desk import WITH_TOKEN, client
from support.seed_servers import NOT_FOUND, Reply, searxng, server
from support.small_crawl import small_crawl


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_crawl(tmp_path_factory.mktemp("finding") / "crawl")


@pytest.fixture
def desk(crawl: Path, tmp_path: Path) -> Iterator[TestClient]:
    with client(tmp_path / "home", crawl) as made:
        made.app.state.desk.options = ("--set", "allow_private=loopback", "--set", "delay=0")  # type: ignore[attr-defined]
        yield made


def test_a_collection_finds_seeds(desk: TestClient) -> None:
    body = {"topic": "cars", "source": "collections:crawl"}
    assert desk.post("/api/seeds", json=body).status_code == 401, "without the token"
    answer = desk.post("/api/seeds", json=body, headers=WITH_TOKEN)
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "seeds": ["http://c.test/two", "http://c.test/three"],
        "found": [{"url": "http://c.test/two", "title": "Two"}, {"url": "http://c.test/three", "title": "Three"}],
    }


@pytest.mark.parametrize(
    "source",
    ["", "bookmarks:/etc/passwd", "collections:/etc", "collections:../crawl", "searxng:", "nonsense", "searxng:a\0b"],
)
def test_a_browser_can_name_no_files(desk: TestClient, source: str) -> None:
    answer = desk.post("/api/seeds", json={"topic": "cars", "source": source}, headers=WITH_TOKEN)
    assert answer.status_code == 400
    assert answer.json()["hint"]


@pytest.mark.parametrize("source", ["searxng:--help", "searxng:http://127.0.0.1:1/", "sitemap:file:///etc/passwd"])
def test_a_source_that_does_not_answer_is_an_error_in_words(desk: TestClient, source: str) -> None:
    answer = desk.post("/api/seeds", json={"topic": "-x cars", "source": source}, headers=WITH_TOKEN)
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_a_source_given_at_the_start_of_the_desk_is_offered(desk: TestClient, tmp_path: Path) -> None:
    (tmp_path / "marks.html").write_text('<A HREF="http://b.test/">cars</A>', encoding="utf-8")
    source = f"bookmarks:{tmp_path / 'marks.html'}"
    desk.app.state.desk.sources = (source,)  # type: ignore[attr-defined]
    assert f'value="{source}"' in desk.get("/").text
    answer = desk.post("/api/seeds", json={"topic": "cars", "source": source}, headers=WITH_TOKEN)
    assert answer.json()["seeds"] == ["http://b.test/"]


def test_a_crawl_starts_with_a_source_and_without_seeds(desk: TestClient, tmp_path: Path) -> None:
    def site(path: str, _: dict[str, list[str]]) -> Reply:
        return (200, "text/html", b"<title>Balloons</title>hot air balloons") if path == "/balloons" else NOT_FOUND

    with server(site) as web, server(searxng(lambda words, page: [(f"{web}/balloons", "x")])) as engine:
        body = {"topic": "hot air balloons", "source": f"searxng:{engine}", "pages": 1}
        answer = desk.post("/api/crawls", json=body, headers=WITH_TOKEN)
        assert answer.status_code == 201, answer.text
        folder = Path(answer.json()["folder"])
        desk.app.state.desk.processes._crawls[folder].wait(60)  # type: ignore[attr-defined]
        with CrawlFolder.look(folder) as opened:
            assert opened.request.found == {f"searxng:{engine}": (f"{web}/balloons",)}
            assert len(opened.history) == 1


def test_seeds_that_are_given_are_read_from_stdin() -> None:
    assert "--seeds" in NewCrawl("cars", "http://a.test/").arguments(Path("x"))
    words = NewCrawl("cars", " ", "collections:x").arguments(Path("x"))
    assert "--seeds" not in words
    assert words[words.index("--source") + 1] == "collections:x"
