"""Phrases that explain the parts of hound's scores to people; all of its explanations are worded here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

CITING = "citing"
"""Key in `carry`: how many relevant pages, and how many pages in all, link to a URL."""
SMALLEST = 0.05
"""Smaller parts of a score are left out if there are larger ones."""


class Part(NamedTuple):
    """A part of a score: what it measures, and the phrases for a positive and a negative value."""

    meaning: str
    speaks_for: str
    speaks_against: str


PARTS: Mapping[str, Part] = {
    "pages that link to it": Part(
        "relevance of the fetched pages that link to it",
        "relevant pages link here",
        "the pages that link here are not relevant",
    ),
    "words of the link": Part(
        "how well the anchor, the text beside it and the heading above fit the topic",
        "the text around its link fits the topic",
        "the text around its link does not fit the topic",
    ),
    "words of the address": Part(
        "how well the path of the URL fits the topic",
        "words of its address fit the topic",
        "no word of its address fits the topic",
    ),
    "form of the address": Part(
        "relevant pages have addresses of this form, or with these words",
        "relevant pages have addresses like this",
        "pages with addresses like this were not relevant",
    ),
    "words that paid off": Part(
        "links with these words led to relevant pages",
        "links with these words paid off",
        "links with these words did not pay off",
    ),
    "links beside it": Part(
        "neighbouring links, other links of the same pages and at the same tag path paid off",
        "links beside it paid off",
        "links beside it did not pay off",
    ),
    "cited with good pages": Part(
        "pages that link to it also link to relevant pages and to the examples",
        "linked together with relevant pages",
        "seldom linked together with relevant pages",
    ),
    "known domain": Part(
        "home pages in this domain could be fetched",
        "other sites of its domain could be fetched",
        "other sites of its domain could not be fetched",
    ),
    "may name other sites": Part(
        "its host, or pages with addresses like this, named new sites, and it is near the top of its site",
        "its host names new sites",
        "its host names no new sites",
    ),
    "turn": Part(
        "home pages and pages that may name other sites take turns",
        "it is the turn of a page of this kind",
        "it is not yet the turn of a page of this kind",
    ),
    "exploration": Part(
        "taken before better pages, to learn from it",
        "taken before better pages, to learn from it",
        "taken before better pages, to learn from it",
    ),
    "not ranked yet": Part(
        "found after the last ranking",
        "found after the last ranking",
        "found after the last ranking",
    ),
}


NOT_RANKED = "not ranked yet"
NOTHING_KNOWN = "nothing speaks for or against it yet"


def reasons(parts: Mapping[str, float], carry: Mapping[str, Any], anchor: str) -> list[tuple[str, float]]:
    """A phrase for each part of a score, with its value, largest first.

    >>> reasons({"words of the link": 0.5, "pages that link to it": 1.2}, {"citing": [6, 9]}, "balloon festivals")
    [('6 relevant pages link here', 1.2), ('anchor: “balloon festivals”', 0.5)]
    >>> reasons({"links beside it": -0.3, "words of the address": 0.01}, {}, "")
    [('links beside it did not pay off', -0.3)]
    >>> reasons({"pages that link to it": 0.0, "links beside it": 0.0}, {}, "")
    [('nothing speaks for or against it yet', 0.0)]
    """
    if NOT_RANKED in parts:  # the value is not a measurement, it only puts the URL last
        return [(PARTS[NOT_RANKED].speaks_against, 0.0)]
    order = sorted(parts.items(), key=lambda part: -abs(part[1]))
    large = [(name, value) for name, value in order if abs(value) >= SMALLEST]
    if not any(parts.values()):
        return [(_citing(carry.get(CITING)) or NOTHING_KNOWN, 0.0)] if parts else []
    return [(_phrase(name, value, carry, anchor), value) for name, value in large or order[:1]]


def _phrase(name: str, value: float, carry: Mapping[str, Any], anchor: str) -> str:
    part = PARTS.get(name)
    if part is None:
        return name
    if value < 0:
        return part.speaks_against
    if name == "words of the link" and anchor:
        return f"anchor: “{anchor}”"
    if name == "pages that link to it":
        return _citing(carry.get(CITING)) or part.speaks_for
    return part.speaks_for


def _citing(counts: object) -> str:
    """A phrase for the number of relevant pages that link to a URL; empty if it is unknown or 0."""
    if not isinstance(counts, list | tuple) or not counts or not isinstance(counts[0], int) or counts[0] < 1:
        return ""
    return f"{counts[0]:,} relevant pages link here" if counts[0] > 1 else "a relevant page links here"
