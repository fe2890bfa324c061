"""The interface `Judge`. A judge rates how likely a fetched page is what the user is looking for.

A judge gets the topic and the seeds once, then every fetched page in order. It sees what a strategy sees and nothing
else, in particular not the answers of the laboratory. Our judges are in `scenthound.judges`, one file each.

Optional features of a judge are Protocols of their own. A judge whose state must survive a restart implements
`ports.Saves`, like a strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from scenthound.model import LookingFor, Topic, Url
from scenthound.page.page import AheadView, Page


class Verdict(NamedTuple):
    """The judge's rating of one page."""

    probability: float
    """The probability that the page is relevant."""
    is_relevant: bool
    """Whether the probability reaches the judge's threshold. Harvest rates count this flag; in a search for sites, a
    crawl counts it for home pages only, whatever the judge."""


@runtime_checkable
class Judge(Protocol):
    """Rates fetched pages. Like a strategy, it is a dataclass whose fields are its parameters."""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        """Called once, before the first page."""

    def judge(self, page: Page) -> Verdict:
        """Rate a page that was just fetched. Called once per page, in the order of the crawl."""

    def doubts(self) -> list[str]:
        """Reasons why the verdicts may be wrong, and what to do about it; empty if there are none."""


@runtime_checkable
class Revises(Protocol):
    """A judge that learns, and can rate remembered pages again."""

    def revised(self) -> Iterable[tuple[Url, Verdict]]:
        """The current verdicts on the remembered pages, reported when a crawl ends. The call has no side effects."""


@runtime_checkable
class AsksAhead(Protocol):
    """A judge that needs some views of every page. The process that reads the page computes them ahead."""

    ahead: ClassVar[tuple[AheadView, ...]]


@runtime_checkable
class UsesExamples(Protocol):
    """A judge that uses `Topic.examples`. In the laboratory no other judge gets them, and reports mark its use."""

    uses_examples: ClassVar[bool]


@runtime_checkable
class ClassifiesPages(Protocol):
    """A strategy with a classifier that was trained before the crawl; the judge `classifier` uses it."""

    def page_probability(self, page: Page) -> float: ...


@runtime_checkable
class UsesClassifier(Protocol):
    """A judge that rates pages with the classifier of the strategy, which it gets before `start`."""

    def use_classifier(self, probability: Callable[[Page], float]) -> None: ...


@runtime_checkable
class HearsLabels(Protocol):
    """A judge that learns from labels, given before or during a crawl."""

    def take_label(self, url: Url, on_topic: bool) -> None: ...


@runtime_checkable
class HasThreshold(Protocol):
    """A judge that calls every page relevant whose probability is at least `threshold`, which may change."""

    @property
    def threshold(self) -> float: ...


@runtime_checkable
class HearsLookingFor(Protocol):
    """A judge that rates home pages differently in a search for sites, and can change that while a crawl runs."""

    def take_looking_for(self, looking_for: LookingFor) -> None: ...


@runtime_checkable
class TakesVerdicts(Protocol):
    """A strategy that learns from the judge's verdicts."""

    def take_verdict(self, url: Url, relevance: float, relevant: bool) -> None:
        """Take the verdict on the page that `read` is called with next. A resumed crawl passes the stored verdict."""
