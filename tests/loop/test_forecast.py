"""What is left to find: the estimate, the rule that stops a crawl by it, and where both are shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scenthound.cli.progress import Progress
from scenthound.cli.root_command import run
from scenthound.loop.figures import FORECAST_FROM, LITTLE_LEFT, Forecast
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings, read
from scenthound.model import Step
from scenthound.report.crawl_facts import gather
from scenthound.report.crawl_report import render
from scenthound.wiring import begin, resume
from support.resuming import TOPIC, Recorded, born, step_through

PAGES = 390  # of a web of 400
Talk = pytest.CaptureFixture[str]


def counted(*relevances: float) -> Forecast:
    forecast = Forecast()
    for relevance in relevances:
        forecast.page(relevance)
    return forecast


def test_there_is_no_forecast_before_the_window_is_full() -> None:
    assert counted(*[0.5] * (FORECAST_FROM - 1)).left(100) is None
    assert counted(*[0.5] * FORECAST_FROM).left(100) is not None


def test_the_rest_is_expected_to_be_as_the_last_pages_were() -> None:
    left = counted(*[0.9] * 100, *[0.1] * FORECAST_FROM).left(50)
    assert left is not None
    assert (left.found, left.expected) == (pytest.approx(90 + 0.1 * FORECAST_FROM), pytest.approx(5))
    assert left.share == pytest.approx(5 / (95 + 0.1 * FORECAST_FROM))


def test_seeds_are_not_finds() -> None:
    forecast = counted(*[0.1] * FORECAST_FROM)
    forecast.page(1.0, is_seed=True)
    left = forecast.left(10)
    assert left is not None
    assert left.found == pytest.approx(0.1 * FORECAST_FROM)


def test_where_nothing_was_found_everything_may_be_left() -> None:
    left = counted(*[0.0] * FORECAST_FROM).left(10)
    assert left is not None
    assert left.share == 1


def crawled(folder: Path, cuts: tuple[int, ...] = (), **settings: Any) -> tuple[str, list[Step]]:
    """Run a crawl that is killed after each of `cuts` requests. Returns why it ended, and its trail."""
    session = born(folder, pages=PAGES, **settings)
    for requests in (*cuts, 1000):
        if step_through(session, requests):
            break
        session.folder.close()  # without a commit: what came after the last one is gone
        session = resume(folder, fetcher=Recorded(), clock=lambda: 0.0)
    reason = session.crawl.end_reason
    session.folder.finish(reason, 1e9)
    session.close()
    with CrawlFolder.look(folder) as opened:
        return reason, list(opened.history.trail())


def test_a_crawl_stops_when_little_is_left_and_not_before(tmp_path: Path) -> None:
    share = 0.3
    reason, trail = crawled(tmp_path / "crawl", stop_share=share)
    assert reason == LITTLE_LEFT
    assert FORECAST_FROM < len(trail) < PAGES

    def share_after(pages: int) -> float:
        forecast = Forecast()
        for step in trail[:pages]:
            forecast.page(step.relevance, is_seed=step.depth == 0)
        left = forecast.left(PAGES - pages)
        return 1.0 if left is None else left.share

    assert share_after(len(trail)) <= share
    assert all(share_after(n) > share for n in range(len(trail)))
    assert crawled(tmp_path / "whole")[0] == "pages"


def test_a_killed_and_resumed_crawl_stops_at_the_same_page(tmp_path: Path) -> None:
    once = crawled(tmp_path / "whole", stop_share=0.3)
    twice = crawled(tmp_path / "cut", (57, 120, 41), stop_share=0.3)
    assert [step.url for step in twice[1]] == [step.url for step in once[1]]
    assert twice[0] == once[0] == LITTLE_LEFT


def test_a_stopped_crawl_that_is_resumed_fetches_nothing_more_unless_the_budget_grows(tmp_path: Path) -> None:
    _, trail = crawled(tmp_path / "crawl", stop_share=0.3)
    session = resume(tmp_path / "crawl", fetcher=Recorded(), clock=lambda: 0.0)
    assert step_through(session, 10)
    assert (session.crawl.end_reason, session.crawl.pages) == (LITTLE_LEFT, len(trail))
    session.close()
    session = resume(tmp_path / "crawl", fetcher=Recorded(), clock=lambda: 0.0, pages=100 * PAGES)
    assert not step_through(session, 10)
    session.close()


def test_status_report_and_progress_say_what_is_expected(tmp_path: Path, capsys: Talk) -> None:
    folder = tmp_path / "crawl"
    session = born(folder, pages=PAGES)
    assert "pages left" not in Progress(session).line()
    step_through(session, 365)
    session.folder.commit(365.0)
    assert "pages left" in Progress(session).line()
    session.close()
    with CrawlFolder.look(folder) as opened:
        facts = gather(opened)
    assert facts.left is not None
    assert f"expected, at most, in the {PAGES - facts.figures.pages:,} pages left" in render(facts)
    assert run(["status", str(folder), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["expected"] == facts.left.expected
    assert shown["expected_share"] == facts.left.share
    assert run(["status", str(folder)]) == 0
    assert "more relevant pages in" in capsys.readouterr().out


def test_the_end_has_words(tmp_path: Path, capsys: Talk) -> None:
    crawled(tmp_path / "crawl", stop_share=0.3)
    assert run(["status", str(tmp_path / "crawl")]) == 0
    assert "expected to yield little" in capsys.readouterr().out


def test_the_rule_is_off_unless_it_is_asked_for() -> None:
    assert Settings().stop_share == 0
    assert read(Settings, {"stop_share": 0.05}).stop_share == 0.05


def test_the_flag_sets_five_percent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []

    def note(*given: Any, **named: Any) -> Any:
        begun.append(named["settings"].stop_share)
        return begin(*given, **named, fetcher=Recorded())

    monkeypatch.setattr("scenthound.wiring.begin", note)
    words = ["--seed", str(TOPIC.seeds[0]), "--pages", "3", "--delay", "0", "--set", "robots=false"]
    for number, flag in enumerate([[], ["--stop-when-done"]]):
        assert run(["crawl", TOPIC.keywords, *words, *flag, "--out", str(tmp_path / str(number))]) == 0
    assert begun == [0.0, 0.05]
