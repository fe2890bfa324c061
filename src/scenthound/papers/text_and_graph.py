"""Hybrids of text and graph: score a link by the text of its pages and by its position in the link graph (sheet 50.6).

    score(url) = weight · text(url) + (1 - weight) · graph(url)     text="cosine"
    score(url) = text(url) + graph(url)                             text="keywords": the graph decides ties

    text(url)  = maximum over the crawled pages with the link: cosine(topic, page) as in `best-first`, or the number of
                 different topic words on the page
    graph(url) = b / (1 + b) for b crawled pages that link to it (graph="backlinks"), IR / (1 + IR) for the PageRank
                 IR of Cho and others ("pagerank"), or the share of its neighbours that are on topic ("alliance")

Two papers name this as future work: [EXP section 7] best-N-first on local versions of rank_KW,PR, which is
`text="keywords"` with `graph="pagerank"`; [GRAPH] text together with the link structure. The graph values come from
`backlink-count`, `pagerank` and `alliance` (sheets 50.3, 50.6), which run inside with their defaults.

Ours: the formulas, with x / (1 + x) to keep graph values between 0 and 1; PageRanks are recomputed every `every` pages.
Text values are kept for at most `memory` URLs; a URL found after that has the text value of the page it was found on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.keyword_similarity import Query, page_similarity
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.papers.alliance import AllianceCrawler
from scenthound.papers.backlink_count import BacklinkCount
from scenthound.papers.pagerank_order import PageRankOrder
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy
from scenthound.strategies.topic_words import stem_parameter, stop_words_parameter
from scenthound.text.tokens import Analyser


@strategy("text-and-graph")
@dataclass
class TextAndGraph(Parameterised):
    """Prefers URLs that many pages link to, from pages similar to the topic."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "text": "similarity to the topic of the best page with this link",
        "graph": "score from the crawled pages that link to it, from 0 to 1",
    }
    text: str = parameter(
        "cosine",
        "similarity of the page (cosine), or its number of topic words (keywords)",
        among=("cosine", "keywords"),
    )
    graph: str = parameter(
        "pagerank", "graph score: pagerank, backlinks or alliance", among=("pagerank", "backlinks", "alliance")
    )
    weight: float = parameter(0.5, "weight of the cosine, from 0 to 1; the graph has the rest", least=0, most=1)
    n: int = parameter(1, "number of links taken from the frontier at once", least=1)
    every: int = parameter(100, "interval, in pages, between computations of PageRank", least=1)
    memory: int = parameter(5_000_000, "links remembered, and URLs whose text value is remembered", least=1)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()

    @property
    def declaration(self) -> Declaration:
        parts = Parts((Analyser(self.stop_words, self.stem),))
        return Declaration(self.n, self.n > 1, parts=parts, score_parts=self.score_parts)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.query_ = Query(topic.keywords, Analyser(self.stop_words, self.stem))
        self.order_: BacklinkCount | PageRankOrder | AllianceCrawler
        if self.graph == "backlinks":
            self.order_ = BacklinkCount(memory=self.memory)
        elif self.graph == "alliance":
            self.order_ = AllianceCrawler(memory=self.memory)
        else:
            self.order_ = PageRankOrder(every=self.every, form="cho", memory=self.memory)
        self.seeds_ = set(seeds)
        self.texts_: dict[str, float] = {}
        self.values_: dict[str, float] = {}
        """The graph value of each offered URL, before x / (1 + x)."""
        return list(self.order_.start(topic, seeds))

    def read(self, page: Page) -> Iterable[Candidate]:
        text = self._text(page)
        self._forget(page.url, page.candidate.url)
        for link in page.outlinks:
            if link.url in self.texts_ or len(self.texts_) < self.memory:
                self.texts_[link.url] = max(text, self.texts_.get(link.url, 0.0))
        offers = []
        for offer in self.order_.read(page):
            if math.isfinite(offer.score):
                self.values_[offer.url] = offer.score
            offers.append(self._combine(offer, text))
        offered = {offer.url for offer in offers}
        others = (link for link in page.outlinks if link.url not in offered and link.url not in self.seeds_)
        return offers + [self._combine(page.offer(link, 0.0), text) for link in others if link.url in self.values_]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self._forget(miss.candidate.url)
        return self.order_.miss(miss)

    def _text(self, page: Page) -> float:
        if self.text == "cosine":
            return page.view(page_similarity, self.query_)
        counts = page.record.counts(self.query_.analyser)
        return float(sum(word in counts for word in self.query_.counts))

    def _combine(self, offer: Candidate, text: float) -> Candidate:
        """The offer with its combined score; `text` is used if no text value is remembered. Seeds stay first."""
        text, value = self.texts_.get(offer.url, text), self.values_.get(offer.url, 0.0)
        graph = value if self.graph == "alliance" else value / (1.0 + value)
        score = self.weight * text + (1.0 - self.weight) * graph if self.text == "cosine" else text + graph
        return offer._replace(
            score=score if math.isfinite(offer.score) else offer.score, parts={"text": text, "graph": graph}
        )

    def _forget(self, *urls: Url) -> None:
        for url in urls:
            self.texts_.pop(url, None)
            self.values_.pop(url, None)

    def save(self) -> Mapping[str, Any]:
        return {
            "graph": self.order_.save(),
            "seeds": sorted(self.seeds_),
            "texts": dict(sorted(self.texts_.items())),
            "values": dict(sorted(self.values_.items())),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.order_.load(state["graph"])
        self.seeds_, self.texts_, self.values_ = set(state["seeds"]), dict(state["texts"]), dict(state["values"])
