"""Naive best-first and best-N-first: a link gets the score of its page (sheet 20.2).

    score(link) = cosine(topic, page)    as raw term frequencies, or tf-idf over the pages read so far (`idf="running"`)

Source: [EXP] fig. 1; [CHAP] and [BIZ] describe naive best-first. N links are taken from the frontier at once and
fetched in random order: N = 1 is greedy, N = 256 explores. With a frontier of 256 and N = 256 every batch empties the
frontier. This is the configuration in [EXP], and the reason its best-256-first explores so much.

Ours (common rules of sheet 00): seeds go first; a URL that is found again keeps the larger score; a full frontier
inserts first and then drops its worst URL ([CHAP], [BIZ]) unless `eviction` is "literal", which follows the
pseudo-code of [EXP] to the letter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import parameter
from scenthound.ports import Declaration, Eviction
from scenthound.strategies import strategy
from scenthound.strategies.topic_words import ComparesTopic, idf_parameter, stem_parameter, stop_words_parameter
from scenthound.text.tokens import Analyser


@strategy("best-first")
@dataclass
class BestFirst(ComparesTopic):
    """Prefers links on the pages most similar to the topic."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "page": "similarity between the topic and the page that the link is on; this is the score"
    }
    n: int = parameter(1, "number of links taken from the frontier at once", least=1)
    shuffle: bool = parameter(True, "fetch the links of a batch in random order")
    eviction: Eviction = parameter(
        "scored",
        "scored: a full frontier inserts, then drops its worst URL; literal: it drops first",
        among=("scored", "literal"),
    )
    stop_words: str = stop_words_parameter()
    stem: bool = stem_parameter()
    idf: str = idf_parameter()

    @property
    def declaration(self) -> Declaration:
        parts = Parts((Analyser(self.stop_words, self.stem),))
        return Declaration(self.n, self.shuffle, self.eviction, parts, score_parts=self.score_parts)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self._use_topic(topic)
        return [Candidate(url, float("inf")) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        score = self._page_similarity(page)
        parts = {"page": score}
        return page.offer_all(score, parts)

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()


@strategy("best-n-first")
@dataclass
class BestNFirst(BestFirst):
    """Prefers links on the pages most similar to the topic, and takes 256 at once."""

    n: int = parameter(256, "links taken from the frontier at once; the study used 16, 64, 128 and 256", least=1)
