"""A crawl folder is created, killed, repaired, resumed, refused to a second process, and stopped by a full disk."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenthound.errors import BadConfig, DiskFull, FolderBroken, FolderInUse
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.live import Clock
from scenthound.loop.messages import Fetch, Wait
from scenthound.loop.settings import Settings, read
from scenthound.model import Response
from scenthound.ports import Failure
from scenthound.store.lock import holder
from scenthound.strategies import STRATEGIES
from scenthound.web.robots import parse
from scenthound.wiring import begin, resume
from support.resuming import SETTINGS, TOPIC, Recorded, born, step_through, trail

OURS = [name for name, kind in STRATEGIES.items() if kind.__module__.startswith("scenthound.")]


@pytest.mark.parametrize("name", [*OURS, "test-learner"])
def test_a_killed_and_resumed_crawl_decides_as_an_undisturbed_one(tmp_path: Path, name: str) -> None:
    whole = born(tmp_path / "whole", name)
    step_through(whole, 1000)
    whole.folder.finish("pages", 1.0)
    whole.close()
    session = born(tmp_path / "cut", name)
    for steps in (1, 13, 29, 41, 1000):
        if step_through(session, steps):
            break
        session.folder.close()  # without a commit: what came after the last one is gone
        session = resume(tmp_path / "cut", fetcher=Recorded(), clock=lambda: 0.0)
    session.folder.finish("pages", 1.0)
    session.close()
    assert trail(tmp_path / "cut") == trail(tmp_path / "whole")


def test_a_resumed_crawl_makes_no_request_for_one_delay(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", delay=5)
    step_through(session, 1)
    session.folder.commit(2.0)
    session.close()
    before = Clock()()
    again = resume(tmp_path / "crawl")
    step = again.crawl.next(before)
    assert isinstance(step, Wait)
    assert before + 4.9 < step.until <= again.clock() + 5.0
    again.close()


def test_a_second_process_is_refused_with_the_first_ones_number(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl")
    with pytest.raises(FolderInUse, match=str(os.getpid())):
        resume(tmp_path / "crawl")
    session.close()
    resume(tmp_path / "crawl").close()


def test_looking_needs_no_lock(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl")
    step_through(session, 10)
    assert len(trail(tmp_path / "crawl")) >= 5
    session.close()


def test_a_folder_that_is_not_a_crawl_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("all of it")
    with pytest.raises(BadConfig, match="not a crawl"):
        born(tmp_path / "precious")
    with pytest.raises(BadConfig, match=r"no crawl\.toml"):
        resume(tmp_path / "precious")
    with pytest.raises(BadConfig, match="no folder"):
        resume(tmp_path / "nowhere")
    assert [p.name for p in (tmp_path / "precious").iterdir()] == ["thesis.txt"]
    born(tmp_path / "crawl").close()
    with pytest.raises(BadConfig, match="resume"):
        born(tmp_path / "crawl")


def finished(folder: Path) -> None:
    session = born(folder)
    asyncio.run(session.run())
    session.close()


def test_a_database_with_the_statistics_of_sqlite_can_be_resumed(tmp_path: Path) -> None:
    finished(tmp_path / "crawl")
    with contextlib.closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as database:
        database.execute("ANALYZE")
        database.execute("ALTER TABLE labels ADD COLUMN note ANYTHING")
        assert database.execute("SELECT count(*) FROM sqlite_stat1").fetchone()[0] > 0
    session = resume(tmp_path / "crawl", fetcher=Recorded())
    assert not session.folder.recovered
    session.close()


def test_a_damaged_database_is_salvaged_and_the_pages_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    finished(folder)
    before = len(trail(folder))
    database = folder / "crawl.db"
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xff" * 4096)
    session = resume(folder, fetcher=Recorded())
    assert session.folder.recovered
    assert list(folder.glob("crawl.db.damaged*"))
    asyncio.run(session.run())
    session.close()
    assert len(trail(folder)) >= before - 60
    assert list((folder / "pages").glob("*.warc.gz"))


def test_pages_whose_warc_is_gone_are_fetched_again(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    finished(folder)
    before = {row[1] for row in trail(folder)}
    (warc,) = (folder / "pages").glob("*.warc.gz")
    os.truncate(warc, warc.stat().st_size // 2)
    session = resume(folder, fetcher=Recorded())
    assert any(f"{warc.name} is damaged at byte" in sentence for sentence in session.folder.recovered)
    assert len(session.folder.history) < len(before)
    asyncio.run(session.run())
    places = {url for url, _ in session.folder.history.places()}
    for url in places:
        where = session.folder.history.where(url)
        assert where is not None
        assert session.folder.repository.get(where).status == 200
    session.close()
    assert len(trail(folder)) == len(before)


def test_too_little_room_stops_the_crawl_cleanly_and_it_can_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    session = born(folder)
    step_through(session, 10)
    pages = len(trail(folder))
    object.__setattr__(session.folder.request.settings, "disk_reserve", 1 << 60)
    with pytest.raises(DiskFull, match="bytes left"):
        asyncio.run(session.run())
    session.close()
    assert len(trail(folder)) >= pages
    again = resume(folder, fetcher=Recorded())
    assert asyncio.run(again.run()) == "pages"
    again.close()


def _tiny_disk(folder: Path, call: Callable[..., Any] = subprocess.run) -> bool:
    folder.mkdir()
    done = call(["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", str(folder)], capture_output=True, check=False)
    return bool(done.returncode == 0)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a tmpfs")
def test_a_disk_that_is_really_full_loses_nothing_recorded(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    if not _tiny_disk(disk):
        pytest.skip("may not mount a tmpfs here")
    try:
        session = born(disk / "crawl", disk_reserve=0, pages=400)
        with pytest.raises(DiskFull):
            asyncio.run(session.run())
        session.close()
        kept = trail(disk / "crawl")
        assert kept
        subprocess.run(["mount", "-o", "remount,size=60m", str(disk)], check=True, capture_output=True)
        again = resume(disk / "crawl", fetcher=Recorded())
        asyncio.run(again.run())
        again.close()
        assert trail(disk / "crawl")[: len(kept)] == kept
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False, capture_output=True)


def test_a_newer_folder_is_refused(tmp_path: Path) -> None:
    born(tmp_path / "crawl").close()
    file = tmp_path / "crawl" / "crawl.toml"
    file.write_text(file.read_text().replace("format = 3", "format = 99"))
    with pytest.raises(FolderBroken, match="newer"):
        resume(tmp_path / "crawl")


def test_a_resumed_crawl_can_be_given_a_larger_budget(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    finished(folder)
    assert len(trail(folder)) == 120
    session = resume(folder, fetcher=Recorded(), pages=150)
    assert asyncio.run(session.run()) == "pages"
    session.close()
    assert len(trail(folder)) == 150


@pytest.mark.parametrize("missing", [True, False])
def test_pages_are_never_deleted_for_want_of_a_database(tmp_path: Path, missing: bool) -> None:
    folder = tmp_path / "crawl"
    finished(folder)
    (warc,) = (folder / "pages").glob("*.warc.gz")
    before = warc.stat().st_size
    for file in folder.glob("crawl.db*"):
        file.unlink()
    if not missing:
        (folder / "crawl.db").touch()
    with pytest.raises(FolderBroken, match="missing" if missing else "empty"):
        resume(folder)
    assert warc.stat().st_size == before


def test_a_tampered_database_cannot_reach_other_files(tmp_path: Path) -> None:
    folder, victim = tmp_path / "crawl", tmp_path / "victim.txt"
    victim.write_text("precious")
    finished(folder)
    session = resume(folder)
    session.folder.database.save_meta("warc_end", f"{victim}:999999")
    session.folder.database.commit()
    session.close()
    with pytest.raises(FolderBroken, match="not a file of this repository"):
        resume(folder)
    assert victim.read_text() == "precious"


def test_a_crawl_killed_while_it_is_born_begins_when_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    born(folder).close()
    for file in folder.glob("crawl.db*"):
        file.unlink()
    session = resume(folder, fetcher=Recorded())
    assert asyncio.run(session.run()) == "pages"
    session.close()
    assert len(trail(folder)) == 120


def test_nothing_is_written_before_everything_is_checked(tmp_path: Path) -> None:
    for wrong in (
        {"proxy": "ftp://x:1"},
        {"contact": "j\u00f6rg@x.test"},
        {"url_length": 16},
        {"paths": ["("]},
        {"hosts": ["a b"]},
    ):
        with pytest.raises((BadConfig, ValueError)):
            born(tmp_path / "crawl", **wrong)
        assert not (tmp_path / "crawl").exists()


def test_a_host_with_a_long_crawl_delay_is_not_asked_early_after_a_restart(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl", robots=True, delay=1)
    host_clock = session.crawl.host_clock
    assert host_clock is not None
    host = TOPIC.seeds[0].split("/")[2]
    host_clock.learn(f"http://{host}", parse(b"User-agent: *\nCrawl-delay: 30", "scenthound"), session.clock())
    session.folder.commit(session.clock())
    session.close()
    before = Clock()()
    again = resume(tmp_path / "crawl")
    assert again.crawl.host_clock is not None
    assert again.crawl.host_clock.due(f"http://{host}") > before + 29.9
    again.close()


def test_a_database_beyond_salvage_begins_again_and_keeps_the_pages(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    finished(folder)
    (warc,) = (folder / "pages").glob("*.warc.gz")
    before = warc.stat().st_size
    with (folder / "crawl.db").open("r+b") as file:
        file.write(b"\x00" * 8192)
    for _ in range(2):
        session = resume(folder, fetcher=Recorded())
        assert warc.stat().st_size >= before
        asyncio.run(session.run())
        session.close()
    assert len(trail(folder)) == 120


def test_sites_out_of_reach_get_another_chance_on_resume(tmp_path: Path) -> None:
    class Dead(Recorded):
        async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
            return Failure("proxy", "connection refused", may_retry=True)

    folder = tmp_path / "crawl"
    settings = read(Settings, {**SETTINGS, "robots": True, "backoff": 0.01})
    session = begin(TOPIC.topic, TOPIC.seeds, folder, settings=settings, fetcher=Dead())
    asyncio.run(session.run())
    session.close()
    assert trail(folder) == []
    again = resume(folder, fetcher=Recorded())
    assert asyncio.run(again.run()) == "pages"
    again.close()
    assert len(trail(folder)) == 120


@pytest.mark.parametrize("database", ["missing", "empty", "without tables"])
def test_a_crawl_killed_before_its_database_was_made_has_no_pages_and_can_be_resumed(
    tmp_path: Path, database: str
) -> None:
    born(tmp_path / "crawl").close()
    for file in (tmp_path / "crawl").glob("crawl.db*"):
        file.unlink()
    if database == "empty":
        (tmp_path / "crawl" / "crawl.db").touch()
    if database == "without tables":
        with contextlib.closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
    with CrawlFolder.look(tmp_path / "crawl") as crawl:
        assert list(crawl.history.trail()) == []
    session = resume(tmp_path / "crawl", fetcher=Recorded(), clock=lambda: 0.0)
    step_through(session, 3)
    session.folder.finish("pages", 1.0)
    session.close()
    assert trail(tmp_path / "crawl")


def test_a_lock_file_deleted_by_hand_lets_no_second_process_in(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl")
    (tmp_path / "crawl" / "crawl.lock").unlink()
    assert holder(tmp_path / "crawl") == 0, "in use, nobody knows by whom"
    with pytest.raises(FolderInUse):
        resume(tmp_path / "crawl")
    session.close()
    assert holder(tmp_path / "crawl") is None
    resume(tmp_path / "crawl").close()


@pytest.mark.parametrize("back", [3600.0, 1e9])
def test_a_clock_set_back_between_runs_stalls_nothing(tmp_path: Path, back: float) -> None:
    finished(tmp_path / "crawl")
    before = Clock()()
    database = sqlite3.connect(tmp_path / "crawl" / "crawl.db")
    database.execute("UPDATE hosts SET next_allowed = ?", (before + 0.5,))
    database.commit()
    again = resume(tmp_path / "crawl", fetcher=Recorded(), pages=500, clock=lambda: before - back)
    step = again.crawl.next(before - back)
    while isinstance(step, Fetch):
        step = again.crawl.next(before - back)
    assert isinstance(step, Wait)
    assert step.until < before - back + 1.0, "as long as before the clock was set back"
    again.close()
    database.execute("UPDATE hosts SET next_allowed = 1e300")
    database.commit()
    resume(tmp_path / "crawl", fetcher=Recorded(), clock=lambda: before).close()
    assert database.execute("SELECT max(next_allowed) FROM hosts").fetchone()[0] <= before + 86_400
