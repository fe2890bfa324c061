"""Breadth-first: pages in the order in which their links were found (sheet 20.1).

    score(link) = 0; links with equal scores are taken first in, first out

The baseline of [EXP], [CHAP] and [BIZ], which ignores the topic. A full frontier refuses new links and does not
remember them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.ports import Declaration
from scenthound.strategies import strategy


@strategy("breadth-first")
@dataclass
class BreadthFirst:
    """Fetches pages in the order in which their links were found; ignores the topic."""

    @property
    def declaration(self) -> Declaration:
        return Declaration(eviction="refuse", parts=Parts())

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        return [Candidate(url, float("inf")) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        return page.offer_all(0.0)

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()
