"""Clustering coefficients against networkx and by hand, and the graph that grows with a crawl."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.graph.link_graph import GrowingGraph
from scenthound.graph.link_scores import pagerank
from scenthound.papers.parts.clustering import (
    Alliance,
    NeighbourGraph,
    alliance,
    alliance_of,
    clustering,
    generalised,
    linked_pairs,
    neighbour_graph,
    ring_shares,
)

SHEET = ["ua", "ub", "uc", "ab", "ad", "be", "cf", "de", "df"]
EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=50)
SOME = st.sets(st.integers(0, 11))


def made(edges: Sequence[tuple[int, int]], size: int = 12) -> NeighbourGraph:
    graph = NeighbourGraph()
    for number in range(size):
        graph.add(str(number))
    for one, other in edges:
        graph.connect(one, other)
    return graph


def as_networkx(edges: Sequence[tuple[int, int]], size: int = 12) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from((one, other) for one, other in edges if one != other)
    return graph


def rings_by_hand(graph: nx.Graph, number: int, k: int) -> list[float]:
    distances = nx.single_source_shortest_path_length(graph, number)
    shares = []
    for ring in range(1, k + 1):
        nodes = [one for one, distance in distances.items() if distance == ring]
        pairs = len(nodes) * (len(nodes) - 1) / 2
        shares.append(graph.subgraph(nodes).number_of_edges() / pairs if pairs else 0.0)
    return shares


def test_the_worked_numbers_of_the_sheet() -> None:
    graph = neighbour_graph((edge[0], edge[1]) for edge in SHEET)
    found = {name: clustering(graph, number) for number, name in enumerate(graph.names)}
    third = pytest.approx(1 / 3)
    assert found == {"u": third, "a": third, "b": third, "c": 0.0, "d": 0.0, "e": 0.0, "f": 0.0}
    assert ring_shares(graph, graph.add("u"), 2) == pytest.approx([1 / 3, 2 / 3])
    assert generalised(graph, graph.add("u"), [1.0, 0.5]) == pytest.approx(2 / 3)
    assert alliance(graph, graph.add("d"), {graph.add("a"), graph.add("e")}) == pytest.approx((2.0, 2 / 3))


@given(EDGES)
def test_the_coefficient_is_that_of_networkx(edges: list[tuple[int, int]]) -> None:
    graph, other = made(edges), as_networkx(edges)
    assert [clustering(graph, number) for number in range(12)] == pytest.approx(
        [nx.clustering(other, number) for number in range(12)]
    )


@given(EDGES, SOME, st.integers(0, 11))
def test_the_coefficient_within_a_set_is_that_of_the_induced_subgraph(
    edges: list[tuple[int, int]], among: set[int], number: int
) -> None:
    induced = as_networkx(edges).subgraph(among | {number})
    assert clustering(made(edges), number, among) == pytest.approx(nx.clustering(induced, number))


@given(EDGES, SOME, st.integers(0, 11), st.integers(1, 4))
def test_rings_are_measured_within_the_subgraph(
    edges: list[tuple[int, int]], among: set[int], number: int, k: int
) -> None:
    induced = as_networkx(edges).subgraph(among | {number})
    assert ring_shares(made(edges), number, k, among) == pytest.approx(rings_by_hand(induced, number, k))
    whole = as_networkx(edges)
    assert ring_shares(made(edges), number, k) == pytest.approx(rings_by_hand(whole, number, k))


@given(EDGES, SOME, SOME, st.integers(0, 11), st.integers(1, 3))
def test_a_clique_is_as_if_every_pair_of_it_were_linked(
    edges: list[tuple[int, int]], clique: set[int], among: set[int], number: int, k: int
) -> None:
    graph = made(edges)
    graph.clique = clique
    linked = [*edges, *((one, other) for one in clique for other in clique)]
    assert linked_pairs(graph, among) == as_networkx(linked).subgraph(among).number_of_edges()
    assert ring_shares(graph, number, k, among) == pytest.approx(ring_shares(made(linked), number, k, among))
    assert ring_shares(graph, number, k) == pytest.approx(ring_shares(made(linked), number, k))


@given(EDGES, SOME, st.integers(0, 11))
def test_with_one_ring_of_weight_one_the_generalised_coefficient_is_the_plain_one(
    edges: list[tuple[int, int]], among: set[int], number: int
) -> None:
    graph = made(edges)
    assert generalised(graph, number, [1.0], among) == clustering(graph, number, among)
    assert generalised(graph, number, [1.0, 0.0], among) == clustering(graph, number, among)


def test_a_random_graph_of_some_size() -> None:
    rng = random.Random(3)
    edges = [(rng.randrange(400), rng.randrange(400)) for _ in range(6000)]
    graph, other = made(edges, 400), as_networkx(edges, 400)
    assert graph.count == other.number_of_edges()
    assert [clustering(graph, number) for number in range(400)] == pytest.approx(
        [nx.clustering(other, number) for number in range(400)]
    )


def test_a_graph_of_one_node() -> None:
    graph = NeighbourGraph()
    only = graph.add("a")
    assert not graph.connect(only, only)
    assert clustering(graph, only) == 0.0
    assert ring_shares(graph, only, 3) == [0.0, 0.0, 0.0]
    assert alliance(graph, only, {only}) == Alliance(0.0, 0.0)
    graph.clique = {only}
    assert clustering(graph, only) == 0.0


def test_alliance_is_infinite_without_other_neighbours_and_zero_without_neighbours_on_topic() -> None:
    assert alliance_of(3, 3) == Alliance(math.inf, 1.0)
    assert alliance_of(0, 3) == Alliance(0.0, 0.0)
    assert alliance_of(0, 0) == Alliance(0.0, 0.0)
    assert alliance_of(1, 4) == Alliance(1 / 3, 0.25)


def test_a_page_with_a_hundred_thousand_links_is_fast() -> None:
    graph = NeighbourGraph()
    hub = graph.add("hub")
    for number in range(100_000):
        graph.connect(hub, graph.add(f"p{number}"))
    graph.connect(1, 2)
    assert clustering(graph, hub) == pytest.approx(2 / (100_000 * 99_999))
    assert clustering(graph, hub, {1, 2, 3}) == pytest.approx(1 / 3)
    assert clustering(graph, 1) == 1.0


def test_repeated_and_reverse_links_count_once() -> None:
    graph = NeighbourGraph()
    a, b = graph.add("a"), graph.add("b")
    assert graph.connect(a, b)
    assert not graph.connect(a, b)
    assert not graph.connect(b, a)
    assert (graph.count, graph.degree(a), graph.has(b, a)) == (1, 1, True)


@given(EDGES, st.integers(0, 11), st.integers(0, 11))
def test_merging_an_alias_moves_its_links_to_the_page(edges: list[tuple[int, int]], alias: int, into: int) -> None:
    if alias == into:
        return
    graph = made(edges)
    graph.merge(alias, into)
    named = [tuple(into if number == alias else number for number in edge) for edge in edges]
    right = made([(one, other) for one, other in named])
    assert [graph.neighbours(number) for number in range(12)] == [right.neighbours(number) for number in range(12)]
    assert graph.count == right.count
    assert graph.number(str(alias)) == into


def test_a_saved_graph_is_loaded_equal_and_memory_is_bounded() -> None:
    graph = neighbour_graph((edge[0], edge[1]) for edge in SHEET)
    graph.clique = {0, 1}
    graph.merge(6, 5)
    state = graph.save()
    again = NeighbourGraph.load(state, most=8)
    assert json.dumps(again.save(), default=np.ndarray.tolist) == json.dumps(state, default=np.ndarray.tolist)
    assert again.number("f") == graph.number("f")
    assert again.is_full
    assert not graph.is_full


def test_a_growing_graph_leaves_the_dead_out_and_follows_aliases() -> None:
    growing = GrowingGraph()
    a, b, c, d, e = (growing.add(name) for name in "abcde")
    growing.link(a, [b, c, d])
    growing.link(b, [e, a])
    growing.dead.add(c)
    growing.merge(e, d)  # e redirects to d
    graph, places = growing.graph()
    assert list(graph.names) == ["a", "b", "d"]
    assert places.tolist() == [a, b, d]
    assert list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 0), (1, 2)]
    assert len(growing) == 3
    again = GrowingGraph.load(growing.save())
    assert pagerank(again.graph()[0]).tolist() == pagerank(graph).tolist()
    assert (again.number("e"), again.dead, again.is_full) == (d, {c, e}, False)


def test_an_empty_growing_graph_is_a_graph() -> None:
    graph, places = GrowingGraph().graph()
    assert (len(graph), len(places)) == (0, 0)
