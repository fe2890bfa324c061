"""Hand a strategy what it may use beyond keywords and seeds, and record what it used (sheet 60.7).

The powers that a strategy declares are read once, before its crawl, and decide what it gets. Of a topic, every strategy
and judge gets the keywords; those that declare it also get the URLs of its examples (`shown_topic`). Lessons, and the
links that an oracle may look up, are lent; using them after the loan has ended raises `LoanEnded`. The lab itself
records what was used and does not rely on what the strategy reports.

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
from scenthound.judging import Judge, TakesVerdicts, UsesExamples
from scenthound.lab.measure.metrics.trails import forms
from scenthound.lessons import Taxonomy, TrainsByJudge
from scenthound.model import Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Lessons, Strategy, Trains, declaration_of
from scenthound.topic_list import BedTopic

UNFETCHED = "links of pages not fetched"
ORIGINALS = "original seeds"
EXAMPLE_URLS = "URLs of examples"
VERDICTS = "verdicts of a judge that has the URLs of examples"
KINDS = ("examples", "others", "taxonomy", "back-links", "pages", EXAMPLE_URLS, VERDICTS, ORIGINALS, UNFETCHED)
"""What a strategy may be given beyond keywords and seeds, in the order in which reports list it."""

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
    topic_examples: bool = False
    """The strategy gets the URLs of the topic's examples."""
    takes_verdicts: bool = False
    """The strategy learns from the judge's verdicts, before the crawl or while it runs."""


def read_powers(strategy: Strategy) -> Powers:
    """Read what a strategy declares. Call this once, before the crawl: later declarations have no effect."""
    declared = declaration_of(strategy)
    takes_verdicts = isinstance(strategy, TakesVerdicts | TrainsByJudge)
    return Powers(isinstance(strategy, Trains), declared.oracle, declared.topic_examples, takes_verdicts)


class UsageRecord:
    """The lab's record of what one strategy used beyond keywords and seeds."""

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
    """The most that a strategy may see of a topic: no example that is a target, under any of its URLs."""
    hidden = set(withheld_examples(topic, aliases))
    return replace(topic.topic, examples=tuple(url for url in topic.topic.examples if url not in hidden))


def shown_topic(topic: Topic, with_examples: bool) -> Topic:
    """The topic that a strategy or a judge gets: its examples only if declared, and never its name, which in a bed made
    from a directory is the name of the category."""
    return replace(topic, name="", examples=topic.examples if with_examples else ())


def uses_examples(judge: Judge) -> bool:
    """Whether a judge declares that it uses the topic's examples."""
    return isinstance(judge, UsesExamples) and judge.uses_examples


def given_with_topic(topic: Topic, powers: Powers, judge: Judge) -> tuple[str, ...]:
    """What a strategy with these powers is given because of the topic's examples, directly and through the judge."""
    if not topic.examples:
        return ()
    through_judge = powers.takes_verdicts and uses_examples(judge)
    return (*([EXAMPLE_URLS] if powers.topic_examples else []), *([VERDICTS] if through_judge else []))


def withheld_examples(topic: BedTopic, aliases: Mapping[str, str]) -> tuple[Url, ...]:
    """The examples that are targets, directly or behind a redirect. No strategy sees them or learns from them."""
    target_forms = {form for target in topic.targets for form in forms(target, aliases)}
    return tuple(url for url in topic.examples if not target_forms.isdisjoint(forms(url, aliases)))


def given_to_judge(topics: Iterable[Topic], judge: Judge) -> tuple[str, ...]:
    """What the judge of an experiment on these topics is given beyond keywords and seeds."""
    return (EXAMPLE_URLS,) if uses_examples(judge) and any(topic.examples for topic in topics) else ()


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
def lent_lessons(lessons: Lessons, given: UsageRecord, topic_examples: bool = False) -> Iterator[Lessons]:
    """Lend the lessons until training ends. Their topic has examples only for a strategy that gets those anyway."""
    with _lent(lessons, given) as loan:
        yield LentLessons(loan, topic_examples)


@contextmanager
def lent_links(links: Links, given: UsageRecord) -> Iterator[Links]:
    """Lend the function that looks up the links of a page, until the crawl ends."""
    given.add(UNFETCHED)
    with _lent(links, given) as loan:
        yield LentLinks(loan)


class LentLessons:
    """Lessons that can be used only while training runs."""

    __slots__ = ("_loan", "_topic_examples")

    def __init__(self, loan: ref[_Loan[Lessons]], topic_examples: bool) -> None:
        self._loan, self._topic_examples = loan, topic_examples

    @property
    def topic(self) -> Topic:
        return shown_topic(_open(self._loan).topic, self._topic_examples)

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
