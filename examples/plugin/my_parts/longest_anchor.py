"""Longest anchor first: links with more words in their anchor text go first.

    score(link) = min(words in the anchor, cap) / cap

An example, not from a paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.parameters import Parameterised, parameter
from scenthound.strategies import strategy


@strategy("longest-anchor")
@dataclass
class LongestAnchor(Parameterised):
    """Links with a long anchor text first."""

    cap: int = parameter(20, "words beyond this many do not count", least=1)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        return [Candidate(url, float("inf")) for url in seeds]

    def read(self, page: Page) -> Iterable[Candidate]:
        for link in page.outlinks:
            words = min(len(link.anchor.split()), self.cap)
            yield page.offer(link, words / self.cap, parts={"words": float(words)})

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()
