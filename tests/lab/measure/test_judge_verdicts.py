"""Metrics of the judge's own flags."""

from __future__ import annotations

import pytest

from scenthound.lab.measure.metrics.harvest import judged_harvest_rate, moving_judged_harvest_rate
from scenthound.model import Step, Url


def trail(flags: str) -> list[Step]:
    return [
        Step(n, Url(f"http://a.test/{n}"), None, "", 0.0, {}, 0.0, 0, 200, 1, 0.0, relevant=flag == "+")
        for n, flag in enumerate(flags, 1)
    ]


def test_the_share_of_pages_that_the_judge_flagged() -> None:
    assert judged_harvest_rate(trail("+-+-")) == [1.0, 0.5, pytest.approx(2 / 3), 0.5]
    assert judged_harvest_rate(trail("+-"), at=[2, 9]) == [0.5, 0.5]
    assert moving_judged_harvest_rate(trail("+-+-"), window=2) == [1.0, 0.5, 0.5, 0.5]


def test_a_page_fetched_twice_counts_once() -> None:
    again = trail("+-")
    assert judged_harvest_rate([*again, again[0]]) == [1.0, 0.5]


def test_a_window_holds_a_page() -> None:
    with pytest.raises(ValueError, match="window"):
        moving_judged_harvest_rate(trail("+"), window=0)
