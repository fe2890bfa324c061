"""Links planted where a command writes, and what it must do about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound.cli.root_command import run

Talk = pytest.CaptureFixture[str]


def plant(path: Path, outside: Path) -> Path:
    """Put a link at `path` that leads outside: to what was there, if something was, else to a file of somebody's."""
    target = outside / path.name
    if path.exists():
        path.rename(target)
    else:
        target.write_text("somebody's\n")
    path.symlink_to(target)
    return path


def state(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def refused(words: list[str], link: Path, outside: Path, capsys: Talk) -> None:
    """The command names the link, ends with code 4, and changes nothing outside."""
    before = state(outside)
    capsys.readouterr()
    code = run(words)
    told = capsys.readouterr()
    assert state(outside) == before
    assert code == 4, told
    error = [line for line in told.err.splitlines() if line.startswith("error: ")]
    assert error == [f"error: {link} is a symbolic link, and nothing is written through a link"]
    assert "hint: remove the link" in told.err
    assert "Traceback" not in told.err
    assert link.is_symlink()
