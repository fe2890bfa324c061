"""Breadth-first, random, best-first and best-N-first, asked directly."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from scenthound.errors import BadConfig
from scenthound.model import Candidate, Link, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Record
from scenthound.papers.random_order import RandomOrder
from scenthound.ports import Strategy, declaration_of
from scenthound.strategies import STRATEGIES
from scenthound.strategies.best_first import BestFirst, BestNFirst
from scenthound.strategies.breadth_first import BreadthFirst

HOME, A, B, C = (Url(f"http://{name}.test/") for name in ("home", "a", "b", "c"))
SOLAR = Topic("solar panel")
NAMES = ["best-first", "best-n-first", "breadth-first", "random"]


def page_of(text: str, *urls: Url, url: Url = HOME) -> Page:
    links = [Link(target, f"to {target}", f"{target}#as-found", node) for node, target in enumerate(urls)]
    return Page(url, Candidate(url, 0.5, depth=2), Record(url, "", text, links))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_on_the_shelf_and_a_strategy_whose_parameters_say_what_they_do(name: str) -> None:
    made = STRATEGIES.get(name)()
    assert isinstance(made, Strategy)
    assert all(parameter.metadata["doc"] for parameter in dataclasses.fields(made))
    assert type(made).__doc__


@pytest.mark.parametrize("name", NAMES)
def test_seeds_come_first_in_the_given_order_and_once(name: str) -> None:
    started = list(STRATEGIES.get(name)().start(SOLAR, [B, A, B]))
    assert [(candidate.url, candidate.score) for candidate in started] == [(B, float("inf")), (A, float("inf"))]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_offers_each_of_its_links_once_and_never_itself(name: str) -> None:
    strategy = STRATEGIES.get(name)()
    strategy.start(SOLAR, [HOME])
    offered = list(strategy.read(page_of("solar", C, HOME, A, C)))
    assert [candidate.url for candidate in offered] == [C, A]
    first = offered[0]
    assert (first.parent, first.anchor, first.depth, first.spelling) == (HOME, f"to {C}", 3, f"{C}#as-found")
    assert list(strategy.miss(Miss(first, "timeout"))) == []
    assert list(strategy.read(page_of(""))) == []


def test_breadth_first_wants_all_links_alike_and_a_full_frontier_refuses() -> None:
    strategy = BreadthFirst()
    assert [candidate.score for candidate in strategy.read(page_of("solar panel", A, B))] == [0.0, 0.0]
    assert declaration_of(strategy).eviction == "refuse"


def test_random_draws_a_urls_wait_once_whatever_the_page() -> None:
    urls = [Url(f"http://{n}.test/") for n in range(1000)]

    def scores(seed: int, page: Page) -> dict[Url, float]:
        strategy = RandomOrder(seed)
        strategy.start(SOLAR, [HOME])
        page.candidate = page.candidate._replace(score=float("inf"))  # a seed: the clock stands at 0
        return {candidate.url: candidate.score for candidate in strategy.read(page)}

    first = scores(7, page_of("", *urls))
    assert first == scores(7, page_of("other", *reversed(urls), url=A))
    assert len(set(first.values())) == 1000
    assert sorted(urls, key=first.__getitem__) != sorted(urls, key=scores(8, page_of("", *urls)).__getitem__)
    assert -1.1 < sum(first.values()) / 1000 < -0.9, "exponential with mean 1"


def test_random_is_an_even_draw_among_all_that_wait() -> None:
    """Ten old URLs wait; at each step one is visited and a new one comes. Old ones must not be left to starve."""
    rounds, steps, old = 400, 10, 0
    for seed in range(rounds):
        strategy = RandomOrder(seed)
        strategy.start(SOLAR, [HOME])
        waiting = {
            c.url: c.score for c in strategy.read(page_of("", *(Url(f"http://old{n}.test/") for n in range(10))))
        }
        for step in range(steps):
            best = max(waiting, key=waiting.__getitem__)
            score = waiting.pop(best)
            old += "old" in best
            page = page_of("", Url(f"http://new{step}.test/"), url=best)
            page.candidate = page.candidate._replace(score=score)
            waiting.update({c.url: c.score for c in strategy.read(page)})
    left = 10.0
    expected = 0.0
    for _ in range(steps):
        expected += left / 10.0
        left -= left / 10.0
    assert abs(old / rounds - expected) < 0.3, f"{old / rounds:.2f} old ones visited, {expected:.2f} expected"


def test_best_first_gives_every_link_the_similarity_of_its_page() -> None:
    strategy = BestFirst(stop_words="small")
    strategy.start(SOLAR, [HOME])
    offered = list(strategy.read(page_of("the solar panel of a panel maker", A, B)))
    expected = 3 / (2 * 6) ** 0.5
    assert [candidate.score for candidate in offered] == [pytest.approx(expected)] * 2
    assert offered[0].parts == {"page": offered[0].score}


@pytest.mark.parametrize(
    ("options", "text", "related"),
    [
        ({}, "solar panels", True),
        ({"stem": False}, "panels", False),
        ({"stop_words": "none"}, "and", False),
    ],
)
def test_words_are_read_as_the_parameters_say(options: dict[str, Any], text: str, related: bool) -> None:
    strategy = BestFirst(**options)
    strategy.start(SOLAR, [HOME])
    assert (next(iter(strategy.read(page_of(text, A)))).score > 0) is related


def test_a_topic_without_words_makes_all_links_equal() -> None:
    strategy = BestFirst()
    strategy.start(Topic(""), [HOME])
    assert [candidate.score for candidate in strategy.read(page_of("solar", A, B))] == [0.0, 0.0]


def test_one_is_greedy_and_256_are_taken_at_once() -> None:
    made = [declaration_of(strategy) for strategy in (BestFirst(), BestNFirst(), BestFirst(n=16))]
    assert [one.batch for one in made] == [1, 256, 16]
    assert made[1].shuffle
    assert made[1].eviction == "scored"
    assert repr(BestNFirst(n=3, shuffle=False)).startswith("BestNFirst(n=3, shuffle=False, ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "`n` can't be 0\nhint: give a whole number, 1 or more"),
        ({"n": True}, "`n` can't be True\nhint: give a whole number, 1 or more"),
        ({"n": "3"}, "`n` can't be '3'\nhint: give a whole number, 1 or more"),
        ({"eviction": "refuse"}, "`eviction` can't be 'refuse'\nhint: one of: scored, literal"),
        ({"stop_words": "german"}, "`stop_words` can't be 'german'\nhint: one of: english, dialog, small, none"),
        ({"stop_words": ["the"]}, "`stop_words` can't be \\['the'\\]"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        BestFirst(**options)
    with pytest.raises(BadConfig, match=message):
        BestNFirst(**options)


def test_a_seed_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(BadConfig, match="`seed` can't be 'x'"):
        RandomOrder("x")  # type: ignore[arg-type]
