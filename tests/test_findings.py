"""The benchmark that repeats findings: its statistics, and that every finding states its criterion."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(autouse=True)
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def test_a_crossing_is_where_the_sign_is_another_than_before() -> None:
    from findings_print import crossings

    assert crossings([1.0, 0.5, -0.1, -2.0]) == [2]
    assert crossings([1.0, 0.0, 2.0]) == [], "touching is not crossing"
    assert crossings([0.0, -1.0, 0.0, 1.0, -1.0]) == [3, 4]
    assert crossings([]) == []


def test_an_order_is_strict_and_needs_every_value() -> None:
    from findings_print import is_falling

    assert is_falling([0.3, 0.2, 0.1])
    assert not is_falling([0.3, 0.3, 0.1])
    assert not is_falling([0.3, None, 0.1])


@pytest.mark.parametrize(
    ("differences", "outcome"),
    [
        ([0.1, 0.2, 0.15, 0.12], "shown"),
        ([-0.1, -0.2, -0.15, -0.12], "opposite"),
        ([0.01, -0.01, 0.012, -0.011], "absent"),
        ([0.5, -0.4, 0.3, -0.2], "open"),
    ],
)
def test_a_claim_is_shown_opposite_absent_or_open(differences: list[float], outcome: str) -> None:
    """Absent: the upper end of the interval is below a tenth of the other's mean, here 0.05."""
    from findings_print import Claim

    from scenthound.lab.measure.statistics import compare

    other = {str(topic): 0.5 for topic in range(4)}
    one = {str(topic): 0.5 + shift for topic, shift in enumerate(differences)}
    assert Claim("", compare(("one", one), ("other", other), "recall", 100)).outcome == outcome


def test_the_verdict_follows_from_the_outcomes() -> None:
    from findings_print import overall

    assert overall(["shown", "shown"]) == "reproduced"
    assert overall(["shown", "absent"]) == "in part: 1 of 2 claims"
    assert overall(["opposite", "open"]) == "not reproduced"
    assert overall(["open", "open"]) == "not decided: too few topics"
    assert overall([]) == "not testable here"


def test_draws_of_one_category_are_averaged_before_anything_is_tested() -> None:
    from findings_lab import Values

    found = {"recall": {("", "a"): {"x-1": [0.0], "x-2": [1.0], "y-1": [None], "y-2": [0.5]}}}
    values = Values({"recall": [100]}, found, {}).grouped(lambda topic: topic[0])
    assert values.values_by_topic("recall", "a", 100) == {"x": 0.5, "y": 0.5}
    assert values.mean("recall", "a", 100).number == 2


def test_a_goal_of_the_second_task_has_half_of_the_points(tmp_path: Path) -> None:
    from findings_board import NEEDED, POINTS
    from findings_goals import ANALYSER, goals_by_points, starts
    from findings_lab import BenchWeb, Settings

    from scenthound.lab.generate.web_kinds import WebOrder, write_web

    write_web(tmp_path / "web", WebOrder("realistic", 600, 1, topics=1, habits={"companies": 0.5, "boards": 1.0}))
    web = BenchWeb("web", tmp_path / "web", Settings(tmp_path, jobs=1))
    goals = goals_by_points(web, "boards", POINTS, NEEDED)
    counts = {url: web.prepared.counts(url, ANALYSER) or {} for url in web.prepared.pages}
    points = {url: sum(POINTS[word] for word in POINTS if word in words) for url, words in counts.items()}
    assert goals.urls == {url for url, sum_ in points.items() if sum_ >= 6.0}
    assert len(goals.urls) > 15
    seeds = starts(web, goals, 0)
    assert sum(url in goals.urls for url in seeds) == 15
    assert seeds == starts(web, goals, 0) != starts(web, goals, 1)


def test_every_finding_says_what_it_is_when_it_is_accepted_and_where_it_is_asked() -> None:
    import findings
    from findings_lab import FINDINGS

    assert {f"F{number}" for number in range(1, 14)} <= set(FINDINGS)
    for finding in FINDINGS.values():
        assert "Accepted: " in finding.says
        assert finding.beds
    assert Path(findings.__file__).parent == BENCHMARKS
    assert "findings_biz" in sys.modules
