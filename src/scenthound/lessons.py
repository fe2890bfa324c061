"""Training before a crawl: the interfaces `Trains` (a strategy that learns) and `Lessons` (what it learns from).

The laboratory or `scenthound train` makes `Lessons` from a bed or a crawl folder and passes them to `Trains.train`.
These are ports, too: import the names from `scenthound.ports`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from scenthound.model import Topic, Url
from scenthound.page.page import Page


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A tree of categories with example pages. Names are unique; `papers.parts.taxonomy` checks that it is a tree."""

    children: Mapping[str, Sequence[str]]
    """The categories directly below each inner category, including the root."""
    examples: Mapping[str, Sequence[Page]]
    """The pages of each category itself, excluding the categories below it."""
    good: tuple[str, ...] = ()
    """Categories that count as on topic; none is an ancestor of another."""
    root: str = "root"


class Lessons(Protocol):
    """The training data of a strategy before a crawl: labelled pages, and a known part of the web.

    They are valid only while `train` runs. Keep what was learned, not the lessons.
    """

    @property
    def topic(self) -> Topic: ...
    @property
    def examples(self) -> Sequence[Page]:
        """Pages on topic. They never include the pages used to evaluate a crawl."""

    @property
    def others(self) -> Sequence[Page]:
        """Background pages, not known to be on topic."""

    @property
    def taxonomy(self) -> Taxonomy | None:
        """Categories with example pages, the good categories marked; None if there is no taxonomy."""

    def page(self, url: Url) -> Page | None:
        """The page at a URL; None if it is not part of the known web."""

    def back_links(self, url: Url, most: int | None = None) -> Sequence[Url]:
        """Up to `most` pages of the known web that link to a URL, in a fixed order."""


@runtime_checkable
class TrainsByJudge(Protocol):
    """A strategy that can learn from a judge: before `train` it gets a function that rates pages as relevant or not.

    The function may be called once per page, and only with pages of the lessons.
    """

    def use_judge(self, is_relevant: Callable[[Page], bool]) -> None: ...


@runtime_checkable
class Trains(Protocol):
    """A strategy that can learn before it crawls. The result is a model: JSON values and numpy arrays.

    `train` or `use` is called before `start`. Its declaration says whether training is required.
    """

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        """Learn, passing short messages to `progress`. Raises `BadConfig` if the lessons are not sufficient."""

    def model(self) -> Mapping[str, Any]: ...
    def use(self, model: Mapping[str, Any]) -> None:
        """Load what `model` returned. Raises ValueError, KeyError or TypeError for the model of another strategy."""
