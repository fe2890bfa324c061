"""PageRank (sheet 50.4): importance flows along links.

Source: Page, Brin, Motwani and Winograd 1998; computed by power iteration as in Haveliwala 1999. The rank of pages
without links is spread over all pages, so that the ranks always sum to 1.
"""

from __future__ import annotations

import numpy as np

from scenthound.graph.link_graph import LinkGraph, Values, carried

LARGE = 1_000_000  # with more links than this, the sheet's looser 1e-8 saves a third of the rounds
MOST_ROUNDS = 10_000  # only a damping like 0.999, which is not used in practice, needs more (28,000 for 1e-12)


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
