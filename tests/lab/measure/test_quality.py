"""Page quality after the crawl: ranks, the six kinds of [CHAP], and their ties."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.graph.link_graph import link_graph
from scenthound.lab.measure import quality

POOL = {
    "b": {"solar": 2, "panel": 1, "roof": 1},
    "a": {"solar": 1, "garden": 3},
    "c": {"chess": 2},
    "d": {},
}


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(quality).failed == 0


def test_ties_go_by_url_even_where_summation_order_differs() -> None:
    assert quality.ranks({"z": 0.1 + 0.2, "y": 0.3}) == {"y": 1, "z": 2}


@given(st.dictionaries(st.text("abc", max_size=4), st.sampled_from([0.0, 0.25, 0.5])))
def test_ranks_are_a_permutation_best_first(scores: dict[str, float]) -> None:
    ranks = quality.ranks(scores)
    assert sorted(ranks.values()) == list(range(1, len(scores) + 1))
    order = sorted(scores, key=ranks.__getitem__)
    assert order == sorted(scores, key=lambda url: (-scores[url], url))


def test_rank_smart_goes_by_the_description() -> None:
    assert quality.rank_smart(POOL, {"panel": 1, "roof": 1}) == {"b": 1, "a": 2, "c": 3, "d": 4}


def test_an_empty_pool_has_no_ranks() -> None:
    assert quality.rank_smart({}, {"panel": 1}) == {}
    assert quality.pool_pageranks([], {}) == {}


def test_keywords_come_before_pagerank_and_pagerank_before_the_url() -> None:
    ranks = quality.rank_keywords_pagerank(POOL, ["solar", "panel"], {"a": 0.9, "c": 0.1, "d": 0.2})
    assert ranks == {"b": 1, "a": 2, "d": 3, "c": 4}


def test_pagerank_of_a_pool_sees_only_the_pool() -> None:
    ranks = quality.pool_pageranks(["a", "b"], {"a": ["b", "elsewhere"], "elsewhere": ["a"], "b": []})
    assert ranks.keys() == {"a", "b"}
    assert ranks["b"] > ranks["a"]
    assert sum(ranks.values()) == pytest.approx(1.0)


def test_the_six_kinds_answer_for_a_page() -> None:
    graph = link_graph({"a": ["b", "c"], "c": ["b"], "b": []})
    kinds = {
        "keywords": quality.keyword_quality(POOL, ["solar", "panel"]),
        "query": quality.query_quality(POOL, {"solar": 1}),
        "seeds": quality.seed_quality(POOL, ["b", "not there"]),
        "classifier": quality.classifier_quality(POOL, lambda counts: 0.75 if "solar" in counts else 0.25),
        "retrieval": quality.retrieval_quality(POOL, {"panel": 1}),
        "in-degree": quality.in_degree_quality(graph),
        "pagerank": quality.pagerank_quality(graph),
        "authority": quality.authority_quality(graph),
    }
    for name, kind in kinds.items():
        assert kind("b") > kind("stranger") == 0.0, name
    assert kinds["keywords"]("b") == 1.0
    assert kinds["seeds"]("b") == 1.0
    assert kinds["in-degree"]("b") == 2.0
    assert kinds["retrieval"]("b") == 1.0
    assert kinds["classifier"]("c") == 0.25
    assert quality.hub_quality(graph)("a") > quality.hub_quality(graph)("b")


def test_concatenated_pages_are_one_page() -> None:
    assert quality.concatenated(POOL, ["a", "b", "a", "x"]) == {"solar": 3, "garden": 3, "panel": 1, "roof": 1}
