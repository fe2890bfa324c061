"""Community mining with CC-BFS on a graph that is known in full (sheet 50.2).

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

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from scenthound.papers.graph.clustering import NeighbourGraph, generalised

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
