"""Goal judges of the Hayek economy: they say which page is paid for.

    goal(page) = Σ points of the words that the page has ≥ needed

[ECON] had two: a page is a goal if it has all words of a set (beach volleyball), or if words that often occur together
bring it enough points (boards of directors).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scenthound.page.page import Page
from scenthound.strategies.parts.word_points import word_points
from scenthound.text.tokens import Analyser


@dataclass(frozen=True)
class GoalJudge:
    """A page is a goal if its words have at least `needed` points. Without words there are no goals."""

    points: Mapping[str, float]
    needed: float
    analyser: Analyser

    def __call__(self, page: Page) -> bool:
        if not self.points:
            return False
        counts = page.record.counts(self.analyser)
        return sum(point for word, point in self.points.items() if word in counts) >= self.needed - 1e-9


def make_judge(kind: str, words: str, share: float, analyser: Analyser) -> GoalJudge:
    """A judge from words, each perhaps with its points, as `board:2 directors:2 chairman`.

    `words` wants all of them; `points` wants this share of all points.
    """
    points = word_points(words, analyser, "goal_words")
    total = sum(points.values())
    return GoalJudge(points, total if kind == "words" else share * total, analyser)
