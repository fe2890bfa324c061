"""Check every record of the WARC files in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from scenthound.store.warc_read import members
from scenthound.store.warc_repository import files_of, problem_of


class FileReport(NamedTuple):
    file: str
    records: int
    size: int
    good: int
    """The end of the last valid record."""
    problems: tuple[str, ...] = ()


def check(folder: Path) -> list[FileReport]:
    return [check_file(path) for path in files_of(folder)]


def check_file(path: Path) -> FileReport:
    found = [(member, problem_of(member)) for member in members(path)]
    ends = [member.offset + member.length for member, problem in found if not problem]
    problems = tuple(f"{path.name} at {member.offset}: {problem}" for member, problem in found if problem)
    return FileReport(path.name, len(ends), path.stat().st_size, max(ends, default=0), problems)
