"""Fish-search: relevant pages breed; where nothing is relevant, a direction is abandoned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import golden
from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, named, walk
from scenthound.model import Candidate, Link, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Record
from scenthound.papers.fish_search import FishSearch
from test_golden import differences

BEES = Topic("bees honey")
HOME = named("home.example/")


def read(strategy: FishSearch, text: str, links: int, carry: dict[str, Any] | None = None) -> list[Candidate]:
    """What a page of this text and so many links offers."""
    list(strategy.start(BEES, [HOME]))
    record = Record(HOME, "", text, [Link(Url(f"{HOME}{n}")) for n in range(links)])
    return list(strategy.read(Page(HOME, Candidate(HOME, 1.0, carry or {}), record)))


def test_the_worked_example_comes_out(golden_public: Path) -> None:
    public = json.loads(golden_public.read_text(encoding="utf-8"))
    found = golden.plain(golden.ANSWERS["fish"](public["inputs"]))
    assert list(differences(found, public["expected"]["fish"], "fish")) == []


def test_a_branch_without_food_starves() -> None:
    web = TinyWeb(
        {
            "a.example/": "bees and honey -> b.example/ c.example/",
            "b.example/": "cars -> d.example/",
            "d.example/": "cars -> f.example/",
            "c.example/": "honey -> e.example/",
            "e.example/": "cars -> g.example/",
            "f.example/": "bees",
            "g.example/": "bees -> h.example/",
            "h.example/": "bees",
        }
    )
    walked = walk(web, FishSearch(depth=1), BEES, "a.example/")
    assert "d.example/" in walked, "b has one step left, and d is fetched with none"
    assert "f.example/" not in walked, "so d's links are not followed"
    assert "g.example/" in walked, "c is relevant: its children are fed anew"
    assert "h.example/" not in walked, "g is relevant, but it came without a step left"
    assert "h.example/" in walk(web, FishSearch(depth=2), BEES, "a.example/")


def test_links_of_relevant_pages_go_first() -> None:
    web = TinyWeb(
        {
            "a.example/": "cars -> c.example/ d.example/",
            "b.example/": "bees -> e.example/ f.example/",
            **{f"{name}.example/": "x" for name in "cdef"},
        }
    )
    walked = walk(web, FishSearch(), BEES, "a.example/ b.example/")
    assert [url[7] for url in walked.visited] == list("abefcd")
    assert [step.score for step in walked.steps[2:]] == [1.0, 1.0, 0.5, 0.5]
    assert walked.steps[2].parts == {"page": walked.steps[1].similarity, "in width": 1.0}


@pytest.mark.parametrize(
    ("text", "options", "scores"),
    [
        ("bees", {"width": 2}, [1, 1, 1, 0, 0]),
        ("cars", {"width": 2}, [0.5, 0.5, 0, 0, 0]),
        ("bees", {"width": 2, "factor": 1}, [1, 1, 0, 0, 0]),
        ("bees", {"width": 3, "factor": 1.5}, [1, 1, 1, 1, 0]),
        ("bees", {"width": 2, "factor": 0}, [0, 0, 0, 0, 0]),
        ("cars", {"width": 0}, [0, 0, 0, 0, 0]),
        ("cars", {}, [0.5] * 5),
        ("bees cars", {"threshold": 0.5}, [0.5] * 5),
        ("bees cars", {"threshold": 0.49}, [1] * 5),
    ],
)
def test_only_the_first_links_are_worth_much(text: str, options: dict[str, Any], scores: list[float]) -> None:
    assert [offer.score for offer in read(FishSearch(**options), text, 5)] == scores


def test_29_of_100_are_29() -> None:
    assert sum(offer.score for offer in read(FishSearch(width=100, factor=0.29), "bees", 50)) == 29


def test_links_crawled_already_take_up_width() -> None:
    web = TinyWeb({"a.example/": "cars -> b.example/ c.example/", "b.example/": "x", "c.example/": "x"})
    walked = walk(web, FishSearch(width=1), BEES, "b.example/ a.example/")
    assert [(step.url, step.score) for step in walked.steps][2] == ("http://c.example/", 0.0)


def test_a_waiting_link_keeps_the_larger_depth_and_the_larger_score() -> None:
    web = TinyWeb(
        {
            "a.example/": "bees -> c.example/",
            "b.example/": "cars -> c.example/",
            "c.example/": "cars -> d.example/",
            "d.example/": "cars -> e.example/",
        }
    )
    for seeds in ("a.example/ b.example/", "b.example/ a.example/"):
        found = {step.url: step for step in walk(web, FishSearch(depth=2), BEES, seeds).steps}
        assert (found[named("c.example/")].score, found[named("c.example/")].carry) == (1.0, {"depth": 2})
        assert found[named("d.example/")].carry == {"depth": 1}


@pytest.mark.parametrize(
    ("text", "carry", "left"),
    [
        ("bees", {"depth": 1}, 3),
        ("cars", {"depth": 2}, 1),
        ("cars", {}, 2),
        ("cars", {"depth": 0}, None),
        ("bees", {"depth": 0}, None),
        ("bees", {"depth": -1}, None),
    ],
)
def test_relevant_pages_feed_their_links_again_and_a_page_without_a_step_left_has_none(
    text: str, carry: dict[str, int], left: int | None
) -> None:
    assert [offer.carry for offer in read(FishSearch(), text, 1, carry)] == ([] if left is None else [{"depth": left}])


def test_a_page_with_100_000_links_offers_them_all() -> None:
    offered = read(FishSearch(), "bees", 100_000)
    assert len(offered) == 100_000
    assert sum(offer.score for offer in offered) == 15
    assert len({id(offer.carry) for offer in offered}) == 1, "what they carry is kept once"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": -1}, "`depth` can't be -1\nhint: give a whole number, 0 or more"),
        ({"depth": 1.5}, "`depth` can't be 1.5"),
        ({"depth": True}, "`depth` can't be True"),
        ({"width": "10"}, "`width` can't be '10'"),
        ({"factor": -1}, "`factor` can't be -1\nhint: give a number, 0 or more"),
        ({"factor": float("nan")}, "`factor` can't be nan"),
        ({"factor": float("inf")}, "`factor` can't be inf"),
        ({"factor": "1.5"}, "`factor` can't be '1.5'"),
        ({"threshold": 1}, "`threshold` can't be 1\nhint: give a number from 0, below 1"),
        ({"threshold": -0.1}, "`threshold` can't be -0.1"),
        ({"stop_words": "german"}, "`stop_words` can't be 'german'\nhint: one of: english, dialog, small, none"),
        ({"stop_words": ["the"]}, "`stop_words` can't be \\['the'\\]"),
        ({"stem": "no"}, "`stem` can't be 'no'\nhint: write true or false"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        FishSearch(**options)
