"""Words with points, as a user writes them: what goal judges of `bayes` and the Hayek economy count."""

from __future__ import annotations

from scenthound.errors import BadConfig
from scenthound.text.tokens import Analyser


def word_points(text: str, analyser: Analyser, parameter: str) -> dict[str, float]:
    """The points of each word in a text as `board:2 directors:2 chairman`; 1 if none are given.

    `parameter` is named in errors. A word that is given twice has the larger points.
    """
    points: dict[str, float] = {}
    for part in text.split():
        word, _, worth = part.rpartition(":") if part.count(":") == 1 else (part, "", "")
        try:
            point = float(worth) if word and worth else 1.0
        except ValueError:
            word, point = part, 1.0
        if not 0.0 < point < 1e6:
            raise BadConfig(f"`{parameter}`: {part!r} gives {point:g} points", "give a number above 0")
        for term in analyser.terms(word or part):
            points[term] = max(point, points.get(term, 0.0))
    return points
