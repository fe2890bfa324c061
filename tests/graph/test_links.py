"""The link graph and the algorithms on it: small graphs by hand, and networkx on random ones."""

from __future__ import annotations

import json
from pathlib import Path

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.graph.link_graph import edge_graph, link_graph
from scenthound.graph.link_scores import by_name, hits, pagerank, url_ordering_rank
from support.long_form import long_form

GRAPHS = st.integers(1, 14).flatmap(
    lambda size: st.tuples(
        st.just(size), st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=50)
    )
)


def graph_of(size: int, edges: list[tuple[int, int]]):  # type: ignore[no-untyped-def]
    return edge_graph((f"{n:02}" for n in range(size)), [(f"{a:02}", f"{b:02}") for a, b in edges])


def test_double_links_count_once_and_links_to_oneself_not_at_all() -> None:
    graph = link_graph({"a": ["b", "b", "a", "c"], "b": ["a"]})
    assert graph.names == ["a", "b", "c"]
    assert list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 0)]
    assert graph.out_degree.tolist() == [2, 1, 0]
    assert graph.in_degree.tolist() == [1, 1, 1]
    assert graph.linked_from("a") == ["b", "c"]
    assert graph.linked_from("c") == graph.linked_from("stranger") == []


def test_a_closed_graph_has_only_links_among_its_pages() -> None:
    graph = link_graph({"a": ["b", "x"], "b": ["y"]}, closed=True)
    assert graph.names == ["a", "b"]
    assert graph.linked_from("a") == ["b"]
    assert graph.linked_from("b") == []


def test_back_links_come_by_in_degree_and_then_by_url() -> None:
    graph = link_graph({"z": ["t"], "b": ["t"], "a": ["t", "z"], "c": ["t", "z", "b"]})
    assert graph.back_links("t") == ["z", "b", "a", "c"]
    assert graph.back_links("t", limit=2) == ["z", "b"]
    assert graph.back_links("a") == graph.back_links("stranger") == []


def test_an_empty_graph_has_no_ranks() -> None:
    graph = link_graph({})
    assert len(pagerank(graph)) == len(url_ordering_rank(graph)) == len(hits(graph).hubs) == 0


def test_one_page_has_all_the_rank() -> None:
    graph = link_graph({"a": ["a"]})
    assert pagerank(graph).tolist() == [1.0]
    assert url_ordering_rank(graph) == pytest.approx([0.1])
    assert hits(graph).hubs.tolist() == hits(graph).authorities.tolist() == [0.0]


def test_without_links_all_pages_are_equal() -> None:
    graph = link_graph({"a": [], "b": [], "c": [], "d": []})
    assert pagerank(graph) == pytest.approx([0.25] * 4)
    assert hits(graph).authorities.tolist() == [0.0] * 4


def test_a_page_linked_by_all_is_the_authority_and_the_others_are_hubs() -> None:
    found = hits(link_graph({"a": ["t"], "b": ["t"], "t": []}))
    assert found.authorities == pytest.approx([0, 0, 1])
    assert found.hubs == pytest.approx([0.5**0.5, 0.5**0.5, 0])


@settings(max_examples=long_form(20, 60), deadline=None)
@given(GRAPHS)
def test_pagerank_is_that_of_networkx(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    size, edges = drawn
    theirs = networkx.DiGraph()
    theirs.add_nodes_from(range(size))
    theirs.add_edges_from((a, b) for a, b in edges if a != b)
    expected = networkx.pagerank(theirs, alpha=0.85, tol=1e-14, max_iter=2000)
    ours = pagerank(graph_of(size, edges))
    assert ours == pytest.approx([expected[n] for n in range(size)], abs=1e-10)
    assert ours.sum() == pytest.approx(1.0)


@settings(max_examples=long_form(20, 60), deadline=None)
@given(GRAPHS)
def test_url_ordering_rank_solves_its_equation(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    graph = graph_of(*drawn)
    moves = np.zeros((len(graph), len(graph)))
    moves[graph.targets, graph.sources] = 1.0 / graph.out_degree[graph.sources]
    expected = np.linalg.solve(np.eye(len(graph)) - 0.9 * moves, np.full(len(graph), 0.1))
    assert url_ordering_rank(graph) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=long_form(20, 60), deadline=None)
@given(GRAPHS)
def test_hubs_and_authorities_are_a_fixed_point(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    graph = graph_of(*drawn)
    links = np.zeros((len(graph), len(graph)))
    links[graph.sources, graph.targets] = 1.0
    found = hits(graph)
    if not len(graph.sources):
        assert not found.hubs.any()
        return
    strongest = np.linalg.norm(links, 2)  # the largest singular value
    assert links.T @ found.hubs == pytest.approx(strongest * found.authorities, abs=1e-4)
    assert links @ found.authorities == pytest.approx(strongest * found.hubs, abs=1e-4)


def test_the_worked_example_of_the_sheet(golden_public: Path) -> None:
    golden = json.loads(golden_public.read_text(encoding="utf-8"))
    graph = edge_graph(golden["inputs"]["PR_NODES"], map(tuple, golden["inputs"]["PR_EDGES"]))
    expected = golden["expected"]["pr"]
    assert by_name(graph, pagerank(graph)) == pytest.approx(expected["pr"], abs=2e-6)
    assert by_name(graph, url_ordering_rank(graph)) == pytest.approx(expected["cho"], abs=2e-6)
    assert by_name(graph, hits(graph).hubs) == pytest.approx(expected["hub"], abs=2e-6)
    assert by_name(graph, hits(graph).authorities) == pytest.approx(expected["auth"], abs=2e-6)
