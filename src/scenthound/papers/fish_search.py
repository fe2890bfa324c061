"""Fish-search: go deeper from relevant pages, abandon a direction after `depth` irrelevant steps (sheet 20.5).

    score(link) = 1    on a relevant page, among its first factor · width links
                  0.5  on an irrelevant page, among its first width links
                  0    otherwise
    depth(link) = depth            on a relevant page
                  depth(page) - 1  on an irrelevant page

De Bra and Post 1994, in the priority-list form of Hersovici and others 1998. Relevance is binary. Links are counted in
document order, including those already crawled. A page of depth 0 is fetched, but its links are not followed, whether
or not it is relevant.

Ours: a page is relevant if its similarity to the keywords is above `threshold` (the original matched keywords or a
pattern). Links with equal scores are taken first in, first out (rule 3 of sheet 00); the original put links of relevant
pages at the front of its list, so the last in came first. A waiting link that is found again keeps the larger score and
the larger depth. The original's time limit is a setting of the crawl. The depth of 3 is from Menczer and others 2004.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy
from scenthound.strategies.topic_words import ComparesTopic, idf_parameter, stem_parameter, stop_words_parameter
from scenthound.text.tokens import Analyser


@strategy("fish-search")
@dataclass
class FishSearch(ComparesTopic):
    """Follows links of relevant pages first, and deeper; abandons directions without relevant pages."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "page": "similarity between the topic and the page that the link is on, which is relevant above the threshold",
        "in width": "1 if the link is among the preferred first links of its page, else 0",
    }
    depth: int = parameter(3, "steps from a relevant page or a seed before a direction is abandoned", least=0)
    width: int = parameter(10, "number of first links that are preferred on an irrelevant page", least=0)
    factor: float = parameter(1.5, "on a relevant page, `width` is multiplied by this", least=0)
    threshold: float = parameter(0.0, "a page is relevant if its similarity is larger than this", least=0, below=1)
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()
    idf: str = idf_parameter()

    @property
    def declaration(self) -> Declaration:
        return Declaration(parts=Parts((Analyser(self.stop_words, self.stem),)), score_parts=self.score_parts)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self._use_topic(topic)
        carry = {"depth": self.depth}
        return [Candidate(url, math.inf, carry) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        depth = page.candidate.carry.get("depth", self.depth)  # a URL that no link led to counts as a seed
        if depth <= 0:
            return []
        similarity = self._page_similarity(page)
        relevant = similarity > self.threshold
        width = self._relevant_width if relevant else self.width
        score = 1.0 if relevant else 0.5
        carry = {"depth": self.depth if relevant else depth - 1}
        inside, outside = {"page": similarity, "in width": 1.0}, {"page": similarity, "in width": 0.0}
        return [
            page.offer(link, score, carry, inside) if position < width else page.offer(link, 0.0, carry, outside)
            for position, link in enumerate(page.outlinks)
        ]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()

    @property
    def _relevant_width(self) -> int:
        """floor(factor · width), for relevant pages. Rounded first, since 0.29 · 100 is below 29 in binary."""
        return math.floor(round(self.factor * self.width, 9))
