"""Judge a page by its importance in the crawl's own link graph. [CHAP 4.1: link-based popularity]

    relevance = share of the fetched pages that the page outranks (ties count half)

The graph contains the fetched pages and their links. Values are computed again when the crawl has grown by a tenth, so
a page that was just fetched is rated by the links that were known before. `revised` rates all pages by the latest
graph. A page can be important and off topic: these judges measure which pages others link to. Only `topical-hits` also
looks at words: endorsement flows only through pages that are similar to the keywords (`graph.link_scores`).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scenthound import url as urls
from scenthound.graph.link_graph import GrowingGraph, LinkGraph, Values
from scenthound.graph.link_scores import across_hosts, distil, hits, pagerank
from scenthound.judges import judge
from scenthound.judging import Verdict
from scenthound.model import Topic, Url
from scenthound.page.keyword_similarity import KeywordSimilarity
from scenthound.page.page import Page
from scenthound.parameters import Parameterised, parameter

MOST_LINKS = 200_000
TOLERANCE = 1e-6
GROWTH = 1.1  # values are computed again when the number of fetched pages has grown by this factor
FEW = 10  # fetched pages: with fewer, a rank is not meaningful


@dataclass
class LinkImportance(Parameterised, ABC):
    """A judge that ranks pages by a value computed from the link graph. Subclasses define the value."""

    threshold: float = parameter(0.8, "share of the fetched pages that a relevant page outranks", least=0, most=1)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        self.graph_, self.similarity_ = GrowingGraph(MOST_LINKS), KeywordSimilarity(topic)
        self.fetched_: dict[int, float] = {}
        """Fetched pages by number, in order, with their similarity to the keywords."""
        self.values_: Values = np.zeros(0)
        self.ranked_: Values = np.zeros(0)
        self.valued_at_ = 0

    def judge(self, page: Page) -> Verdict:
        graph = self.graph_
        if graph.is_full and graph.number(page.url) is None:
            return self._verdict(0.0)
        number = graph.add(page.url)
        if number not in self.fetched_ and not graph.is_full:
            graph.link(number, [graph.add(link.url) for link in page.outlinks])
        self.fetched_[number] = self.similarity_(page)
        if len(self.fetched_) >= GROWTH * self.valued_at_:
            self._update_values()
        return self._verdict(self._share(number))

    def revised(self) -> Iterator[tuple[Url, Verdict]]:
        later = copy.copy(self)  # this method must not change later verdicts
        later._update_values()
        for number in self.fetched_:
            yield Url(self.graph_.names[number]), self._verdict(later._share(number))

    def save(self) -> Mapping[str, Any]:
        return {
            "graph": self.graph_.save(),
            "fetched": np.array(list(self.fetched_), np.int64),
            "similarities": np.array(list(self.fetched_.values()), np.float64),
            "values": self.values_,
            "ranked": self.ranked_,
            "valued_at": self.valued_at_,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.graph_ = GrowingGraph.load(state["graph"], MOST_LINKS)
        pairs = zip(state["fetched"].tolist(), state["similarities"].tolist(), strict=True)
        self.fetched_ = dict(pairs)
        self.values_, self.ranked_, self.valued_at_ = state["values"], state["ranked"], int(state["valued_at"])

    def doubts(self) -> list[str]:
        return ["the link graph is full: later pages are rated by the links known so far"] * self.graph_.is_full

    @abstractmethod
    def value(self, graph: LinkGraph) -> Values:
        """The value of each page of the graph, by its number."""

    def _update_values(self) -> None:
        self.valued_at_ = len(self.fetched_)
        graph, _ = self.graph_.graph()
        self.values_ = self.value(graph)
        self.ranked_ = np.sort(self.values_[list(self.fetched_)])

    def _share(self, number: int) -> float:
        """The share of the fetched pages whose value is lower; pages of equal value count half."""
        if len(self.ranked_) < FEW:
            return 0.5
        value = self.values_[number] if number < len(self.values_) else 0.0
        low, high = np.searchsorted(self.ranked_, value, "left"), np.searchsorted(self.ranked_, value, "right")
        return float(low + high) / 2 / len(self.ranked_)

    def _verdict(self, share: float) -> Verdict:
        return Verdict(share, share >= self.threshold)


@judge("in-links")
@dataclass
class InLinks(LinkImportance):
    """Number of known pages that link to the page."""

    def value(self, graph: LinkGraph) -> Values:
        return graph.in_degree.astype(np.float64)


@judge("pagerank")
@dataclass
class PageRank(LinkImportance):
    """PageRank on the crawl's own graph."""

    def value(self, graph: LinkGraph) -> Values:
        return pagerank(graph, tolerance=TOLERANCE)


@judge("hits")
@dataclass
class Authority(LinkImportance):
    """HITS authority on the crawl's own graph."""

    def value(self, graph: LinkGraph) -> Values:
        return hits(graph, tolerance=TOLERANCE).authorities


@judge("topical-hits")
@dataclass
class TopicalAuthority(LinkImportance):
    """HITS authority through pages similar to the keywords, on links across hosts."""

    least: float = parameter(0.1, "similarity from which a page can be an authority", least=0, most=1)

    def value(self, graph: LinkGraph) -> Values:
        hosts = [urls.host(Url(name)) for name in graph.names]
        host_ids = {host: index for index, host in enumerate(dict.fromkeys(hosts))}
        relevance = np.zeros(len(graph))
        relevance[list(self.fetched_)] = list(self.fetched_.values())
        across = across_hosts(graph, np.array([host_ids[host] for host in hosts], np.int64))
        return distil(across, relevance, self.least).authorities

    def doubts(self) -> list[str]:
        no_links = "no page is linked from another host, so none is an authority: use another judge, such as topic"
        is_empty = self.valued_at_ >= FEW and not self.values_.any()
        return [*super().doubts(), *([no_links] if is_empty else [])]
