"""The distiller during a crawl: a growing link graph with relevances, and the pages that its hubs promote.

Used by `focused-soft` and `focused-hard` (sheet 30.3).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from scenthound import url as urls
from scenthound.graph.crawl_graph import GrowingGraph
from scenthound.graph.distiller import across_hosts, distil, endorsements, nearest_rank
from scenthound.model import Url
from scenthound.page.page import Page

MOST_LINKS = 5_000_000  # 16 bytes each, plus a few hundred bytes per URL


class PromotedPage(NamedTuple):
    """An unvisited page that a good hub links to, with its new relevance."""

    url: Url
    relevance: float
    hub: float
    parent: Url
    depth: int


class Distillation:
    """The links and the relevance of all pages read, up to `most` links.

    The relevance of an unread page is the largest relevance of a page that links to it.
    """

    def __init__(self, most: int = MOST_LINKS) -> None:
        self._graph = GrowingGraph(most)
        self._relevance = array("d")
        self._depths = array("q")
        self._hosts = array("q")
        self._host_numbers: dict[str, int] = {}
        self._visited: set[int] = set()

    @property
    def pages(self) -> int:
        """How many pages were read."""
        return len(self._visited)

    def read(self, page: Page, relevance: float) -> None:
        node = self._add(page.url)
        self._visited.add(node)
        self._relevance[node], self._depths[node] = relevance, page.candidate.depth
        linked = []
        for link in page.outlinks if not self._graph.is_full else ():
            target = self._add(link.url)
            linked.append(target)
            if target not in self._visited and self._relevance[target] < relevance:
                self._relevance[target] = relevance
        self._graph.link(node, linked)

    def miss(self, url: Url) -> None:
        node = self._graph.number(url)
        if node is not None and node not in self._visited:
            self._graph.dead.add(node)

    def _add(self, url: Url) -> int:
        """The node of a URL, added to the graph if it is new."""
        node = self._graph.add(url)
        if node == len(self._relevance):
            self._relevance.append(0.0)
            self._depths.append(0)
            self._hosts.append(self._host_numbers.setdefault(urls.host(url), len(self._host_numbers)))
        return node

    def promoted(self, rho: float, percentile: float, promote: str = "hubs") -> list[PromotedPage]:
        """Run the distiller and return every unvisited page that one of the best hubs links to.

        With `hubs`, links within a host count too, and a page gets the relevance h(its best hub) / largest h. With
        `links`, only links between hosts count, and the relevance is 1. `both` takes the larger.
        """
        graph, nodes = self._graph.graph()
        relevance = np.array(self._relevance)[nodes]
        across = across_hosts(graph, np.array(self._hosts)[nodes])
        hubs, _ = distil(across, relevance, rho)
        psi = nearest_rank(hubs, percentile)
        if psi is None:
            return []
        best = float(hubs.max())
        chosen: dict[int, tuple[int, float]] = {}  # by page: the best hub that links to it, and the page's relevance
        if promote != "links":
            chosen |= {page: (hub, float(hubs[hub]) / best) for page, hub in endorsements(graph, hubs, psi)}
        if promote != "hubs":
            chosen |= {page: (hub, 1.0) for page, hub in endorsements(across, hubs, psi)}
        promotions = []
        for page, (hub, new_relevance) in chosen.items():
            node, parent = int(nodes[page]), int(nodes[hub])
            if node in self._visited:
                continue
            self._relevance[node] = max(self._relevance[node], new_relevance)
            depth = self._depths[parent] + 1
            promotions.append(
                PromotedPage(Url(graph.names[page]), new_relevance, float(hubs[hub]), Url(graph.names[hub]), depth)
            )
        return promotions

    def save(self) -> dict[str, Any]:
        """The state as plain JSON and arrays."""
        return {
            "graph": self._graph.save(),
            "relevance": np.array(self._relevance),
            "depths": np.array(self._depths, dtype=np.int64),
            "visited": np.array(sorted(self._visited), dtype=np.int64),
        }

    @classmethod
    def load(cls, state: Mapping[str, Any], most: int = MOST_LINKS) -> Distillation:
        distillation = cls(most)
        graph = GrowingGraph.load(state["graph"], most)
        for name in graph.names:
            distillation._add(Url(name))
        distillation._graph = graph
        distillation._relevance = array("d", np.asarray(state["relevance"]).tolist())
        distillation._depths = array("q", np.asarray(state["depths"]).tolist())
        distillation._visited = set(np.asarray(state["visited"]).tolist())
        return distillation
