"""Hybrids of text and graph: scores by hand, and the local rank_KW,PR."""

from __future__ import annotations

from typing import Any

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, named, walk
from scenthound.model import Candidate, Topic
from scenthound.page.page import Page
from scenthound.papers.text_and_graph import TextAndGraph


def html(text: str, *links: str) -> str:
    """A page whose links add no words."""
    return f"<p>{text}</p>" + "".join(f'<a href="http://{link}"></a>' for link in links)


WEB = TinyWeb(
    {
        "one.example/": html("bees", "x.example/"),
        "two.example/": html("bees cars", "x.example/", "y.example/"),
        "x.example/": html("honey"),
        "y.example/": html("wheels"),
    }
)


def scores(words: str, **parameters: Any) -> dict[str, float]:
    """The last score of each link after both pages were read."""
    made, found = TextAndGraph(**parameters), {}
    made.start(Topic(words), [named("one.example/"), named("two.example/")])
    for name in ("one.example/", "two.example/"):
        page = WEB.fetch(Candidate(named(name), 0.0))
        assert isinstance(page, Page)
        found |= {offer.url: round(offer.score, 6) for offer in made.read(page)}
    return {name[0]: found[named(name)] for name in ("x.example/", "y.example/")}


@pytest.mark.parametrize(
    ("words", "parameters", "expected"),
    [
        # cosines 1 and 1/√2; two and one pages link to them: 2/3 and 1/2
        ("bees", {"graph": "backlinks"}, {"x": 0.833333, "y": 0.603553}),
        ("bees", {"graph": "backlinks", "weight": 0.0}, {"x": 0.666667, "y": 0.5}),
        ("bees", {"graph": "backlinks", "weight": 1.0}, {"x": 1.0, "y": 0.707107}),
        # both have a page with two topic words
        ("bees cars", {"text": "keywords", "graph": "backlinks"}, {"x": 2.666667, "y": 2.5}),
        # IR of a page without links to it 0.15, so x .15 + .85 (.15 + .075) = .34125, y .15 + .85 · .075 = .21375
        ("bees cars", {"text": "keywords", "every": 1}, {"x": 2.254427, "y": 2.176107}),
        # all neighbours are seeds
        ("bees", {"graph": "alliance"}, {"x": 1.0, "y": 0.853553}),
    ],
)
def test_scores_by_hand(words: str, parameters: dict[str, Any], expected: dict[str, float]) -> None:
    assert scores(words, **parameters) == expected


def test_a_better_page_raises_the_text_of_a_link_that_waits() -> None:
    web = TinyWeb(
        {"a.example/": html("cars", "z.example/"), "b.example/": html("bees", "z.example/"), "z.example/": ""}
    )
    walked = walk(web, TextAndGraph(), "bees", "a.example/ b.example/")
    assert walked.steps[2].parts["text"] == 1.0


def test_topic_words_come_before_any_rank() -> None:
    """Best-N-first on the local rank_KW,PR: one link from a page with two words beats many from pages with one."""
    many = {f"m{i}.example/": html("bees", "often.example/") for i in range(6)}
    web = TinyWeb(
        {**many, "best.example/": html("bees cars", "once.example/"), "often.example/": "", "once.example/": ""}
    )
    seeds = " ".join([*many, "best.example/"])
    walked = walk(web, TextAndGraph(text="keywords", every=1), "bees cars", seeds)
    assert walked.visited[7:] == [named("once.example/"), named("often.example/")]
    assert walk(web, TextAndGraph(weight=0.0, every=1), "bees cars", seeds).visited[7] == named("often.example/")


@pytest.mark.parametrize("wrong", [{"text": "both"}, {"graph": "hits"}, {"weight": 2.0}, {"n": 0}])
def test_a_wrong_parameter_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadConfig, match=next(iter(wrong))):
        TextAndGraph(**wrong)
