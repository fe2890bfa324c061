"""Writes what an importer read as a bed: all of it, or nothing.

The bed is written into a temporary folder beside the target and renamed when it is complete.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, DiskFull, of_system
from scenthound.files import new_folder, write_text
from scenthound.lab.beds.bed import BedTopic, topic_line, write_bed
from scenthound.lab.importers.interface import ImportReport, Notes, Options, Progress, Reader
from scenthound.lab.importers.page_filter import PageFilter
from scenthound.lab.importers.topics_jsonl import read_topics
from scenthound.loop.settings import read


def write_imported(
    name: str,
    reader: Reader,
    kind: type[Options],
    source: Path,
    bed: Path,
    given: Mapping[str, Any],
    progress: Progress | None = None,
) -> ImportReport:
    """Import `source` into the new folder `bed`. On any failure nothing is left behind."""
    options = read(kind, given, what=f"option of `{name}`")
    _check_places(source, bed)
    notes = Notes() if progress is None else Notes(progress)
    brought = reader(source, options, notes)
    topics = brought.topics
    if options.topics:
        topics = read_topics(Path(options.topics), notes)
    intake = PageFilter(notes, options.without)
    listed: list[BedTopic] = []
    with _bed_folder(bed) as folder:
        if brought.responses is None:
            listed.extend(topics)
            write_text(folder / "topics.jsonl", "".join(map(topic_line, listed)))
        else:
            about = {
                "title": options.title,
                "origin": options.origin or brought.origin,
                "licence": options.licence or brought.licence or "unknown",
                "imported": name,
            }
            written = {key: value for key, value in about.items() if value}
            checked = _checked(topics, notes, listed)
            write_bed(folder, options.name or bed.resolve().name, intake.kept(brought.responses), checked, **written)
    return ImportReport(bed, intake.pages, intake.redirects, len(listed), notes.lines())


def _checked(topics: Iterable[BedTopic], notes: Notes, listed: list[BedTopic]) -> Iterator[BedTopic]:
    """The topics, unchanged; what the bed lacks for them is noted. A missing target stays in its topic."""
    for topic in topics:
        if not topic.targets:
            notes.count("topics without targets", topic.id)
        if not topic.seeds:
            notes.count("topics without seeds", topic.id)
        for what, urls in (("seeds", topic.seeds), ("targets", topic.targets)):
            for url in urls:
                if url not in notes.kept:
                    notes.count(f"{what} that are not in the bed", f"{url} ({topic.id})")
        listed.append(topic)
        yield topic


def _check_places(source: Path, bed: Path) -> None:
    if not source.exists():
        raise BadConfig(f"there is nothing at {source}", "name the file or folder to import")
    if bed.exists() and (not bed.is_dir() or any(bed.iterdir())):
        raise BadConfig(f"{bed} exists and is not empty", "name a new folder for the bed")
    if source.is_dir() and bed.resolve().is_relative_to(source.resolve()):
        raise BadConfig(f"the bed {bed} would be inside its own source", "name a folder elsewhere")


@contextmanager
def _bed_folder(target: Path) -> Iterator[Path]:
    """A new folder, which is renamed to `target` if nothing fails."""
    made = _missing_parents(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with new_folder(target) as folder:
            yield folder
        made = []
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise DiskFull(target, "make room and import again") from error
        name = error.filename or target
        bad_path = BadConfig(f"{name} can't be read or written: {error.strerror or error}")
        raise of_system(error, target, bad_path) from error
    finally:
        for folder in made:
            try:
                folder.rmdir()
            except OSError:  # somebody else has put something there, or it was never made
                break


def _missing_parents(target: Path) -> list[Path]:
    """The folders above the target that do not exist yet, the innermost first."""
    missing: list[Path] = []
    for folder in target.absolute().parents:
        if folder.exists():
            break
        missing.append(folder)
    return missing
