"""The DOM crawler: the text around a link decides among the links of one page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import golden
from scenthound.errors import BadConfig
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.lab.run.run_cell import ReplayLimits, run_strategy
from scenthound.lab.testing import TinyWeb, named, page_of, walk
from scenthound.model import Candidate, Link, Topic
from scenthound.page.keyword_similarity import Query
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.page.views.elements import WHOLE_PAGE, climbed_similarities
from scenthound.papers.dom import Dom
from scenthound.ports import Strategy
from scenthound.strategies.best_first import BestFirst
from scenthound.text.vectors import Counts
from support.long_form import long_form
from test_golden import differences

HOME = named("home.example/")
BEES = Topic("bees honey")
QUERY = Query("bees honey")


def offers(strategy: Strategy, html: str) -> dict[str, Candidate]:
    list(strategy.start(BEES, [HOME]))
    return {offer.url: offer for offer in strategy.read(page_of(html, HOME))}


def test_the_worked_example_comes_out(golden_public: Path) -> None:
    public = json.loads(golden_public.read_text(encoding="utf-8"))
    found = golden.plain(golden.ANSWERS["dom"](public["inputs"]))
    assert list(differences(found, public["expected"]["dom"], "dom")) == []


def test_the_link_in_the_paragraph_about_the_topic_goes_first() -> None:
    html = "<p>cars and engines <a href='//cars.example/'>here</a></p><p>bees <a href='//hive.example/'>here</a></p>"
    web = TinyWeb({"home.example/": html, "cars.example/": "x", "hive.example/": "x"})
    assert walk(web, Dom(), BEES, "home.example/").visited == [
        HOME,
        "http://hive.example/",
        "http://cars.example/",
    ]
    assert walk(web, BestFirst(), BEES, "home.example/").visited[1] == "http://cars.example/"


def test_a_score_mixes_page_and_parent_and_says_how() -> None:
    found = offers(Dom(), "<title>honey</title><p>bees <a href='/a'>swarm</a></p>")["http://home.example/a"]
    page, context = 2 / (2 * 3) ** 0.5, 1 / (2 * 2) ** 0.5
    assert found.parts == {"page": pytest.approx(page), "context": pytest.approx(context)}
    assert found.score == pytest.approx(0.25 * page + 0.75 * context)
    assert (found.parent, found.anchor, found.depth) == (HOME, "swarm", 1)


def test_text_of_other_anchors_under_the_parent_belongs_to_the_context() -> None:
    found = offers(Dom(), "<p>x</p><p><a href='/a'>swarm</a> <a href='/b'>bees</a></p>")
    assert found["http://home.example/a"].parts == found["http://home.example/b"].parts


def test_of_several_anchors_the_best_counts_in_the_place_of_the_first() -> None:
    html = (
        "<p><a href='/a'>cars</a></p><p><a href='/b'>x</a></p><p>bees <a href='/a'>again</a></p><p><a href='/'>bees</a>"
    )
    strategy = Dom()
    list(strategy.start(BEES, [HOME]))
    found = list(strategy.read(page_of(html, HOME)))
    assert [(offer.url, offer.anchor) for offer in found] == [
        ("http://home.example/a", "again"),
        ("http://home.example/b", "x"),
    ], "and a link to the page itself is none"
    assert found[0].score > found[1].score


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"up": 0}, "swarm"),
        ({"up": 1}, "cars swarm"),
        ({"up": 2}, "bees cars swarm"),
        ({"up": WHOLE_PAGE}, "honey bees cars swarm"),
        ({"min_words": 1}, "cars swarm"),
        ({"min_words": 3}, "bees cars swarm"),
        ({"min_words": 4}, "honey bees cars swarm"),
        ({"min_words": 99}, "honey bees cars swarm"),
        ({"min_words": 2, "up": 0}, "cars swarm"),
    ],
)
def test_the_context_is_as_far_up_as_asked_for(options: dict[str, Any], words: str) -> None:
    html = "<title>honey</title><div>bees <p>cars <a href='/a'>swarm</a></p></div>"
    found = offers(Dom(**options), html)["http://home.example/a"]
    assert found.parts["context"] == pytest.approx(QUERY.similarity(QUERY.analyser.counts(words)))


def test_an_image_link_without_context_speaks_by_its_alternative_text() -> None:
    html = "<p><a href='/a'><img alt='bees'></a></p>"
    assert offers(Dom(up=0), html)["http://home.example/a"].parts["context"] > 0
    assert offers(Dom(up=1), html)["http://home.example/a"].parts["context"] == 0, "attributes are not the page's text"


# ---- identities of the sheet


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> tuple[PreparedBed, GeneratedWeb]:
    web = GeneratedWeb(400, 3, page_size=2000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(tmp_path_factory.mktemp("cache")))
        return prepare(web, jobs=1), web


@pytest.mark.parametrize(
    "options", [{"alpha": 1}, {"alpha": 1, "min_words": 20}, {"up": 1000}, {"up": WHOLE_PAGE}, {"min_words": 10**9}]
)
def test_without_contexts_or_with_the_page_as_context_it_is_best_first(
    generated: tuple[PreparedBed, GeneratedWeb], options: dict[str, Any]
) -> None:
    bed, web = generated
    for topic in web.topics[:3]:
        limits = ReplayLimits(pages=150)
        ours = run_strategy(bed, topic.topic, Dom(**options), topic.seeds, limits)
        naive = run_strategy(bed, topic.topic, BestFirst(), topic.seeds, limits)
        assert not ours.error
        assert ours.visited == naive.visited
        assert [step.score for step in ours.steps] == pytest.approx([step.score for step in naive.steps], abs=1e-12)
        assert [step.parent for step in ours.steps] == [step.parent for step in naive.steps]


def test_with_its_defaults_it_is_not_best_first(generated: tuple[PreparedBed, GeneratedWeb]) -> None:
    bed, web = generated
    topic, limits = web.topics[0], ReplayLimits(pages=150)
    ours = run_strategy(bed, topic.topic, Dom(), topic.seeds, limits)
    assert ours.visited != run_strategy(bed, topic.topic, BestFirst(), topic.seeds, limits).visited


TAGS = st.sampled_from(["<div>", "</div>", "<p>", "<ul><li>", "<li>", "</ul>", "<table><tr><td>", "<td>", "</table>"])
WORDS = st.sampled_from(
    ["bees ", "honey ", "cars ", "<a href='/a'>swarm</a>", "<a href='/b'>bees</a>", "<a href='/c'>"]
)


def climbed(page: Page, link: Link, fewest: int, up: int) -> Counts:
    """What stands at the first element, from `up` levels above the link upwards, that holds enough terms; the root."""
    parent, element = page.record.elements.parent, page.record.elements.of_link[link.position]
    level = 0
    while True:
        counts = QUERY.analyser.counts(text_of(page, element) if level else link.anchor)
        is_root = parent[element] < 0
        if level >= up and ((is_root and level) or sum(counts.values()) >= fewest):
            return counts
        element, level = element if is_root else parent[element], level + 1


def text_of(page: Page, element: int) -> str:
    """All text in an element of the page."""
    leaves, elements = page.record.leaves, page.record.elements
    inside = range(elements.first_leaf[element], elements.end_leaf[element])
    return " ".join(page.text[leaves.begin[leaf] : leaves.end[leaf]] for leaf in inside)


@settings(max_examples=long_form(33, 100), deadline=None)
@given(st.lists(st.one_of(TAGS, WORDS), max_size=40), st.integers(1, 8), st.integers(0, 3))
def test_climbing_with_a_memory_ends_where_climbing_without_one_does(parts: list[str], fewest: int, up: int) -> None:
    page = page_of("".join(parts), HOME)
    found = climbed_similarities(page.record, QUERY, up, fewest)
    assert found == [QUERY.similarity(climbed(page, link, fewest, up)) for link in page.links]


# ---- size


class CountingQuery(Query):
    """A query that counts how often it is compared with something."""

    asked = 0

    def similarity(self, counts: Mapping[str, int]) -> float:
        CountingQuery.asked += 1
        return super().similarity(counts)


def comparisons(strategy: Dom, html: str) -> tuple[int, int]:
    """How many links a page offers, and how often the topic was compared with something for that."""
    list(strategy.start(BEES, [HOME]))
    strategy.query_ = CountingQuery(BEES.keywords)
    CountingQuery.asked = 0
    return len(list(strategy.read(page_of(html, HOME, max_links=200_000)))), CountingQuery.asked


def test_of_a_page_with_70_000_links_in_one_paragraph_the_paragraph_is_compared_once() -> None:
    html = "<title>bees</title><p>bees " + "".join(f"<a href='/{n}'>link</a> " for n in range(70_000))
    assert comparisons(Dom(), html) == (70_000, 2)


def test_climbing_looks_at_each_element_once() -> None:
    """5,000 times 300 elements of 5,000 words each would take hours."""
    deep, many = 300, 5_000
    items = "".join(f"<li><a href='/{n}'>link</a>" for n in range(many))
    html = "<title>bees</title>" + "<div>" * deep + f"<ul>{items}</ul>" + "</div>" * deep
    assert comparisons(Dom(min_words=10**9), html) == (many, 2)


def test_a_page_without_a_word_of_the_topic_is_not_looked_at_closely() -> None:
    """It need not even have leaves and elements."""
    page = page_of("<p>cars <a href='/a'>wheels</a></p>", HOME, parts=Parts())
    strategy = Dom()
    list(strategy.start(BEES, [HOME]))
    (offer,) = strategy.read(page)
    assert (offer.score, offer.parts) == (0.0, {"page": 0.0, "context": 0.0})


# ---- parameters


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf"), "0.5", None, True])
def test_a_weight_is_a_number_from_0_to_1(value: Any) -> None:
    with pytest.raises(BadConfig, match=r"`alpha` can't be .*\nhint: give a number from 0 to 1"):
        Dom(alpha=value)


@pytest.mark.parametrize("name", ["up", "min_words"])
@pytest.mark.parametrize("value", [-1, 1.5, "2", None, True])
def test_levels_and_words_are_whole_numbers(name: str, value: Any) -> None:
    with pytest.raises(BadConfig, match=f"`{name}` can't be .*\nhint: give a whole number, 0 or more"):
        Dom(**{name: value})


@pytest.mark.parametrize("options", [{"n": 0}, {"eviction": "refuse"}, {"stop_words": "german"}])
def test_parameters_of_best_first_are_checked_as_there(options: dict[str, Any]) -> None:
    with pytest.raises(BadConfig, match=f"`{next(iter(options))}` can't be"):
        Dom(**options)
