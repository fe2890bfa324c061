"""Alliance: pages most of whose neighbours are on topic come first (sheet 50.3).

    score(page) = on-topic neighbours / all neighbours

Cami and Deo [GRAPH]; links have no direction, and no text is read. The seeds are on topic, and so is every fetched
page with a score of at least `threshold`.

Ours: the paper divides by the off-topic neighbours only; dividing by all gives the same order, and scores from 0 to 1.
Only neighbours known so far count, so a page that has not been fetched is judged by the pages that link to it. A score
changes whenever a neighbour is found or accepted, and the waiting URL is re-scored each time; a page fetched earlier is
accepted as soon as its score reaches the threshold. Once `memory` links are known, no more are remembered: a URL found
after that scores 1 if its page is on topic, else 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scenthound.model import Candidate, Link, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.papers.parts.clustering import MOST_LINKS, NeighbourGraph, alliance_of, as_numbers, redirected_node
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy


@strategy("alliance")
@dataclass
class AllianceCrawler(Parameterised):
    """Prefers pages with a large share of on-topic neighbours; reads links only, no text."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "alliance": "share of the known neighbours that are on topic; this is the score",
        "on topic": "number of known neighbours that are on topic",
    }
    threshold: float = parameter(0.5, "share of on-topic neighbours that makes a page on topic", above=0, most=1)
    memory: int = parameter(MOST_LINKS, "links remembered", least=1)

    @property
    def declaration(self) -> Declaration:
        return Declaration(parts=Parts(), score_parts=self.score_parts)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.graph_ = NeighbourGraph(self.memory)
        self.accepted_ = {self.graph_.add(url) for url in seeds}
        self.seeds_ = set(self.accepted_)
        self.gone_: set[int] = set()  # fetched or missed: no longer waiting
        self.fetched_: set[int] = set()
        self.depths_ = [0] * len(self.graph_)
        self.spellings_: dict[int, str] = {}  # the URL to request for a node, if it is spelled differently
        self.friends_ = [0] * len(self.graph_)
        """On-topic neighbours of each page."""
        return [Candidate(Url(url), math.inf, {"node": node}) for node, url in enumerate(self.graph_.names)]

    def read(self, page: Page) -> Iterable[Candidate]:
        graph = self.graph_
        node = self._add_fetched(page)
        offers: dict[int, Candidate] = {}
        unremembered: list[Candidate] = []
        waiting: list[tuple[int, Link]] = []
        touched = [node]
        for link in page.outlinks:
            target = graph.number(link.url)
            if target is None:
                if graph.is_full:
                    value = float(node in self.accepted_)
                    unremembered.append(page.offer(link, value, parts={"alliance": value, "on topic": value}))
                    continue
                target = self._add(link.url, page.candidate.depth + 1, link.spelling)
            if graph.connect(node, target):
                self.friends_[node] += target in self.accepted_
                self.friends_[target] += node in self.accepted_
                touched.append(target)
            if target not in self.gone_:
                waiting.append((target, link))
        changed = self._accept_from(touched)
        for target, link in waiting:
            offers[target] = self._offer(page.offer(link, 0.0), target)
        for other in sorted(changed - offers.keys()):
            candidate = Candidate(Url(graph.names[other]), 0.0, depth=self.depths_[other])
            offers[other] = self._offer(candidate._replace(spelling=self.spellings_.get(other, "")), other)
        return [*offers.values(), *unremembered]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        node = self.graph_.number(miss.candidate.url)
        if node is not None:
            self.gone_.add(node)
        return ()

    def value(self, node: int) -> float:
        """The share of a page's known neighbours that are on topic."""
        return alliance_of(self.friends_[node], self.graph_.degree(node)).share

    def _offer(self, candidate: Candidate, node: int) -> Candidate:
        value = self.value(node)
        parts = {"alliance": value, "on topic": float(self.friends_[node])}
        score = math.inf if node in self.seeds_ else value
        return candidate._replace(score=score, parts=parts, carry={"node": node}, rescored=True)

    def _accept_from(self, touched: Iterable[int]) -> set[int]:
        """Accept the fetched pages among `touched` that reach the threshold, then those that reach it as a result.

        Returns the waiting pages whose value changed. Each page is accepted once, so the work of a whole crawl is
        linear in its links.
        """
        changed: set[int] = set()
        unchecked = list(touched)
        while unchecked:
            node = unchecked.pop()
            if node in self.accepted_ or node not in self.fetched_ or self.value(node) < self.threshold:
                continue
            self.accepted_.add(node)
            for other in self.graph_.neighbours(node):
                self.friends_[other] += 1
                if other not in self.gone_:
                    changed.add(other)
                else:
                    unchecked.append(other)
        return changed

    def _add(self, url: str, depth: int, spelling: str) -> int:
        """The node of a URL, added to the graph if it is new."""
        node = self.graph_.add(url)
        if node == len(self.friends_):
            self.friends_.append(0)
            self.depths_.append(depth)
            if spelling and spelling != url:
                self.spellings_[node] = spelling
        return node

    def _add_fetched(self, page: Page) -> int:
        """Add a fetched page to the graph and return its node. A URL that redirects to the page is merged into it."""
        node = self._add(page.url, page.candidate.depth, page.candidate.spelling)
        requested = redirected_node(page.candidate, node, len(self.graph_))
        if requested is not None and requested not in self.fetched_:
            self._merge(requested, node)
        self.gone_.add(node)
        self.fetched_.add(node)
        return node

    def _merge(self, alias: int, into: int) -> None:
        """Merge two URLs of one page: move the links and the acceptance of `alias` to `into` and correct counts."""
        for other in self.graph_.neighbours(alias):
            self.friends_[other] -= alias in self.accepted_
            if other != into and not self.graph_.has(into, other):
                self.friends_[into] += other in self.accepted_
                self.friends_[other] += into in self.accepted_
        self.friends_[alias] = 0
        self.graph_.merge(alias, into)
        if alias in self.accepted_:
            self.accepted_.remove(alias)
            if into not in self.accepted_:
                self.accepted_.add(into)
                for other in self.graph_.neighbours(into):
                    self.friends_[other] += 1
        self.gone_.add(alias)

    def save(self) -> Mapping[str, Any]:
        return {
            "graph": self.graph_.save(),
            "accepted": as_numbers(sorted(self.accepted_)),
            "seeds": as_numbers(sorted(self.seeds_)),
            "gone": as_numbers(sorted(self.gone_)),
            "fetched": as_numbers(sorted(self.fetched_)),
            "depths": as_numbers(self.depths_),
            "spellings": {str(node): spelling for node, spelling in sorted(self.spellings_.items())},
            "friends": as_numbers(self.friends_),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.graph_ = NeighbourGraph.load(state["graph"], self.memory)
        for name in ("accepted", "seeds", "gone", "fetched"):
            setattr(self, f"{name}_", set(state[name].tolist()))
        self.depths_, self.friends_ = state["depths"].tolist(), state["friends"].tolist()
        self.spellings_ = {int(node): spelling for node, spelling in state["spellings"].items()}
