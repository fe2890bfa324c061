"""The port `Judge`: how likely a fetched page is what the user looks for.

A judge gets the topic and the seeds once, then asked about every fetched page in order. It sees what a strategy
sees and nothing else: never the answers of the laboratory. `scenthound.judges` has ours, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from scenthound.model import Topic, Url
from scenthound.page.ahead import AheadView
from scenthound.page.page import Page


class Verdict(NamedTuple):
    """What a judge says about one page."""

    probability: float
    """How likely the page is relevant, from 0 to 1."""
    is_relevant: bool
    """The flag that is counted in harvest rates: the probability has reached the judge's threshold."""


@runtime_checkable
class Judge(Protocol):
    """Rates fetched pages. A dataclass whose fields are its parameters, as a strategy is."""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        """Called once, before the first page."""

    def judge(self, page: Page) -> Verdict:
        """Rate a page that was just fetched. Called once per page, in the order of the crawl."""

    def doubts(self) -> list[str]:
        """Why the verdicts may be wrong, and what to do about it; empty if nothing speaks against them."""


@runtime_checkable
class Revises(Protocol):
    """A judge that learns: it rates pages that it still remembers again."""

    def revised(self) -> Iterable[tuple[Url, Verdict]]:
        """The present verdicts on the remembered pages. A crawl that ends reports these. Asking changes nothing."""


@runtime_checkable
class AsksAhead(Protocol):
    """A judge that asks every page for some views, which its reading process works out ahead."""

    ahead: ClassVar[tuple[AheadView, ...]]


@runtime_checkable
class ClassifiesPages(Protocol):
    """A strategy with a classifier that was trained before the crawl; the judge `classifier` asks it."""

    def page_probability(self, page: Page) -> float: ...


@runtime_checkable
class UsesClassifier(Protocol):
    """A judge that rates by the classifier of the strategy, which it gets before `start`."""

    def use_classifier(self, probability: Callable[[Page], float]) -> None: ...


@runtime_checkable
class HearsLabels(Protocol):
    """A judge that learns from labels, given before or during a crawl."""

    def take_label(self, url: Url, on_topic: bool) -> None: ...


@runtime_checkable
class TakesVerdicts(Protocol):
    """A strategy that learns from what the judge of the crawl says about pages."""

    def take_verdict(self, url: Url, relevance: float, relevant: bool) -> None:
        """The verdict on a fetched page; `read` is called with the page next. A resumed crawl gives the stored one."""


# A judge whose state must survive a restart is a `ports.Saves`, as a strategy is.
