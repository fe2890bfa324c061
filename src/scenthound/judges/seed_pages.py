"""Judge a page by its cosine with all seed pages together, on raw term frequencies. [CHAP 4.1: similarity to seeds]

A seed counts once it has been fetched, and is relevant by definition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenthound.judges import judge
from scenthound.judging import Verdict
from scenthound.model import Topic, Url
from scenthound.page.page import Page
from scenthound.parameters import Parameterised, parameter
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import cosine


@judge("seed-pages")
@dataclass
class SeedPages(Parameterised):
    """Similarity to the seed pages."""

    threshold: float = parameter(0.3, "similarity from which a page is relevant", least=0, most=1)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        self.analyser_, self.seeds_ = Analyser(), frozenset(seeds)
        self.counts_: dict[str, int] = {}

    def judge(self, page: Page) -> Verdict:
        counts = page.record.counts(self.analyser_)
        if page.url in self.seeds_ or page.candidate.url in self.seeds_:
            for term, count in counts.items():
                self.counts_[term] = self.counts_.get(term, 0) + count
            return Verdict(1.0, True)
        similarity = cosine(self.counts_, counts)
        return Verdict(similarity, similarity >= self.threshold)

    def save(self) -> Mapping[str, Any]:
        return {"counts": dict(self.counts_)}

    def load(self, state: Mapping[str, Any]) -> None:
        self.counts_ = {str(term): int(count) for term, count in state["counts"].items()}

    def doubts(self) -> list[str]:
        return [] if self.counts_ else ["no seed could be fetched, so there is nothing to compare pages with"]
