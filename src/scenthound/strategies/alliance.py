"""Alliance: pages most of whose neighbours are on topic come first (sheet 50.3).

    score(page) = on-topic neighbours / all neighbours

Cami and Deo [GRAPH]; links have no direction, and no text is read. The seeds are on topic, and so is every fetched
page with a value of at least `threshold`. The paper divides by the other neighbours instead of by all: that gives the
same order, and ours stays between 0 and 1.

Ours: neighbours are those known so far, so a page that was not fetched is judged by the pages that link to it. A value
changes whenever a neighbour is found or accepted, and the waiting URL is re-scored each time; a page fetched earlier is
accepted as soon as its value reaches the threshold. Once `memory` links are known no more are remembered: a URL found
afterwards is worth 1 if its page is on topic, else 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scenthound.graph.clustering import MOST_LINKS, NeighbourGraph, alliance_of, as_numbers
from scenthound.model import Candidate, Link, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy


@strategy("alliance")
@dataclass
class AllianceCrawler(Parameterised):
    """The page with the largest share of on-topic neighbours first; links only, no text."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "alliance": "share of the known neighbours that is on topic: the score itself",
        "on topic": "how many these are",
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
        self.spellings_: dict[int, str] = {}  # of URLs that are requested under another spelling
        self.friends_ = [0] * len(self.graph_)
        """On-topic neighbours of each page."""
        return [Candidate(Url(url), math.inf, {"node": node}) for node, url in enumerate(self.graph_.names)]

    def read(self, page: Page) -> Iterable[Candidate]:
        graph = self.graph_
        number = self._arrived(page)
        offers: dict[int, Candidate] = {}
        strangers: list[Candidate] = []
        met: list[tuple[int, Link]] = []
        touched = [number]
        for link in page.outlinks:
            other = graph.number(link.url)
            if other is None:
                if graph.is_full:
                    value = float(number in self.accepted_)
                    strangers.append(page.offer(link, value, parts={"alliance": value, "on topic": value}))
                    continue
                other = self._meet(link.url, page.candidate.depth + 1, link.spelling)
            if graph.connect(number, other):
                self.friends_[number] += other in self.accepted_
                self.friends_[other] += number in self.accepted_
                touched.append(other)
            if other not in self.gone_:
                met.append((other, link))
        changed = self._accept_from(touched)
        for other, link in met:
            offers[other] = self._offer(page.offer(link, 0.0), other)
        for other in sorted(changed - offers.keys()):
            candidate = Candidate(Url(graph.names[other]), 0.0, depth=self.depths_[other])
            offers[other] = self._offer(candidate._replace(spelling=self.spellings_.get(other, "")), other)
        return [*offers.values(), *strangers]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        number = self.graph_.number(miss.candidate.url)
        if number is not None:
            self.gone_.add(number)
        return ()

    def value(self, number: int) -> float:
        """The share of a page's known neighbours that is on topic."""
        return alliance_of(self.friends_[number], self.graph_.degree(number)).share

    def _offer(self, candidate: Candidate, number: int) -> Candidate:
        value = self.value(number)
        parts = {"alliance": value, "on topic": float(self.friends_[number])}
        score = math.inf if number in self.seeds_ else value
        return candidate._replace(score=score, parts=parts, carry={"node": number}, rescored=True)

    def _accept_from(self, touched: Iterable[int]) -> set[int]:
        """Accept the fetched pages that reach the threshold now, then those that reach it because of that.

        Returns the waiting pages whose value changed. Each page is accepted once, so a whole crawl costs no more than
        its links.
        """
        changed: set[int] = set()
        waiting = list(touched)
        while waiting:
            number = waiting.pop()
            if number in self.accepted_ or number not in self.fetched_ or self.value(number) < self.threshold:
                continue
            self.accepted_.add(number)
            for other in self.graph_.neighbours(number):
                self.friends_[other] += 1
                if other not in self.gone_:
                    changed.add(other)
                else:
                    waiting.append(other)
        return changed

    def _meet(self, url: str, depth: int, spelling: str) -> int:
        number = self.graph_.add(url)
        if number == len(self.friends_):
            self.friends_.append(0)
            self.depths_.append(depth)
            if spelling and spelling != url:
                self.spellings_[number] = spelling
        return number

    def _arrived(self, page: Page) -> int:
        """The node of a fetched page. If a redirect led to it, the requested URL is merged into it."""
        number = self._meet(page.url, page.candidate.depth, page.candidate.spelling)
        asked = page.candidate.carry.get("node")
        if isinstance(asked, int) and 0 <= asked < len(self.graph_) and asked != number and asked not in self.fetched_:
            self._merge(asked, number)
        self.gone_.add(number)
        self.fetched_.add(number)
        return number

    def _merge(self, alias: int, into: int) -> None:
        """Two URLs are one page: move the links and the acceptance of `alias` to `into` and keep the counts right."""
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
            "spellings": {str(number): spelling for number, spelling in sorted(self.spellings_.items())},
            "friends": as_numbers(self.friends_),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.graph_ = NeighbourGraph.load(state["graph"], self.memory)
        for name in ("accepted", "seeds", "gone", "fetched"):
            setattr(self, f"{name}_", set(state[name].tolist()))
        self.depths_, self.friends_ = state["depths"].tolist(), state["friends"].tolist()
        self.spellings_ = {int(number): spelling for number, spelling in state["spellings"].items()}
