"""Hand a strategy what it may use beyond the topic and seeds, and record what it used (sheet 60.7).

The powers that a strategy declares are read once, before its crawl, and decide what it gets. Lessons, and the links
that an oracle may look up, are lent; using them after the loan has ended raises `LoanEnded`. The lab itself records
what was used and does not rely on what the strategy reports.

A lent object holds only a weak reference to its loan, so a strategy that keeps the object can't reach the bed through
it. Python can't hide private attributes, so a plug-in that calls the weak reference or opens the bed's files is not
stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar, overload, runtime_checkable
from weakref import ref

from scenthound.errors import OurFault
from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.measure.metrics.trails import forms
from scenthound.lessons import Taxonomy
from scenthound.model import Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Lessons, Strategy, Trains, declaration_of

UNFETCHED = "links of pages not fetched"
ORIGINALS = "original seeds"
KINDS = ("examples", "others", "taxonomy", "back-links", "pages", ORIGINALS, UNFETCHED)
"""The kinds of things a strategy may be given beyond the topic and seeds, in the order in which reports list them."""

Links = Callable[[Url], Iterable[Url]]
T = TypeVar("T")


class LoanEnded(OurFault):
    """A strategy used something that was lent to it after the loan ended."""


@dataclass(frozen=True, slots=True)
class Powers:
    """The abilities that a strategy declared before its crawl."""

    trains: bool = False
    oracle: bool = False
    """The strategy may look up links of pages that were not fetched, and is marked wherever figures are shown."""


def read_powers(strategy: Strategy) -> Powers:
    """Read what a strategy declares. Call this once, before the crawl: later declarations have no effect."""
    return Powers(isinstance(strategy, Trains), declaration_of(strategy).oracle)


class UsageRecord:
    """The lab's record of what one strategy used beyond the topic and seeds."""

    __slots__ = ("_kinds",)

    def __init__(self) -> None:
        self._kinds: set[str] = set()

    def add(self, kind: str) -> None:
        self._kinds.add(kind)

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in KINDS if kind in self._kinds)


# ---- optional powers that only the lab uses


@runtime_checkable
class WantsOriginalSeeds(Protocol):
    """A strategy that must know the original seeds, before hubs were added to them."""

    @property
    def wants_original_seeds(self) -> bool: ...
    def use_original_seeds(self, seeds: Sequence[Url]) -> None:
        """Called before `start` if hubs were added and `wants_original_seeds` is true."""


@runtime_checkable
class SelectsPages(Protocol):
    """A strategy that fetches more pages than it selects, for example all links of each selected page."""

    def selected_pages(self) -> Mapping[str, int]:
        """The pages selected since the start or resumption, each with the number of pages fetched by then. Empty if
        the strategy selects every page that it fetches."""


# ---- the topic


def visible_topic(topic: BedTopic, aliases: Mapping[str, str]) -> Topic:
    """The topic as a strategy sees it: without examples that are targets, under any of their URLs."""
    hidden = set(withheld_examples(topic, aliases))
    return replace(topic.topic, examples=tuple(url for url in topic.topic.examples if url not in hidden))


def withheld_examples(topic: BedTopic, aliases: Mapping[str, str]) -> tuple[Url, ...]:
    """The examples that are targets, directly or behind a redirect. No strategy sees them or learns from them."""
    target_forms = {form for target in topic.targets for form in forms(target, aliases)}
    return tuple(url for url in topic.examples if not target_forms.isdisjoint(forms(url, aliases)))


# ---- loans


@dataclass(slots=True, weakref_slot=True, eq=False)
class _Loan(Generic[T]):
    """A lent object and the record of its use. Only the lab holds a strong reference to it."""

    thing: T | None
    given: UsageRecord


def _open(loan: ref[_Loan[T]], kind: str = "") -> T:
    """Return the lent object and record its use as `kind`. Raises `LoanEnded`."""
    opened = loan()
    if opened is None or opened.thing is None:
        raise LoanEnded(
            "this was lent to the strategy and has been taken back",
            "lessons can be used only while `train` runs: keep what was learned, not the lessons",
        )
    if kind:
        opened.given.add(kind)
    return opened.thing


@contextmanager
def _lent(thing: T, given: UsageRecord) -> Iterator[ref[_Loan[T]]]:
    loan: _Loan[T] = _Loan(thing, given)
    try:
        yield ref(loan)
    finally:
        loan.thing = None


@contextmanager
def lent_lessons(lessons: Lessons, given: UsageRecord) -> Iterator[Lessons]:
    """Lend the lessons until training ends."""
    with _lent(lessons, given) as loan:
        yield LentLessons(loan)


@contextmanager
def lent_links(links: Links, given: UsageRecord) -> Iterator[Links]:
    """Lend the function that looks up the links of a page, until the crawl ends."""
    given.add(UNFETCHED)
    with _lent(links, given) as loan:
        yield LentLinks(loan)


class LentLessons:
    """Lessons that can be used only while training runs."""

    __slots__ = ("_loan",)

    def __init__(self, loan: ref[_Loan[Lessons]]) -> None:
        self._loan = loan

    @property
    def topic(self) -> Topic:
        return _open(self._loan).topic

    @property
    def examples(self) -> Sequence[Page]:
        return LentPages(self._loan, _open(self._loan, "examples").examples)

    @property
    def others(self) -> Sequence[Page]:
        return LentPages(self._loan, _open(self._loan, "others").others)

    @property
    def taxonomy(self) -> Taxonomy | None:
        taxonomy = _open(self._loan, "taxonomy").taxonomy
        if taxonomy is None:
            return None
        children = {name: tuple(below) for name, below in taxonomy.children.items()}
        examples = {name: LentPages(self._loan, pages) for name, pages in taxonomy.examples.items()}
        return replace(taxonomy, children=children, examples=examples)

    def page(self, url: Url) -> Page | None:
        return _open(self._loan, "pages").page(url)

    def back_links(self, url: Url, most: int | None = None) -> Sequence[Url]:
        return tuple(_open(self._loan, "back-links").back_links(url, most))


class LentPages(Sequence[Page]):
    """Pages of the lessons. The strategy may keep each page, which is a copy, but not the list."""

    __slots__ = ("_loan", "_pages")

    def __init__(self, loan: ref[_Loan[Lessons]], pages: Sequence[Page]) -> None:
        self._loan, self._pages = loan, tuple(pages)

    @overload
    def __getitem__(self, index: int) -> Page: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Page]: ...
    def __getitem__(self, index: int | slice) -> Page | Sequence[Page]:
        _open(self._loan)
        item = self._pages[index]
        return LentPages(self._loan, item) if isinstance(item, tuple) else item

    def __iter__(self) -> Iterator[Page]:
        for page in self._pages:
            _open(self._loan)
            yield page

    def __len__(self) -> int:
        _open(self._loan)
        return len(self._pages)


class LentLinks:
    """Looks up the links of any page of the bed, for an oracle while it crawls."""

    __slots__ = ("_loan",)

    def __init__(self, loan: ref[_Loan[Links]]) -> None:
        self._loan = loan

    def __call__(self, url: Url) -> Iterable[Url]:
        return tuple(_open(self._loan)(url))
