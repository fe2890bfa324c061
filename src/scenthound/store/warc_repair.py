"""Compare the WARC files with the history at every resume, and repair what a crash or damage left.

The end of the archive is found by reading everything since the last sync, at least the newest `CHECKED` bytes. A sample
of the older records is read too; if one has a problem, its file is read from the beginning. So the time is bounded,
however large the archive is.

Nothing is deleted. Bytes after the last recorded page are moved to `NAME.tail-N` in the same folder. So is everything
from the first bad record on if it was never synced, as after a power cut. A file that is damaged before its last sync
stays as it is, and the next pages go to a new file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from scenthound.files import move_tail
from scenthound.model import Step
from scenthound.store.sqlite_history import RecordPosition, SqliteHistory
from scenthound.store.warc_read import members
from scenthound.store.warc_repository import End, WarcRepository, problem_of

CHECKED = 200_000_000  # newest bytes, which are always read: about three seconds
SAMPLE = 500  # older records that are read, from all files
TAIL = "tail"
_NO_LIMIT = 1 << 63


class Damage(NamedTuple):
    """A file with unreadable parts."""

    file: str
    offset: int
    """The offset of the first lost page, or of the damage if no page is lost."""
    why: str
    events: tuple[int, ...]
    """The events of the recorded pages that are lost."""
    is_inside: bool
    """Whether complete records follow the damage."""

    def __str__(self) -> str:
        cost = (
            f"{len(self.events):,} recorded pages can't be read and will be fetched again; the others are kept"
            if self.events
            else "all recorded pages can be read"
        )
        return f"{self.file} is damaged at byte {self.offset} ({self.why}): {cost}"


@dataclass(frozen=True, slots=True)
class Findings:
    """The differences between the archive and the history."""

    end: End
    """The last file, and the end of its last valid record."""
    surplus: tuple[str, ...]
    """Later files, without a recorded page."""
    damages: tuple[Damage, ...]
    missing: Mapping[str, int]
    """Missing files, each with the number of its recorded pages."""


@dataclass(slots=True)
class Repairs:
    """Where the next page goes, what was done (in sentences), and the pages to fetch again."""

    end: End
    notes: list[str] = field(default_factory=list)
    forgotten: list[Step] = field(default_factory=list)


def examine(
    repository: WarcRepository, history: SqliteHistory, written: End, synced: End, everything: bool = False
) -> Findings:
    """Compare the files with the history. `written` and `synced` are from the last run; neither is trusted.

    With `everything`, all files are read, and complete records are kept even if the history does not contain them.
    """
    sizes = {path.name: path.stat().st_size for path in repository.files()}
    recorded = history.recorded_files()
    last = max((file for file in sizes if everything or file in recorded or file == written.file), default="")
    limit = _NO_LIMIT if everything or written.file > last else written.offset if written.file == last else 0
    starts = dict.fromkeys(sizes, 0) if everything else _starts(sizes, last, synced)
    unsound = {
        where.file for where in history.sample_records(SAMPLE) if where.file in sizes and not repository.holds(where)
    }
    unsound |= {file for file, (_, end) in recorded.items() if end > sizes.get(file, end)}
    damages, end = [], 0
    for file in sorted({*starts, *unsound}):
        path, recorded_places = repository.folder / file, history.records_in(file)
        safe = _NO_LIMIT if file != last or file < synced.file else synced.offset if file == synced.file else 0
        damage, valid = _compare(path, recorded_places, starts.get(file, 0), limit, safe)
        if damage and (damage.events or file == last):  # earlier files: reported when they were the last
            damages.append(damage)
        end = valid if file == last else end
    return Findings(
        End(last, end),
        tuple(file for file in sorted(sizes) if file > last),
        tuple(damages),
        {file: count for file, (count, _) in sorted(recorded.items()) if file not in sizes},
    )


def mend(repository: WarcRepository, history: SqliteHistory, findings: Findings) -> Repairs:
    """Move tails aside, and forget missing pages so that they are fetched again."""
    repository.close()
    done, folder = Repairs(findings.end), repository.folder
    for file in findings.surplus:
        done.notes.append(_move(folder / file, 0))
    if findings.end.file and (folder / findings.end.file).stat().st_size > findings.end.offset:
        done.notes.append(_move(folder / findings.end.file, findings.end.offset))
    for damage in findings.damages:
        done.forgotten += history.forget_events(damage.events)
        done.notes.append(str(damage))
        if damage.is_inside and damage.file == findings.end.file:
            done.end = findings.end.next_file()
            done.notes.append(f"new pages go to {done.end.file}")
    for file, count in findings.missing.items():
        done.forgotten += history.forget_events([record.event for record in history.records_in(file)])
        done.notes.append(f"{file} is missing: its {count:,} recorded pages will be fetched again")
    return done


def _starts(sizes: Mapping[str, int], last: str, synced: End) -> dict[str, int]:
    """The offset from which to read each file: the last sync, or earlier to include the newest `CHECKED` bytes.

    A file is synced before the next one is started. So without a recorded sync only the last file may be incomplete.
    """
    starts: dict[str, int] = {}
    budget = CHECKED
    since = synced if synced.file else End(last, 0)
    for file in sorted((file for file in sizes if file <= last), reverse=True):
        sync = 0 if file > since.file else since.offset if file == since.file else sizes[file]
        start = min(sync, max(0, sizes[file] - budget))
        if start < sizes[file] or file == last:
            starts[file] = start
            budget = max(0, budget - (sizes[file] - start))
    return starts


def _compare(
    path: Path, recorded: Sequence[RecordPosition], start: int, limit: int, safe: int
) -> tuple[Damage | None, int]:
    """The damage of a file, read from the last recorded page before `start` on, and the end of its last valid record.

    A record is valid if it is complete and ends before `limit`, or if the history contains it. Synced bytes end at
    `safe`; after that, nothing is valid from the first bad record on.
    """
    start = max((record.offset for record in recorded if 0 <= record.offset <= start), default=0)
    lengths: dict[int, int] = {}
    holes: list[tuple[int, str]] = []
    for member in members(path, start):
        if problem := problem_of(member):
            holes.append((member.offset, problem))
        else:
            lengths[member.offset] = member.length
    after_start = [record for record in recorded if not 0 <= record.offset < start]
    lost = [record for record in after_start if lengths.get(record.offset) != record.length]
    if start and any(record.offset < safe for record in lost):
        return _compare(path, recorded, 0, limit, safe)
    bad = [*(offset for offset, _ in holes), *(record.offset for record in lost)]
    torn = min((offset for offset in bad if offset >= safe), default=_NO_LIMIT)
    lost = [record for record in after_start if record.offset >= torn or lengths.get(record.offset) != record.length]
    lost_events = {record.event for record in lost}
    named = [record.offset + record.length for record in recorded if record.event not in lost_events]
    whole = [offset + length for offset, length in lengths.items() if offset < torn]
    valid = max([*named, *(end for end in whole if end <= limit)], default=0)
    inside = [(offset, problem) for offset, problem in holes if offset < min(safe, valid)]
    return (_damage(path, lost, inside or holes, max(whole, default=0)) if lost or inside else None), valid


def _damage(path: Path, lost: Sequence[RecordPosition], holes: Sequence[tuple[int, str]], last_whole: int) -> Damage:
    offset = max(0, min(record.offset for record in lost)) if lost else holes[0][0]
    size = path.stat().st_size
    problems_before = [problem for hole, problem in holes if hole <= offset]
    why = (
        f"it has only {size:,} bytes"
        if offset >= size
        else problems_before[-1]
        if problems_before
        else "another record is there"
    )
    return Damage(path.name, offset, why, tuple(record.event for record in lost), last_whole > offset)


def _move(path: Path, offset: int) -> str:
    size = path.stat().st_size - offset
    kept = move_tail(path, offset, TAIL)
    return f"{size:,} bytes after the last recorded page of {path.name} were moved to {path.parent.name}/{kept.name}"
