"""Shark-search: fish-search with graded scores, from the page, its ancestors and words around the link (sheet 20.6).

    score(u)         = gamma · inherited(u) + (1 - gamma) · neighbourhood(u)
    inherited(u)     = delta · similarity(p) if that is above 0, else delta · inherited(p)
    neighbourhood(u) = beta · anchor(u) + (1 - beta) · context(u)
    context(u)       = 1 if anchor(u) is above 0, else the similarity of the words around the anchor
    depth(u)         = depth if similarity(p) is above 0, else depth(p) - 1

for a link u on the page p. Hersovici and others 1998, with the formulas of [CHAP] (eq. 2 to 5). A page of depth 0 is
fetched, but its links are not followed. As in [CHAP], the context is 1 as soon as one word of the anchor matches. The
values of gamma and depth are those of Menczer and others 2004; other implementations use a gamma of 0.5 to 0.8.

Ours: inherited(p) is the page's own inherited value, not its score; seeds inherit 0. When a waiting link is found
again, its score, depth and inherited value each keep their maximum. Several anchors to one URL count as one link, at
the position of the first, with the words of the best. The original's limit on width is not in [CHAP] and is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from scenthound.model import Candidate, Link, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.page.views.anchors import window_similarities
from scenthound.parameters import parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy
from scenthound.strategies.topic_words import ComparesTopic, idf_parameter, stem_parameter, stop_words_parameter
from scenthound.text.tokens import Analyser

WIDEST = 1000  # tokens on each side; with 5,000 links per page that is already ten million tokens


class Neighbourhood(NamedTuple):
    """A link and the scores of its anchor and surrounding words."""

    link: Link
    value: float
    anchor: float
    context: float


@strategy("shark-search")
@dataclass
class SharkSearch(ComparesTopic):
    """Prefers links whose anchor, surrounding words and ancestor pages are similar to the topic."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "page": "similarity between the topic and the page that the link is on",
        "inherited": "score inherited from the page and its ancestors",
        "anchor": "similarity between the topic and the text of the link",
        "context": "1 if the anchor matches, else similarity of the words around it",
        "neighbourhood": "anchor and context combined",
    }
    depth: int = parameter(3, "steps from a relevant page or a seed before a direction is abandoned", least=0)
    gamma: float = parameter(0.1, "weight of the inherited score; the neighbourhood has the rest", least=0, most=1)
    delta: float = parameter(0.5, "how much of a page's score its links inherit", least=0, most=1)
    beta: float = parameter(0.8, "weight of the anchor in the neighbourhood; its context has the rest", least=0, most=1)
    window: int = parameter(10, f"tokens of context on each side of the anchor, up to {WIDEST}", least=0, most=WIDEST)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()
    idf: str = idf_parameter()

    @property
    def declaration(self) -> Declaration:
        parts = Parts((Analyser(self.stop_words, self.stem),), leaves=True)
        return Declaration(parts=parts, score_parts=self.score_parts)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self._use_topic(topic)
        carry = {"depth": self.depth, "inherited": 0.0}
        return [Candidate(url, math.inf, carry) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        carried = page.candidate.carry
        depth = carried.get("depth", self.depth)  # a URL that no link led to counts as a seed
        if depth <= 0:
            return []
        similarity = self._page_similarity(page)
        inherited = self.delta * (similarity if similarity > 0 else carried.get("inherited", 0.0))
        carry = {"depth": self.depth if similarity > 0 else depth - 1, "inherited": inherited}
        offers = []
        for link, neighbourhood, anchor, context in self._neighbourhoods(page, similarity):
            parts = {
                "page": similarity,
                "inherited": inherited,
                "anchor": anchor,
                "context": context,
                "neighbourhood": neighbourhood,
            }
            score = self.gamma * inherited + (1 - self.gamma) * neighbourhood
            offers.append(page.offer(link, score, carry, parts))
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()

    def _neighbourhoods(self, page: Page, similarity: float) -> Iterable[Neighbourhood]:
        record, query = page.record, self.query_
        # On a page without topic words, no anchor and no window contains one.
        windows = window_similarities(record, query, self.window) if similarity > 0 else [0.0] * len(record.links)
        best: dict[Url, Neighbourhood] = {}  # a better anchor takes over the position of the first
        for link, window in zip(record.links, windows, strict=True):
            anchor = query.text_similarity(link.anchor) if link.anchor else 0.0
            context = 1.0 if anchor > 0 else window
            neighbourhood = Neighbourhood(link, self.beta * anchor + (1 - self.beta) * context, anchor, context)
            if link.url not in best or neighbourhood.value > best[link.url].value:
                best[link.url] = neighbourhood
        best.pop(page.url, None)
        return best.values()
