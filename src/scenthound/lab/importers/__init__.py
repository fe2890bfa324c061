"""Bring your own web: importers turn WARC files, HTML folders, crawls and directories into beds.

An importer is one function: from a source, its options and notes to a stream of responses and a stream of topics; see
`interface`. The rest is the same for all importers (`write_bed`): options are checked, only what a replay can use is
kept (`page_filter`), topics are checked against the pages, and the bed is renamed into place when it is complete.

Put a file here (or register an entry point of the group `scenthound.importers`) and
`scenthound lab import KIND SOURCE BED` finds it:

    @importer("har", Options)
    def har(source: Path, options: Options, notes: Notes) -> Brought:
        \"\"\"What a browser recorded.\"\"\"
        return Brought(responses_of(source), origin=f"recorded by a browser: {source.name}")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenthound.lab.importers.interface import Brought, ImportReport, Notes, Options, Progress, Reader
from scenthound.lab.importers.write_bed import write_imported
from scenthound.plugins import Registry

__all__ = ["IMPORTERS", "Brought", "ImportReport", "Importer", "Notes", "Options", "Progress", "import_bed", "importer"]


@dataclass(frozen=True, slots=True)
class Importer:
    """An importer by its name, with the class of its options. Call it to import."""

    name: str
    options: type[Options]
    """A dataclass; each field's metadata has its `doc`. Read by `loop.settings.read`."""
    reader: Reader

    @property
    def about(self) -> str:
        """What it imports, in a sentence."""
        return (self.reader.__doc__ or "").strip().partition("\n")[0]

    def __call__(
        self, source: Path, bed: Path, options: Mapping[str, Any], progress: Progress | None = None
    ) -> ImportReport:
        """Import `source` into the new folder `bed`. On any failure nothing is left behind."""
        return write_imported(self.name, self.reader, self.options, source, bed, options, progress)


IMPORTERS: Registry[Importer] = Registry("importer", "scenthound.importers", __name__)


def importer(name: str, options: type[Options] = Options) -> Callable[[Reader], Reader]:
    """Decorator: register an importer."""

    def put(reader: Reader) -> Reader:
        IMPORTERS.add(name)(Importer(name, options, reader))
        return reader

    return put


def import_bed(
    kind: str,
    source: str | Path,
    bed: str | Path,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a source of this kind into the new folder `bed`; the report says what was left out.

    Raises `UnknownName` for an unknown kind or option and `BadConfig` for an invalid source; then nothing is written.
    """
    return IMPORTERS.get(kind)(Path(source), Path(bed), options or {}, progress)
