"""Words in the title: a page is as relevant as the share of the keywords that its title contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scenthound.judges import judge
from scenthound.judging import Verdict
from scenthound.model import Topic, Url
from scenthound.page.page import Page
from scenthound.parameters import Parameterised, parameter


@judge("in-title")
@dataclass
class InTitle(Parameterised):
    """The share of the keywords in the title; a page with at least `share` of them is relevant."""

    share: float = parameter(0.5, "share of the keywords that makes a page relevant", least=0, most=1)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        self.keywords_ = set(topic.keywords.lower().split())

    def judge(self, page: Page) -> Verdict:
        found = self.keywords_.intersection(page.record.title.lower().split())
        share = len(found) / max(len(self.keywords_), 1)
        return Verdict(share, share >= self.share)

    def doubts(self) -> list[str]:
        return []
