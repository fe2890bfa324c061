"""Clustering coefficients of undirected link graphs: plain, within a set of pages, generalised (sheets 50.1, 50.3); and
community mining with them on a graph that is known in full (sheet 50.2).

`NeighbourGraph` is the undirected simple graph that a crawl knows. It grows page by page. Neighbours are in hash sets,
so a pair of pages is tested in constant time, and the time for the coefficient of a page is at most the square of its
degree, in practice the sum over its neighbours of the smaller of two degrees.

Sources: Watts and Strogatz 1998 for the coefficient; Cami and Deo [GRAPH] for its use in subgraphs, for C^(k) and for
the alliance coefficient.

`mine` applies the rule of CC-BFS:

    u joins S if max(C0(u), C1(u)) > C2(u)

    C(u)  = linked pairs of u's neighbours / all pairs of them; with several weights C^(k) of sheet 50.3
    C0    in S and u        C1 in N1, the neighbours of S        C2 in N2 and u; N2 are the further neighbours of N1

Cami and Deo, "A greedy community-mining algorithm based on clustering coefficient" (2005), as [GRAPH] repeats it: the
seeds count as linked with one another, a node that does not join is rejected for good, and mining ends when no node is
left or enough have joined. `papers/cc_bfs.py` has the same rule for a crawler, which sees only links of fetched
pages.

Ours, as in `cc_bfs`: nodes are judged `step` at a time, by C0 and then in the order of the graph (0: all of N1 at
once). If a whole level is rejected, `relax` lets nodes with equality join.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from scenthound.graph.link_graph import Numbers
from scenthound.model import Candidate

MOST_LINKS = 4_000_000  # about 0.9 GB with their pages: 1,000,000 links of 420,000 pages took 229 MB


class NeighbourGraph:
    """Pages by number, in the order they were added, and which of them are linked, in either direction.

    Self-links and repeated links do not count. When the graph `is_full`, with `most` links, callers add no more pages,
    so memory is bounded whatever the web does.
    """

    def __init__(self, most: int = MOST_LINKS) -> None:
        self.most = most
        self.count = 0
        """The number of links, not counting those within the clique."""
        self.names: list[str] = []
        """The URL under which each page was added, by its number."""
        self.clique: set[int] = set()
        """Pages that count as linked with one another, without a stored link for each pair (the seeds in [GRAPH])."""
        self._numbers: dict[str, int] = {}
        # Most pages of a crawl have one neighbour: a bare number takes 200 bytes less than a set with one member.
        self._neighbours: list[int | set[int]] = []

    def __len__(self) -> int:
        return len(self.names)

    @property
    def is_full(self) -> bool:
        return self.count >= self.most

    def number(self, name: str) -> int | None:
        """The number of a page; None if it is unknown."""
        return self._numbers.get(name)

    def add(self, name: str) -> int:
        """The number of a page; a new page gets the next one."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
            self._neighbours.append(set())
        return number

    def connect(self, node: int, other: int) -> bool:
        """Record that two pages are linked. Returns False if that was already known, or if they are the same page."""
        if node == other or self.has(node, other):
            return False
        self._add(node, other)
        self._add(other, node)
        self.count += 1
        return True

    def has(self, node: int, other: int) -> bool:
        neighbours = self._neighbours[node]
        return other == neighbours if isinstance(neighbours, int) else other in neighbours

    def neighbours(self, number: int) -> Set[int]:
        """The pages that a page is linked with, not counting links within the clique. Must not be modified."""
        neighbours = self._neighbours[number]
        return {neighbours} if isinstance(neighbours, int) else neighbours

    def degree(self, number: int) -> int:
        neighbours = self._neighbours[number]
        return 1 if isinstance(neighbours, int) else len(neighbours)

    def merge(self, alias: int, into: int) -> None:
        """Treat two URLs as one page: the links of `alias` become links of `into`."""
        for other in list(self.neighbours(alias)):
            self._remove(other, alias)
            self.count -= 1
            self.connect(other, into)
        self._neighbours[alias] = set()
        if alias in self.clique:
            self.clique.remove(alias)
            self.clique.add(into)
        self._numbers[self.names[alias]] = into

    def _add(self, node: int, other: int) -> None:
        neighbours = self._neighbours[node]
        if isinstance(neighbours, int):
            self._neighbours[node] = {neighbours, other}
        elif neighbours:
            neighbours.add(other)
        else:
            self._neighbours[node] = other

    def _remove(self, node: int, other: int) -> None:
        neighbours = self._neighbours[node]
        if isinstance(neighbours, int):
            self._neighbours[node] = set()
        else:
            neighbours.discard(other)

    def save(self) -> dict[str, Any]:
        """The state as JSON values and arrays."""
        size = len(self)
        sources = np.repeat(np.arange(size), [self.degree(number) for number in range(size)])
        targets = np.fromiter(chain.from_iterable(map(self.neighbours, range(size))), np.int64, len(sources))
        keys = np.sort((sources * size + targets)[sources < targets])
        moved = {name: number for name, number in self._numbers.items() if self.names[number] != name}
        return {
            "names": list(self.names),
            "ties": np.stack([keys // max(size, 1), keys % max(size, 1)], axis=1),
            "clique": as_numbers(sorted(self.clique)),
            "moved": moved,
        }

    @classmethod
    def load(cls, state: Mapping[str, Any], most: int = MOST_LINKS) -> NeighbourGraph:
        graph = cls(most)
        for name in state["names"]:
            graph.add(name)
        for node, other in state["ties"].tolist():
            graph.connect(node, other)
        graph.clique = set(state["clique"].tolist())
        graph._numbers.update(state["moved"])
        return graph


def neighbour_graph(edges: Iterable[tuple[str, str]]) -> NeighbourGraph:
    """The graph of a list of links, pages numbered in order of first occurrence."""
    graph = NeighbourGraph()
    for source, other in edges:
        graph.connect(graph.add(source), graph.add(other))
    return graph


def clustering(graph: NeighbourGraph, number: int, among: Set[int] | None = None) -> float:
    """C(u): the share of pairs of neighbours that are linked; 0 with fewer than two neighbours.

    `among` is the node set X of sheet 50.1: only the subgraph induced by X and u is counted.
    """
    return linked_share(graph, _next_to(graph, number, among))


def ring_shares(graph: NeighbourGraph, number: int, k: int, among: Set[int] | None = None) -> list[float]:
    """f_1 … f_k: the share of linked pairs among the pages at distance exactly i, measured within the subgraph."""
    ring = _next_to(graph, number, among)
    visited = {number} | ring
    shares = [linked_share(graph, ring)]
    while len(shares) < k and ring:
        ring = _beyond(graph, ring, visited, among)
        visited |= ring
        shares.append(linked_share(graph, ring))
    return shares + [0.0] * (k - len(shares))


def generalised(graph: NeighbourGraph, number: int, weights: Sequence[float], among: Set[int] | None = None) -> float:
    """C^(k)(u) = Σ w_i f_i, k being the number of weights; C(u) for the single weight 1."""
    if len(weights) == 1:
        return weights[0] * clustering(graph, number, among)
    shares = ring_shares(graph, number, len(weights), among)
    return math.fsum(weight * share for weight, share in zip(weights, shares, strict=True))


class Alliance(NamedTuple):
    """How much a page belongs to the topic, judging by its neighbours."""

    ratio: float
    """On-topic neighbours divided by the others: infinite if there are no others, 0 if none is on topic."""
    share: float
    """On-topic neighbours divided by all neighbours: orders pages like `ratio`, from 0 to 1."""


def alliance(graph: NeighbourGraph, number: int, on_topic: Collection[int]) -> Alliance:
    """The alliance coefficient of a page (sheet 50.3); 0 for a page without neighbours."""
    neighbours = graph.neighbours(number)
    return alliance_of(sum(1 for neighbour in neighbours if neighbour in on_topic), len(neighbours))


def alliance_of(on_topic: int, neighbours: int) -> Alliance:
    """The alliance coefficient from counts."""
    if not on_topic:
        return Alliance(0.0, 0.0)
    rest = neighbours - on_topic
    return Alliance(on_topic / rest if rest else math.inf, on_topic / neighbours)


def linked_share(graph: NeighbourGraph, nodes: Set[int]) -> float:
    """The share of pairs of these pages that are linked; 0 with fewer than two pages."""
    size = len(nodes)
    return 2.0 * linked_pairs(graph, nodes) / (size * (size - 1)) if size > 1 else 0.0


def linked_pairs(graph: NeighbourGraph, nodes: Set[int]) -> int:
    """The number of linked pairs among these pages. A page takes min(degree, `len(nodes)`) steps."""
    in_clique = nodes & graph.clique
    others = nodes - in_clique if in_clique else nodes
    ends = sum(_links_into(graph, node, nodes) for node in others)
    ends += sum(_links_into(graph, node, others) for node in in_clique)
    return ends // 2 + len(in_clique) * (len(in_clique) - 1) // 2


def _links_into(graph: NeighbourGraph, number: int, nodes: Set[int]) -> int:
    neighbours = graph._neighbours[number]
    return neighbours in nodes if isinstance(neighbours, int) else len(neighbours & nodes)


def _next_to(graph: NeighbourGraph, number: int, among: Set[int] | None) -> Set[int]:
    neighbours = graph.neighbours(number)
    if number in graph.clique:
        neighbours = neighbours | graph.clique
    neighbours = neighbours if among is None else neighbours & among
    return neighbours - {number} if number in neighbours else neighbours


def _beyond(graph: NeighbourGraph, ring: Set[int], visited: Set[int], among: Set[int] | None) -> set[int]:
    """The pages one step beyond the ring, within `among`."""
    beyond: set[int] = set()
    for number in ring:
        near = graph.neighbours(number)
        beyond |= near if among is None else near & among
    if not ring.isdisjoint(graph.clique):
        beyond |= graph.clique if among is None else graph.clique & among
    return beyond - visited


def redirected_node(candidate: Candidate, node: int, nodes: int) -> int | None:
    """The node that a candidate was offered for (`carry`), if a redirect led to the page of another one, `node`."""
    requested: Any = candidate.carry.get("node")
    is_known = isinstance(requested, int) and 0 <= requested < nodes
    return requested if is_known and requested != node else None


def as_numbers(values: Iterable[Any]) -> Numbers:
    """Integers as an array, for saving."""
    return np.array(list(values), dtype=np.int64)


DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Community:
    """The result of `mine`: members in the order of joining, seeds first; rejected nodes; the number of steps."""

    members: tuple[str, ...]
    rejected: tuple[str, ...]
    steps: int


def mine(
    graph: NeighbourGraph,
    seeds: Sequence[str],
    weights: Sequence[float] = (1.0,),
    step: int = 0,
    wanted: int = 0,
    relax: bool = True,
) -> Community:
    """Find the community of some seeds. Raises `KeyError` for a seed that is not in the graph."""
    members = dict.fromkeys(_number(graph, seed) for seed in seeds)
    rejected: dict[int, None] = {}
    before, graph.clique = graph.clique, set(members)
    try:
        steps = 0
        while not wanted or len(members) < wanted:
            near = _around(graph, members, members.keys() | rejected.keys())
            if not near:
                break
            steps += 1
            joined, chosen = _judged(graph, members.keys(), near, rejected.keys(), weights, step, relax)
            members |= dict.fromkeys(joined[: wanted - len(members)] if wanted else joined)
            rejected |= dict.fromkeys(node for node in chosen if node not in members)
            if not joined and not step:
                break
    finally:
        graph.clique = before
    return Community(tuple(graph.names[node] for node in members), tuple(graph.names[node] for node in rejected), steps)


def _judged(
    graph: NeighbourGraph,
    members: Set[int],
    near: Set[int],
    rejected: Set[int],
    weights: Sequence[float],
    step: int,
    relax: bool,
) -> tuple[list[int], list[int]]:
    """The next `step` nodes: first those that join, then all of them."""
    inner = {node: round(generalised(graph, node, weights, members), DECIMALS) for node in near}
    chosen = sorted(near, key=lambda node: (-inner[node], node))[: step or None]
    beyond = _around(graph, chosen, members | near | rejected)
    margins = {}
    for node in chosen:
        level = round(generalised(graph, node, weights, near), DECIMALS)
        margins[node] = max(inner[node], level) - round(generalised(graph, node, weights, beyond), DECIMALS)
    joined = [node for node in chosen if margins[node] > 0.0]
    if not joined and relax and not step:
        joined = [node for node in chosen if margins[node] >= 0.0]
    return joined, chosen


def _around(graph: NeighbourGraph, nodes: Iterable[int], without: Set[int]) -> set[int]:
    around: set[int] = set()
    for node in nodes:
        around |= graph.neighbours(node)
    return around - without


def _number(graph: NeighbourGraph, name: str) -> int:
    number = graph.number(name)
    if number is None:
        raise KeyError(name)
    return number
