"""Safe writing: a whole file or nothing, no links followed, nothing overwritten that should be kept."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from scenthound import files
from scenthound.errors import BadConfig, DiskFull, UnsafeFile


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old, and longer")
    files.write_text(path, "new \u00e9")
    assert path.read_bytes() == b"new \xc3\xa9"
    assert names(tmp_path) == ["a"]


def test_after_an_error_the_old_file_is_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(TypeError), files.replacing(path) as file:
        file.writelines([b"half", None])  # type: ignore[list-item]
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_the_umask_decides_who_may_read_unless_a_mode_is_given(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write_bytes(tmp_path / "a", b"")
        files.write_bytes(tmp_path / "secret", b"", 0o600)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_a_long_name_is_no_problem(tmp_path: Path) -> None:
    files.write_bytes(tmp_path / ("x" * 255), b"content")
    assert names(tmp_path) == ["x" * 255]


def test_content_is_synced_before_the_name_and_the_name_before_the_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    sync, replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        happened.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    def rename(source: Path, target: Path) -> None:
        happened.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", rename)
    files.write_bytes(tmp_path / "a", b"content")
    assert happened == ["file", "name", "folder"]
    happened.clear()
    files.write_text(tmp_path / "b", "it can be made again", durable=False)
    assert happened == ["name"]


def test_what_the_system_says_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"nowhere/a can't be written: there is no folder"):
        files.write_bytes(tmp_path / "nowhere" / "a", b"")
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadConfig, match=r"folder can't be written: Is a directory"):
        files.write_bytes(tmp_path / "folder", b"")
    with pytest.raises(DiskFull, match=r"no room left for .*/a"), files.replacing(tmp_path / "a"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert names(tmp_path) == ["folder"]


# ---- links


def writers() -> dict[str, Callable[[Path], object]]:
    return {
        "replacing": lambda path: files.write_bytes(path, b"new"),
        "in place": lambda path: files.open_in_place(path, os.O_RDWR | os.O_CREAT),
        "check": files.check_own_file,
        "make folder": files.make_folder,
        "new folder": lambda path: files.new_folder(path).__enter__(),
        "tail": lambda path: files.move_tail(path, 3, "tail"),
    }


@pytest.mark.parametrize("write", writers().values(), ids=writers())
@pytest.mark.parametrize("target", ["file", "folder", "nothing"])
def test_no_function_writes_through_a_symbolic_link(
    write: Callable[[Path], object], target: str, tmp_path: Path
) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    (outside / "folder").mkdir(parents=True)
    (outside / "file").write_text("precious")
    inside.mkdir()
    link = inside / "link"
    link.symlink_to(outside / target)
    with pytest.raises(UnsafeFile, match=rf"{link} is a symbolic link") as error:
        write(link)
    assert "remove the link" in error.value.hint
    assert names(outside) == ["file", "folder"]
    assert names(inside) == ["link"]
    assert (outside / "file").read_text() == "precious"
    assert names(outside / "folder") == []


def test_a_file_that_is_changed_in_place_has_no_name_elsewhere(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    mine.mkdir()
    theirs.mkdir()
    (theirs / "file").write_text("precious")
    os.link(theirs / "file", mine / "file")
    for write in (files.check_own_file, lambda path: files.open_in_place(path, os.O_RDWR)):
        with pytest.raises(UnsafeFile, match="is a hard link"):
            write(mine / "file")
    files.write_bytes(mine / "file", b"new")  # replaced: the other name keeps the old file
    assert (theirs / "file").read_text() == "precious"
    os.link(mine / "file", mine / "second")
    files.check_own_file(mine / "file")  # both names are ours


def test_a_pipe_is_not_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnsafeFile, match="not a regular file"):
        files.open_in_place(tmp_path / "pipe", os.O_WRONLY)
    with pytest.raises(UnsafeFile, match="not a regular file"):
        files.open_in_place(tmp_path / "pipe", os.O_RDWR)


# ---- what is kept


def test_a_tail_moves_to_a_name_that_nothing_has(tmp_path: Path) -> None:
    path = tmp_path / "a"
    (tmp_path / "a.tail-1").symlink_to(tmp_path / "nowhere")
    (tmp_path / "a.tail-2").write_text("kept")
    path.write_bytes(b"good, then the tail")
    assert files.move_tail(path, 4, "tail").name == "a.tail-3"
    assert path.read_bytes() == b"good"
    assert (tmp_path / "a.tail-2").read_text() == "kept"
    assert (tmp_path / "a.tail-3").read_bytes() == b", then the tail"
    assert files.move_tail(path, 0, "tail").name == "a.tail-4"
    assert not path.exists()


def test_a_tail_that_finds_no_room_stays_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "a"
    path.write_bytes(b"good, then the tail")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        files.move_tail(path, 4, "tail")
    assert path.read_bytes() == b"good, then the tail"
    assert names(tmp_path) == ["a"]


# ---- folders


def test_a_new_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), files.new_folder(tmp_path / "a") as folder:
        (folder / "half").touch() or (folder / "no" / "folder").touch()
    assert names(tmp_path) == []
    (tmp_path / "a").mkdir()  # an empty one may be there
    with files.new_folder(tmp_path / "a") as folder:
        (folder / "inner").mkdir()
        (folder / "inner" / "file").write_text("content")
    assert (tmp_path / "a" / "inner" / "file").read_text() == "content"
    assert names(tmp_path) == ["a"]
    with pytest.raises(OSError, match="not empty"), files.new_folder(tmp_path / "a"):
        pass
    assert names(tmp_path / "a") == ["inner"]
