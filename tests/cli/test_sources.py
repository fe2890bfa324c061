"""`sources`, `seeds`, `backlinks`, `crawl --source` and `train --source`, against servers on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.loop.folder import CrawlFolder
from support.seed_servers import NOT_FOUND, Reply, cdx_line, collinfo, searxng, server
from support.small_crawl import small_crawl

Talk = pytest.CaptureFixture[str]
LOOPBACK = ["--allow-private", "loopback", "--set", "delay=0"]
PAGES = {
    "/club": ("Balloon club", "hot air balloon pilots", ["/burner", "/cars"]),
    "/burner": ("Burners", "hot air balloon burner and propane", ["/club"]),
    "/hub": ("Links", "pages about balloons", ["/club", "/burner"]),
    "/list": ("List", "more links about balloons", ["/club", "/burner", "/hub"]),
    "/cars": ("Cars", "cars and roads", []),
}


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    """A site about balloons, with a sitemap."""

    def answer(path: str, _: dict[str, list[str]]) -> Reply:
        if path == "/sitemap.xml":
            return 200, "application/xml", f"<urlset><url><loc>{address}/club</loc></url></urlset>".encode()
        if path not in PAGES:
            return NOT_FOUND
        title, text, links = PAGES[path]
        anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
        return 200, "text/html", f"<title>{title}</title><p>{text} {text}</p>{anchors}".encode()

    with server(answer) as address:
        yield address


@pytest.fixture(scope="module")
def engine(web: str) -> Iterator[str]:
    """SearXNG: it finds two pages of the site, and one of a private network."""

    def pages(query: str, page: int) -> list[tuple[str, str]]:
        found = [(f"{web}/club", "Club"), (f"{web}/burner", "Burners"), ("http://10.0.0.1/secret", "no")]
        return found if page == 1 else []

    with server(searxng(pages)) as address:
        yield address


def document(words: list[str], capsys: Talk) -> dict:  # type: ignore[type-arg]
    code = run([*words, "--json"])
    told = capsys.readouterr().out
    made: dict = json.loads(told)  # type: ignore[type-arg]
    assert code == made.get("exit_code", 0), told
    return made


def test_sources_are_listed_and_described(capsys: Talk) -> None:
    assert run(["sources", "--json"]) == 0
    listed = {one["name"]: one["knows_back_links"] for one in json.loads(capsys.readouterr().out)}
    ours = {"bookmarks": False, "collections": True, "commoncrawl": False, "searxng": True, "sitemap": False}
    assert listed.items() >= ours.items()
    assert run(["sources", "searxng"]) == 0
    assert "robots" in capsys.readouterr().out


def test_seeds_are_printed_one_a_line_without_private_addresses(engine: str, web: str, capsys: Talk) -> None:
    words = ["seeds", "hot air balloon", "--source", f"searxng:{engine}", *LOOPBACK]
    assert run(words) == 0
    assert capsys.readouterr().out.split() == [f"{web}/club", f"{web}/burner"]
    shown = document(words, capsys)
    assert shown["seeds"] == [f"{web}/club", f"{web}/burner"]
    assert shown["answers"][0]["found"][0] == {"url": f"{web}/club", "title": "Club"}


def test_a_private_source_is_refused_until_its_network_is_allowed(engine: str, capsys: Talk) -> None:
    assert run(["seeds", "hot air balloon", "--source", f"searxng:{engine}"]) == 1
    told = capsys.readouterr()
    assert "refused-address" in told.err
    assert "--allow-private" in told.err
    assert told.out == ""


def test_common_crawl_and_a_sitemap_are_asked_over_http(web: str, capsys: Talk) -> None:
    def answer(path: str, query: dict[str, list[str]]) -> Reply:
        if path == "/collinfo.json":
            return 200, "application/json", collinfo(index)
        if path == "/CC-MAIN-2026-43-index" and query["url"] == ["balloons.example.org"]:
            return 200, "text/x-ndjson", cdx_line("https://balloons.example.org/air").encode()
        return 404, "application/json", b'{"message": "No Captures found for: x"}'

    with server(answer) as index:
        words = ["seeds", "hot air balloon", *LOOPBACK, "--source"]
        assert document([*words, f"commoncrawl:balloons.example.org,server={index}"], capsys)["seeds"] == [
            "https://balloons.example.org/air"
        ]
        assert run([*words, f"commoncrawl:nothing.example.org,server={index}"]) == 1
        assert "it knows no page about this" in capsys.readouterr().err
    assert document([*words, f"sitemap:{web}"], capsys)["seeds"] == [f"{web}/club"]


def test_a_crawl_needs_no_seed_with_a_source(engine: str, web: str, tmp_path: Path, capsys: Talk) -> None:
    source = f"searxng:{engine}"
    words = [
        "crawl",
        "hot air balloon",
        "--source",
        source,
        "--pages",
        "3",
        "--out",
        str(tmp_path / "crawl"),
        *LOOPBACK,
    ]
    assert run(words) == 0
    assert "2 pages to start from" in capsys.readouterr().err
    with CrawlFolder.look(tmp_path / "crawl") as folder:
        assert folder.request.found == {source: (f"{web}/club", f"{web}/burner")}
        assert folder.request.seeds == (f"{web}/club", f"{web}/burner")
        assert len(folder.history) == 3
    assert (
        run(["crawl", "bees", "--config", str(tmp_path / "crawl" / "crawl.toml"), "--out", str(tmp_path / "two")]) == 0
    )


def test_scope_host_is_that_of_the_seeds_found(engine: str, tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    words = [
        "crawl",
        "hot air balloon",
        "--source",
        f"searxng:{engine}",
        "--scope",
        "host",
        "--out",
        str(out),
        "--pages",
        "2",
    ]
    assert run([*words, *LOOPBACK]) == 0
    with CrawlFolder.look(out) as folder:
        assert folder.request.settings.hosts == ["127.0.0.1"]


def test_a_crawl_without_seeds_and_sources_names_both_ways_out(capsys: Talk) -> None:
    assert run(["crawl", "hot air balloon"]) == 2
    assert "--source NAME:ADDRESS" in capsys.readouterr().err


def test_back_links_come_from_our_own_crawls(tmp_path: Path, capsys: Talk) -> None:
    folder = small_crawl(tmp_path / "crawl")
    words = ["backlinks", "http://b.test/one.html", "--source", f"collections:{folder}"]
    assert run(words) == 0
    assert set(capsys.readouterr().out.split()) == {"http://a.test/", "http://c.test/two"}
    assert document(words, capsys)["url"] == "http://b.test/one.html"
    assert run(["backlinks", "http://b.test/", "--source", "commoncrawl:b.test"]) == 2
    assert "this source knows no links" in capsys.readouterr().err
    assert run(["backlinks", "nonsense", "--source", f"collections:{folder}"]) == 2


def test_augmented_seeds_are_pages_that_link_to_several(web: str, tmp_path: Path, capsys: Talk) -> None:
    crawl, out = tmp_path / "crawl", tmp_path / "augmented"
    assert run(["crawl", "hot air balloon", "--seed", f"{web}/list", "--out", str(crawl), *LOOPBACK]) == 0
    seeds = ["--seed", f"{web}/club", "--seed", f"{web}/burner"]
    augment = [*seeds, "--augment", "--source", f"collections:{crawl}", *LOOPBACK]
    capsys.readouterr()
    assert set(document(["seeds", "hot air balloon", *augment], capsys)["hubs"]) == {f"{web}/hub", f"{web}/list"}
    assert run(["crawl", "hot air balloon", *augment, "--pages", "2", "--out", str(out)]) == 0
    with CrawlFolder.look(out) as folder:
        assert set(folder.request.found["augment"]) == {f"{web}/hub", f"{web}/list"}
        assert len(folder.request.seeds) == 4
    assert run(["crawl", "balloon", *seeds, "--augment"]) == 2
    assert "--augment needs" in capsys.readouterr().err


def test_training_from_sample_urls_with_our_own_crawl_as_the_source(web: str, tmp_path: Path, capsys: Talk) -> None:
    crawl, topic, model = tmp_path / "crawl", tmp_path / "balloons.toml", tmp_path / "model"
    assert run(["crawl", "hot air balloon", "--seed", f"{web}/list", "--out", str(crawl), *LOOPBACK]) == 0
    topic.write_text(f'keywords = "hot air balloon"\nexamples = ["{web}/burner"]\n', encoding="utf-8")
    words = ["train", "context-graph", "--topic", str(topic), "--out", str(model)]
    assert run([*words, "--source", f"collections:{crawl}", "--allow-private", "loopback"]) == 0
    assert "layer 1: 3 pages suggested, 3 of 3 fetched pages link" in capsys.readouterr().err
    assert (model / "model.toml").is_file()
    assert run(words) == 2
    assert "choose one source of training pages" in capsys.readouterr().err


def test_errors_are_reported_before_any_source_is_asked(tmp_path: Path, capsys: Talk) -> None:
    topic = tmp_path / "balloons.toml"
    topic.write_text('keywords = "hot air balloon"\nexamples = ["http://127.0.0.1:9/"]\n', encoding="utf-8")

    def refuse(path: str, query: dict[str, list[str]]) -> Reply:
        asked.append(path)
        return NOT_FOUND

    asked: list[str] = []
    with server(refuse) as engine:
        source = ["--source", f"searxng:{engine}", "--allow-private", "loopback"]
        assert run(["crawl", "hot air balloon", *source, "--strategy", "nonsense"]) == 2
        assert run(["crawl", "hot air balloon", *source, "--strategy", "context-graph"]) == 4
        train = ["--topic", str(topic), "--out", str(tmp_path / "model"), *source]
        assert run(["train", "breadth-first", *train]) == 2
        assert "learns nothing before it crawls" in capsys.readouterr().err
    assert asked == []
