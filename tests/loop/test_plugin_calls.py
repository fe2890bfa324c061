"""The time of strategy calls is measured by the meter of the crawl."""

from __future__ import annotations

from collections.abc import Iterable

from scenthound.lab.testing import page_of
from scenthound.loop.plugin_calls import NONE, Stopwatch, StrategyCalls
from scenthound.model import Candidate
from scenthound.page.page import Page
from scenthound.page.record import Record
from scenthound.strategies.breadth_first import BreadthFirst


def test_ranking_time_leaves_out_what_the_meter_says_of_reading() -> None:
    now = 0.0

    def spend(seconds: float) -> None:
        nonlocal now
        now += seconds

    def slow_view(record: Record) -> None:
        spend(5.0)

    class Reads(BreadthFirst):
        def read(self, page: Page) -> Iterable[Candidate]:
            spend(2.0)
            page.view(slow_view)
            return ()

    calls = StrategyCalls(Reads(), watch := Stopwatch(lambda: now))
    calls.read(page_of("<p>bees"), NONE)
    assert watch.seconds == 2.0
