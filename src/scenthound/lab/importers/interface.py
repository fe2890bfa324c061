"""The interface of importers: their options, notes and results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenthound.formats import replace_unprintable
from scenthound.loop.settings import option
from scenthound.model import Response, Url
from scenthound.topic_list import BedTopic

Progress = Callable[[int, int], None]
"""Called with the amount of the source that was read and its total (0: unknown), in units of the importer."""

EXAMPLES = 3  # shown for each kind of problem
MAX_KINDS = 200  # some kinds contain text of headers, which may be anything
_OTHER = "other problems"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of every importer. An importer may add fields in a subclass."""

    name: str = option("", "name of the bed; by default the name of its folder")
    title: str = option("", "title of the bed, one line")
    licence: str = option("", "licence of the pages")
    origin: str = option("", "where the pages come from; by default a sentence by the importer")
    topics: str = option("", "file with one topic per line (topics.jsonl); replaces the topics of the source")
    also: list[str] = option([], "further sources of the same kind")
    without: list[str] = option([], "leave out pages whose URLs start with one of these")


@dataclass(frozen=True, slots=True)
class SourceContent:
    """The content of a source. Both streams are read once, the responses first."""

    responses: Iterable[Response] | None
    """None: the source has only topics; their pages come from elsewhere."""
    topics: Iterable[BedTopic] = ()
    origin: str = ""
    licence: str = ""


@dataclass(slots=True)
class Notes:
    """Counts the problems of a source while it is read, and records the pages that are kept."""

    progress: Progress = lambda done, total: None
    kept: set[Url] = field(default_factory=set)
    """Canonical URLs of the responses kept so far."""
    _counts: Counter[str] = field(default_factory=Counter)
    _examples: dict[str, list[str]] = field(default_factory=dict)

    def count(self, kind: str, example: str = "", times: int = 1) -> None:
        """Count `times` more problems of this kind; the first few examples are shown."""
        kind = replace_unprintable(kind, 200)
        if kind not in self._counts and len(self._counts) >= MAX_KINDS:
            kind = _OTHER
        self._counts[kind] += times
        examples = self._examples.setdefault(kind, [])
        if example and len(examples) < EXAMPLES:
            examples.append(replace_unprintable(example))

    def lines(self) -> tuple[str, ...]:
        """One line per kind of problem: number, kind, first examples."""
        return tuple(self._line(kind, times) for kind, times in self._counts.items())

    def _line(self, kind: str, times: int) -> str:
        examples = self._examples[kind]
        more = f" and {times - len(examples)} more" if times > len(examples) else ""
        return f"{times} {kind}" + (f": {', '.join(examples)}{more}" if examples else "")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import. `problems` has one line per kind of problem: number, kind, first examples."""

    bed: Path
    pages: int
    redirects: int
    topics: int
    problems: tuple[str, ...]


Reader = Callable[[Path, Any, Notes], SourceContent]
"""The function of an importer. It takes the source, the options (of its own class) and the notes.

It raises `BadConfig` for an invalid source, and writes nothing.
"""
