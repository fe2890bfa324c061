"""Parse words with points, such as `board:2 chairman`: the goal words of `bayes` and of the Hayek economy."""

from __future__ import annotations

from scenthound.errors import BadConfig
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
