"""The strategy, as the loop speaks to it: its time is taken, and its errors are told with its name."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from scenthound.errors import StrategyFailed
from scenthound.model import Candidate, Event, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Hears, NeedsLuck, Strategy, Tells


class Guide:
    """Whoever says what is wanted."""

    def __init__(self, strategy: Strategy, meter: Callable[[], float]) -> None:
        self.strategy = strategy
        self.seconds = 0.0
        """Spent in reading; the making of pages, windows and the like is left out."""
        self.links_scored = 0
        self._meter = meter
        self._tells = isinstance(strategy, Tells)  # slow to ask, and it is asked after every page

    def start(self, topic: Topic, seeds: Sequence[Url], seed_number: int) -> list[Candidate]:
        if isinstance(self.strategy, NeedsLuck):
            self.strategy.lucky(random.Random(seed_number))
        return list(self.strategy.start(topic, seeds))

    def read(self, page: Page) -> list[Candidate]:
        """What is wanted after this page."""
        before, reading = self._meter(), page.reading_seconds
        fetched = (page.url, page.candidate, page.record, page.status, page.size)
        try:
            offers = list(self.strategy.read(page))
            if fetched != (page.url, page.candidate, page.record, page.status, page.size):
                raise TypeError("it changed the page that it was given")
        except Exception as error:
            name = type(self.strategy).__name__
            raise StrategyFailed(
                f"the strategy {name} failed on {page.url}: {type(error).__name__}: {error}",
                "nothing recorded is lost: mend the strategy, then resume",
            ) from error
        self.links_scored += len(offers)
        self.seconds += self._meter() - before - (page.reading_seconds - reading)
        return offers

    def miss(self, miss: Miss) -> list[Candidate]:
        return list(self.strategy.miss(miss))

    def hear(self, url: Url, on_topic: bool) -> list[Candidate]:
        """What is wanted after somebody said what a page is worth; nothing new of a strategy that does not listen."""
        return list(self.strategy.hear(url, on_topic)) if isinstance(self.strategy, Hears) else []

    def told(self, number: int) -> list[Event]:
        """What it has to tell since it was asked last, under the number of the last page."""
        if not self._tells:
            return []
        return [event._replace(n=number) for event in self.strategy.told()]  # type: ignore[attr-defined]
