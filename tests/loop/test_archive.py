"""The archive of a resumed crawl: its end is found by reading it, nothing is deleted, damage is reported."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.errors import FolderBroken
from scenthound.loop.folder import CrawlFolder
from scenthound.store import warc_repair, warc_repository
from scenthound.store.database import CrawlDatabase
from scenthound.store.warc_read import Member
from scenthound.wiring import resume
from support.resuming import Recorded, born, step_through, trail

ROLL = 40_000  # bytes of a WARC file, for a crawl of several


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A finished crawl of 120 pages in one WARC file."""
    return finished(tmp_path / "crawl")


@pytest.fixture
def rolled(tmp_path: Path) -> Path:
    """The same crawl in several files."""
    return finished(tmp_path / "crawl", warc_roll=ROLL)


def finished(folder: Path, **settings: object) -> Path:
    session = born(folder, **settings)
    asyncio.run(session.run())
    session.close()
    return folder


def only_warc(folder: Path) -> Path:
    (path,) = (folder / "pages").glob("*.warc.gz")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "pages").iterdir() if path.suffix != ".cdxj"}


def overwrite(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def change(folder: Path, sql: str, *values: str) -> None:
    database = CrawlDatabase(folder / "crawl.db")
    database.execute(sql, values)
    database.commit()
    database.close()


def note(folder: Path, key: str, value: str) -> None:
    change(folder, "INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)


# ---- the end


@pytest.mark.parametrize("offset", ["0", "1", "500", "-30000", "999999999", "", "x", "9" * 40, "\u0663"])
def test_a_wrong_end_costs_no_byte(folder: Path, offset: str) -> None:
    ((name, content),) = contents(folder).items()
    value = str(len(content) + int(offset)) if offset.startswith("-") else offset
    note(folder, "warc_end", f"{name}:{value}")
    note(folder, "warc_synced", f"{name}:{value}")
    session = resume(folder, fetcher=Recorded())
    assert session.folder.forgotten == []
    for _, where in session.folder.history.places():
        assert session.folder.repository.get(where).status == 200
    session.close()
    after = contents(folder)
    assert b"".join(after[name] for name in sorted(after)) == content, "every byte is in the file or in its tail"
    assert len(trail(folder)) == 120


def test_a_wrong_end_in_an_earlier_file_costs_no_byte(rolled: Path) -> None:
    before = contents(rolled)
    assert len(before) > 3
    note(rolled, "warc_end", "pages-00001.warc.gz:100")
    note(rolled, "warc_synced", "pages-00099.warc.gz:100")
    session = resume(rolled, fetcher=Recorded())
    assert session.folder.forgotten == []
    session.close()
    after, last = contents(rolled), max(before)
    assert {name: after[name] for name in before if name != last} == {
        name: data for name, data in before.items() if name != last
    }
    assert after[last] + after.get(f"{last}.tail-1", b"") == before[last]


def test_data_after_the_last_recorded_page_is_moved_aside_and_overwrites_nothing(folder: Path) -> None:
    path = only_warc(folder)
    good = path.read_bytes()
    for number, tail in enumerate((b"torn", b"\x1f\x8b\x08 another", b"torn"), 1):
        path.write_bytes(good + tail)
        session = resume(folder, fetcher=Recorded())
        session.close()
        kept = path.with_name(f"{path.name}.tail-{number}")
        note = f"{len(tail)} bytes after the last recorded page of {path.name} were moved to pages/{kept.name}"
        assert session.folder.recovered == [note]
        assert path.read_bytes() == good
        assert kept.read_bytes() == tail


def test_a_file_of_which_nothing_was_recorded_moves_aside_whole(folder: Path) -> None:
    extra = folder / "pages" / "pages-00002.warc.gz"
    extra.write_bytes(b"all in flight")
    resume(folder, fetcher=Recorded()).close()
    assert not extra.exists()
    assert extra.with_name(f"{extra.name}.tail-1").read_bytes() == b"all in flight"


def test_the_user_gets_a_one_line_message(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = only_warc(folder)
    path.write_bytes(path.read_bytes() + b"torn")
    assert run(["resume", str(folder)]) == 0
    note = f"note: 4 bytes after the last recorded page of {path.name} were moved to pages/{path.name}.tail-1\n"
    assert note in capsys.readouterr().err


# ---- damage


def test_a_file_damaged_in_its_middle_is_kept_and_the_lost_pages_are_fetched_again(folder: Path) -> None:
    path = only_warc(folder)
    overwrite(path, path.stat().st_size // 2, b"\xaa" * 2000)
    damaged = path.read_bytes()
    resume(folder, fetcher=Recorded()).close()  # ended before a page came: the next one goes on from there
    session = resume(folder, fetcher=Recorded())
    assert 0 < len(session.folder.history) < 120
    asyncio.run(session.run())
    assert path.read_bytes() == damaged
    assert [path.name for path in session.folder.repository.files()][1:] == ["pages-00002.warc.gz"]
    for _, where in session.folder.history.places():
        assert session.folder.repository.get(where).status == 200
    session.close()
    assert len(trail(folder)) == 120
    again = resume(folder, fetcher=Recorded())
    assert again.folder.recovered == []
    again.close()


def test_damage_is_told_with_its_file_its_offset_and_the_number_of_pages(folder: Path) -> None:
    with CrawlFolder.look(folder) as stored:
        places = list(stored.history.places())
    url, victim = places[40]
    overwrite(folder / "pages" / victim.file, victim.offset, b"\xaa" * victim.length)
    session = resume(folder, fetcher=Recorded())
    session.close()
    assert [step.url for step in session.folder.forgotten] == [url]
    damage, begun = session.folder.recovered
    assert damage.startswith(f"{victim.file} is damaged at byte {victim.offset} (not a gzip member")
    assert damage.endswith("1 recorded pages can't be read and will be fetched again; the others are kept")
    assert begun == "new pages go to pages-00002.warc.gz"


def test_damage_that_costs_no_page_is_reported_until_pages_go_to_another_file(folder: Path) -> None:
    path = only_warc(folder)
    with CrawlFolder.look(folder) as stored:
        first = min(where.offset for _, where in stored.history.places())
    overwrite(path, first - 20, b"\xaa" * 8)  # the end of a request record
    damaged = path.read_bytes()
    for has_time in (False, True):  # the first ends before a page came
        session = resume(folder, fetcher=Recorded(), pages=122)
        damage, begun = session.folder.recovered
        assert damage.startswith(f"{path.name} is damaged at byte ")
        assert damage.endswith(": all recorded pages can be read")
        assert begun == "new pages go to pages-00002.warc.gz"
        assert session.folder.forgotten == []
        if has_time:
            asyncio.run(session.run())
        session.close()
    assert path.read_bytes() == damaged
    again = resume(folder, fetcher=Recorded())
    assert again.folder.recovered == []
    again.close()


def test_a_record_that_inflates_but_is_another_than_recorded_is_damage(folder: Path) -> None:
    with CrawlFolder.look(folder) as stored:
        (_, first), (_, second) = list(stored.history.places())[40:42]
    change(folder, "UPDATE history SET length = length + 1 WHERE offset = ?", str(first.offset))
    session = resume(folder, fetcher=Recorded())
    session.close()
    assert len(session.folder.forgotten) == 1
    assert f"at byte {first.offset} (another record is there)" in session.folder.recovered[0]
    assert second.offset > first.offset


def test_a_missing_file_is_an_error_that_changes_nothing(rolled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = rolled / "pages" / "pages-00002.warc.gz"
    path.rename(rolled.parent / "elsewhere")
    before = trail(rolled), contents(rolled)
    assert run(["resume", str(rolled)]) == 4
    message = capsys.readouterr().err
    assert message.startswith(f"error: {rolled / 'pages'} lacks pages-00002.warc.gz, with ")
    assert f"hint: put the files back, or fetch the pages again: scenthound resume {rolled} --refetch" in message
    assert (trail(rolled), contents(rolled)) == before
    (rolled.parent / "elsewhere").rename(path)
    resume(rolled, fetcher=Recorded()).close()


def test_the_pages_of_a_missing_file_are_fetched_again_when_asked(rolled: Path) -> None:
    (rolled / "pages" / "pages-00002.warc.gz").unlink()
    with pytest.raises(FolderBroken):
        resume(rolled, fetcher=Recorded())
    session = resume(rolled, fetcher=Recorded(), refetch=True)
    assert session.folder.forgotten
    asyncio.run(session.run())
    for _, where in session.folder.history.places():
        assert session.folder.repository.get(where).status == 200
    session.close()
    assert len(trail(rolled)) == 120


# ---- how much is read


@pytest.mark.parametrize("name", ["best-first", "test-learner", "infospiders"])
def test_damage_to_a_file_larger_than_what_is_read_in_any_case_is_noticed(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warc_repair, "CHECKED", 20_000)
    folder = tmp_path / "crawl"
    session = born(folder, name, snapshot=1000)
    step_through(session, 60)
    session.folder.commit(100.0)
    session.close()
    overwrite(only_warc(folder), 5_000, b"\0" * 30_000)
    session = resume(folder, fetcher=Recorded())
    assert len(session.folder.forgotten) > 1
    session.close()


def test_a_sample_of_the_old_records_is_read(rolled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_repair, "CHECKED", 0)
    overwrite(rolled / "pages" / "pages-00001.warc.gz", 0, b"\0" * 30_000)
    session = resume(rolled, fetcher=Recorded())
    assert session.folder.recovered[0].startswith("pages-00001.warc.gz is damaged at byte ")
    session.close()


def test_a_record_that_turns_out_to_be_damaged_does_not_stop_a_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Damage to one old record of a large archive may be noticed only when the strategy reads it again."""
    monkeypatch.setattr(warc_repair, "CHECKED", 0)
    monkeypatch.setattr(warc_repair, "SAMPLE", 1)
    folder = tmp_path / "crawl"
    session = born(folder, "test-learner", snapshot=1000)
    step_through(session, 60)
    session.folder.repository.sync()
    session.folder.commit(100.0)
    session.close()
    change(folder, "DELETE FROM state WHERE key = 'strategy'")
    with CrawlFolder.look(folder) as stored:
        url, victim = list(stored.history.places())[20]
    overwrite(folder / "pages" / victim.file, victim.offset, b"\xaa" * victim.length)
    session = resume(folder, fetcher=Recorded())
    session.close()
    assert [step.url for step in session.folder.forgotten] == [url]
    assert session.folder.recovered == ["1 more pages can't be read and will be fetched again"]


def test_a_file_is_read_from_the_last_sync_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_repair, "CHECKED", 0)
    starts: list[int] = []
    real = warc_repair.members

    def watched(path: Path, start: int = 0) -> Iterator[Member]:
        starts.append(start)
        return real(path, start)

    monkeypatch.setattr(warc_repair, "members", watched)
    resume(folder, fetcher=Recorded()).close()
    with CrawlFolder.look(folder) as stored:
        last = max(where.offset for _, where in stored.history.places())
    assert starts == [last]


def test_the_archive_is_synced_now_and_then_while_the_crawl_runs(tmp_path: Path) -> None:
    session = born(tmp_path / "crawl")
    for second in range(10):
        step_through(session, 5)
        now = session.clock() + second
        session.folder.commit(now)
        session.folder.sync_soon(now)
    deadline = time.monotonic() + 30  # a sync ends when the disk has time, and is noted by the next commit
    while not warc_repository.End.parse(session.folder.database.meta("warc_synced"))[0]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
        now += 1
        session.folder.commit(now)
        session.folder.sync_soon(now)
    session.folder.repository.close()
    file, offset = warc_repository.End.parse(session.folder.database.meta("warc_synced"))
    session.close()
    assert file == "pages-00001.warc.gz"
    assert offset >= 10_000


def test_a_folder_of_an_older_version_is_read_from_the_beginning_of_its_last_file(folder: Path) -> None:
    change(folder, "DELETE FROM meta WHERE key = 'warc_synced'")
    before = contents(folder)
    session = resume(folder, fetcher=Recorded(), pages=130)
    assert session.folder.recovered == []
    assert contents(folder) == before
    asyncio.run(session.run())
    assert session.folder.database.meta("warc_synced") == str(session.folder.repository.end())
    session.close()
