"""Questions at the desk: hits by the API, keeping, throwing away, and the whole flow in a browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scenthound.desk.apps.ask import strategy_for_question
from scenthound.desk.crawl_watch import Watch
from scenthound.desk.start_processes import NewCrawl
from support.desk import WITH_TOKEN, browser_page, chromium, client, desk_process
from support.running_crawl import WEB, served, until
from support.small_crawl import small_crawl

TOPIC = WEB.topics[0]


def test_hits_come_in_the_order_of_finding_with_a_ranking_in_the_end(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with client(tmp_path / "home", folder) as desk:
        answer = desk.get("/api/collections/crawl/hits").json()
        assert [hit["number"] for hit in answer["hits"]] == list(range(1, len(answer["hits"]) + 1))
        assert answer["hits"][0]["is_seed"]
        assert not answer["is_running"]
        pages = desk.get("/api/collections/crawl/pages").json()["pages"]
        assert {hit["url"] for hit in answer["ranked"]} == {page["url"] for page in pages if page["on_topic"]}
        rest = desk.get("/api/collections/crawl/hits?after=1").json()["hits"]
        assert rest == answer["hits"][1:]
        assert desk.get("/api/collections/crawl/hits?after=x").status_code == 400


def test_only_a_question_can_be_thrown_away_and_only_with_the_token(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with client(tmp_path / "home", folder) as desk:
        refused = desk.post("/api/collections/crawl/discard", headers=WITH_TOKEN)
        assert refused.status_code == 400
        assert "only questions" in refused.json()["error"]
        assert folder.exists()
        questions = desk.app.state.desk.questions
        questions.add(folder.resolve())
        assert desk.post("/api/collections/crawl/discard").status_code == 401
        assert folder.exists()
        assert desk.get("/api/collections/crawl/hits").json()["kept"] is False
        assert desk.post("/api/collections/crawl/keep", headers=WITH_TOKEN).status_code == 200
        assert desk.post("/api/collections/crawl/discard", headers=WITH_TOKEN).status_code == 400
        questions.add(folder.resolve())
        assert desk.post("/api/collections/crawl/discard", headers=WITH_TOKEN).status_code == 200
        assert not folder.exists()
        assert not list(tmp_path.glob("crawl*"))
        assert desk.get("/api/collections/crawl").status_code == 404


def test_a_question_at_the_desk_is_greedy_too() -> None:
    name, parameters = strategy_for_question("hound")
    words = NewCrawl("balloons", "http://a.test/", strategy=name, parameters=parameters).arguments(Path("x"))
    assert words[words.index("--set") + 1] == "exploration=0.0"


def test_a_question_can_look_for_sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[NewCrawl] = []

    async def start(desk: object, new: NewCrawl) -> tuple[str, Path]:
        started.append(new)
        return "balloons", tmp_path / "balloons"

    monkeypatch.setattr("scenthound.desk.api_base.start_new_crawl", start)
    with client(tmp_path / "home") as desk:
        body = {"query": "balloons", "seeds": "http://a.test/", "looking_for": "sites"}
        assert desk.post("/api/questions", json=body, headers=WITH_TOKEN).status_code == 201
    assert [new.looking_for for new in started] == ["sites"]
    assert "--looking-for" in started[0].arguments(tmp_path)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"query": "x", "seeds": "http://a.test/", "pages": 0}, "invalid value for `pages`"),
        ({"query": "x", "seeds": "http://a.test/", "pages": 100_000}, "invalid value for `pages`"),
        ({"query": "x", "seeds": "http://a.test/", "strategy": "shell"}, "invalid value for `strategy`"),
        ({"query": "x", "seeds": "http://a.test/", "looking_for": "both"}, "invalid value for `looking_for`"),
        ({"query": "balloons"}, "no starting pages"),
        ({"seeds": "http://a.test/"}, "query"),
    ],
)
def test_bad_questions_are_refused(tmp_path: Path, body: dict[str, object], said: str) -> None:
    with client(tmp_path / "home") as desk:
        answer = desk.post("/api/questions", json=body, headers=WITH_TOKEN)
        assert answer.status_code == 400
        assert said in answer.json()["error"]


def test_a_crawl_that_is_watched_from_its_first_moment_is_followed(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    begun = tmp_path / "begun"
    begun.mkdir()
    shutil.copy(folder / "crawl.toml", begun)
    watch = Watch(begun)
    try:
        assert watch.refresh() == 0
        (begun / "crawl.db").touch()
        assert watch.refresh() == 0, "its tables are not made yet"
        shutil.copy(folder / "crawl.db", begun)
        assert watch.refresh() == 4
        assert watch.state()[0] != "cut off"
    finally:
        watch.close()


@pytest.mark.slow
def test_a_question_in_the_browser(tmp_path: Path) -> None:
    chromium()
    home = tmp_path / "home"
    with (
        served(tmp_path / "log") as proxy,
        desk_process(home, "--set", f"proxy={proxy}", "--set", "delay=0.05") as address,
        browser_page() as page,
    ):
        page.goto(address)
        page.click("text=Ask a short question")
        page.wait_for_url("**/ask")
        page.click("button.primary")
        assert page.inner_text("#ask-error") == "Enter what you are looking for."
        page.fill("#topic", TOPIC.keywords)
        page.fill("#seeds", "\n".join(TOPIC.seeds))
        page.check("input[value=infospiders]")
        page.check("input[name=pages][value='20']")
        page.click("button.primary")
        until(lambda: page.locator("#hits li").count() > 0, "no result appeared")
        first = page.inner_text("#hits li:first-child")
        until(lambda: page.is_visible("#ranked"), "it was never ranked")
        assert page.inner_text("#hits li:first-child") == first, "a result moved"
        assert "spider" in first
        assert "20 pages fetched" in page.inner_text("#progress-words")
        page.click("#spiders")
        page.wait_for_url("**/agents")
        page.go_back()
        until(lambda: page.is_visible("#ranked"), "the answer is gone after “back”")
        assert page.inner_text("#hits li:first-child") == first
        assert len(list(home.glob("*/crawl.toml"))) == 1
        page.click("#discard")
        until(lambda: not list(home.glob("*/crawl.toml")), "it was not thrown away")
        until(lambda: page.is_hidden("#answer"), "the answer is still shown")
