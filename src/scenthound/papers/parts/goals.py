"""Goal words with points, such as `board:2 chairman` (bayes, the Hayek economy), and the economy's judge of goals.

    goal(page) = Σ points of the words that the page has ≥ needed

[ECON] had two: a page is a goal if it has all words of a set (beach volleyball), or if words that often occur together
give it enough points (boards of directors).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scenthound.errors import BadConfig
from scenthound.page.page import Page
from scenthound.parameters import Parameterised, parameter
from scenthound.text.tokens import Analyser


def word_points(text: str, analyser: Analyser, parameter: str) -> dict[str, float]:
    """The points of each word in a text such as `board:2 directors:2 chairman`; 1 if the text states none.

    Errors name `parameter`. A word that occurs twice gets the larger number of points.
    """
    points: dict[str, float] = {}
    for part in text.split():
        word, _, suffix = part.rpartition(":") if part.count(":") == 1 else (part, "", "")
        try:
            value = float(suffix) if word and suffix else 1.0
        except ValueError:
            word, value = part, 1.0
        if not 0.0 < value < 1e6:
            raise BadConfig(f"`{parameter}`: {part!r} gives {value:g} points", "give a number above 0")
        for term in analyser.terms(word or part):
            points[term] = max(value, points.get(term, 0.0))
    return points


@dataclass
class GoalRules(Parameterised):
    """Which pages are goals."""

    goal: str = parameter(
        "words",
        "which pages are goals: those with all words, with enough points, or relevant by the verdict of the judge",
        among=("words", "points", "judge"),
    )
    goal_words: str = parameter(
        "", 'words of goal pages, with points such as "board:2 directors"; empty: the topic\'s words'
    )
    goal_share: float = parameter(0.5, "share of all points that makes a goal", above=0, most=1)


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
        return sum(points for word, points in self.points.items() if word in counts) >= self.needed - 1e-9


def make_judge(kind: str, words: str, share: float, analyser: Analyser) -> GoalJudge:
    """Create a judge from words, which may have points, such as `board:2 directors:2 chairman`.

    The kind `words` requires all of them, `points` this share of all points.
    """
    points = word_points(words, analyser, "goal_words")
    total = sum(points.values())
    return GoalJudge(points, total if kind == "words" else share * total, analyser)
