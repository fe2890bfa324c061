"""The reasons why pages were chosen are worded alike in `explain`, `status`, `trail --why` and the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.loop.crawl_toml import CrawlRequest
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Candidate, Topic, Url
from scenthound.report.crawl_facts import gather
from scenthound.report.crawl_report import render, write_report
from scenthound.report.wording import Wording
from support.small_crawl import small_crawl

Capture = pytest.CaptureFixture[str]
BALLOONS = "hot air balloons fly over festivals"
PAGES = [f"http://a.test/p{n}" for n in range(12)]
WEB = {
    "http://a.test/": ("Balloon festivals", BALLOONS, PAGES),
    **{url: ("Balloon festivals", BALLOONS, ["http://a.test/end", "http://a.test/late"]) for url in PAGES},
    "http://a.test/end": ("Balloon festivals", BALLOONS, []),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("words") / "crawl"
    return small_crawl(out, WEB, strategy="hound")


def reasons_of(folder: Path, url: str) -> list[str]:
    with CrawlFolder.look(folder) as opened:
        step = opened.history.step_of(Url(url))
        assert step is not None
        return Wording(opened.request).reasons(step)


def test_explain_says_why_in_words(folder: Path, capsys: Capture) -> None:
    assert run(["explain", str(folder), "http://a.test/end"]) == 0
    output = capsys.readouterr().out
    reasons = reasons_of(folder, "http://a.test/end")
    assert any("link" in reason for reason in reasons)
    assert "because: " + "; ".join(reasons) in output
    assert run(["explain", str(folder), "http://a.test/end", "--json"]) == 0
    last = json.loads(capsys.readouterr().out)["path"][-1]
    assert last["why"] == reasons
    assert last["parts"], "the numbers stay"


def test_trail_has_the_words_if_asked(folder: Path, capsys: Capture) -> None:
    assert run(["trail", str(folder), "--why"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["why"] == []
    assert all(line["why"] == reasons_of(folder, line["url"]) for line in lines)
    assert run(["trail", str(folder)]) == 0
    assert '"why"' not in capsys.readouterr().out


def test_status_and_report_have_the_words(folder: Path, capsys: Capture) -> None:
    assert run(["status", str(folder), "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["best"]
    assert all(page["why"] == reasons_of(folder, page["url"]) for page in best)
    chosen = next(page["why"] for page in best if page["why"])
    assert run(["status", str(folder)]) == 0
    assert chosen[0].split(" (")[0].split()[0] in capsys.readouterr().out
    with CrawlFolder.look(folder) as opened:
        page = write_report(opened).read_text(encoding="utf-8")
    assert chosen[0].split(" (")[0] in page


def test_the_report_draws_the_exploration_rate_of_each_page_unless_it_is_always_0(folder: Path) -> None:
    with CrawlFolder.look(folder) as opened:
        facts = gather(opened)
    assert facts.exploration == [(n, 0.0) for n in range(1, facts.figures.pages + 1)]
    assert "<h2>Exploration</h2>" not in render(facts)
    facts.exploration = [(2, 0.2), (8, 0.05)]
    page = render(facts)
    assert "<h2>Exploration</h2>" in page
    assert 'aria-label="Exploration rate by pages fetched"' in page


def test_other_strategies_have_the_names_of_their_parts() -> None:
    candidate = Candidate(Url("http://a.test/"), 0.5, parts={"page": 0.5})
    request = CrawlRequest(Topic("bees"), ("http://a.test/",), "best-first")
    assert Wording(request).reasons(candidate) == ["page 0.5"]
    assert Wording(CrawlRequest(Topic("bees"), (), "not-installed-here")).reasons(candidate) == ["page 0.5"]


def test_text_of_the_web_in_a_reason_is_made_printable() -> None:
    candidate = Candidate(Url("http://a.test/"), 0.5, parts={"words of the link": 0.5}, anchor="a\x1b[31mb\nc")
    [reason] = Wording(CrawlRequest(Topic("bees"), (), "hound")).reasons(candidate)
    assert reason == "anchor: “ab c” (+0.5)"
