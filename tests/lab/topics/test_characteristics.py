"""Characteristics of a topic."""

from __future__ import annotations

import doctest
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.graph.link_graph import link_graph
from scenthound.lab.topics import characteristics as room
from scenthound.lab.topics.characteristics import (
    Characteristics,
    authority,
    correlations,
    text_cohesiveness,
)
from scenthound.text.vectors import cosine
from support.plain_characteristics import characteristics, popularity

COUNTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 5))


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(room).failed == 0


@given(st.lists(COUNTS, min_size=2, max_size=8))
def test_cohesiveness_is_the_mean_over_all_pairs(pages: list[dict[str, int]]) -> None:
    pairs = [cosine(one, other) for one, other in combinations(pages, 2)]
    assert text_cohesiveness(pages) == pytest.approx(sum(pairs) / len(pairs), abs=1e-9)


def test_one_page_has_no_cohesiveness() -> None:
    assert text_cohesiveness([{"a": 1}]) is None
    assert text_cohesiveness([]) is None


def test_authority_is_relative_to_the_pool() -> None:
    pool = link_graph({"a": ["t"], "b": ["t"], "t": [], "x": []})
    assert authority({"t", "not found"}, pool) == pytest.approx(4.0)
    assert authority({"x"}, pool) == 0.0
    assert authority({"not found"}, pool) is None
    assert authority({"a"}, link_graph({"a": []})) is None


def test_targets_that_were_not_recorded_have_no_text() -> None:
    found = characteristics(
        ["t", "u", "gone"],
        ["s"],
        ["bee"],
        {"bee": 1},
        {"t": {"bee": 1}, "u": {"bee": 2}, "s": {"bee": 1}},
        {"t": ["u"]},
        pool=link_graph({"t": ["u"], "u": []}),
        specificity=2,
    )
    assert found == Characteristics(2, 3, 3, 1.0, pytest.approx(1 / 3), pytest.approx(1.0), 1.0)


def test_a_topic_without_keywords_is_not_unpopular() -> None:
    assert popularity({"p": {"bee": 1}}, []) is None
    assert popularity({"p": {"bee": 1}}, ["wasp"]) == 0


def test_values_that_differ_by_rounding_alone_are_ties() -> None:
    topics = {
        name: Characteristics(2, size, size, None, None, None, 0.0) for name, size in zip("abc", (1, 2, 3), strict=True)
    }
    noisy = correlations(topics, {"a": 0.1 + 0.2, "b": 0.3, "c": 0.9})
    assert noisy == correlations(topics, {"a": 0.3, "b": 0.3, "c": 0.9})


def test_correlations_leave_out_what_is_undefined() -> None:
    def topic(size: int, text: float | None) -> Characteristics:
        return Characteristics(2, size, 10 * size, text, 0.5, None, 1.0 / size)

    topics = {"a": topic(1, 0.1), "b": topic(2, None), "c": topic(3, 0.2), "d": topic(4, 0.3), "e": topic(5, 0.4)}
    found = correlations(topics, {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4, "e": None})
    assert found["link_set_size"] == (pytest.approx(1.0), 4)
    assert found["seed_target_similarity"] == (pytest.approx(-1.0), 4)
    assert found["text_cohesiveness"] == (pytest.approx(1.0), 3)
    assert found["specificity"] == (None, 4)
    assert found["authority"] == (None, 0)
