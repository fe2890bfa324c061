"""The same words mean the same figures: while it runs, at its end, in `status` and in the report."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from scenthound.cli.progress import Progress
from scenthound.cli.root_command import run
from scenthound.lab.beds.bed_server import BedServer, ServerOptions, serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings
from scenthound.model import Response
from scenthound.ports import Failure
from scenthound.report.crawl_facts import CrawlFacts, RunningTime, gather, pages_per_second, read_history
from scenthound.wiring import begin, resume
from support.small_crawl import WEB, Pages, small_crawl


def said(line: str) -> dict[str, str]:
    """The figures of a progress line, by the words beside them."""
    found = re.search(
        r"([\d,]+) of ([\d,]+) pages, ([\d.]+)/s.* frontier ([\d,]+), hosts ([\d,]+), errors ([\d,]+)", line
    )
    assert found, line
    return dict(zip(("pages", "budget", "rate", "frontier", "hosts", "errors"), found.groups(), strict=True))


def figures(document: dict[str, object]) -> dict[str, str]:
    misses = document["misses"]
    assert isinstance(misses, dict)
    return {
        "pages": f"{document['pages']:,}",
        "budget": f"{document['budget']:,}",
        "rate": f"{document['pages_per_second']:.1f}",
        "frontier": f"{document['frontier']:,}",
        "hosts": f"{document['hosts']:,}",
        "errors": f"{sum(misses.values()):,}",
    }


def test_progress_summary_and_status_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = GeneratedWeb(600, 3)
    topic = web.topics[0]
    with serving(BedServer(web, ServerOptions(error_rate=0.2))) as address:
        settings = Settings(pages=120, delay=0.001, backoff=0.01, retries=1, proxy=f"http://{address}")
        session = begin(topic.topic, list(topic.seeds), tmp_path / "crawl", settings=settings)
        with Progress(session) as progress:
            asyncio.run(session.run(tick=progress.tick))
        live = said(progress.line())
        summary = figures(gather(session.folder).as_plain())
        session.close()
        assert live == summary
        assert int(live["frontier"].replace(",", "")) > 0
        assert run(["status", str(tmp_path / "crawl"), "--json"]) == 0
        assert figures(json.loads(capsys.readouterr().out)) == summary
        again = resume(tmp_path / "crawl", pages=150)
        with Progress(again) as progress:
            asyncio.run(again.run(tick=progress.tick))
        live = said(progress.line())
        summary = figures(gather(again.folder).as_plain())
        again.close()
    assert live == summary, "after a second run too"


def test_what_is_still_in_flight_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Twice interrupted: what was asked for and never came is counted at the end as `status` counts it."""

    class Slow(Pages):
        async def fetch(self, url: str) -> Response | Failure:
            if url != "http://a.test/":
                await asyncio.sleep(60)
            return await super().fetch(url)

    settings = Settings(delay=0, robots=False)
    session = begin("balloons", ["http://a.test/"], tmp_path / "crawl", settings=settings, fetcher=Slow(WEB))

    def enough() -> None:
        if session.crawl.in_flight == 2:
            session.interrupt()
            session.interrupt()

    with Progress(session) as progress:
        assert asyncio.run(session.run(tick=enough)) == "interrupted"
    assert said(progress.line())["frontier"] == "2"
    assert gather(session.folder).waiting == 2
    session.close()
    assert run(["status", str(tmp_path / "crawl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["frontier"] == 2


def test_a_url_that_was_tried_again_is_one_error(tmp_path: Path) -> None:
    class Flaky(Pages):
        asked = 0

        async def fetch(self, url: str) -> Response | Failure:
            self.asked += 1
            if "b.test" in url or ("c.test/two" in url and self.asked < 4):
                return Failure("reset", "", 0, True)
            return await super().fetch(url)

    settings = Settings(delay=0, robots=False, retries=2, backoff=0.001)
    session = begin("balloons", ["http://a.test/"], tmp_path / "crawl", settings=settings, fetcher=Flaky(WEB))
    asyncio.run(session.run())
    session.close()
    with CrawlFolder.look(tmp_path / "crawl") as opened:
        facts = gather(opened)
    assert facts.figures.misses == {"reset": 1} == dict(session.crawl.figures.misses)
    assert {name: host.misses for name, host in facts.hosts.items()} == {"a.test": 0, "b.test": 1, "c.test": 0}
    assert facts.hosts_with_pages == session.hosts == 2


def test_speed_is_pages_over_the_time_of_running(tmp_path: Path) -> None:
    assert pages_per_second(10, 4.0) == 2.5
    assert pages_per_second(10, 0.0) == 0.0
    folder = small_crawl(tmp_path / "crawl", pages=2)
    with CrawlFolder.look(folder) as opened:
        first = opened.runs
    again = resume(folder, fetcher=Pages(WEB), pages=4)
    asyncio.run(again.run())
    again.close()
    with CrawlFolder.look(folder) as opened:
        facts = gather(opened)
        assert opened.runs[:1] == first
        assert len(opened.runs) == 2
        assert facts.busy == pytest.approx(sum(end - begin for begin, end in opened.runs))
        assert facts.busy == pytest.approx(opened.seconds()) == pytest.approx(again.seconds)
    assert facts.rate == pages_per_second(4, facts.busy)


def test_a_pause_between_runs_is_left_out_however_short_and_a_wait_within_one_is_not(tmp_path: Path) -> None:
    runs = [(100.0, 400.0), (405.0, 410.0)]
    watch = RunningTime(runs)
    assert [watch.at(moment) for moment in (100.0, 350.0, 400.0, 402.0, 405.0, 407.0, 999.0)] == [
        0.0, 250.0, 300.0, 300.0, 300.0, 302.0, 305.0,
    ]  # fmt: skip
    with CrawlFolder.look(small_crawl(tmp_path / "crawl", pages=1)) as opened:
        facts = CrawlFacts(opened.request)
        read_history(facts, opened.history, [(0.0, 10.0)])
    assert facts.busy == 10.0


def test_very_many_runs_are_folded_and_lose_no_second(tmp_path: Path) -> None:
    folder = CrawlFolder.reopen(small_crawl(tmp_path / "crawl"))
    folder.runs = [(10.0 * n, 10.0 * n + 2) for n in range(500)]
    folder.runs.append((6000.0, 6000.0))
    folder._save_run(6001.0)
    assert len(folder.runs) == 500
    assert folder.seconds() == pytest.approx(1001.0)
    folder.close()
    again = CrawlFolder.look(tmp_path / "crawl")
    assert again.seconds() < 1000, "nothing was committed"
    again.close()
