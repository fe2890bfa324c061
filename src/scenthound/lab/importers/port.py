"""What an importer is given and what it gives back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenthound.lab.beds.bed import BedTopic
from scenthound.loop.settings import option
from scenthound.model import Response, Url

Progress = Callable[[int, int], None]
"""Told how much of the source was read, and how much there is (0: not known), in whatever the importer counts."""

EXAMPLES = 3
MOST_KINDS = 200  # kinds come from headers, and a header may say anything
_REST = "other trouble"


@dataclass(frozen=True, slots=True)
class Options:
    """What can be said to every importer. An importer of one's own adds fields to it."""

    name: str = option("", "name of the bed; unless said, that of its folder")
    title: str = option("", "one line about it")
    licence: str = option("", "what the pages may be used for")
    origin: str = option("", "where the pages come from; unless said, the importer writes what it knows")
    topics: str = option("", "file with a topic a line (topics.jsonl); replaces what the source says about topics")
    also: list[str] = option([], "further sources of the same kind")


@dataclass(frozen=True, slots=True)
class Brought:
    """What a source holds. Both streams are read once, the responses first and to their end."""

    responses: Iterable[Response] | None
    """None: topics only, to be used with pages from elsewhere."""
    topics: Iterable[BedTopic] = ()
    origin: str = ""
    licence: str = ""


@dataclass(slots=True)
class Notes:
    """Counts what was left out while a source is read, and knows what has been taken."""

    progress: Progress = lambda done, total: None
    kept: set[Url] = field(default_factory=set)
    """Canonical URLs of the responses taken so far."""
    _counts: Counter[str] = field(default_factory=Counter)
    _examples: dict[str, list[str]] = field(default_factory=dict)

    def count(self, kind: str, example: str = "", times: int = 1) -> None:
        """So much of this kind; the first few examples will be shown."""
        kind = printable(kind, 200)
        if kind not in self._counts and len(self._counts) >= MOST_KINDS:
            kind = _REST
        self._counts[kind] += times
        known = self._examples.setdefault(kind, [])
        if example and len(known) < EXAMPLES:
            known.append(printable(example))

    def lines(self) -> tuple[str, ...]:
        """One line a kind: how often, what, the first examples."""
        return tuple(self._line(kind, times) for kind, times in self._counts.items())

    def _line(self, kind: str, times: int) -> str:
        examples = self._examples[kind]
        more = f" and {times - len(examples)} more" if times > len(examples) else ""
        return f"{times} {kind}" + (f": {', '.join(examples)}{more}" if examples else "")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of an import. `problems` has one line a kind: how often, what, the first examples."""

    bed: Path
    pages: int
    redirects: int
    topics: int
    problems: tuple[str, ...]


Reader = Callable[[Path, Any, Notes], Brought]
"""The one function of an importer: source, options (of its own class) and notes in; what there is out.

It raises `BadConfig` for a source that is not what it should be. It writes nothing.
"""


def printable(text: str, longest: int = 120) -> str:
    """Text from a stranger, fit for one line of a terminal."""
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text[:longest])
    return clean + "…" if len(text) > longest else clean
