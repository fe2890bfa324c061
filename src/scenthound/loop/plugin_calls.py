"""Call the strategy and the judge: measure the time, and report their errors with their names.

The loop does not know how a judge decides. It stores the verdict from the time when a page was fetched, because that
verdict steered the crawl. `Judging.revised` returns the later verdicts of a judge that learns.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scenthound.errors import JudgeFailed, ScenthoundError, StrategyFailed
from scenthound.judging import AsksAhead, HasThreshold, HearsLabels, HearsLookingFor, Judge, Revises, TakesVerdicts
from scenthound.looking_for import PAGES, is_counted
from scenthound.model import Candidate, Event, LookingFor, Miss, Topic, Url
from scenthound.page.page import AheadView, Page
from scenthound.ports import EmitsEvents, Frontier, NeedsRandom, Saves, Strategy, TakesLabels, TakesLookingFor


class Stopwatch:
    """Adds up the time spent inside its `with` blocks."""

    __slots__ = ("_since", "clock", "seconds")

    def __init__(self, clock: Callable[[], float]) -> None:
        self.seconds, self.clock = 0.0, clock
        self._since = 0.0

    def __enter__(self) -> None:
        self._since = self.clock()

    def __exit__(self, *_: object) -> None:
        self.seconds += self.clock() - self._since


class PageVerdict(NamedTuple):
    """The ratings of a fetched page that the history keeps; see `model.Step`."""

    similarity: float = 0.0
    relevance: float = 0.0
    relevant: bool = False


NONE = PageVerdict()
ROUNDING = 1e-9  # a probability may be off by so much
USUAL_THRESHOLD = 0.5
"""The relevance from which a page that was not counted before is relevant, if the judge has no threshold."""


class StrategyCalls:
    """The strategy as the loop calls it. `stopwatch` measures the time spent in `read`, without parsing pages.

    `frontier_changed` is called with the number of URLs that the strategy itself adds to its own frontier; negative if
    it removes URLs.
    """

    def __init__(
        self,
        strategy: Strategy,
        stopwatch: Stopwatch,
        own_frontier: Frontier | None = None,
        frontier_changed: Callable[[int], None] = lambda by: None,
    ) -> None:
        self.strategy = strategy
        self.links_scored = 0
        self.has_failed = False
        """Whether the strategy raised an error; then its state may be inconsistent and is not saved."""
        self._stopwatch = stopwatch
        self._own_frontier, self._frontier_changed = own_frontier, frontier_changed
        self._emits_events = strategy if isinstance(strategy, EmitsEvents) else None  # a slow test, so it is done once
        self._takes_labels = strategy if isinstance(strategy, TakesLabels) else None
        self._takes_verdicts = strategy if isinstance(strategy, TakesVerdicts) else None
        self._saves = strategy if isinstance(strategy, Saves) else None
        self.emits_events = self._emits_events is not None

    def start(self, topic: Topic, seeds: Sequence[Url], seed_number: int) -> list[Candidate]:
        try:
            if isinstance(self.strategy, NeedsRandom):
                self.strategy.use_random(random.Random(seed_number))
            return list(self.strategy.start(topic, seeds))
        except ScenthoundError:  # such as: it must be trained first
            raise
        except Exception as error:
            raise self._failed("at the start", error) from error

    def read(self, page: Page, verdict: PageVerdict) -> list[Candidate]:
        """The candidates that the strategy returns for a page. It first gets the verdict, if it takes verdicts."""
        reading, page.clock = page.reading_seconds, self._stopwatch.clock
        fetched = (page.url, page.candidate, page.record, page.status, page.size)
        with self._stopwatch:
            try:
                if self._takes_verdicts is not None:
                    self._takes_verdicts.take_verdict(page.url, verdict.relevance, verdict.relevant)
                candidates = self._offers(lambda: self.strategy.read(page))
                if fetched != (page.url, page.candidate, page.record, page.status, page.size):
                    raise TypeError("it modified the page")
            except Exception as error:
                raise self._failed(f"on {page.url}", error) from error
        self.links_scored += len(candidates)
        self._stopwatch.seconds -= page.reading_seconds - reading
        return candidates

    def miss(self, miss: Miss) -> list[Candidate]:
        try:
            return self._offers(lambda: self.strategy.miss(miss))
        except Exception as error:
            raise self._failed(f"on the miss of {miss.candidate.url}", error) from error

    def take_label(self, url: Url, on_topic: bool) -> list[Candidate]:
        """The candidates that the strategy returns for a label; none if it does not take labels."""
        takes_labels = self._takes_labels
        try:
            return self._offers(lambda: takes_labels.take_label(url, on_topic)) if takes_labels is not None else []
        except Exception as error:
            raise self._failed(f"on the label of {url}", error) from error

    def take_looking_for(self, looking_for: LookingFor) -> list[Candidate] | None:
        """The strategy's candidates when something else is to be looked for; None if it has only one way."""
        strategy = self.strategy
        if not isinstance(strategy, TakesLookingFor):
            return None
        try:
            return self._offers(lambda: strategy.take_looking_for(looking_for))
        except Exception as error:
            raise self._failed(f"on the order to look for {looking_for}", error) from error

    def _offers(self, ask: Callable[[], Iterable[Candidate]]) -> list[Candidate]:
        frontier = self._own_frontier
        if frontier is None:
            return list(ask())
        before, offers = len(frontier), list(ask())
        self._frontier_changed(len(frontier) - before)
        return offers

    def take_events(self, number: int) -> list[Event]:
        """The strategy's new events, marked with the number of the last page."""
        try:
            events = self._emits_events.take_events() if self._emits_events else ()
            return [event._replace(n=number) for event in events]
        except Exception as error:
            raise self._failed("on its events", error) from error

    def save(self) -> Mapping[str, Any] | None:
        """The strategy's state; None if it does not save any."""
        try:
            return self._saves.save() if self._saves else None
        except Exception as error:
            raise self._failed("to save its state", error) from error

    def _failed(self, where: str, error: Exception) -> StrategyFailed:
        self.has_failed = True
        return StrategyFailed.of(self.strategy, where, error)


class Judging:
    """The judge (already started) as the loop calls it, and the similarity that every trail records.

    A `threshold` above 0 replaces the judge's own. Without a judge no page is relevant. With `looking_for`
    sites, only home pages are flagged as relevant, whatever the judge; other pages keep the relevance of their content.
    """

    def __init__(
        self,
        judge: Judge | None = None,
        similarity: Callable[[Page], float] | None = None,
        threshold: float = 0.0,
        looking_for: LookingFor = PAGES,
    ) -> None:
        self.looking_for = looking_for
        self._judge, self._similarity, self.threshold = judge, similarity, threshold
        self.has_failed = False
        """Whether the judge raised an error; then its state may be inconsistent and is not saved."""
        self._takes_labels = judge if isinstance(judge, HearsLabels) else None
        self._saves = judge if isinstance(judge, Saves) else None
        self._revises = judge if isinstance(judge, Revises) else None

    def judge(self, page: Page, requested: Url | None = None) -> PageVerdict:
        """Judge a page that was just fetched, before the strategy reads it.

        `requested` is the URL from which redirects led here. The judge gets it as the URL of the page's candidate, so
        that it recognises a seed or an example that has moved.
        """
        if requested is not None and self._judge is not None:
            candidate = page.candidate._replace(url=requested)
            page = Page(page.url, candidate, page.record, page.status, page.size)
        similarity = self._similarity(page) if self._similarity is not None else 0.0
        if self._judge is None:
            return NONE if self._similarity is None else PageVerdict(similarity)
        try:
            probability, is_relevant = self._judge.judge(page)
            if not -ROUNDING <= probability <= 1.0 + ROUNDING:
                raise ValueError(f"the probability {probability!r} is not a number from 0 to 1")
            return PageVerdict(similarity, float(probability), self._flag(page.url, probability, is_relevant))
        except Exception as error:
            raise self._failed(f"on {page.url}", error) from error

    def _failed(self, where: str, error: Exception) -> JudgeFailed:
        self.has_failed = True
        return JudgeFailed.of(self._judge, where, error)

    def _flag(self, url: Url, probability: float, is_relevant: bool) -> bool:
        is_on_topic = probability >= self.threshold if self.threshold else is_relevant
        return bool(is_on_topic) and is_counted(url, self.looking_for)

    def take_looking_for(self, looking_for: LookingFor) -> None:
        """Look for pages or for sites from now on."""
        self.looking_for = looking_for
        try:
            if isinstance(self._judge, HearsLookingFor):
                self._judge.take_looking_for(looking_for)
        except Exception as error:
            raise self._failed(f"on the order to look for {looking_for}", error) from error

    def flag_again(self, url: Url, relevance: float, was_relevant: bool, before: LookingFor) -> bool:
        """Whether a page that was rated while `before` was looked for is relevant now."""
        if is_counted(url, before):
            return was_relevant and is_counted(url, self.looking_for)
        own = self._judge.threshold if isinstance(self._judge, HasThreshold) else USUAL_THRESHOLD
        return self._flag(url, relevance, relevance >= own)

    @property
    def ahead(self) -> tuple[AheadView, ...]:
        """The views that the judge needs of every page."""
        return self._judge.ahead if isinstance(self._judge, AsksAhead) else ()

    @property
    def hears_labels(self) -> bool:
        return self._takes_labels is not None

    def take_label(self, url: Url, on_topic: bool) -> None:
        try:
            if self._takes_labels is not None:
                self._takes_labels.take_label(url, on_topic)
        except Exception as error:
            raise self._failed(f"on the label of {url}", error) from error

    def doubts(self) -> list[str]:
        """Reasons why the verdicts may be wrong, in sentences for the user."""
        try:
            return self._judge.doubts() if self._judge is not None else []
        except Exception as error:
            raise self._failed("to state its doubts", error) from error

    def revised(self) -> dict[Url, PageVerdict]:
        """The current verdicts on the pages that the judge still remembers, with `similarity` 0."""
        if self._revises is None:
            return {}
        try:
            return {
                url: PageVerdict(0.0, probability, self._flag(url, probability, is_relevant))
                for url, (probability, is_relevant) in self._revises.revised()
            }
        except Exception as error:
            raise self._failed("to revise its verdicts", error) from error

    @property
    def has_state(self) -> bool:
        """Whether the judge has learned something that a resumed crawl needs."""
        return self._saves is not None

    def save(self) -> Mapping[str, Any]:
        try:
            return self._saves.save() if self._saves is not None else {}
        except Exception as error:
            raise self._failed("to save its state", error) from error

    def load(self, state: Mapping[str, Any]) -> None:
        if self._saves is not None:
            self._saves.load(state)
