"""HITS (sheet 50.5): good hubs link to good authorities, which are linked from good hubs.

Kleinberg 1999. The relevance-weighted form of the distiller is sheet 30's and lives with its crawler.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scenthound.graph.link_graph import LinkGraph, Values, carried

MOST_ROUNDS = 10_000  # two nearly equal communities converge as slowly as they like


class Hits(NamedTuple):
    """Hub and authority of each page, by its number; each of length 1 as a vector, or all 0 without links."""

    hubs: Values
    authorities: Values


def hits(graph: LinkGraph, tolerance: float = 1e-12) -> Hits:
    """a = Σ hubs linking in, h = Σ authorities linked to, each L2-normalised per half step, both starting at 1.

    Stops when neither vector changes by `tolerance` (largest change of a page).
    """
    size = len(graph)
    hubs, authorities = np.ones(size), np.ones(size)
    for _ in range(MOST_ROUNDS if size else 0):
        better = _unit(carried(graph.sources, graph.targets, hubs))
        richer = _unit(carried(graph.targets, graph.sources, better))
        change = max(float(np.abs(better - authorities).max()), float(np.abs(richer - hubs).max()))
        hubs, authorities = richer, better
        if change < tolerance:
            break
    return Hits(hubs, authorities)


def _unit(values: Values) -> Values:
    length = float(np.linalg.norm(values))
    return values / length if length else values
