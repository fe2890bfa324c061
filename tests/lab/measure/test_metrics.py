"""Metrics of trails: the edge cases that every curve shares, and each metric's own."""

from __future__ import annotations

import doctest
import importlib
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import BadUsage, UnknownName
from scenthound.lab.measure.metrics import METRICS, KnownAnswers, curves, get_metric, measure, missing
from scenthound.lab.measure.metrics.crawl_pairs import overlap, robustness_hosts, seed_halves
from scenthound.lab.measure.metrics.harvest import fetched_goals, harvest_rate, hosts_found, moving_harvest_rate
from scenthound.lab.measure.metrics.page_quality import coverage, coverage_by_depth, mean_rank
from scenthound.lab.measure.metrics.similarity import description_recall_norm, precision
from scenthound.lab.measure.metrics.targets import (
    SearchLength,
    recall_per_cpu_second,
    search_length,
    target_recall,
    target_recall_alive,
    url_precision,
)
from scenthound.model import Step, Url

MODULES = ("", ".targets", ".similarity", ".harvest", ".crawl_pairs", ".trails", ".page_quality")
EVERYTHING = KnownAnswers(
    targets={"t", "u"},
    seeds={"s"},
    dead={"u"},
    relevant={"t", "a"},
    relevance={"t": 1.0, "a": 0.5},
    similarity={"s": 0.1, "a": 0.2, "t": 0.9},
    ranks={"t": 1, "a": 2, "s": 3},
    linkage_ranks={"a": 1, "t": 2, "s": 3},
    goals={"t"},
    qualities=dict.fromkeys(
        "keywords_present query_similarity seed_similarity retrieval_rank in_links pagerank authority hub".split(),
        lambda url: float(url == "t"),
    ),
)
OF_THE_CRAWL = {"rank_seconds": [0.5, 1.0, 1.5], "selected": {"t": 3}}
NAMES = st.sampled_from("abcdefghij")
CURVES = [name for name in curves() if "judged" not in name]
"""Metrics that need only a list of URLs; metrics of the judge's flags have tests of their own."""


def step(n: int, url: str, requested: str | None = None) -> Step:
    requested_url = None if requested is None else Url(requested)
    return Step(n, Url(url), None, "", 0.0, {}, 0.0, 0, 200, 1, 0.0, requested=requested_url)


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_the_docstrings_hold(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"scenthound.lab.measure.metrics{module}")).failed == 0


def test_every_metric_says_what_it_is_and_shows_an_example() -> None:
    for name in METRICS.names():
        function = get_metric(name).function
        assert ">>>" in (function.__doc__ or ""), name
    assert {"target_recall", "precision", "harvest_rate", "robustness", "search_length"} <= set(METRICS.names())


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_is_undefined_before_the_first_page(name: str) -> None:
    assert measure(name, ["s", "a", "t"], EVERYTHING, [0, -1], **OF_THE_CRAWL) == [None, None]
    assert measure(name, [], EVERYTHING, [0, 10], rank_seconds=[], selected={}) == [None, None]


@pytest.mark.parametrize("name", CURVES)
def test_a_crawl_that_ended_early_keeps_its_last_value(name: str) -> None:
    whole = measure(name, ["s", "a", "t"], EVERYTHING, **OF_THE_CRAWL)
    assert len(whole) == 3
    assert whole[-1] is not None
    assert measure(name, ["s", "a", "t"], EVERYTHING, [3, 4, 1000], **OF_THE_CRAWL) == [whole[-1]] * 3


@pytest.mark.parametrize("name", CURVES)
def test_a_page_fetched_twice_counts_where_it_came_first(name: str) -> None:
    once = measure(name, ["s", "a", "t"], EVERYTHING, **OF_THE_CRAWL)
    assert measure(name, ["s", "s", "a", "s", "t", "t"], EVERYTHING, **OF_THE_CRAWL) == once


@pytest.mark.parametrize("name", CURVES)
def test_steps_and_bare_urls_give_the_same_curve(name: str) -> None:
    steps = [step(n, url) for n, url in enumerate("sat", start=1)]
    assert measure(name, steps, EVERYTHING, **OF_THE_CRAWL) == measure(name, list("sat"), EVERYTHING, **OF_THE_CRAWL)


def test_a_metric_says_what_it_lacks() -> None:
    assert missing("target_recall_alive", KnownAnswers(targets={"t"})) == ["dead"]
    assert missing("recall_per_cpu_second", KnownAnswers(targets={"t"})) == ["rank_seconds"]
    assert missing("overlap", KnownAnswers()) == []
    with pytest.raises(BadUsage, match="similarity"):
        measure("precision", ["a"], KnownAnswers())
    with pytest.raises(UnknownName, match="precision"):
        measure("presicion", ["a"], KnownAnswers())


def test_seeds_are_pages_but_never_targets_for_recall() -> None:
    assert target_recall(["s", "t"], targets={"s", "t", "u"}, seeds={"s"}) == [0.0, 0.5]
    assert url_precision(["s", "t"], targets={"s", "t"}) == [1.0, 1.0]


def test_a_topic_whose_targets_are_all_seeds_has_no_recall() -> None:
    assert target_recall(["s", "a"], targets={"s"}, seeds={"s"}, at=[1, 2]) == [None, None]
    assert target_recall(["a"], targets=set()) == [None]
    assert url_precision(["a"], targets=set()) == [None]


def test_a_dead_target_stays_in_the_denominator_of_recall_but_not_of_recall_alive() -> None:
    assert target_recall(["t"], targets={"t", "dead"}) == [0.5]
    assert target_recall_alive(["t"], targets={"t", "dead"}, dead={"dead"}) == [1.0]
    assert target_recall_alive(["t"], targets={"dead"}, dead={"dead"}) == [None]


def test_a_redirected_target_is_reached_in_either_form() -> None:
    moved = {"old": "middle", "middle": "new"}
    assert target_recall(["a", "new"], {"old"}, aliases=moved) == [0.0, 1.0]
    assert target_recall(["old", "new"], {"old"}, aliases=moved) == [1.0, 1.0]
    assert target_recall([step(1, "new", requested="old")], {"old"}) == [1.0]
    assert url_precision([step(1, "new", requested="old")], {"old"}) == [1.0]


def test_two_targets_that_lead_to_one_page_are_both_reached_by_it() -> None:
    moved = {"one": "page", "two": "page"}
    assert target_recall(["page"], {"one", "two"}, aliases=moved) == [1.0]
    assert url_precision(["page", "x"], {"one", "two"}, aliases=moved) == [1.0, 0.5]


def test_a_seed_that_leads_to_a_target_gives_it_away() -> None:
    assert target_recall(["t", "u"], {"t", "u"}, seeds={"old"}, aliases={"old": "t"}) == [0.0, 1.0]


def test_a_loop_of_redirects_ends() -> None:
    assert target_recall(["b"], {"a"}, aliases={"a": "b", "b": "a"}) == [1.0]


def test_cpu_time_counts_from_the_first_millisecond() -> None:
    assert recall_per_cpu_second(["t", "a"], {"t"}, [0.0009, 0.001]) == [None, pytest.approx(1000.0)]
    with pytest.raises(ValueError, match="1 of 2 pages"):
        recall_per_cpu_second(["t", "a"], {"t"}, [0.5])


def test_search_length_is_none_when_not_reached_and_says_how_far_it_came() -> None:
    assert search_length(["a", "t"], {"t", "u", "v"}, fraction=1.0) == SearchLength(None, 1, 3)
    assert search_length([], {"t"}) == SearchLength(None, 0, 1)
    assert search_length(["a"], set()) == SearchLength(None, 0, 0)
    assert str(search_length(["a", "t"], {"t", "u"})) == "2"
    with pytest.raises(ValueError, match="fraction"):
        search_length(["a"], {"t"}, fraction=0.0)


def test_a_tenth_of_thirty_is_three() -> None:
    targets = {f"t{n}" for n in range(30)}
    assert search_length(["t0", "t1", "t2", "t3"], targets, fraction=0.1).pages == 3


def test_a_page_outside_the_pool_is_unrelated_and_has_no_rank() -> None:
    assert precision(["x", "a"], {"a": 1.0}) == [0.0, 0.5]
    assert mean_rank(["x", "a"], {"a": 7}) == [None, 7.0]
    assert description_recall_norm(["a"], {"a": 0.0}) == [None]


def test_coverage_of_a_small_pool_counts_the_pages_there_are() -> None:
    assert coverage(["a"], {"a": 1, "b": 2}, top=1000) == [0.5]
    assert coverage(["a"], {}, top=10) == [None]
    assert coverage_by_depth(["b"], {"a": 1, "b": 2}, [0, 1, 2, 9]) == [None, 0.0, 0.5, 0.5]
    assert coverage_by_depth([], {"a": 1}, [1]) == [None]


@given(st.lists(NAMES, unique=True, min_size=1), st.lists(NAMES, unique=True, min_size=1), st.integers(1, 12))
def test_coverage_by_depth_is_the_end_of_coverage(trail: list[str], pool: list[str], top: int) -> None:
    ranks = {url: rank for rank, url in enumerate(pool, start=1)}
    assert coverage_by_depth(trail, ranks, [top])[0] == coverage(trail, ranks, top=top)[-1]


def test_harvest_moves_with_its_window() -> None:
    flags = [1, 1, 0, 1, 0, 0, 1, 0, 0, 0]
    pages = [str(n) for n in range(10)]
    relevant = {page for page, flag in zip(pages, flags, strict=True) if flag}
    assert harvest_rate(pages, relevant)[-1] == 0.4
    assert moving_harvest_rate(pages, relevant, window=5)[-1] == 0.2
    assert moving_harvest_rate(pages, relevant, window=50) == harvest_rate(pages, relevant)
    with pytest.raises(ValueError, match="window"):
        moving_harvest_rate(pages, relevant, window=0)


@given(st.lists(NAMES, unique=True), st.sets(NAMES), st.integers(1, 6))
def test_moving_harvest_is_what_counting_gives(trail: list[str], relevant: set[str], window: int) -> None:
    expected = []
    for t in range(1, len(trail) + 1):
        last = trail[max(0, t - window) : t]
        expected.append(sum(url in relevant for url in last) / len(last))
    assert moving_harvest_rate(trail, relevant, window=window) == pytest.approx(expected)


def test_hosts_and_goals_are_counts() -> None:
    trail = ["http://x.test/1", "http://y.test/", "http://x.test:8080/2"]
    assert hosts_found(trail, {"http://x.test/1", "http://x.test:8080/2"}) == [1, 1, 1]
    assert hosts_found(trail, set()) == [0, 0, 0]
    assert fetched_goals(["a", "g"], {"g"}) == [0, 1]


@given(st.lists(NAMES, unique=True), st.lists(NAMES, unique=True))
def test_overlap_is_what_sets_say(first: list[str], second: list[str]) -> None:
    for t, value in enumerate(overlap(first, second), start=1):
        a, b = set(first[:t]), set(second[:t])
        assert value == (len(a & b) / min(len(a), len(b)) if a and b else None)


def test_robustness_can_be_asked_of_hosts() -> None:
    first, second = ["http://x.test/1", "http://y.test/1"], ["http://x.test/2", "http://x.test/3"]
    assert overlap(first, second) == [0.0, 0.0]
    assert robustness_hosts(first, second) == [1.0, 1.0]


def test_seeds_are_halved_at_random_without_loss() -> None:
    one, other = seed_halves(["a", "b", "c", "d", "e", "a"], random.Random(3))
    assert sorted(one + other) == ["a", "b", "c", "d", "e"]
    assert (len(one), len(other)) == (3, 2)
    assert (one, other) == seed_halves(["a", "b", "c", "d", "e"], random.Random(3))
    with pytest.raises(ValueError, match="two seeds"):
        seed_halves(["a", "a"], random.Random(0))


@given(st.lists(NAMES), st.sets(NAMES, min_size=1), st.lists(st.integers(-2, 15)))
def test_recall_is_what_sets_say_and_never_falls(trail: list[str], targets: set[str], at: list[int]) -> None:
    distinct = list(dict.fromkeys(trail))
    expected = [len(targets & set(distinct[:t])) / len(targets) if t > 0 and distinct else None for t in at]
    assert target_recall(trail, targets, at=at) == expected
    curve = [value for value in target_recall(trail, targets) if value is not None]
    assert all(one <= other for one, other in pairwise(curve))


def test_a_quality_is_averaged_over_the_crawl() -> None:
    assert measure("average_pagerank", ["a", "t", "b", "t"], EVERYTHING) == [0.0, 0.5, pytest.approx(1 / 3)]


def test_a_window_of_graded_relevance_slides() -> None:
    assert measure("moving_average_relevance", ["t", "a"], EVERYTHING) == [1.0, 0.75]
