"""Backlink count: the waiting URL with links from the most crawled pages comes first (sheet 50.6).

    score(url) = number of crawled pages that link to it

Cho, Garcia-Molina and Page 1998, "Efficient crawling through URL ordering". Seeds come first; among equal counts, the
URL discovered first.

Ours: the count of a URL rises with each page that links to it, so it is always current, and no interval has to be set.
Several links of one page count once, links of a page to itself not at all. Counts are kept for at most `memory` URLs; a
URL found after that scores 1, for the link that led to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy


@strategy("backlink-count")
@dataclass
class BacklinkCount(Parameterised):
    """Prefers the URL with the most links from crawled pages; ignores the topic."""

    score_parts: ClassVar[Mapping[str, str]] = {"backlinks": "crawled pages that link to it; this is the score"}
    memory: int = parameter(5_000_000, "URLs whose links are counted", least=1)

    @property
    def declaration(self) -> Declaration:
        return Declaration(parts=Parts(), score_parts=self.score_parts)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.seeds_ = set(seeds)
        self.counts_: dict[str, int] = dict.fromkeys(seeds, 0)
        """Links from crawled pages to each waiting URL; `GONE` for a URL that was fetched or missed."""
        return [Candidate(url, math.inf, parts={"backlinks": 0.0}) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        counts = self.counts_
        if counts.get(page.url) == GONE:  # the page was lost and fetched again: its links are already counted
            link_counts = ((link, float(max(counts.get(link.url, 1), 1))) for link in page.outlinks)
            return [page.offer(link, count, parts={"backlinks": count}) for link, count in link_counts]
        counts[page.url] = counts[page.candidate.url] = GONE
        offers = []
        for link in page.outlinks:
            count = counts.get(link.url, 0)
            if count == GONE:
                continue
            count += 1
            if link.url in counts or len(counts) < self.memory:
                counts[link.url] = count
            score = math.inf if link.url in self.seeds_ else float(count)
            offer = page.offer(link, score, parts={"backlinks": float(count)})
            offers.append(offer._replace(rescored=True) if score == math.inf else offer)
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self.counts_[miss.candidate.url] = GONE
        return ()

    def save(self) -> Mapping[str, Any]:
        return {"counts": dict(sorted(self.counts_.items())), "seeds": sorted(self.seeds_)}

    def load(self, state: Mapping[str, Any]) -> None:
        self.counts_ = dict(state["counts"])
        self.seeds_ = set(state["seeds"])


GONE = -1
