"""The link graph of a running crawl: links are appended page by page, and a `LinkGraph` is made when needed.

Nodes are the crawled pages and the waiting URLs (sheet 50.6), without dead ones. Appending a page takes time
proportional to its links; making the graph takes one pass over all known links.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from scenthound.graph.link_graph import LinkGraph, Numbers, numbered_graph

MOST_LINKS = 20_000_000  # 16 bytes each


class GrowingGraph:
    """Pages by number, in the order they were added, with the links of the pages that were read.

    When the graph `is_full`, with `most` links, callers add no more pages.
    """

    def __init__(self, most: int = MOST_LINKS) -> None:
        self.most = most
        self.names: list[str] = []
        self.dead: set[int] = set()
        """Pages that are no longer nodes, because they no longer wait and were never read."""
        self._numbers: dict[str, int] = {}
        self._sources = array("q")
        self._targets = array("q")

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.names) - len(self.dead)

    @property
    def is_full(self) -> bool:
        return len(self._sources) >= self.most

    def number(self, name: str) -> int | None:
        return self._numbers.get(name)

    def add(self, name: str) -> int:
        """The number of a page; a new page gets the next one."""
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    def link(self, source: int, targets: Iterable[int]) -> None:
        """Add the links of a page, each target once; call it once per page."""
        before = len(self._targets)
        self._targets.extend(targets)
        self._sources.extend([source] * (len(self._targets) - before))

    def merge(self, alias: int, into: int) -> None:
        """Treat two URLs as one page: links to `alias`, including earlier ones, lead to `into`."""
        self.dead.add(alias)
        self._numbers[self.names[alias]] = into

    def graph(self) -> tuple[LinkGraph, Numbers]:
        """The graph of all nodes, numbered without gaps, and the number of each node in this object."""
        is_alive = np.ones(len(self.names), dtype=bool)
        is_alive[list(self.dead)] = False
        old_numbers = np.flatnonzero(is_alive)
        new_numbers = np.cumsum(is_alive) - 1
        sources, targets = np.array(self._sources, dtype=np.int64), np.array(self._targets, dtype=np.int64)
        if self.dead:
            sources, targets = self._current(sources), self._current(targets)
            is_kept = is_alive[sources] & is_alive[targets]
            sources, targets = sources[is_kept], targets[is_kept]
            names = [self.names[index] for index in old_numbers.tolist()]
        else:
            names = self.names
        return numbered_graph(names, new_numbers[sources], new_numbers[targets]), old_numbers

    def _current(self, numbers: Numbers) -> Numbers:
        """The current numbers of pages; an alias is replaced by its page."""
        current = np.arange(len(self.names))
        aliases = [number for number in self.dead if self._numbers[self.names[number]] != number]
        current[aliases] = [self._numbers[self.names[number]] for number in aliases]
        return current[numbers]

    def save(self) -> dict[str, Any]:
        """The state as JSON values and arrays."""
        return {
            "names": list(self.names),
            "sources": np.array(self._sources, dtype=np.int64),
            "targets": np.array(self._targets, dtype=np.int64),
            "dead": np.array(sorted(self.dead), dtype=np.int64),
            "moved": {name: number for name, number in self._numbers.items() if self.names[number] != name},
        }

    @classmethod
    def load(cls, state: Mapping[str, Any], most: int = MOST_LINKS) -> GrowingGraph:
        graph = cls(most)
        for name in state["names"]:
            graph.add(name)
        graph._numbers.update(state["moved"])
        graph._sources.extend(state["sources"].tolist())
        graph._targets.extend(state["targets"].tolist())
        graph.dead = set(state["dead"].tolist())
        return graph
