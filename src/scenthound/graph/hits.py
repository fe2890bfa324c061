"""HITS (sheet 50.5): good hubs link to good authorities, which are linked from good hubs.

Source: Kleinberg 1999. For the form that is weighted by relevance (sheet 30.3), see `distiller`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scenthound.graph.link_graph import LinkGraph, Values, carried

MOST_ROUNDS = 10_000  # with two nearly equal communities, convergence can be arbitrarily slow


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
