"""The distiller: hubs and authorities of the crawled graph, with endorsement flowing only through relevant pages.

This is Kleinberg's iteration on the links between different hosts (sheet 30.3, after Chakrabarti et al. 1999). A link
is weighted by the relevance of its target for authorities, and by the relevance of its source for hubs:

    a(v) = Σ h(u) · R(v) over links u→v if R(v) > ρ, else 0        h(u) = Σ a(v) · R(u) over links u→v

Both are scaled to sum to 1 in every round. A round is two sums over the list of links, so only numpy is needed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from scenthound.graph.link_graph import LinkGraph, Numbers, Values, carried

MOST_ROUNDS = 50
TOLERANCE = 1e-12


class Distilled(NamedTuple):
    """Hub and authority score of each page, by its number; each sums to 1, or is all 0 if nothing is endorsed."""

    hubs: Values
    authorities: Values


def across_hosts(graph: LinkGraph, hosts: Numbers) -> LinkGraph:
    """The graph without links inside a host. `hosts` contains the number of each page's host."""
    keep = hosts[graph.sources] != hosts[graph.targets]
    return LinkGraph(graph.names, graph.sources[keep], graph.targets[keep])


def distil(across: LinkGraph, relevance: Values, rho: float = 0.1, rounds: int = MOST_ROUNDS) -> Distilled:
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
