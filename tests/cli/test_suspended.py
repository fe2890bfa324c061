"""What was left because its pages had nothing new is shown: by `status`, in the report, and by `explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from support.small_crawl import small_crawl

ENDLESS = {
    f"http://a.test/calendar?month={month}": (
        "Months",
        "hot air balloons fly",
        [f"http://a.test/calendar?month={month + step}" for step in (1, 2)],
    )
    for month in range(200)
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_crawl(tmp_path_factory.mktemp("suspended") / "crawl", ENDLESS)


def test_status_and_report_name_host_pattern_and_pages(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", str(crawled), "--json"]) == 0
    (line,) = json.loads(capsys.readouterr().out)["suspended"]
    assert line == "a.test: 12 pages of /calendar?month= had nothing new"
    assert run(["status", str(crawled)]) == 0
    assert line in capsys.readouterr().out
    assert run(["report", str(crawled)]) == 0
    assert "12 pages of /calendar?month= had nothing new" in (crawled / "report.html").read_text()


def test_explain_says_why_a_url_was_left(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", str(crawled), "http://a.test/calendar?month=99", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["state"] == "refused"
    assert found["why"] == "never requested: 12 pages of /calendar?month= on a.test had nothing new"
