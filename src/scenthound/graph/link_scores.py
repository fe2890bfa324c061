"""Scores of pages from their links: PageRank, HITS and the distiller.

PageRank (sheet 50.4): importance flows along links. Source: Page, Brin, Motwani and Winograd 1998; computed by power
iteration as in Haveliwala 1999. The rank of pages without links is spread over all pages, so that the ranks always sum
to 1.

HITS (sheet 50.5): good hubs link to good authorities, which are linked from good hubs. Source: Kleinberg 1999.

The distiller: Kleinberg's iteration on the links between different hosts, with endorsement flowing only through
relevant pages (sheet 30.3, after Chakrabarti et al. 1999). A link is weighted by the relevance of its target for
authorities, and by the relevance of its source for hubs:

    a(v) = Σ h(u) · R(v) over links u→v if R(v) > ρ, else 0        h(u) = Σ a(v) · R(u) over links u→v

Both are scaled to sum to 1 in every round. A round is two sums over the list of links, so only numpy is needed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from scenthound.graph.link_graph import LinkGraph, Numbers, Values, carried

LARGE = 1_000_000  # with more links than this, the sheet's looser 1e-8 saves a third of the rounds
# Of PageRank, only a damping like 0.999, which is not used in practice, needs more (28,000 for 1e-12); with two nearly
# equal communities, convergence of HITS can be arbitrarily slow.
MOST_ROUNDS = 10_000


def pagerank(graph: LinkGraph, damping: float = 0.85, tolerance: float | None = None) -> Values:
    """The rank of each page, by its number. Iterates until the L1 change is below `tolerance`.

    The default tolerance is 1e-12, or 1e-8 for graphs with more than a million links.
    """
    size = len(graph)
    if not size:
        return np.zeros(0)
    limit = tolerance if tolerance is not None else _tolerance(graph)
    link_counts = np.maximum(graph.out_degree, 1)
    is_dangling = graph.out_degree == 0
    rank = np.full(size, 1.0 / size)
    for _ in range(MOST_ROUNDS):
        dangling_rank = float(rank[is_dangling].sum())
        received = carried(graph.sources, graph.targets, rank / link_counts)
        new_rank = (1.0 - damping + damping * dangling_rank) / size + damping * received
        change = float(np.abs(new_rank - rank).sum())
        rank = new_rank
        if change < limit:
            break
    return rank


def url_ordering_rank(graph: LinkGraph, damping: float = 0.9, tolerance: float | None = None) -> Values:
    """PageRank as in Cho, Garcia-Molina and Page 1998: IR(p) = (1 − d) + d·Σ IR(q)/out(q), without redistribution."""
    size = len(graph)
    if not size:
        return np.zeros(0)
    limit = tolerance if tolerance is not None else _tolerance(graph)
    link_counts = np.maximum(graph.out_degree, 1)
    rank = np.ones(size)
    for _ in range(MOST_ROUNDS):
        new_rank = (1.0 - damping) + damping * carried(graph.sources, graph.targets, rank / link_counts)
        # These ranks sum to about the number of pages, so the change is per page: the same accuracy at any size.
        change = float(np.abs(new_rank - rank).sum()) / size
        rank = new_rank
        if change < limit:
            break
    return rank


def by_name(graph: LinkGraph, values: Values) -> dict[str, float]:
    """A mapping from the URL of each page to its value."""
    return dict(zip(graph.names, values.tolist(), strict=True))


def _tolerance(graph: LinkGraph) -> float:
    return 1e-12 if len(graph.sources) <= LARGE else 1e-8


class Hits(NamedTuple):
    """Hub and authority score of each page, by its number; vectors of length 1, or all 0 without links."""

    hubs: Values
    authorities: Values


def hits(graph: LinkGraph, tolerance: float = 1e-12) -> Hits:
    """a = Σ hubs linking in, h = Σ authorities linked to, each L2-normalised per half step, both starting at 1.

    Stops when neither vector changes by `tolerance` (largest change of a page).
    """
    size = len(graph)
    hubs, authorities = np.ones(size), np.ones(size)
    for _ in range(MOST_ROUNDS if size else 0):
        new_authorities = _unit(carried(graph.sources, graph.targets, hubs))
        new_hubs = _unit(carried(graph.targets, graph.sources, new_authorities))
        change = max(float(np.abs(new_authorities - authorities).max()), float(np.abs(new_hubs - hubs).max()))
        hubs, authorities = new_hubs, new_authorities
        if change < tolerance:
            break
    return Hits(hubs, authorities)


def _unit(values: Values) -> Values:
    length = float(np.linalg.norm(values))
    return values / length if length else values


ROUNDS = 50
TOLERANCE = 1e-12


class Distilled(NamedTuple):
    """Hub and authority score of each page, by its number; each sums to 1, or is all 0 if nothing is endorsed."""

    hubs: Values
    authorities: Values


def across_hosts(graph: LinkGraph, hosts: Numbers) -> LinkGraph:
    """The graph without links inside a host. `hosts` contains the number of each page's host."""
    keep = hosts[graph.sources] != hosts[graph.targets]
    return LinkGraph(graph.names, graph.sources[keep], graph.targets[keep])


def distil(across: LinkGraph, relevance: Values, rho: float = 0.1, rounds: int = ROUNDS) -> Distilled:
    """Iterate from hub scores of 1 until both vectors together change by less than 1e-12, at most `rounds` times."""
    endorsed = np.where(relevance > rho, relevance, 0.0)
    hubs, authorities = np.ones(len(across)), np.zeros(len(across))
    for _ in range(rounds):
        new_authorities = _shares(carried(across.sources, across.targets, hubs) * endorsed)
        new_hubs = _shares(carried(across.targets, across.sources, new_authorities) * relevance)
        change = float(np.abs(new_authorities - authorities).sum() + np.abs(new_hubs - hubs).sum())
        hubs, authorities = new_hubs, new_authorities
        if change < TOLERANCE:
            break
    return Distilled(hubs, authorities)


def nearest_rank(values: Values, percentile: float) -> float | None:
    """ψ: the percentile, by nearest rank, of the positive values; None if no value is positive."""
    positive = np.sort(values[values > 0.0])
    if not len(positive):
        return None
    rank = max(1, math.ceil(round(percentile / 100.0 * len(positive), 9)))
    return float(positive[rank - 1])


def endorsements(across: LinkGraph, hubs: Values, psi: float) -> list[tuple[int, int]]:
    """Pages that a hub with a score of at least ψ links to across hosts, each with the best such hub; best hubs first.

    A hub may be below ψ by a rounding error. If several hubs are equal, the first is taken.
    """
    is_endorsed = hubs[across.sources] >= psi * (1.0 - 1e-9)
    sources, targets = across.sources[is_endorsed], across.targets[is_endorsed]
    best_hubs: dict[int, int] = {}
    for index in np.lexsort((targets, sources, -hubs[sources])).tolist():
        best_hubs.setdefault(int(targets[index]), int(sources[index]))
    return list(best_hubs.items())


def _shares(values: Values) -> Values:
    total = float(values.sum())
    return values / total if total > 0.0 else values
