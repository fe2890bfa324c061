"""PageRank as crawl order: the waiting URL with the largest PageRank on the graph known so far (sheet 50.6).

    PR(p) = (1 - d)/N + d Σ PR(q)/out(q)     over the pages q that link to p; pages without links pass their rank to all
    IR(p) = (1 - d)   + d Σ IR(q)/out(q)     with form="cho", the paper's formula; the paper used d = 0.9

Cho, Garcia-Molina and Page 1998, "Efficient crawling through URL ordering". The graph has the links of all crawled
pages; its N nodes are these pages and the waiting URLs. Seeds come first; among equal ranks, the URL discovered first.

Ours, as the sheet decides: ranks are recomputed every `every` pages (1 keeps them current, at the price of one
computation per page); a URL discovered in between gets the rank of a page that nothing links to. Once `memory` links
are known, no more are remembered.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from scenthound.graph.link_graph import MOST_LINKS, GrowingGraph
from scenthound.graph.link_scores import pagerank, url_ordering_rank
from scenthound.model import Candidate, Link, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.papers.parts.clustering import redirected_node
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy


@strategy("pagerank")
@dataclass
class PageRankOrder(Parameterised):
    """Prefers the URL with the largest PageRank on the links known so far; ignores the topic."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "pagerank": "PageRank on the links known when it was last computed; this is the score"
    }
    every: int = parameter(100, "interval, in pages, between computations of all scores", least=1)
    damping: float = parameter(0.85, "d: the share of a page's rank that goes along its links", least=0, below=1)
    form: str = parameter("pagerank", "ranks with sum 1, or the paper's formula (cho)", among=("pagerank", "cho"))
    memory: int = parameter(MOST_LINKS, "links remembered", least=1)

    @property
    def declaration(self) -> Declaration:
        return Declaration(parts=Parts(), score_parts=self.score_parts)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.graph_ = GrowingGraph(self.memory)
        self.waiting_ = {self.graph_.add(url): 0 for url in seeds}
        """Graph nodes of the waiting URLs, with their depths."""
        self.seeds_ = set(self.waiting_)
        self.fetched_: set[int] = set()
        offers = zip(self.waiting_, self._rescore_waiting(), strict=True)
        return [offer._replace(carry=self._carry(node)) for node, offer in offers]

    def read(self, page: Page) -> Iterable[Candidate]:
        graph = self.graph_
        node = self._add_fetched(page)
        if node in self.fetched_:  # the page was lost and fetched again
            floor = self._floor()
            return page.offer_all(floor, {"pagerank": floor})
        self.fetched_.add(node)
        linked: list[int] = []
        new: list[tuple[int | None, Link]] = []  # URLs already waiting have at least the rank of a new one
        for link in page.outlinks:
            target = graph.number(link.url)
            if target is None:
                if not graph.is_full:
                    target = graph.add(link.url)
                    self.waiting_[target] = page.candidate.depth + 1
                new.append((target, link))
            if target is not None:
                linked.append(target)
        graph.link(node, linked)
        floor = self._floor()
        offers = [page.offer(link, floor, self._carry(target), {"pagerank": floor}) for target, link in new]
        return offers + (self._rescore_waiting() if len(self.fetched_) % self.every == 0 else [])

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        node = self.graph_.number(miss.candidate.url)
        if node is not None and node not in self.fetched_:
            self.waiting_.pop(node, None)
            self.graph_.dead.add(node)
        return ()

    def _floor(self) -> float:
        """The rank of a page that nothing links to."""
        return (1.0 - self.damping) / (1 if self.form == "cho" else max(len(self.graph_), 1))

    @staticmethod
    def _carry(node: int | None) -> dict[str, int]:
        return {} if node is None else {"node": node}

    def _rescore_waiting(self) -> list[Candidate]:
        """All waiting URLs, scored by their current rank."""
        names, seeds = self.graph_.names, self.seeds_
        rescored = [
            Candidate(Url(names[node]), rank, parts={"pagerank": rank}, rescored=True)
            for node, rank in zip(self.waiting_, self._ranks(), strict=True)
        ]
        if not seeds.isdisjoint(self.waiting_):
            for index, node in enumerate(self.waiting_):
                if node in seeds:
                    rescored[index] = rescored[index]._replace(score=math.inf)
        return rescored

    def _ranks(self) -> list[float]:
        """The rank of each waiting URL."""
        graph, nodes = self.graph_.graph()
        ranks = np.zeros(len(self.graph_.names))
        ranks[nodes] = (pagerank if self.form == "pagerank" else url_ordering_rank)(graph, self.damping)
        return ranks[list(self.waiting_)].tolist()  # type: ignore[no-any-return]

    def _add_fetched(self, page: Page) -> int:
        """Add a fetched page to the graph and return its node. A URL that redirects to the page is merged into it."""
        node: int = self.graph_.add(page.url)
        requested = redirected_node(page.candidate, node, len(self.graph_.names))
        if requested is not None and requested not in self.fetched_ and requested not in self.graph_.dead:
            self.graph_.merge(requested, node)
            self.waiting_.pop(requested, None)
        self.graph_.dead.discard(node)
        self.waiting_.pop(node, None)
        return node

    def save(self) -> Mapping[str, Any]:
        return {
            "graph": self.graph_.save(),
            "seeds": sorted(self.seeds_),
            "waiting": [[node, depth] for node, depth in self.waiting_.items()],
            "fetched": sorted(self.fetched_),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.graph_ = GrowingGraph.load(state["graph"], self.memory)
        self.seeds_, self.fetched_ = set(state["seeds"]), set(state["fetched"])
        self.waiting_ = dict(state["waiting"])
