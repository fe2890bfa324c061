"""Judge a page by the probability from a classifier that was trained before the crawl. [CHAP 4.1: classifier score]

The classifier is part of the strategy's model (`--model`), for `focused-soft`, `focused-hard` or `apprentice`. So the
verdict is the strategy's own opinion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scenthound.judges import judge
from scenthound.judging import Verdict
from scenthound.model import Topic, Url
from scenthound.page.page import Page
from scenthound.parameters import Parameterised, parameter


@judge("classifier")
@dataclass
class Classifier(Parameterised):
    """Score of the strategy's trained classifier."""

    threshold: float = parameter(0.5, "probability from which a page is relevant", least=0, most=1)

    def use_classifier(self, probability: Callable[[Page], float]) -> None:
        self.probability_ = probability

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        pass

    def judge(self, page: Page) -> Verdict:
        probability = self.probability_(page)
        return Verdict(probability, probability >= self.threshold)

    def doubts(self) -> list[str]:
        return []
