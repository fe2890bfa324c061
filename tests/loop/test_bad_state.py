"""A folder that is damaged, or was changed by a stranger, is repaired or refused with a clear message."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scenthound.loop.folder import CrawlFolder
from scenthound.store import blobs
from scenthound.wiring import resume
from support.mutating import STRATEGIES, findings
from support.resuming import Recorded, born, step_through, trail


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_but_clear_errors_comes_of_any_change(tmp_path: Path, strategy: str) -> None:
    for finding in findings(tmp_path, count=2, seed=STRATEGIES.index(strategy), strategies=(strategy,)):
        assert finding.outcome in ("fine", "refused"), f"{finding.change}: {finding.detail}"


def test_a_population_whose_state_is_damaged_goes_on_too(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", "infospiders")
    step_through(session, 50)
    session.close()
    before = {row[1] for row in trail(tmp_path / "crawl")}
    with closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as database:
        database.execute("UPDATE state SET value = x'00' WHERE key = 'strategy'")
        database.commit()
    again = resume(tmp_path / "crawl", fetcher=Recorded(), clock=lambda: 0.0)
    step_through(again, 20)
    again.folder.finish("pages", 1.0)
    again.close()
    assert before < {row[1] for row in trail(tmp_path / "crawl")}


@pytest.mark.parametrize("name", ["bayes", "intelligent"])
def test_a_strategy_whose_state_is_damaged_learns_again_from_the_pages(tmp_path: Path, name: str) -> None:
    whole = born(tmp_path / "whole", name)
    step_through(whole, 80)
    whole.folder.finish("pages", 1.0)
    whole.close()
    session = born(tmp_path / "cut", name)
    step_through(session, 50)
    session.close()
    with closing(sqlite3.connect(tmp_path / "cut" / "crawl.db")) as database:
        database.execute("UPDATE state SET value = ? WHERE key = 'strategy'", (blobs.pack({"odd": 1}),))
        database.commit()
    again = resume(tmp_path / "cut", fetcher=Recorded(), clock=lambda: 0.0)
    assert any("learns again from all pages" in note for note in again.folder.recovered)
    step_through(again, 30)
    again.folder.finish("pages", 1.0)
    again.close()
    assert trail(tmp_path / "cut") == trail(tmp_path / "whole")


def test_rows_of_another_kind_are_dropped_and_the_rest_is_kept(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl")
    step_through(session, 50)
    session.folder.commit(60.0)
    session.close()
    before = len(trail(tmp_path / "crawl"))
    with closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as database:
        database.execute("UPDATE history SET depth = 'deep' WHERE n = 7")
        database.execute("UPDATE hosts SET failures = x'ff' WHERE host = (SELECT max(host) FROM hosts)")
        database.execute("UPDATE counts SET times = 'often'")
        database.commit()
    resume(tmp_path / "crawl", fetcher=Recorded(), clock=lambda: 0.0).close()
    with CrawlFolder.look(tmp_path / "crawl") as folder:
        assert len(folder.history) == before - 1
