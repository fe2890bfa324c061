"""Hubs and authorities among relevant pages, and the pages that hubs endorse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.graph.link_graph import LinkGraph, edge_graph
from scenthound.graph.link_scores import Distilled, across_hosts, distil, endorsements, nearest_rank

edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25)
shares = st.lists(st.floats(0, 1), min_size=8, max_size=8)


def graph_of(pairs: list[tuple[int, int]]) -> LinkGraph:
    return edge_graph([str(n) for n in range(8)], [(str(a), str(b)) for a, b in pairs])


def defined(pairs: set[tuple[int, int]], relevance: list[float], rho: float, rounds: int) -> Distilled:
    """The sheet's formulas, link by link."""
    hubs, authorities = np.ones(8), np.zeros(8)
    for _ in range(rounds):
        better, richer = np.zeros(8), np.zeros(8)
        for u, v in pairs:
            better[v] += hubs[u] * relevance[v] if relevance[v] > rho else 0.0
        better = better / better.sum() if better.sum() else better
        for u, v in pairs:
            richer[u] += better[v] * relevance[u]
        richer = richer / richer.sum() if richer.sum() else richer
        change = np.abs(better - authorities).sum() + np.abs(richer - hubs).sum()
        hubs, authorities = richer, better
        if change < 1e-12:
            break
    return Distilled(hubs, authorities)


@given(pairs=edges, relevance=shares, hosts=st.lists(st.integers(0, 2), min_size=8, max_size=8))
@settings(deadline=None)
def test_the_distiller_follows_the_formulas(
    pairs: list[tuple[int, int]], relevance: list[float], hosts: list[int]
) -> None:
    across = across_hosts(graph_of(pairs), np.array(hosts))
    kept = {(a, b) for a, b in pairs if hosts[a] != hosts[b]}
    for rounds in (1, 7):
        found = distil(across, np.array(relevance), 0.1, rounds)
        right = defined(kept, relevance, 0.1, rounds)
        assert found.hubs == pytest.approx(right.hubs, abs=1e-9)
        assert found.authorities == pytest.approx(right.authorities, abs=1e-9)


def test_an_empty_graph_is_distilled_to_nothing() -> None:
    for pairs in ([], [(0, 1)]):
        found = distil(graph_of(pairs), np.zeros(8))
        assert not found.hubs.any()
        assert nearest_rank(found.hubs, 90) is None
    assert len(distil(edge_graph([], []), np.zeros(0)).hubs) == 0


@pytest.mark.parametrize(
    ("percentile", "right"), [(0, 1.0), (10, 1.0), (11, 2.0), (50, 5.0), (90, 9.0), (91, 10.0), (100, 10.0)]
)
def test_a_percentile_by_nearest_rank(percentile: float, right: float) -> None:
    assert nearest_rank(np.array([0.0, 0.0, *range(10, 0, -1)]), percentile) == right


def test_a_page_is_promoted_by_the_best_hub_that_links_to_it() -> None:
    graph = graph_of([(0, 4), (0, 5), (1, 4), (1, 6), (2, 7)])
    hubs = np.array([0.5, 0.3, 0.2, 0, 0, 0, 0, 0])
    assert endorsements(graph, hubs, 0.3) == [(4, 0), (5, 0), (6, 1)]
    assert endorsements(graph, hubs, 0.5) == [(4, 0), (5, 0)]
