"""What was left because its pages had nothing new is shown: by `status`, in the report, and by `explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.loop.folder import CrawlFolder
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
    facts = json.loads(capsys.readouterr().out)
    assert facts["suspended_urls"] == facts["frontier"] > 0
    assert "a.test: 8 pages of /calendar?month= had nothing new" in facts["suspended"]
    assert run(["status", str(crawled)]) == 0
    printed = capsys.readouterr().out
    assert all(line in printed for line in facts["suspended"])
    assert "--set traps=false" in printed, "how to fetch them"
    assert run(["report", str(crawled)]) == 0
    assert "8 pages of /calendar?month= had nothing new" in (crawled / "report.html").read_text()


def test_explain_says_that_a_suspended_url_waits_and_why(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with CrawlFolder.look(crawled) as folder:
        last = max(int(step.url.rpartition("=")[2]) for step in folder.history.trail())
    assert run(["explain", str(crawled), f"http://a.test/calendar?month={last + 2}", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["state"] == "waiting"
    assert found["why"] == (
        "waiting behind all other URLs, because it looks like a trap: "
        "8 pages of /calendar?month= on a.test had nothing new"
    )
