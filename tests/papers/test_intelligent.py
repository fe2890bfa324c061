"""Intelligent crawling: it learns during the crawl which events predict relevant pages (sheet 30.6)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, named, walk
from scenthound.papers.intelligent import Intelligent
from scenthound.papers.parts.interest import EventCounts, Totals
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.strategies.sightings import MOST_SIGHTINGS, WaitingLinks
from scenthound.text.vocabulary import Vocabulary


def directory(pages: int, good: str = "sport", poor: str = "hotel") -> TinyWeb:
    """Pages under /sport/ are wanted, pages under /hotel/ are not; nothing else tells links apart."""
    links = [f"x.example/{poor if number % 4 else good}/{number}" for number in range(pages)]
    web = {"x.example/": "start -> " + " ".join(links)}
    for number, link in enumerate(links):
        web[link] = "pool towel" if number % 4 else "volleyball beach"
    return TinyWeb(web)


def test_it_finds_out_that_a_word_of_the_address_pays() -> None:
    web = directory(100)
    made = Intelligent(breadth=20, every=10)
    ours = walk(web, made, "volleyball", "x.example/", pages=40)
    assert all("/sport/" in url for url in ours.visited[20:]), "after 20 pages breadth-first it asks for nothing else"
    theirs = walk(web, BreadthFirst(), "volleyball", "x.example/", pages=40)
    assert sum("/sport/" in url for url in theirs.visited) < sum("/sport/" in url for url in ours.visited) - 10


def test_it_is_breadth_first_before_it_has_seen_enough() -> None:
    web = directory(30)
    assert walk(web, Intelligent(), "volleyball", "x.example/").visited == (
        walk(web, BreadthFirst(), "volleyball", "x.example/").visited
    )


def test_words_of_parents_links_from_goals_and_siblings_are_told_apart() -> None:
    """Half of the lists say `beach`, and these lead to what is wanted; of others nothing is to be had."""
    web = {"x.example/": "start -> " + " ".join(f"x.example/l{n}" for n in range(40))}
    for number in range(40):
        word = "beach" if number % 2 else "ski"
        web[f"x.example/l{number}"] = f"{word} list -> " + " ".join(f"y{number}.example/{c}" for c in "abc")
        for child in "abc":
            web[f"y{number}.example/{child}"] = "volleyball" if number % 2 else "snow"
    made = Intelligent(breadth=100, every=20, threshold=0.5)
    steps = walk(TinyWeb(web), made, "volleyball", "x.example/", pages=125).steps
    last = [step for step in steps[101:] if step.url.startswith("http://y")]
    assert all(int(step.url[8:].split(".")[0]) % 2 for step in last)
    assert last[0].parts["words"] > 0.0
    assert max(step.parts["siblings"] for step in last) > 0.0
    ignoring = Intelligent(breadth=100, every=20, threshold=0.5, siblings=0.0)
    assert not any(
        step.parts.get("siblings") for step in walk(TinyWeb(web), ignoring, "volleyball", "x.example/").steps
    )
    assert last[0].parts["links"] == 0.0, "lists are no goals"
    assert last[0].score == pytest.approx(sum(last[0].parts.values()))


def test_the_worked_example_of_a_priority() -> None:
    totals, events = Totals(200, 20), EventCounts()
    events.ids(["volleyball", "team", "hotel"])
    events.goals[:3], events.pages[:3] = [12, 8, 0], [30, 80, 15]
    assert events.log_ratios(totals, 2.0, [0, 1, 2]).tolist() == [pytest.approx(math.log(4)), 0.0, 0.0]
    events.goals[:3], events.pages[:3] = [9, 6, 0], [40, 30, 300]
    assert events.log_ratios(totals, 2.0, [0, 1, 2]).tolist() == [
        pytest.approx(math.log(2.25)), 0.0, pytest.approx(math.log(0.01)),
    ]  # fmt: skip


def test_without_any_goal_or_with_goals_only_nothing_is_told_apart() -> None:
    events = EventCounts()
    events.count(events.ids(["a"]), True)
    for totals in (Totals(), Totals(9, 0), Totals(9, 9)):
        assert events.log_ratios(totals, 2.0, [0]).tolist() == [0.0]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sets(st.sampled_from("abcdef")), st.booleans()), max_size=30))
def test_events_are_counted_exactly_and_survive(pages: list[tuple[set[str], bool]]) -> None:
    events = EventCounts()
    for names, is_goal in pages:
        events.count(events.ids(sorted(names)), is_goal)
    again = EventCounts.load(events.save())
    for number, name in enumerate(again.names):
        assert again.pages[number] == sum(name in names for names, _ in pages)
        assert again.goals[number] == sum(name in names and is_goal for names, is_goal in pages)


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=9), st.integers(0, 6))
def test_many_sets_at_once_get_the_ids_that_they_would_get_one_by_one(sets: list[list[str]], room: int) -> None:
    together, alone = EventCounts(), EventCounts()
    together.names, alone.names = Vocabulary(room), Vocabulary(room)
    assert together.ids_of_each(sets) == [alone.ids(names).tolist() for names in sets]
    assert list(together.names) == list(alone.names)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 20), unique=True), max_size=5), st.booleans())
def test_what_several_show_is_counted_once(sets: list[list[int]], is_goal: bool) -> None:
    events = EventCounts()
    events.ids([str(number) for number in range(21)])
    for _ in range(2):
        events.count_union([np.array(one, dtype=np.int32) for one in sets], is_goal)
    shown = [2 * any(number in one for one in sets) for number in range(21)]
    assert events.pages[:21].tolist() == shown
    assert events.goals[:21].tolist() == (shown if is_goal else [0] * 21)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 20), unique=True), max_size=40))
def test_a_set_of_events_is_worth_the_sum_of_its_logs(sets: list[list[int]]) -> None:
    """Whether few events are asked for or more than there are."""
    events, totals = EventCounts(), Totals(200, 20)
    events.ids([str(number) for number in range(21)])
    events.pages[:21], events.goals[:21] = range(5, 110, 5), [12, 0, 8] * 7
    packed = [np.array(one, dtype=np.int32).tobytes() for one in sets]
    logs = events.log_ratios(totals, 2.0)
    assert events.summed_log_ratios(packed, totals, 2.0).tolist() == pytest.approx([sum(logs[one]) for one in sets])
    assert events.summed_log_ratios(packed, Totals(9, 0), 2.0).tolist() == [0.0] * len(sets)


def test_a_thousand_events_find_room() -> None:
    events = EventCounts()
    numbers = events.ids([f"word{number}" for number in range(1000)])
    events.count(np.array(numbers), True)
    assert events.pages[:1000].tolist() == [1] * 1000


@pytest.mark.parametrize("predicate", ["similarity", "words"])
def test_the_predicate_can_be_chosen(predicate: Any) -> None:
    web = TinyWeb({"a.example/": "volleyball and much more of everything else", "b.example/": "volleyball beach"})
    made = Intelligent(predicate=predicate, threshold=0.8)
    walk(web, made, "volleyball beach", "a.example/ b.example/")
    assert made.totals_ == (2, 1)
    assert made.goals_ == {"http://b.example/"}


def test_what_is_remembered_is_bounded_and_pages_are_let_go() -> None:
    web = directory(60)
    made = Intelligent(breadth=5, every=5, memory=10)
    walked = walk(web, made, "volleyball", "x.example/")
    assert len(walked.visited) == 61, "what is forgotten is still fetched"
    assert not made.waiting_.links
    assert not made.waiting_.pages


def test_a_link_of_many_pages_remembers_the_first_few() -> None:
    waiting: WaitingLinks[str] = WaitingLinks(memory=2)
    for page in range(20):
        [link] = waiting.add_page(page, [(named("a.example/"), ())])
        waiting.keep(page, "page")
    assert len(link.seen) == len(waiting.pages) == MOST_SIGHTINGS
    waiting.add_page(99, [(named("b.example/"), ()), (named("c.example/"), ())])
    waiting.keep(99, "page")
    assert list(waiting.pages) == [99], "the oldest link is forgotten with its pages"


def test_a_redirect_teaches_what_was_known_of_the_link() -> None:
    web = {"x.example/": "start -> " + " ".join(f"x.example/sport/{n}" for n in range(3)), "y.example/": "volleyball"}
    web |= {f"x.example/sport/{n}": f"=> y.example/{n}" for n in range(3)}
    web |= {f"y.example/{n}": "volleyball" for n in range(3)}
    made = Intelligent()
    walk(TinyWeb(web), made, "volleyball", "x.example/")
    (sport,) = made.events_["url"].names.ids(["sport"])
    assert made.events_["url"].goals[sport] == 3
    assert not made.waiting_.links


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("predicate", "taste"), ("threshold", -1), ("breadth", -1), ("every", 0), ("errors", math.inf), ("words", "x"),
        ("url", True), ("memory", 0), ("stop_words", "x"), ("stem", "x"),
    ],
)  # fmt: skip
def test_a_parameter_that_can_not_be_is_named(parameter: str, value: Any) -> None:
    with pytest.raises(BadConfig, match=parameter):
        Intelligent(**{parameter: value})
