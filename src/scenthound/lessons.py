"""What a strategy learns from before it crawls, and the interface of those that do.

The laboratory or `scenthound train` makes `Lessons` from a bed or a crawl folder and passes them to `Trains.train`.
Part of the ports: import the names from `scenthound.ports`.
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
    """A tree of categories with example pages. Names are unique; `text.taxonomy` checks that it is a tree."""

    children: Mapping[str, Sequence[str]]
    """Inner categories, including the root, and the categories directly below each."""
    examples: Mapping[str, Sequence[Page]]
    """Pages of a category itself, without those of the categories below it."""
    good: tuple[str, ...] = ()
    """Categories that count as on topic; none is an ancestor of another."""
    root: str = "root"


class Lessons(Protocol):
    """What a strategy may learn from before it crawls: labelled pages, and a known web.

    It is valid only while `train` runs: keep what was learned, not the lessons.
    """

    @property
    def topic(self) -> Topic: ...
    @property
    def examples(self) -> Sequence[Page]:
        """Pages on topic. Never those that a crawl is graded by."""

    @property
    def others(self) -> Sequence[Page]:
        """Background pages: not known to be on topic."""

    @property
    def taxonomy(self) -> Taxonomy | None:
        """Categories with examples, the good ones marked; None if there are none."""

    def page(self, url: Url) -> Page | None:
        """The page at a URL of the known web; None if it is not there."""

    def back_links(self, url: Url, most: int | None = None) -> Sequence[Url]:
        """Up to `most` pages of the known web that link to a URL, in a fixed order."""


@runtime_checkable
class TrainsByJudge(Protocol):
    """A strategy that can learn from a judge: before `train` it gets a function that says which pages are relevant.

    The function is asked about each page once, and works for pages of the lessons only.
    """

    def use_judge(self, is_relevant: Callable[[Page], bool]) -> None: ...


@runtime_checkable
class Trains(Protocol):
    """A strategy that can learn before it crawls. The result is a model: JSON values and numpy arrays.

    `train` or `use` comes before `start`. Its declaration says whether training is required.
    """

    def train(self, lessons: Lessons, rng: random.Random, progress: Callable[[str], None]) -> None:
        """Learn; `progress` gets a short sentence now and then. Raises `BadConfig` if the lessons do not suffice."""

    def model(self) -> Mapping[str, Any]: ...
    def use(self, model: Mapping[str, Any]) -> None:
        """Load what `model` returned. Raises ValueError, KeyError or TypeError if another strategy made it."""
