"""Importers turn WARC files, HTML folders, crawls and directories into beds.

An importer is one function: it takes a source, options and notes, and returns a stream of responses and a stream of
topics (`interface`). The rest is the same for all importers (`write_bed`): options are checked, only responses that a
replay can use are kept, topics are read (`topic_list`) and compared with the pages, and the bed is renamed into place
when it is complete. `odp_dump` reads the format of `odp`; `page_graph` has the link graph of recorded pages, for seeds
and for `lab info`.

There is one file for each kind of source. Put a file here (or register an entry point of the group
`scenthound.importers`) and `scenthound lab import KIND SOURCE BED` finds it:

    @importer("har", Options)
    def har(source: Path, options: Options, notes: Notes) -> SourceContent:
        \"\"\"Pages that a browser recorded.\"\"\"
        return SourceContent(responses_of(source), origin=f"recorded by a browser: {source.name}")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenthound.lab.importers.interface import ImportReport, Notes, Options, Progress, Reader, SourceContent
from scenthound.lab.importers.write_bed import write_imported
from scenthound.plugins import Registry

__all__ = [
    "IMPORTERS",
    "ImportReport",
    "Importer",
    "Notes",
    "Options",
    "Progress",
    "SourceContent",
    "import_bed",
    "importer",
]


@dataclass(frozen=True, slots=True)
class Importer:
    """A registered importer: its name, the class of its options, and its function. Call it to import."""

    name: str
    options: type[Options]
    """A dataclass; each field's metadata has its `doc`. Read by `loop.settings.read`."""
    reader: Reader

    @property
    def about(self) -> str:
        """The first line of its documentation."""
        return (self.reader.__doc__ or "").strip().partition("\n")[0]

    def __call__(
        self, source: Path, bed: Path, options: Mapping[str, Any], progress: Progress | None = None
    ) -> ImportReport:
        """Import `source` into the new folder `bed`. If it fails, nothing is left behind."""
        return write_imported(self.name, self.reader, self.options, source, bed, options, progress)


IMPORTERS: Registry[Importer] = Registry("importer", "scenthound.importers", __name__)


def importer(name: str, options: type[Options] = Options) -> Callable[[Reader], Reader]:
    """Decorator that registers an importer."""

    def register(reader: Reader) -> Reader:
        IMPORTERS.add(name)(Importer(name, options, reader))
        return reader

    return register


def import_bed(
    kind: str,
    source: str | Path,
    bed: str | Path,
    options: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a source of this kind into the new folder `bed`; the report lists what was left out.

    Raises `UnknownName` for an unknown kind or option and `BadConfig` for an invalid source; nothing is written then.
    """
    return IMPORTERS.get(kind)(Path(source), Path(bed), options or {}, progress)
