"""Judge a page by the share of the topic's distinct keywords that occur in it, however often. [CHAP 4.1; EXP]"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenthound.judges import judge
from scenthound.judging import Verdict
from scenthound.model import Topic, Url
from scenthound.page.page import Page
from scenthound.parameters import Parameterised, parameter
from scenthound.text.tokens import Analyser


@judge("keywords-present")
@dataclass
class KeywordsPresent(Parameterised):
    """Keywords in the document."""

    threshold: float = parameter(0.5, "share of the keywords from which a page is relevant", least=0, most=1)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        self.analyser_ = Analyser()
        self.keywords_ = frozenset(self.analyser_.terms(topic.keywords))

    def judge(self, page: Page) -> Verdict:
        share = len(self.keywords_ & page.record.counts(self.analyser_).keys()) / max(len(self.keywords_), 1)
        return Verdict(share, share >= self.threshold)

    def doubts(self) -> list[str]:
        return []
