"""The interface of importers: their options, notes and results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenthound.formats import replace_unprintable
from scenthound.lab.beds.bed import BedTopic
from scenthound.loop.settings import option
from scenthound.model import Response, Url

Progress = Callable[[int, int], None]
"""Called with how much of the source was read, and how much there is (0: unknown), in units of the importer."""

EXAMPLES = 3
MOST_KINDS = 200  # kinds come from headers, which may contain anything
_REST = "other trouble"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of every importer. An importer may subclass it and add fields."""

    name: str = option("", "name of the bed; by default that of its folder")
    title: str = option("", "one line about it")
    licence: str = option("", "what the pages may be used for")
    origin: str = option("", "where the pages come from; by default the importer says what it knows")
    topics: str = option("", "file with one topic per line (topics.jsonl); replaces the topics of the source")
    also: list[str] = option([], "further sources of the same kind")


@dataclass(frozen=True, slots=True)
class Brought:
    """The content of a source. Both streams are read once, the responses first."""

    responses: Iterable[Response] | None
    """None: topics only, for pages from elsewhere."""
    topics: Iterable[BedTopic] = ()
    origin: str = ""
    licence: str = ""


@dataclass(slots=True)
class Notes:
    """Counts what is left out while a source is read, and records what is kept."""

    progress: Progress = lambda done, total: None
    kept: set[Url] = field(default_factory=set)
    """Canonical URLs of the responses kept so far."""
    _counts: Counter[str] = field(default_factory=Counter)
    _examples: dict[str, list[str]] = field(default_factory=dict)

    def count(self, kind: str, example: str = "", times: int = 1) -> None:
        """Count `times` more of this kind; the first few examples are shown."""
        kind = replace_unprintable(kind, 200)
        if kind not in self._counts and len(self._counts) >= MOST_KINDS:
            kind = _REST
        self._counts[kind] += times
        examples = self._examples.setdefault(kind, [])
        if example and len(examples) < EXAMPLES:
            examples.append(replace_unprintable(example))

    def lines(self) -> tuple[str, ...]:
        """One line per kind: how many, what, the first examples."""
        return tuple(self._line(kind, times) for kind, times in self._counts.items())

    def _line(self, kind: str, times: int) -> str:
        examples = self._examples[kind]
        more = f" and {times - len(examples)} more" if times > len(examples) else ""
        return f"{times} {kind}" + (f": {', '.join(examples)}{more}" if examples else "")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import. `problems` has one line per kind: how many, what, the first examples."""

    bed: Path
    pages: int
    redirects: int
    topics: int
    problems: tuple[str, ...]


Reader = Callable[[Path, Any, Notes], Brought]
"""The function of an importer: from source, options (of its own class) and notes to the content.

It raises `BadConfig` for an invalid source, and writes nothing.
"""
