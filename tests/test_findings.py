"""The benchmark that repeats findings: its small judgements, and that every finding says what it wants."""

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
    from findings_print import is_order

    assert is_order([0.3, 0.2, 0.1])
    assert not is_order([0.3, 0.3, 0.1])
    assert not is_order([0.3, None, 0.1])


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
    assert values.at("recall", "a", 100) == {"x": 0.5, "y": 0.5}
    assert values.mean("recall", "a", 100).number == 2


def test_every_finding_says_what_it_is_when_it_is_accepted_and_where_it_is_asked() -> None:
    import findings
    from findings_lab import FINDINGS

    assert {f"F{number}" for number in range(1, 10)} <= set(FINDINGS)
    for finding in FINDINGS.values():
        assert "Accepted: " in finding.says
        assert finding.beds
    assert Path(findings.__file__).parent == BENCHMARKS
    assert "findings_biz" in sys.modules
