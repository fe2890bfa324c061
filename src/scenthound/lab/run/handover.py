"""What the lab hands to a strategy, and the record of it (sheet 60.7).

Powers that a strategy declares are read once, before its crawl, and decide what it is given. Lessons and the links an
oracle may look up are lent: when the loan ends they answer no more. What was given is noted as it is handed over; what
a strategy says about itself plays no part.

A loan holds no reference to what it opens: that lies in `_OPEN`, so nothing a strategy keeps leads to the bed. Python
can't keep a program from its own modules; a plug-in that searches those, or opens the bed's files, is beyond this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, overload

from scenthound.errors import OurFault
from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.measure.metrics.trails import forms
from scenthound.model import Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Lessons, Strategy, Taxonomy, Trains, declaration_of

UNFETCHED = "links of pages not fetched"
KINDS = ("examples", "others", "taxonomy", "back-links", "pages", UNFETCHED)
"""What a strategy may be given beyond the topic and seeds, in the order in which it is told."""

Links = Callable[[Url], Iterable[Url]]
_OPEN: dict[object, Any] = {}


class LoanEnded(OurFault):
    """A strategy asked for something that it was lent and that has been taken back."""


@dataclass(frozen=True, slots=True)
class Powers:
    """What a strategy declares that it can do, as it was when somebody read it."""

    trains: bool = False
    oracle: bool = False
    """It may look up links of pages that were not fetched, and is marked wherever figures are shown."""


def read_powers(strategy: Strategy) -> Powers:
    """Read what a strategy declares, once: what it declares later changes nothing."""
    return Powers(isinstance(strategy, Trains), declaration_of(strategy).oracle)


class Given:
    """The lab's record of what one strategy was given."""

    __slots__ = ("_kinds",)

    def __init__(self) -> None:
        self._kinds: set[str] = set()

    def note(self, kind: str) -> None:
        self._kinds.add(kind)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in KINDS if kind in self._kinds)


# ---- the topic


def told_topic(topic: BedTopic, aliases: Mapping[str, str]) -> Topic:
    """The topic as a strategy hears it: no example in it is a target, under whatever URL."""
    away = set(withheld(topic, aliases))
    return replace(topic.topic, examples=tuple(url for url in topic.topic.examples if url not in away))


def withheld(topic: BedTopic, aliases: Mapping[str, str]) -> tuple[Url, ...]:
    """The examples that are targets, directly or behind a redirect: no strategy hears of them, and none is taught."""
    answers = {form for target in topic.targets for form in forms(target, aliases)}
    return tuple(url for url in topic.examples if not answers.isdisjoint(forms(url, aliases)))


# ---- loans


@contextmanager
def lent_lessons(lessons: Lessons, given: Given) -> Iterator[Lessons]:
    """The lessons, until training ends."""
    token = object()
    _OPEN[token] = (lessons, given)
    try:
        yield LentLessons(token)
    finally:
        del _OPEN[token]


@contextmanager
def lent_links(links: Links, given: Given) -> Iterator[Links]:
    """A way to look up the links of a page, until the crawl ends."""
    token = object()
    _OPEN[token] = links
    given.note(UNFETCHED)
    try:
        yield LentLinks(token)
    finally:
        del _OPEN[token]


class LentLessons:
    """Lessons that answer while training runs."""

    __slots__ = ("_token",)

    def __init__(self, token: object) -> None:
        self._token = token

    @property
    def topic(self) -> Topic:
        topic: Topic = _lessons(self._token).topic
        return topic

    @property
    def examples(self) -> Sequence[Page]:
        return LentPages(self._token, _lessons(self._token, "examples").examples)

    @property
    def others(self) -> Sequence[Page]:
        return LentPages(self._token, _lessons(self._token, "others").others)

    @property
    def taxonomy(self) -> Taxonomy | None:
        taxonomy = _lessons(self._token, "taxonomy").taxonomy
        if taxonomy is None:
            return None
        children = {name: tuple(below) for name, below in taxonomy.children.items()}
        examples = {name: LentPages(self._token, pages) for name, pages in taxonomy.examples.items()}
        return replace(taxonomy, children=children, examples=examples)

    def page(self, url: Url) -> Page | None:
        return _lessons(self._token, "pages").page(url)

    def back_links(self, url: Url, most: int | None = None) -> Sequence[Url]:
        return tuple(_lessons(self._token, "back-links").back_links(url, most))


class LentPages(Sequence[Page]):
    """Pages of the lessons. Each is a copy, a strategy's own; the list is lent."""

    __slots__ = ("_pages", "_token")

    def __init__(self, token: object, pages: Sequence[Page]) -> None:
        self._token, self._pages = token, tuple(pages)

    @overload
    def __getitem__(self, place: int) -> Page: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Page]: ...
    def __getitem__(self, place: int | slice) -> Page | Sequence[Page]:
        _check_open(self._token)
        found = self._pages[place]
        return LentPages(self._token, found) if isinstance(found, tuple) else found

    def __iter__(self) -> Iterator[Page]:
        for page in self._pages:
            _check_open(self._token)
            yield page

    def __len__(self) -> int:
        _check_open(self._token)
        return len(self._pages)


class LentLinks:
    """The links of any page of the bed, for an oracle while it crawls."""

    __slots__ = ("_token",)

    def __init__(self, token: object) -> None:
        self._token = token

    def __call__(self, url: Url) -> Iterable[Url]:
        _check_open(self._token)
        return tuple(_OPEN[self._token](url))


def _lessons(token: object, kind: str = "") -> Lessons:
    _check_open(token)
    lessons, given = _OPEN[token]
    if kind:
        given.note(kind)
    return lessons  # type: ignore[no-any-return]


def _check_open(token: object) -> None:
    if token not in _OPEN:
        raise LoanEnded(
            "this was lent to the strategy and has been taken back",
            "lessons answer while `train` runs: keep what was learned, not the lessons",
        )
