"""A pack of spiders in a crawl folder: many requests at once, explained, killed and resumed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.messages import Fetch
from scenthound.loop.settings import Settings, read
from scenthound.model import Event
from scenthound.report.crawl_facts import gather
from scenthound.report.explain import explain
from scenthound.wiring import Session, begin, resume
from support.resuming import SETTINGS, TOPIC, Recorded, born, step_through, trail


def test_a_live_crawl_with_many_requests_at_once(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", "infospiders", concurrency=8)
    assert asyncio.run(session.run()) == "pages"
    waiting = session.waiting
    session.close()
    urls = [row[1] for row in trail(tmp_path / "crawl")]
    assert len(urls) == len(set(urls)) == 120
    with CrawlFolder.look(tmp_path / "crawl") as opened:
        assert gather(opened).waiting == waiting > 0


def test_explain_says_which_agent_fetched_a_page_and_where_it_comes_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = born(tmp_path / "crawl", "infospiders", {"population": 20}, pages=200)
    step_through(session, 1000)
    session.folder.finish("pages", 1.0)
    history = session.folder.history
    born_late = next(event for event in list(history.strategy_events("born")) if event.facts["parent"] is not None)
    fed, *_ = history.strategy_events("fed", born_late.facts["agent"])
    session.close()
    assert run(["explain", str(tmp_path / "crawl"), str(fed.url), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["path"][-1]["parts"]["agent"] == born_late.facts["agent"]
    (meal,) = said["told"]
    assert set(meal["facts"]) >= {"agent", "similarity", "before", "energy", "expected"}
    family = [event["facts"] for event in said["family"]]
    assert [one["agent"] for one in family] == [born_late.facts["parent"], born_late.facts["agent"]]
    assert set(family[0]["keywords"]) < set(family[1]["keywords"])


@pytest.mark.parametrize("name", ["infospiders", "cc-bfs"])
def test_explain_knows_what_waits_in_a_frontier_of_the_strategys_own(tmp_path: Path, name: str) -> None:
    session = born(tmp_path / "crawl", name, pages=20)
    step_through(session, 100)
    session.folder.finish("pages", 1.0)
    crawled = {step.url for step in session.folder.history.trail()}
    links = [url for _, targets in session.folder.database.links() for url in targets if url in session.crawl.frontier]
    waiting = next(url for url in links if url not in crawled)
    found = explain(session.folder, waiting)
    session.close()
    assert found.state == "waiting"
    assert "own frontier" in found.why


def flying(session: Session, number: int) -> list[Fetch]:
    """Ask for so many pages and bring none of them."""
    asked = [session.crawl.next(1e6) for _ in range(number)]
    return [one for one in asked if isinstance(one, Fetch)]


def test_what_was_in_flight_when_it_was_killed_is_asked_for_again(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", "infospiders")
    step_through(session, 20)
    asked = {fetch.candidate.url for fetch in flying(session, 4)}
    assert len(asked) == 4, "different agents"
    session.folder.commit(1e6)
    session.folder.close()
    session = resume(tmp_path / "crawl", fetcher=Recorded(), clock=lambda: 0.0)
    assert {fetch.candidate.url for fetch in flying(session, 4)} == asked
    session.folder.close()


def events(folder: Path) -> list[Event]:
    with CrawlFolder.look(folder) as opened:
        return list(opened.history.strategy_events())


ECOLOGICAL = {"theta": 0.3, "population": 6, "cost": 0.02, "death": True}
TIGHT = {"theta": 0.3, "buffer": 48, "population": 3}
LONG = {"buffer": 0, "population": 64}


@pytest.mark.parametrize(
    ("parameters", "in_flight"),
    [(LONG, 1), *((made, number) for made in ({}, {"memory": 0}, ECOLOGICAL, TIGHT) for number in (1, 4))],
    ids=str,
)
def test_a_killed_and_resumed_pack_behaves_as_an_undisturbed_one(
    tmp_path: Path, parameters: dict[str, float], in_flight: int
) -> None:
    def started(folder: Path) -> Session:
        made = {"settings": read(Settings, SETTINGS), "parameters": parameters, "fetcher": Recorded()}
        return begin(TOPIC.topic, TOPIC.seeds, folder, strategy="infospiders", **made)  # type: ignore[arg-type]

    whole = started(tmp_path / "whole")
    step_through(whole, 1000, in_flight=in_flight)
    whole.folder.finish("pages", 1.0)
    whole.close()
    session = started(tmp_path / "cut")
    for steps in (3, 7, 1, 18, 11, 26, 40, 1000):
        if step_through(session, steps, commit_every=3, in_flight=in_flight):
            break
        session.folder.close()
        session = resume(tmp_path / "cut", fetcher=Recorded(), clock=lambda: 0.0)
    session.folder.finish("pages", 1.0)
    session.close()
    assert trail(tmp_path / "cut") == trail(tmp_path / "whole")
    assert events(tmp_path / "cut") == events(tmp_path / "whole"), "births, meals and deaths, each once"
