"""Link distances in a bed: how far each page is from a set of pages."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from scenthound.graph.link_graph import LinkGraph, Numbers


class LinkWalk:
    """A link graph, prepared for walks from many starting pages."""

    def __init__(self, graph: LinkGraph) -> None:
        self.graph = graph
        self.starts: Numbers = np.concatenate(([0], np.cumsum(graph.out_degree))).astype(np.int64)

    def distances(self, seeds: Iterable[int], most: int | None = None) -> NDArray[np.int32]:
        """The smallest number of links from any seed to each page; -1 if there are more than `most`, or no path."""
        distances = np.full(len(self.graph), -1, dtype=np.int32)
        current = np.unique(np.array(list(seeds), dtype=np.int64))
        distance = 0
        while len(current):
            distances[current] = distance
            if distance == most:
                break
            is_next = np.zeros(len(self.graph), dtype=np.bool_)
            is_next[self.linked_from(current)] = True
            is_next &= distances < 0
            current = np.flatnonzero(is_next)
            distance += 1
        return distances

    def linked_from(self, pages: Numbers) -> Numbers:
        """The targets of all links of these pages; a page may occur several times."""
        begin, size = self.starts[pages], self.starts[pages + 1] - self.starts[pages]
        if not size.sum():
            return np.zeros(0, dtype=np.int64)
        before = np.cumsum(size) - size
        linked: Numbers = self.graph.targets[np.arange(size.sum()) - np.repeat(before - begin, size)]
        return linked
