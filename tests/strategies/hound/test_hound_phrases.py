"""hound's reasons in words: what a person reads in `explain`, `status` and the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scenthound.lab.testing import TinyWeb, walk
from scenthound.ports import Explains
from scenthound.strategies.hound.features import WEIGHTS
from scenthound.strategies.hound.hound import Hound
from scenthound.strategies.hound.hound_phrases import PARTS, reasons

CHESS = "chess openings gambit endgame knight bishop castling"


def test_every_part_has_words() -> None:
    assert isinstance(Hound(), Explains)
    assert set(WEIGHTS) <= set(PARTS)
    assert set(Hound().declaration.score_parts) == set(PARTS)


@pytest.mark.parametrize(
    ("parts", "carry", "anchor", "phrase"),
    [
        ({"pages that link to it": 1.2}, {"citing": [6, 9]}, "", "6 relevant pages link here"),
        ({"pages that link to it": 1.2}, {"citing": [1, 9]}, "", "a relevant page links here"),
        ({"pages that link to it": 1.2}, {"citing": [0, 9]}, "", "relevant pages link here"),
        ({"pages that link to it": -1.2}, {"citing": [6, 9]}, "", "the pages that link here are not relevant"),
        ({"words of the link": 0.4}, {}, "balloon festivals", "anchor: “balloon festivals”"),
        ({"words of the link": 0.4}, {}, "", "the text around its link fits the topic"),
        ({"links beside it": 0.4}, {}, "x", "links beside it paid off"),
        ({"of a plug-in": 0.4}, {"citing": "six"}, "x", "of a plug-in"),
    ],
)
def test_a_part_reads_as_a_reason(
    parts: Mapping[str, float], carry: Mapping[str, Any], anchor: str, phrase: str
) -> None:
    assert reasons(parts, carry, anchor) == [(phrase, next(iter(parts.values())))]


def test_the_number_of_relevant_pages_is_counted_when_a_url_is_ranked() -> None:
    links = "".join(f"<li><a href='/p{n}'>chess {n}</a></li>" for n in range(8))
    pages = {f"a.test/p{n}": f"<p>{CHESS}</p><a href='/prize'>chess prize</a>" for n in range(8)}
    web = TinyWeb({"a.test/seed": f"<p>{CHESS}</p><ul>{links}</ul>", **pages, "a.test/prize": "<p>none</p>"})
    walked = walk(web, Hound(), "chess", "a.test/seed")
    prize = next(step for step in walked.steps if step.url == "http://a.test/prize")
    relevant, linking = prize.carry["citing"]
    assert 1 <= relevant <= linking < prize.n
