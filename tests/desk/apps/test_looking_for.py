"""Pages or sites, as users meet it: `ask`, `crawl`, `map`, the desk and the tools for agents."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from scenthound.cli.root_command import run
from scenthound.desk.agent_tools.tool_methods import Tools
from scenthound.desk.apps.site_map import site_map
from scenthound.desk.crawl_watch import Watch
from scenthound.desk.start_processes import NewCrawl, Processes, topic_file
from scenthound.errors import BadConfig, OurFault
from scenthound.lab.topics.example_file import TopicFile, write_topic_file
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import give_order
from scenthound.url import is_home
from support.clubs_web import QUESTION, is_about_chess, served_clubs
from support.desk import WITH_TOKEN, client

HOMES = [f"http://club{n}.test/" for n in range(5)]
INNER = ["http://club0.test/openings", "http://club1.test/gambit"]
SEEDS = {"one home page": HOMES[:1], "two": HOMES[:2], "five": HOMES, "inner pages": INNER, "a mix": HOMES[:1] + INNER}
Talk = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    with served_clubs() as address:
        yield address


def served(proxy: str) -> list[str]:
    """Options of a crawl of the clubs: one request at a time, or the pages it gets depend on which replies are late."""
    return ["--proxy", proxy, "--delay", "0", "--set", "concurrency=1"]


def words(seeds: Sequence[str], proxy: str) -> list[str]:
    return [*(word for seed in seeds for word in ("--seed", seed)), *served(proxy)]


@pytest.mark.parametrize("seeds", SEEDS.values(), ids=SEEDS)
def test_the_answers_to_a_question_are_pages_wherever_it_starts(capsys: Talk, proxy: str, seeds: list[str]) -> None:
    assert run(["ask", QUESTION, *words(seeds, proxy), "--pages", "30", "--json"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["looking_for"] == "pages"
    answers = [hit["url"] for hit in last["ranked"]]
    assert sum(not is_home(url) for url in answers) >= 5
    assert sum(map(is_about_chess, answers)) >= 0.9 * len(answers)


def test_a_question_can_look_for_sites(capsys: Talk, proxy: str) -> None:
    asked = ["ask", QUESTION, *words(HOMES[:2], proxy), "--pages", "30", "--looking-for", "sites"]
    assert run([*asked, "--json"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["looking_for"] == "sites"
    assert all(is_home(hit["url"]) for hit in last["ranked"])


def test_commands_say_what_they_look_for_and_how_to_change_it(capsys: Talk, proxy: str, tmp_path: Path) -> None:
    folder = str(tmp_path / "crawl")
    assert run(["crawl", QUESTION, *words(HOMES[:2], proxy), "--pages", "4", "--out", folder]) == 0
    sentence = f"Looking for pages about {QUESTION}. Your starting pages are home pages; for other sites like them: "
    assert f"{sentence}--looking-for sites" in capsys.readouterr().err
    assert run(["status", folder, "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["looking_for"] == "pages"
    assert status["looking_for_in_words"] == f"{sentence}scenthound control {folder} looking-for sites"
    assert run(["status", folder]) == 0
    assert f"{folder} looking-for sites" in " ".join(capsys.readouterr().out.split())
    assert "Looking for pages about" in (tmp_path / "crawl" / "report.html").read_text()
    assert run(["control", folder, "looking-for", "sites"]) == 0
    assert run(["resume", folder, "--pages", "8"]) == 0
    capsys.readouterr()
    assert run(["status", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["looking_for"] == "sites"
    assert run(["control", folder, "looking-for", "people"]) == 2
    assert "pages or sites" in capsys.readouterr().err
    assert run(["ask", QUESTION, *words(HOMES[:2], proxy), "--pages", "2"]) == 0
    assert f"{sentence}--looking-for sites" in capsys.readouterr().err


def test_a_map_of_a_crawl_for_sites_marks_all_pages_on_the_topic(proxy: str, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    asked = [
        *words(HOMES[:1], proxy),
        "--looking-for",
        "sites",
        "--scope",
        "host",
        "--pages",
        "9",
        "--out",
        str(folder),
    ]
    assert run(["crawl", QUESTION, *asked, "--json"]) == 0
    with CrawlFolder.look(folder) as opened:
        marked = {branch.url for _, branch in site_map(opened).rows() if branch.on_topic}
    assert {"http://club0.test/", "http://club0.test/openings"} <= marked
    assert "http://club0.test/legal" not in marked


# ---- the desk and the tools for agents, whose crawls run in this process


class Asked(OurFault):
    """Ends a request once the crawl that it asks for is known."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[NewCrawl]:
    """The crawls that are asked for; none of them is started."""
    crawls: list[NewCrawl] = []

    def start(self: Processes, path: Path, new: NewCrawl, is_cancelled: object = None) -> None:
        crawls.append(new)
        raise Asked("asked")

    monkeypatch.setattr(Processes, "start_crawl", start)
    return crawls


def crawled(new: NewCrawl, folder: Path, proxy: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a crawl as it was asked for. Returns its figures at the desk, and the pages listed as on topic."""
    if new.described_topic is not None:
        write_topic_file(topic_file(folder), TopicFile(new.described_topic))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(new.seeds.encode())))
    arguments = new.arguments(folder)
    assert run([*arguments[:-2], *served(proxy), *arguments[-2:]]) == 0
    with client(folder.with_name("home"), folder) as desk:
        facts: dict[str, Any] = desk.get("/api/collections/crawl").json()
        listed = desk.get("/api/collections/crawl/pages?on_topic=yes&limit=40").json()["pages"]
    return {**facts, "listed": [page["url"] for page in listed]}


def posted(home: Path, asked: list[NewCrawl], **body: Any) -> NewCrawl:
    with client(home) as desk:
        answer = desk.post("/api/crawls", json={"topic": QUESTION, "pages": 40, **body}, headers=WITH_TOKEN)
        assert answer.json()["error"] == "asked"
    return asked[-1]


@pytest.mark.parametrize("seeds", [HOMES[:2], HOMES[:1] + INNER], ids=["two home pages", "a mix"])
def test_the_desk_looks_for_pages_and_says_so(
    tmp_path: Path, proxy: str, asked: list[NewCrawl], monkeypatch: pytest.MonkeyPatch, seeds: list[str]
) -> None:
    facts = crawled(posted(tmp_path, asked, seeds="\n".join(seeds)), tmp_path / "crawl", proxy, monkeypatch)
    assert facts["looking_for"] == "pages"
    assert facts["looking_for_in_words"].startswith(f"Looking for pages about {QUESTION}.")
    assert ("home pages" in facts["looking_for_in_words"]) is (seeds == HOMES[:2])
    assert sum(not is_home(url) for url in facts["listed"]) >= 8


FILE = f'keywords = "{QUESTION}"\nlooking_for = "sites"\n'


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"looking_for": "sites"}, "sites"),
        ({"topic_file": FILE}, "sites"),
        ({"topic_file": FILE, "looking_for": "pages"}, "pages"),
    ],
    ids=["the menu", "the topic file", "the menu goes before the file"],
)
def test_the_desk_looks_for_sites_if_it_is_asked_to(
    tmp_path: Path,
    proxy: str,
    asked: list[NewCrawl],
    monkeypatch: pytest.MonkeyPatch,
    chosen: dict[str, str],
    expected: str,
) -> None:
    new = posted(tmp_path, asked, seeds="\n".join(HOMES[:2]), **chosen)
    facts = crawled(new, tmp_path / "crawl", proxy, monkeypatch)
    assert facts["looking_for"] == expected
    assert facts["on_topic"] == len(facts["listed"]) > 3
    assert all(map(is_home, facts["listed"])) is (expected == "sites")


def test_agents_get_pages_unless_they_ask_for_sites(
    tmp_path: Path, proxy: str, asked: list[NewCrawl], monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, counts = Tools(tmp_path), []
    for more in ({}, {"looking_for": "sites"}):
        with pytest.raises(Asked):
            tools.start_crawl(QUESTION, HOMES[:2], 40, **more)
        folder = tmp_path / str(len(counts)) / "crawl"
        crawled(asked[-1], folder, proxy, monkeypatch)
        status = Tools(folder.parent).crawl_status("crawl")
        counts.append((status["looking_for"], status["on_topic"]))
    (pages, most), (sites, fewest) = counts
    assert (pages, sites) == ("pages", "sites")
    assert most > 15 > fewest > 3
    with pytest.raises(BadConfig, match="looking_for"):
        tools.start_crawl(QUESTION, HOMES[:2], 20, looking_for="people")


def test_the_menu_of_the_desk_has_pages_preselected_and_no_third_choice(tmp_path: Path) -> None:
    with client(tmp_path) as desk:
        shown = desk.get("/").text
        menu = shown[shown.index('name="looking_for"') - 200 :].partition("</select>")[0]
        file = 'keywords = "bees"\nlooking_for = "sites"\n'
        read = desk.post("/api/topics", json={"file": file}, headers=WITH_TOKEN).json()
    assert menu.count("<option") == 2
    assert menu.index("selected") < menu.index("sites")
    assert read["looking_for"] == "sites", "the menu follows the file"


def test_the_desk_changes_what_a_crawl_looks_for_and_counts_again(tmp_path: Path, proxy: str) -> None:
    folder = tmp_path / "crawl"
    assert run(["crawl", QUESTION, *words(HOMES[:2], proxy), "--pages", "20", "--out", str(folder), "--json"]) == 0
    watch = Watch(folder)
    try:
        watch.refresh()
        before = watch.overview(0.0)
        give_order(folder, "looking-for", "sites", 1.0)
        assert run(["resume", str(folder), "--pages", "21", "--json"]) == 0
        watch.refresh()
        after = watch.overview(0.0)
    finally:
        watch.close()
    assert (before["looking_for"], after["looking_for"]) == ("pages", "sites")
    assert after["pages"] == 21
    assert after["on_topic"] < before["on_topic"]
    with client(tmp_path / "home", folder) as desk:
        assert "Look for pages instead" in desk.get("/c/crawl").text
        order = {"action": "looking-for", "value": "pages"}
        assert desk.post("/api/collections/crawl/orders", json=order, headers=WITH_TOKEN).status_code == 202
