"""All calls of the strategy: timed, and its errors reported with its name."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scenthound.errors import StrategyFailed
from scenthound.model import Candidate, Event, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import EmitsEvents, NeedsRandom, Saves, Strategy, TakesLabels


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


class StrategyCalls:
    """The strategy as the loop calls it. `stopwatch` counts the time of `read`, without the time to parse pages."""

    def __init__(self, strategy: Strategy, stopwatch: Stopwatch) -> None:
        self.strategy = strategy
        self.links_scored = 0
        self._stopwatch = stopwatch
        self._tells = strategy if isinstance(strategy, EmitsEvents) else None  # a slow test, needed after every page
        self._hears = strategy if isinstance(strategy, TakesLabels) else None
        self._saves = strategy if isinstance(strategy, Saves) else None

    def start(self, topic: Topic, seeds: Sequence[Url], seed_number: int) -> list[Candidate]:
        if isinstance(self.strategy, NeedsRandom):
            self.strategy.use_random(random.Random(seed_number))
        return list(self.strategy.start(topic, seeds))

    def read(self, page: Page) -> list[Candidate]:
        """The candidates that the strategy returns for a page."""
        reading = page.reading_seconds
        fetched = (page.url, page.candidate, page.record, page.status, page.size)
        with self._stopwatch:
            try:
                candidates = list(self.strategy.read(page))
                if fetched != (page.url, page.candidate, page.record, page.status, page.size):
                    raise TypeError("it changed the page that it was given")
            except Exception as error:
                raise self._failed(f"on {page.url}", error) from error
        self.links_scored += len(candidates)
        self._stopwatch.seconds -= page.reading_seconds - reading
        return candidates

    def miss(self, miss: Miss) -> list[Candidate]:
        try:
            return list(self.strategy.miss(miss))
        except Exception as error:
            raise self._failed(f"on the miss of {miss.candidate.url}", error) from error

    def take_label(self, url: Url, on_topic: bool) -> list[Candidate]:
        """The candidates that the strategy returns for a label; none if it does not listen."""
        try:
            return list(self._hears.take_label(url, on_topic)) if self._hears else []
        except Exception as error:
            raise self._failed(f"on the label of {url}", error) from error

    def take_events(self, number: int) -> list[Event]:
        """The strategy's new events, with the number of the last page."""
        try:
            return [event._replace(n=number) for event in self._tells.take_events()] if self._tells else []
        except Exception as error:
            raise self._failed("on its events", error) from error

    def save(self) -> Mapping[str, Any] | None:
        """The strategy's state; None if it has none to save."""
        try:
            return self._saves.save() if self._saves else None
        except Exception as error:
            raise self._failed("to save its state", error) from error

    def _failed(self, where: str, error: Exception) -> StrategyFailed:
        return StrategyFailed(
            f"the strategy {type(self.strategy).__name__} failed {where}: {type(error).__name__}: {error}",
            "nothing recorded is lost: mend the strategy, then resume",
        )
