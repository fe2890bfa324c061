"""The distiller during a crawl: the growing graph, what is known of each page, and the pages that hubs promote.

`focused-soft` and `focused-hard` use it.
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

MOST_LINKS = 5_000_000  # 16 bytes each, and a few hundred for every URL


class Promoted(NamedTuple):
    """An unvisited page that a good hub links to, and the relevance that it has from now on."""

    url: Url
    relevance: float
    hub: float
    parent: Url
    depth: int


class Distilling:
    """The links of all pages read, their relevance, and for other pages the largest relevance of a page that links to
    them. Beyond `most` links no more are taken in."""

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
        number = self._meet(page.url)
        self._visited.add(number)
        self._relevance[number], self._depths[number] = relevance, page.candidate.depth
        linked = []
        for link in page.outlinks if not self._graph.is_full else ():
            other = self._meet(link.url)
            linked.append(other)
            if other not in self._visited and self._relevance[other] < relevance:
                self._relevance[other] = relevance
        self._graph.link(number, linked)

    def miss(self, url: Url) -> None:
        number = self._graph.number(url)
        if number is not None and number not in self._visited:
            self._graph.dead.add(number)

    def _meet(self, url: Url) -> int:
        number = self._graph.add(url)
        if number == len(self._relevance):
            self._relevance.append(0.0)
            self._depths.append(0)
            self._hosts.append(self._host_numbers.setdefault(urls.host(url), len(self._host_numbers)))
        return number

    def promoted(self, rho: float, percentile: float, promote: str = "hubs") -> list[Promoted]:
        """Run the distiller and return every unvisited page that one of the best hubs links to.

        With `hubs` links within a host count too, and a page has the share of its best hub in the best of all; with
        `links` only links between hosts count, and all these pages have relevance 1; `both` takes the larger.
        """
        graph, places = self._graph.graph()
        relevance = np.array(self._relevance)[places]
        across = across_hosts(graph, np.array(self._hosts)[places])
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
        for page, (hub, relevance_now) in chosen.items():
            number, parent = int(places[page]), int(places[hub])
            if number in self._visited:
                continue
            self._relevance[number] = max(self._relevance[number], relevance_now)
            depth = self._depths[parent] + 1
            promotions.append(
                Promoted(Url(graph.names[page]), relevance_now, float(hubs[hub]), Url(graph.names[hub]), depth)
            )
        return promotions

    def save(self) -> dict[str, Any]:
        """Plain JSON and arrays."""
        return {
            "graph": self._graph.save(),
            "relevance": np.array(self._relevance),
            "depths": np.array(self._depths, dtype=np.int64),
            "visited": np.array(sorted(self._visited), dtype=np.int64),
        }

    @classmethod
    def load(cls, state: Mapping[str, Any], most: int = MOST_LINKS) -> Distilling:
        made = cls(most)
        graph = GrowingGraph.load(state["graph"], most)
        for name in graph.names:
            made._meet(Url(name))
        made._graph = graph
        made._relevance = array("d", np.asarray(state["relevance"]).tolist())
        made._depths = array("q", np.asarray(state["depths"]).tolist())
        made._visited = set(np.asarray(state["visited"]).tolist())
        return made
