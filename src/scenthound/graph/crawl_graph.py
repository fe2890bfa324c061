"""The link graph of a running crawl: links are appended page by page, and a `LinkGraph` is made when needed.

Nodes are the pages crawled and the URLs that wait (sheet 50.6); what turned out to be dead is left out. Appending
a page costs its links; making the graph for a computation costs one pass over all links known.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from scenthound.graph.link_graph import LinkGraph, Numbers, numbered_graph

MOST_LINKS = 20_000_000  # 16 bytes each


class GrowingGraph:
    """Pages by number, in the order they were added, with the links of those that were read.

    Once `most` links are known no new pages are added.
    """

    def __init__(self, most: int = MOST_LINKS) -> None:
        self.most = most
        self.names: list[str] = []
        self.dead: set[int] = set()
        """Pages that are nodes no more: nobody waits for them, and they were never read."""
        self._numbers: dict[str, int] = {}
        self._sources = array("q")
        self._targets = array("q")

    def __len__(self) -> int:
        """How many nodes there are."""
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
        """Two URLs are one page: links to `alias`, earlier ones included, lead to `into`."""
        self.dead.add(alias)
        self._numbers[self.names[alias]] = into

    def graph(self) -> tuple[LinkGraph, Numbers]:
        """The graph of all nodes, numbered without gaps, and the number here of each."""
        alive = np.ones(len(self.names), dtype=bool)
        alive[list(self.dead)] = False
        places = np.flatnonzero(alive)
        new = np.cumsum(alive) - 1
        sources, targets = np.array(self._sources, dtype=np.int64), np.array(self._targets, dtype=np.int64)
        if self.dead:
            sources, targets = self._led(sources), self._led(targets)
            kept = alive[sources] & alive[targets]
            sources, targets = sources[kept], targets[kept]
            names = [self.names[index] for index in places.tolist()]
        else:
            names = self.names
        return numbered_graph(names, new[sources], new[targets]), places

    def _led(self, numbers: Numbers) -> Numbers:
        """The current numbers of pages; an alias is replaced by its page."""
        leads = np.arange(len(self.names))
        moved = [number for number in self.dead if self._numbers[self.names[number]] != number]
        leads[moved] = [self._numbers[self.names[number]] for number in moved]
        return leads[numbers]

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
        made = cls(most)
        for name in state["names"]:
            made.add(name)
        made._numbers.update(state["moved"])
        made._sources.extend(state["sources"].tolist())
        made._targets.extend(state["targets"].tolist())
        made.dead = set(state["dead"].tolist())
        return made
