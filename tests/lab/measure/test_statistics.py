"""Means, errors and tests over topics agree with scipy and with calculations by hand."""

from __future__ import annotations

import doctest
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from scenthound.lab.measure import statistics as stats
from scenthound.lab.measure.statistics import (
    Mean,
    adjust,
    average_runs,
    bootstrap,
    compare,
    effect_size,
    ended_early,
    holm,
    log_points,
    mean,
    paired_t,
    sentence,
    sign_test,
    spearman,
    welch_t,
)

A = [0.5, 0.7, 0.4, 0.9, 0.6]
B = [0.4, 0.5, 0.45, 0.6, 0.5]
VALUES = st.lists(st.tuples(st.floats(0, 1, width=16), st.floats(0, 1, width=16)), min_size=2, max_size=12)


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(stats).failed == 0


@settings(deadline=None)
@given(VALUES)
def test_the_paired_test_is_scipys_where_differences_vary(pairs: list[tuple[float, float]]) -> None:
    a, b = [first for first, _ in pairs], [second for _, second in pairs]
    result = paired_t(a, b)
    if result.t is not None:
        theirs = scipy_stats.ttest_rel(a, b, alternative="greater")
        assert (result.t, result.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
        assert result.freedom == len(a) - 1
    else:
        assert result.p in (0.0, 0.5, 1.0)


def test_welch_is_scipys() -> None:
    theirs = scipy_stats.ttest_ind(A, B, equal_var=False, alternative="greater")
    result = welch_t(A, B)
    assert (result.t, result.freedom, result.p) == (
        pytest.approx(theirs.statistic),
        pytest.approx(theirs.df),
        pytest.approx(theirs.pvalue),
    )
    assert welch_t([1.0], B).p is None
    assert welch_t([1.0, 1.0], [0.5, 0.5]).p == 0.0


@pytest.mark.parametrize(("shift", "p"), [(0.0, 0.5), (0.1, 0.0), (-0.1, 1.0)])
def test_equal_differences_need_no_distribution(shift: float, p: float) -> None:
    """0.1 + 0.2 - 0.2 is not 0.1 in floats; the differences are equal all the same."""
    base = [0.1, 0.2, 0.3, 0.7]
    result = paired_t([value + shift for value in base], base)
    assert (result.error, result.t, result.p) == (0.0, None, p)


def test_too_few_topics_have_no_p() -> None:
    assert paired_t([], []) == (None, None, None, None, None)
    assert paired_t([0.5], [0.25]) == (0.25, None, None, 0, None)
    assert mean([None, None]) == Mean(None, None, number=0, groups=0)
    assert mean([0.5]) == Mean(0.5, None, number=1, groups=1)


def test_ties_are_neither_won_nor_lost() -> None:
    assert sign_test([1, 2, 3, 0.1 + 0.2], [0, 2, 4, 0.3]) == (1, 1, 0.75)
    assert sign_test([1], [1]) == (0, 0, 1.0)


def test_holm_never_lets_a_larger_p_overtake_a_smaller() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_effect_size_lies_in_its_interval_and_the_interval_agrees_with_the_test() -> None:
    result = effect_size(A, B)
    assert result is not None
    assert result.low < result.size < result.high
    t = result.size * 5**0.5
    assert scipy_stats.nct.cdf(t, 4, result.low * 5**0.5) == pytest.approx(0.975, abs=1e-6)
    assert scipy_stats.nct.cdf(t, 4, result.high * 5**0.5) == pytest.approx(0.025, abs=1e-6)
    assert effect_size([1.0, 1.0], [0.5, 0.5]) is None


def test_a_huge_effect_has_an_interval_too() -> None:
    result = effect_size([1.0, 1.0001, 0.9999, 1.0], [0.0, 0.0, 0.0, 0.0])
    assert result is not None
    assert 0 < result.low < result.size < result.high


def test_the_bootstrap_is_repeatable_and_holds_the_mean() -> None:
    differences = [first - second for first, second in zip(A, B, strict=True)]
    result = bootstrap(differences, random.Random(7), draws=500)
    assert result == bootstrap(differences, random.Random(7), draws=500)
    assert result is not None
    assert result[0] < sum(differences) / 5 < result[1]
    assert bootstrap([], random.Random(7)) is None


def test_correlation_needs_something_that_varies() -> None:
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1.0)
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert spearman([1, 2], [1, 2]) is None


def test_crawls_that_ended_early_are_counted_at_each_point() -> None:
    assert ended_early([100, 250, 1000], [100, 101, 1000, 1001]) == [0, 1, 2, 3]


def test_points_on_a_logarithmic_axis_are_distinct_and_end_at_the_end() -> None:
    points = log_points(10_000)
    assert points == sorted(set(points))
    assert (points[0], points[-1]) == (1, 10_000)
    assert log_points(1) == [1]
    assert log_points(0) == []
    assert log_points(7, 1) == [7]


def test_runs_of_a_topic_are_averaged_before_anything_is_tested() -> None:
    assert average_runs({"x": [0.25, 0.75], "y": [None, 0.5], "z": [None]}) == {"x": 0.5, "y": 0.5, "z": None}


def topics(values: list[float]) -> dict[str, float | None]:
    return {f"topic {n}": value for n, value in enumerate(values)}


def test_a_comparison_pairs_by_topic_and_lists_topics_left_out() -> None:
    ours: dict[str, float | None] = {"x": 0.5, "y": None, "z": 0.75, "only ours": 1.0}
    result = compare(("a", ours), ("b", {"z": 0.5, "y": 0.1, "x": 0.5}), "target_recall", 100)
    assert result.left_out == ("only ours", "y")
    assert result.means[0] == Mean(0.625, 0.125, number=2, groups=2)
    assert (result.signs.wins, result.signs.losses) == (1, 0)


def test_where_lower_is_better_a_lower_rank_wins() -> None:
    result = compare(("a", topics([1, 2, 3])), ("b", topics([5, 5, 9])), "mean_rank", lower_is_better=True)
    assert result.signs == (3, 0, 0.125)
    assert result.paired.mean == pytest.approx(13 / 3)
    assert result.means[0].mean == 2.0


def test_the_sentence_says_which_crawler_is_better() -> None:
    text = sentence(
        compare(("hub", topics([0.6, 0.7, 0.8, 0.9])), ("naive", topics([0.5, 0.4, 0.6, 0.6])), "recall", 500)
    )
    assert text.startswith("On recall at 500 pages, hub is better than naive: 0.750 against 0.525 (")
    assert "over 4 topics, p = 0.0" in text
    assert "4 wins, 0 losses; effect size" in text


def test_the_sentence_says_when_no_difference_is_shown() -> None:
    text = sentence(compare(("a", topics([0.1, 0.5, 0.3])), ("b", topics([0.2, 0.3, 0.3])), "recall"))
    assert text.startswith("On recall, no difference shown between a and b: 0.300 against 0.267")
    same = sentence(compare(("a", topics([0.1, 0.5])), ("b", topics([0.1, 0.5])), "recall"))
    assert same == "On recall, no difference shown: a and b are equal on each of 2 topics (0.300 against 0.300)."


def test_the_sentence_says_when_the_opposite_is_more_likely_or_nothing_was_tested() -> None:
    text = sentence(compare(("a", topics([0.1, 0.2, 0.15])), ("b", topics([0.5, 0.7, 0.6])), "recall"))
    assert "a is not better than b; the opposite is more likely" in text
    assert "only one topic" in sentence(compare(("a", topics([0.1])), ("b", topics([0.5])), "recall"))
    assert "no topic" in sentence(compare(("a", {}), ("b", topics([0.5])), "recall"))


def test_a_family_of_comparisons_is_judged_by_the_adjusted_p() -> None:
    weak = compare(("a", topics([0.5, 0.6, 0.7, 0.5])), ("b", topics([0.45, 0.4, 0.65, 0.5])), "recall")
    assert weak.paired.p is not None
    assert 0.05 < weak.paired.p < 0.15
    strong = compare(("a", topics([0.5, 0.61, 0.7])), ("b", topics([0.1, 0.2, 0.3])), "recall")
    family = adjust([weak, strong])
    assert family[1].adjusted == pytest.approx(2 * (strong.paired.p or 0))
    assert "Holm-adjusted p" in sentence(family[1])
