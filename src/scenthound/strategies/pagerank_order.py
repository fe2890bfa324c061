"""PageRank as the order of a crawl: the waiting URL with the largest PageRank on the known graph (sheet 50.6).

    PR(p) = (1 - d)/N + d Σ PR(q)/out(q)     over the pages q that link to p; pages without links give to all
    IR(p) = (1 - d)   + d Σ IR(q)/out(q)     with form="cho", the paper's formula; the paper had d = 0.9

Cho, Garcia-Molina and Page 1998, "Efficient crawling through URL ordering". The graph has the links of all crawled
pages; its N nodes are these pages and the URLs that wait. Seeds first; of equal ranks the one discovered first.

Ours, as the sheet decides: ranks are computed again every `every` pages (1 keeps them current, at the price of one
computation a page); a URL discovered in between is worth what a page without any link to it has. Once `memory` links
are known no more are remembered.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from scenthound.graph.crawl_graph import MOST_LINKS, GrowingGraph
from scenthound.graph.pagerank import pagerank, url_ordering_rank
from scenthound.model import Candidate, Link, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy


@strategy("pagerank")
@dataclass
class PageRankOrder(Parameterised):
    """The URL with the largest PageRank among the links known so far first; the topic is ignored."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "pagerank": "PageRank among the links known when it was computed last: the score itself"
    }
    every: int = parameter(100, "pages between two computations of all scores", least=1)
    damping: float = parameter(0.85, "d: the share of a page's rank that goes along its links", least=0, below=1)
    form: str = parameter("pagerank", "ranks sum to 1, or the paper's formula (cho)", among=("pagerank", "cho"))
    memory: int = parameter(MOST_LINKS, "links remembered", least=1)

    @property
    def declaration(self) -> Declaration:
        return Declaration(parts=Parts(), score_parts=self.score_parts)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.graph_ = GrowingGraph(self.memory)
        self.waiting_ = {self.graph_.add(url): 0 for url in seeds}
        """The numbers of the waiting URLs, with their depths."""
        self.seeds_ = set(self.waiting_)
        self.spellings_: dict[int, str] = {}
        self.fetched_: set[int] = set()
        offers = zip(self.waiting_, self._rescore_waiting(), strict=True)
        return [offer._replace(carry=self._carry(number)) for number, offer in offers]

    def read(self, page: Page) -> Iterable[Candidate]:
        graph = self.graph_
        number = self._arrived(page)
        if number in self.fetched_:  # it was lost and fetched again
            floor = self._floor()
            return page.offer_all(floor, {"pagerank": floor})
        self.fetched_.add(number)
        linked: list[int] = []
        new: list[tuple[int | None, Link]] = []  # a waiting URL has at least this rank
        for link in page.outlinks:
            other = graph.number(link.url)
            if other is None:
                if not graph.is_full:
                    other = graph.add(link.url)
                    self.waiting_[other] = page.candidate.depth + 1
                    if link.spelling and link.spelling != link.url:
                        self.spellings_[other] = link.spelling
                new.append((other, link))
            if other is not None:
                linked.append(other)
        graph.link(number, linked)
        floor = self._floor()
        offers = [page.offer(link, floor, self._carry(other), {"pagerank": floor}) for other, link in new]
        return offers + (self._rescore_waiting() if len(self.fetched_) % self.every == 0 else [])

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        number = self.graph_.number(miss.candidate.url)
        if number is not None and number not in self.fetched_:
            self.waiting_.pop(number, None)
            self.graph_.dead.add(number)
        return ()

    def _floor(self) -> float:
        """The rank of a page that nothing links to."""
        return (1.0 - self.damping) / (1 if self.form == "cho" else max(len(self.graph_), 1))

    @staticmethod
    def _carry(number: int | None) -> dict[str, int]:
        return {} if number is None else {"node": number}

    def _rescore_waiting(self) -> list[Candidate]:
        """New scores for all waiting URLs, by their current rank."""
        values = self._ranks()
        names, seeds = self.graph_.names, self.seeds_
        rescored = [
            Candidate(Url(names[number]), value, parts={"pagerank": value}, rescored=True)
            for number, value in zip(self.waiting_, values, strict=True)
        ]
        if not seeds.isdisjoint(self.waiting_):
            places = [index for index, number in enumerate(self.waiting_) if number in seeds]
            for index in places:
                rescored[index] = rescored[index]._replace(score=math.inf)
        return rescored

    def _ranks(self) -> list[float]:
        """The rank of each waiting URL."""
        graph, places = self.graph_.graph()
        ranks = np.zeros(len(self.graph_.names))
        ranks[places] = (pagerank if self.form == "pagerank" else url_ordering_rank)(graph, self.damping)
        return ranks[list(self.waiting_)].tolist()  # type: ignore[no-any-return]

    def _arrived(self, page: Page) -> int:
        """The number of a fetched page; links to a URL that redirects to it count as links to it."""
        number: int = self.graph_.add(page.url)
        asked: Any = page.candidate.carry.get("node")
        is_known = isinstance(asked, int) and 0 <= asked < len(self.graph_.names)
        if is_known and asked != number and asked not in self.fetched_ and asked not in self.graph_.dead:
            self.graph_.merge(asked, number)
            self.waiting_.pop(asked, None)
        self.graph_.dead.discard(number)
        self.waiting_.pop(number, None)
        self.spellings_.pop(number, None)
        return number

    def save(self) -> Mapping[str, Any]:
        return {
            "graph": self.graph_.save(),
            "seeds": sorted(self.seeds_),
            "waiting": [[number, depth] for number, depth in self.waiting_.items()],
            "spellings": {str(number): spelling for number, spelling in self.spellings_.items()},
            "fetched": sorted(self.fetched_),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.graph_ = GrowingGraph.load(state["graph"], self.memory)
        self.seeds_, self.fetched_ = set(state["seeds"]), set(state["fetched"])
        self.waiting_ = dict(state["waiting"])
        self.spellings_ = {int(number): spelling for number, spelling in state["spellings"].items()}
