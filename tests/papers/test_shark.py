"""Shark-search: what ancestors promise and what the words at a link say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import golden
from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, named, page_of, walk
from scenthound.model import Candidate, Topic
from scenthound.page.keyword_similarity import Query
from scenthound.papers.shark_search import SharkSearch
from test_golden import differences

BEES = Topic("bees honey")
HOME = named("home.example/")
HALF = 0.5**0.5  # the cosine of "bees honey" with one word of it


def read(strategy: SharkSearch, html: str, carry: dict[str, Any] | None = None) -> list[Candidate]:
    list(strategy.start(BEES, [HOME]))
    return list(strategy.read(page_of(html, HOME, candidate=Candidate(HOME, 1.0, carry or {}))))


def test_the_worked_example_comes_out(golden_public: Path) -> None:
    public = json.loads(golden_public.read_text(encoding="utf-8"))
    found = golden.plain(golden.ANSWERS["shark"](public["inputs"]))
    assert list(differences(found, public["expected"]["shark"], "shark")) == []


def test_the_anchor_says_more_than_its_surroundings_and_these_more_than_the_page() -> None:
    html = (
        "<p>bees</p><p>" + "cars " * 9 + "<a href='//far.example/'>here</a>" + " cars" * 9 + "</p>"
        "<p>honey <a href='//near.example/'>here</a>" + " cars" * 9 + "</p><p><a href='//bees.example/'>bees</a></p>"
    )
    names = ("far.example/", "near.example/", "bees.example/")
    web = TinyWeb({"home.example/": html, **dict.fromkeys(names, "x")})
    walked = walk(web, SharkSearch(window=3), BEES, "home.example/")
    assert walked.visited[1:] == [named(name) for name in reversed(names)]


def test_children_of_relevant_ancestors_go_before_children_of_strangers() -> None:
    web = TinyWeb(
        {
            "a.example/": "cars -> a.example/1",
            "b.example/": "bees honey -> b.example/1",
            "a.example/1": "cars -> a.example/2",
            "b.example/1": "cars -> b.example/2",
            "a.example/2": "x",
            "b.example/2": "x",
        }
    )
    walked = walk(web, SharkSearch(), BEES, "a.example/ b.example/")
    assert [url[7] + url[17:] for url in walked.visited] == ["a", "b", "b1", "b2", "a1", "a2"]
    inherited = [step.carry["inherited"] for step in walked.steps]
    assert inherited[2] == pytest.approx(0.5 * walked.steps[1].similarity)
    assert inherited[3] == inherited[2] / 2
    assert inherited[4:] == [0, 0], "a seed inherits nothing"


def test_a_score_is_made_as_printed() -> None:
    (offer,) = read(SharkSearch(), "<p>honey <a href='/a'>bees swarm</a></p>")
    page, anchor = 2 / 6**0.5, 0.5
    neighbourhood = 0.8 * anchor + 0.2
    assert offer.parts == {
        "page": pytest.approx(page),
        "inherited": pytest.approx(0.5 * page),
        "anchor": pytest.approx(anchor),
        "context": 1.0,
        "neighbourhood": pytest.approx(neighbourhood),
    }
    assert offer.score == pytest.approx(0.1 * 0.5 * page + 0.9 * neighbourhood)
    assert offer.carry == {"depth": 3, "inherited": offer.parts["inherited"]}


@pytest.mark.parametrize(
    ("window", "words"), [(0, "swarm"), (2, "swarm"), (3, "bees swarm wax"), (10, "bees swarm wax")]
)
def test_the_window_counts_raw_words_and_crosses_borders(window: int, words: str) -> None:
    (offer,) = read(SharkSearch(window=window), "<p>bees</p><p>and the</p><a href='/a'>swarm</a> of the wax")
    query = Query("bees honey")
    assert offer.parts["context"] == pytest.approx(query.similarity(query.analyser.counts(words)))


def test_an_image_link_speaks_by_its_alternative_text_even_on_a_page_without_a_word() -> None:
    (offer,) = read(SharkSearch(), "<p>cars <a href='/a'><img alt='bees'></a></p>")
    assert (offer.parts["page"], offer.parts["anchor"], offer.parts["context"]) == (0.0, pytest.approx(HALF), 1.0)


def test_of_several_anchors_the_best_counts_in_the_place_of_the_first() -> None:
    html = "<p><a href='/a'>cars</a> <a href='/b'>x</a> <a href='/a'>bees</a> <a href='/a'>wax</a> <a href='/'>bees</a>"
    found = read(SharkSearch(), html)
    assert [(offer.url, offer.anchor) for offer in found] == [
        ("http://home.example/a", "bees"),
        ("http://home.example/b", "x"),
    ], "and a link to the page itself is none"


@pytest.mark.parametrize(
    ("text", "carry", "left"),
    [
        ("bees", {"depth": 1, "inherited": 0.8}, {"depth": 3, "inherited": 0.5 * HALF}),
        ("cars", {"depth": 2, "inherited": 0.8}, {"depth": 1, "inherited": 0.4}),
        ("cars", {}, {"depth": 2, "inherited": 0.0}),
        ("bees", {"depth": 0, "inherited": 0.8}, None),
        ("cars", {"depth": 0}, None),
    ],
)
def test_relevant_pages_renew_depth_and_inheritance_and_others_use_them_up(
    text: str, carry: dict[str, float], left: dict[str, float] | None
) -> None:
    found = read(SharkSearch(), f"{text} <a href='/a'></a>", carry)
    assert [dict(offer.carry) for offer in found] == ([] if left is None else [pytest.approx(left)])


def test_a_page_that_is_found_again_keeps_the_largest_of_everything() -> None:
    web = TinyWeb(
        {
            "a.example/": "bees honey wax -> c.example/",
            "b.example/": "<p>cars cars cars</p><a href='http://c.example/'>bees honey</a>",
            "c.example/": "cars -> d.example/",
        }
    )
    for seeds in ("a.example/ b.example/", "b.example/ a.example/"):
        found = walk(web, SharkSearch(), BEES, seeds).steps[2]
        assert (found.url, found.parent) == ("http://c.example/", "http://b.example/"), "its anchor is the better one"
        assert found.carry["depth"] == 3
        assert found.carry["inherited"] > found.parts["inherited"], "inherited from a, wanted for b's anchor"


class CountingQuery(Query):
    """A query that counts how often it is compared with something."""

    asked = 0

    def similarity(self, counts: Mapping[str, int]) -> float:
        CountingQuery.asked += 1
        return super().similarity(counts)


def test_of_a_page_with_40_000_links_only_windows_with_a_word_of_the_topic_are_compared() -> None:
    html = "<p>bees " + "".join(f"<a href='/{n}'>link</a> word " for n in range(40_000))
    strategy = SharkSearch(window=2)
    list(strategy.start(BEES, [HOME]))
    strategy.query_ = CountingQuery(BEES.keywords)
    offered = list(strategy.read(page_of(html, HOME, max_links=200_000)))
    assert len(offered) == 40_000
    assert [offer.parts["context"] > 0 for offer in offered[:3]] == [True, False, False]
    assert CountingQuery.asked == 2, "the page, and the one window that reaches `bees`"
    assert len({id(offer.carry) for offer in offered}) == 1


@pytest.mark.parametrize("name", ["gamma", "delta", "beta"])
@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "0.5", None, True])
def test_weights_are_numbers_from_0_to_1(name: str, value: Any) -> None:
    with pytest.raises(BadConfig, match=f"`{name}` can't be .*\nhint: give a number from 0 to 1"):
        SharkSearch(**{name: value})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": -1}, "`depth` can't be -1\nhint: give a whole number, 0 or more"),
        ({"depth": 2.5}, "`depth` can't be 2.5"),
        ({"window": -1}, "`window` can't be -1\nhint: give a whole number from 0 to 1000"),
        ({"window": 1001}, "`window` can't be 1001"),
        ({"window": True}, "`window` can't be True"),
        ({"stop_words": "german"}, "`stop_words` can't be 'german'"),
        ({"stem": None}, "`stem` can't be None"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        SharkSearch(**options)
