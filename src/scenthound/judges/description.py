"""Judge a page by its cosine with the topic's description, on raw term frequencies. [CHAP 4.1: similarity to a query]

If there is no description, the keywords are used instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenthound.judges import judge
from scenthound.judging import Verdict
from scenthound.model import Topic, Url
from scenthound.page.keyword_similarity import Query
from scenthound.page.page import Page
from scenthound.parameters import Parameterised, parameter
from scenthound.text.tokens import Analyser


@judge("description")
@dataclass
class Description(Parameterised):
    """Similarity to the description."""

    threshold: float = parameter(0.2, "similarity from which a page is relevant", least=0, most=1)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        self.analyser_, self.has_description_ = Analyser(), bool(topic.description.strip())
        self.query_ = Query(topic.description if self.has_description_ else topic.keywords, self.analyser_)

    def judge(self, page: Page) -> Verdict:
        similarity = self.query_.similarity(page.record.counts(self.analyser_))
        return Verdict(similarity, similarity >= self.threshold)

    def doubts(self) -> list[str]:
        return [] if self.has_description_ else ["the topic has no description: its keywords are used instead"]
