"""The link graph: pages as numbers, links as two arrays; and the graph of a running crawl, from which it is made.

Repeated links count once and self-links not at all (sheet 50), here and therefore in everything that is computed from
the graph. It needs only numpy, so strategies can use it.

The nodes of a `CrawlGraph` are the crawled pages and the waiting URLs (sheet 50.6), without dead ones. Appending a page
takes time proportional to its links; making the graph takes one pass over all known links.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinkGraph:
    """Pages `0 … n-1` and the distinct links among them, sorted by source and then by target."""

    names: Sequence[str]
    """The URL of each page, by its number."""
    sources: Numbers
    targets: Numbers

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each page, by its URL."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def out_degree(self) -> Numbers:
        return np.bincount(self.sources, minlength=len(self)).astype(np.int64)

    @cached_property
    def in_degree(self) -> Numbers:
        return np.bincount(self.targets, minlength=len(self)).astype(np.int64)

    def linked_from(self, name: str) -> list[str]:
        """The pages that `name` links to, in order of their numbers; none if it is unknown."""
        number = self.numbers.get(name)
        if number is None:
            return []
        begin, end = np.searchsorted(self.sources, [number, number + 1])
        return [self.names[target] for target in self.targets[begin:end]]

    def back_links(self, name: str, limit: int | None = None) -> list[str]:
        """The pages that link to `name`, in the fixed order of sheet 60.1; none if it is unknown.

        The order is by descending in-degree of the linking page, then by URL: a substitute for a search engine's order.
        """
        number = self.numbers.get(name)
        if number is None:
            return []
        starts, order, rank = self._reversed
        sources = order[starts[number] : starts[number + 1]]
        best = sources[np.argsort(rank[sources])][:limit]
        return [self.names[source] for source in best]

    @cached_property
    def _reversed(self) -> tuple[Numbers, Numbers, Numbers]:
        """Where each page's back-links start, all back-links, and the rank of each page in the fixed order."""
        order = self.sources[np.argsort(self.targets, kind="stable")]
        starts = np.concatenate(([0], np.cumsum(self.in_degree)))
        by_rank = sorted(range(len(self)), key=lambda page: (-int(self.in_degree[page]), self.names[page]))
        rank = np.empty(len(self), dtype=np.int64)
        rank[by_rank] = np.arange(len(self))
        return starts, order, rank


def link_graph(links: Mapping[str, Iterable[str]], closed: bool = False) -> LinkGraph:
    """The graph of `links` (page to the URLs it links to).

    Pages are numbered in order: all keys first, then the other URLs. `closed=True` keeps only links among the keys,
    which the evaluation of a pool needs (sheet 50.4).
    """
    numbers = {name: number for number, name in enumerate(links)}
    sources: list[int] = []
    targets: list[int] = []
    for source, linked in links.items():
        if closed:
            linked_numbers = [numbers[name] for name in linked if name in numbers]
        else:
            linked_numbers = [numbers.setdefault(name, len(numbers)) for name in linked]
        sources.extend(repeat(numbers[source], len(linked_numbers)))
        targets.extend(linked_numbers)
    return numbered_graph(list(numbers), sources, targets)


def edge_graph(names: Iterable[str], edges: Iterable[tuple[str, str]]) -> LinkGraph:
    """The graph of a list of links. Names that occur only in links are numbered after `names`."""
    numbers: dict[str, int] = {}
    for name in names:
        numbers.setdefault(name, len(numbers))
    pairs = [(numbers.setdefault(a, len(numbers)), numbers.setdefault(b, len(numbers))) for a, b in edges]
    return numbered_graph(list(numbers), [a for a, _ in pairs], [b for _, b in pairs])


def numbered_graph(names: Sequence[str], sources: ArrayLike, targets: ArrayLike) -> LinkGraph:
    """The graph of links given as page numbers: sorted, without repeated links and self-links."""
    size = max(len(names), 1)
    begins, ends = np.asarray(sources, dtype=np.int64), np.asarray(targets, dtype=np.int64)
    is_kept = begins != ends
    keys = np.sort(begins[is_kept] * size + ends[is_kept])
    keys = keys[np.diff(keys, prepend=-1) > 0]  # like `np.unique`, which takes 18 times as long (numpy 2.4)
    return LinkGraph(names, keys // size, keys % size)


def carried(begins: Numbers, ends: Numbers, values: Values) -> Values:
    """The sum that each page receives if page `p` sends `values[p]` along each of its links from `begins` to `ends`."""
    return np.bincount(ends, weights=values[begins], minlength=len(values)).astype(np.float64, copy=False)


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
