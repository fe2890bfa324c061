"""`export` and `report` write whole files, overwrite nothing that is precious, and say what can't be written."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from scenthound.cli.root_command import run
from scenthound.exports import EXPORTERS
from scenthound.files import replacing
from scenthound.loop.folder_files import is_part_of_a_crawl
from support.small_crawl import small_crawl


@pytest.fixture
def crawled(tmp_path: Path) -> Path:
    return small_crawl(tmp_path / "balloons")


OWN = ("crawl.toml", "crawl.db", "crawl.db-wal", "crawl.lock", "report.html", "pages/pages-00001.warc.gz", "pages/new")


@pytest.mark.parametrize("name", OWN)
def test_no_export_overwrites_what_belongs_to_the_crawl(
    name: str, crawled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["report", str(crawled)])
    before = {path: path.read_bytes() for path in crawled.rglob("*") if path.is_file()}
    capsys.readouterr()
    assert run(["export", str(crawled), "--to", "csv", "--output", str(crawled / name), "--force"]) == 2
    told = capsys.readouterr().err
    assert f"{crawled / name} is part of the crawl itself" in told
    assert "hint: name another file with --output" in told
    assert {path: path.read_bytes() for path in crawled.rglob("*") if path.is_file()} == before


def test_a_crawl_is_known_by_other_paths_too(crawled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(crawled)
    (tmp_path / "to-database").symlink_to(crawled / "crawl.db")
    monkeypatch.chdir(crawled / "pages")
    assert is_part_of_a_crawl(tmp_path / "link" / "crawl.toml")
    assert is_part_of_a_crawl(tmp_path / "to-database")
    assert is_part_of_a_crawl(Path("../crawl.db"))
    assert is_part_of_a_crawl(Path("mine.csv"))
    assert not is_part_of_a_crawl(crawled / "balloons.csv")
    assert not is_part_of_a_crawl(tmp_path / "crawl.toml")


def test_a_file_of_the_default_name_is_overwritten_only_when_asked(
    crawled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = crawled / "balloons.csv"
    file.write_text("precious")
    assert run(["export", str(crawled), "--to", "csv"]) == 2
    told = capsys.readouterr().err
    assert f"{file} exists" in told
    assert "--force" in told
    assert file.read_text() == "precious"
    assert run(["export", str(crawled), "--to", "csv", "--force"]) == 0
    assert file.read_text().startswith("n,url")


@pytest.mark.parametrize(
    ("target", "code", "says"),
    [
        ("nowhere/a.csv", 4, "there is no folder"),
        ("file/a.csv", 4, "Not a directory"),
        ("folder", 2, "is a folder"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_named(
    target: str, code: int, says: str, crawled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    assert run(["export", str(crawled), "--to", "csv", "--output", str(tmp_path / target)]) == code
    told = capsys.readouterr().err
    assert str(tmp_path / target) in told
    assert says in told
    assert "hint: " in told
    assert ".part" not in told


def refuse(*_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied", "somewhere/hidden")


def test_a_folder_that_cannot_be_written_is_named(
    crawled: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = os.open

    def no_new_files(path: Path, flags: int, *more: int, **named: int) -> object:
        return refuse() if flags & os.O_EXCL else real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", no_new_files)
    for words, name in ((["report"], "report.html"), (["export", "--to", "csv"], "balloons.csv")):
        assert run([words[0], str(crawled), *words[1:]]) == 4
        told = capsys.readouterr().err
        assert f"{crawled / name} can't be written: Permission denied" in told
        assert "hint: " in told


def test_a_crawl_that_may_not_be_written_to_is_not_resumed(
    crawled: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in ("", "crawl.db", "pages"):
        closed = str(crawled / part)
        monkeypatch.setattr("os.access", lambda path, mode, closed=closed: mode != os.W_OK or str(path) != closed)
        assert run(["resume", str(crawled)]) == 4
        told = capsys.readouterr().err
        assert f"{closed} is not writable" in told
        assert "hint: " in told


def test_a_system_error_about_a_path_is_reported_with_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("scenthound.cli.doctor_command.examine", refuse)
    assert run(["doctor"]) == 4
    assert capsys.readouterr().err == (
        "error: somewhere/hidden: Permission denied\nhint: check the path and its permissions\n"
    )


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.writelines([b"half", None])  # type: ignore[list-item]
    assert [found.name for found in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "old"


# ---- the index of the pages


def test_the_pages_have_an_index_when_a_run_has_ended_and_report_mends_it(
    crawled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = crawled / "pages" / "index.cdxj"
    lines = index.read_text().splitlines()
    surts = ["test,a)/", "test,b)/one.html", "test,c)/three", "test,c)/two", "test,d)/gone"]
    assert [line.split()[0] for line in lines] == surts
    place = json.loads(lines[0].split(" ", 2)[2])
    assert place["filename"] == "pages-00001.warc.gz"
    index.unlink()
    assert run(["report", str(crawled)]) == 0
    assert index.read_text().splitlines() == lines
    index.write_text("")
    assert run(["export", str(crawled), "--to", "csv"]) == 0
    assert index.read_text().splitlines() == lines
    assert sorted(path.name for path in (crawled / "pages").iterdir()) == ["index.cdxj", "pages-00001.warc.gz"]


def test_an_index_that_is_up_to_date_is_left_alone(crawled: Path) -> None:
    from scenthound.store.cdxj import refresh

    index = crawled / "pages" / "index.cdxj"
    before = index.stat().st_ino
    assert refresh(crawled / "pages") == index
    assert index.stat().st_ino == before
    warc = crawled / "pages" / "pages-00001.warc.gz"
    warc.write_bytes(warc.read_bytes()[:-10])
    assert refresh(crawled / "pages", most=5) is None, "too much for the end of a run"
    assert index.stat().st_ino == before
    assert refresh(crawled / "pages") == index
    assert len(index.read_text().splitlines()) == 4, "the last record is cut short now"


def test_an_index_that_cannot_be_written_spoils_nothing(
    crawled: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("scenthound.store.cdxj.write_sorted", refuse)
    (crawled / "pages" / "index.cdxj").unlink()
    assert run(["report", str(crawled)]) == 0
    small_crawl(crawled.with_name("another"))


def test_the_help_lists_every_format_that_is_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [*EXPORTERS.names(), "plugged"]
    monkeypatch.setattr(EXPORTERS, "names", lambda: names)
    assert run(["export", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{', '.join(names)}." in shown
