"""Judge a page by its cosine with the topic's keywords, with a fixed threshold: the rule of earlier versions.

The cosine is not a probability. In the literature the threshold depends on the collection; 0.1 was our choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenthound.judges import judge
from scenthound.judging import Verdict
from scenthound.model import Topic, Url
from scenthound.page.keyword_similarity import KeywordSimilarity
from scenthound.page.page import Page
from scenthound.parameters import Parameterised, parameter


@judge("keywords")
@dataclass
class Keywords(Parameterised):
    """Similarity to the query."""

    threshold: float = parameter(0.1, "similarity from which a page is relevant", least=0, most=1)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        self.similarity_ = KeywordSimilarity(topic)

    def judge(self, page: Page) -> Verdict:
        similarity = self.similarity_(page)
        return Verdict(similarity, similarity >= self.threshold)

    def doubts(self) -> list[str]:
        return []
