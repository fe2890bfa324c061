"""PageRank (sheet 50.4): importance flows along links; a page without links shares its rank among all pages.

Page, Brin, Motwani and Winograd 1998; computed by power iteration as in Haveliwala 1999. The rank of
pages without out-links is spread over all pages, so that the ranks always sum to 1.
"""

from __future__ import annotations

import numpy as np

from scenthound.graph.link_graph import LinkGraph, Values, carried

LARGE = 1_000_000  # links: beyond, the sheet's looser 1e-8 saves a third of the rounds
MOST_ROUNDS = 10_000  # 0.999 as damping needs 28,000 for 1e-12; nobody uses it, and no loop runs for ever


def pagerank(graph: LinkGraph, damping: float = 0.85, tolerance: float | None = None) -> Values:
    """The rank of each page, by its number. Iterates until the L1 change is below `tolerance`.

    The tolerance is 1e-12, or 1e-8 on graphs of more than a million links, unless given.
    """
    size = len(graph)
    if not size:
        return np.zeros(0)
    limit = tolerance if tolerance is not None else _tolerance(graph)
    ways = np.maximum(graph.out_degree, 1)
    dangling = graph.out_degree == 0
    rank = np.full(size, 1.0 / size)
    for _ in range(MOST_ROUNDS):
        lost = float(rank[dangling].sum())
        new = (1.0 - damping + damping * lost) / size + damping * carried(graph.sources, graph.targets, rank / ways)
        change = float(np.abs(new - rank).sum())
        rank = new
        if change < limit:
            break
    return rank


def url_ordering_rank(graph: LinkGraph, damping: float = 0.9, tolerance: float | None = None) -> Values:
    """The form of Cho, Garcia-Molina and Page 1998: IR(p) = (1 − d) + d·Σ IR(q)/out(q), nothing redistributed."""
    size = len(graph)
    if not size:
        return np.zeros(0)
    limit = tolerance if tolerance is not None else _tolerance(graph)
    ways = np.maximum(graph.out_degree, 1)
    rank = np.ones(size)
    for _ in range(MOST_ROUNDS):
        new = (1.0 - damping) + damping * carried(graph.sources, graph.targets, rank / ways)
        # These ranks sum to about the number of pages, so the change is taken per page: the same care at any size.
        change = float(np.abs(new - rank).sum()) / size
        rank = new
        if change < limit:
            break
    return rank


def by_name(graph: LinkGraph, values: Values) -> dict[str, float]:
    """The values by URL."""
    return dict(zip(graph.names, values.tolist(), strict=True))


def _tolerance(graph: LinkGraph) -> float:
    return 1e-12 if len(graph.sources) <= LARGE else 1e-8
