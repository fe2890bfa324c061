"""The frontier in memory: the contract, and the worked examples of the sheets."""

from __future__ import annotations

import gc
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.lab.testing.frontier import FrontierContract
from scenthound.model import DECIMALS, Candidate, Url, rounded
from scenthound.ports import Popped
from scenthound.store.memory_frontier import MemoryFrontier
from support.long_form import long_form


class Heaps(FrontierContract):
    make = staticmethod(MemoryFrontier)


TestHeaps = Heaps.TestCase
TestHeaps.settings = settings(max_examples=long_form(66, 200), stateful_step_count=50, deadline=None)


def offer(short: str, score: float = 0.0, **more: object) -> Candidate:
    host, _, path = short.partition("/")
    return Candidate(Url(f"http://{host}.test/{path}"), score, **more)  # type: ignore[arg-type]


def short(found: Candidate | Popped | None) -> str | None:
    candidate = found.candidate if isinstance(found, Popped) else found
    return None if candidate is None else candidate.url.removeprefix("http://").replace(".test", "").rstrip("/")


# The toy web of sheet 00: similarity of each page with the query, and its links.
TOY = {
    "s1": (0.500000, "a/about h/list"),
    "s2": (0.365148, "b c"),
    "a/about": (0.408248, "d e"),
    "b": (0.213201, "e f"),
    "c": (0.0, "f"),
    "h/list": (0.0, "s1/contact s2 t g"),
    "s1/contact": (0.0, "s1"),
    "t": (0.816497, ""),
    "e": (0.670820, "c"),
    "d": (0.0, ""),
    "f": (0.0, "g"),
    "g": (0.0, ""),
}


def walk(frontier: MemoryFrontier, best_first: bool) -> tuple[list[str], list[str]]:
    """The order in which the toy web is visited, and the evicted candidates."""
    order: list[str] = []
    fallen: list[str] = []
    for seed in ("s1", "s2"):
        frontier.push(offer(seed, math.inf))
    while (candidate := frontier.pop(0.0)) is not None:
        page = short(candidate)
        assert page is not None
        order.append(page)
        similarity, links = TOY[page]
        for link in links.split():
            if link not in order:
                out = short(frontier.push(offer(link, similarity if best_first else 0.0)))
                fallen += [out] if out else []
    return order, fallen


def test_breadth_first_on_the_toy_web_without_a_bound() -> None:
    order, _ = walk(MemoryFrontier(), best_first=False)
    assert order == ["s1", "s2", "a/about", "h/list", "b", "c", "d", "e", "s1/contact", "t", "g", "f"]


def test_breadth_first_with_a_buffer_of_two_refuses_newcomers() -> None:
    order, _ = walk(MemoryFrontier(2, "refuse"), best_first=False)
    assert order == ["s1", "s2", "a/about", "b", "d", "e", "c", "f", "g"]


def test_best_first_on_the_toy_web_raises_c_above_b() -> None:
    order, _ = walk(MemoryFrontier(), best_first=True)
    assert order == ["s1", "s2", "a/about", "h/list", "d", "e", "c", "b", "f", "s1/contact", "t", "g"]


def test_best_first_with_a_buffer_of_three_keeps_only_the_best() -> None:
    order, fallen = walk(MemoryFrontier(3, "scored"), best_first=True)
    assert order == ["s1", "s2", "a/about", "h/list", "d", "e", "c", "s1/contact", "f", "g"]
    assert fallen == ["c", "b", "t", "g"]


def test_literal_eviction_makes_room_first() -> None:
    order, fallen = walk(MemoryFrontier(3, "literal"), best_first=True)
    assert order == ["s1", "s2", "a/about", "h/list", "d", "e", "c", "g", "f"]
    assert fallen == ["b", "c", "s1/contact", "t"]


def test_three_different_hosts_in_every_three_picks() -> None:
    frontier = MemoryFrontier(spread=3)
    for place, name in enumerate(["a/1", "a/2", "b/1", "a/3", "c/1", "b/2"]):
        frontier.push(offer(name, 1.0 - place / 10))
    assert [short(frontier.pop(0.0)) for _ in range(6)] == ["a/1", "b/1", "c/1", "a/2", "b/2", "a/3"]


def test_equal_scores_come_out_first_in_first_out_even_when_sums_differ_in_the_last_bit() -> None:
    frontier = MemoryFrontier()
    frontier.push(offer("a/1", 0.3))
    frontier.push(offer("a/2", 0.1 + 0.2))
    assert [short(frontier.pop(0.0)) for _ in range(2)] == ["a/1", "a/2"]


def test_a_score_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="a score must be a number"):
        MemoryFrontier().push(offer("a/1", math.nan))


@pytest.mark.parametrize("bad", [{"bound": 0}, {"spread": 0}, {"eviction": "whim"}])
def test_invalid_settings_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not"):
        MemoryFrontier(**bad)  # type: ignore[arg-type]


def test_a_url_found_again_keeps_its_place_the_better_origin_and_the_most_food() -> None:
    frontier = MemoryFrontier()
    frontier.push(offer("a/1", 0.2, carry={"food": 3, "path": "old"}, anchor="old", depth=1))
    frontier.push(offer("b/1", 0.5))
    frontier.push(offer("a/1", 0.5, carry={"food": 1, "path": "new"}, anchor="new", depth=4))
    first = frontier.pop(0.0)
    assert short(first) == "a/1", "same score as b/1, but a lower insertion number"
    assert first is not None
    best = first.candidate
    assert (best.anchor, best.depth, best.carry) == ("new", 4, {"food": 3, "path": "new"})


def test_a_worse_offer_changes_nothing_but_a_rescoring_does() -> None:
    frontier = MemoryFrontier()
    frontier.push(offer("a/1", 0.9, anchor="why", parent="http://p.test/"))
    frontier.push(offer("a/1", 0.1, anchor="no"))
    assert frontier.best(1)[0].score == 0.9
    frontier.push(offer("a/1", 0.1, rescored=True, parts={"word": 0.1}))
    lowered = frontier.best(1)[0]
    assert (lowered.score, lowered.parts, lowered.anchor) == (0.1, {"word": 0.1}, "why")
    assert not lowered.rescored


def test_a_resting_host_gives_nothing_and_a_later_rest_replaces_an_earlier_one() -> None:
    frontier = MemoryFrontier()
    frontier.push(offer("a/1", 1.0))
    frontier.push(offer("b/1", 0.5))
    frontier.host_clock.rest("a.test", math.inf)
    assert short(frontier.pop(1.0)) == "b/1"
    assert frontier.host_clock.next_wake() == math.inf
    frontier.host_clock.rest("a.test", 6.0)
    assert frontier.host_clock.next_wake() == 6.0
    assert frontier.pop(5.9) is None
    assert short(frontier.pop(6.0)) == "a/1"
    assert frontier.host_clock.next_wake() == math.inf


def test_a_candidate_is_not_popped_before_it_is_due() -> None:
    frontier = MemoryFrontier()
    frontier.push(offer("a/later", 1.0, due=10.0))
    frontier.push(offer("a/now", 0.1))
    assert short(frontier.pop(0.0)) == "a/now"
    assert frontier.host_clock.next_wake() == 10.0
    frontier.host_clock.rest("a.test", 12.0)
    assert frontier.host_clock.next_wake() == 12.0
    assert frontier.pop(11.0) is None
    assert short(frontier.pop(12.0)) == "a/later"


def test_a_host_without_candidates_can_rest() -> None:
    frontier = MemoryFrontier()
    frontier.host_clock.rest("a.test", 5.0)
    frontier.push(offer("a/1", 1.0))
    assert frontier.pop(4.0) is None
    assert short(frontier.pop(5.0)) == "a/1"


def test_the_rank_counts_all_better_candidates_including_those_of_resting_hosts() -> None:
    frontier = MemoryFrontier()
    for place in range(10):
        frontier.push(offer(f"a/{place}", 0.5 + place / 100))
    frontier.push(offer("b/1", 0.1))
    frontier.host_clock.rest("a.test", 100.0)
    popped = [frontier.pop(0.0), frontier.pop(100.0)]
    assert [(short(one), one.rank) for one in popped if one is not None] == [("b/1", 11), ("a/9", 1)]


def test_saved_entries_come_back_under_their_numbers() -> None:
    frontier = MemoryFrontier()
    for name in ("a/1", "b/1", "c/1"):
        frontier.push(offer(name, 0.5))
    saved = sorted(frontier.entries(), reverse=True)
    other = MemoryFrontier()
    other.restore(saved)
    other.push(offer("d/1", 0.5))
    assert [short(other.pop(0.0)) for _ in range(4)] == ["a/1", "b/1", "c/1", "d/1"]
    assert frontier.hosts() == 3
    assert other.hosts() == 0


def test_memory_stays_proportional_to_the_waiting_candidates() -> None:
    frontier = MemoryFrontier(bound=100, spread=3)
    for turn in range(3000):
        frontier.push(offer(f"h{turn % 50}/{turn}", turn / 3000))
        frontier.push(offer(f"h{turn % 50}/{turn}", turn / 3000 + 0.1, rescored=True))
        frontier.host_clock.rest(f"h{turn % 50}.test", turn + 1000.0 + turn % 7)
        if turn % 3 == 0:
            frontier.pop(float(turn))
    assert len(frontier) <= 100
    hosts = len(frontier._schedule._hosts)
    assert (
        sum(len(host.ready) + len(host.delayed) for host in frontier._schedule._hosts.values()) <= 2 * 100 + 16 * hosts
    )
    for heap in (*frontier._schedule._posted, frontier.host_clock._alarms):
        assert len(heap) <= 2 * hosts + 64
    assert len(frontier._worst._heap) <= 2 * 100 + 65


def test_hosts_without_candidates_are_forgotten_after_their_rest() -> None:
    frontier = MemoryFrontier()
    for number in range(1000):
        frontier.push(offer(f"h{number}/", 1.0))
        frontier.pop(float(number))
        frontier.host_clock.rest(f"h{number}.test", number + 5.0)
    assert len(frontier._schedule._hosts) <= 6


@pytest.mark.parametrize(
    ("again", "matters"),
    [
        (offer("a/1", 0.5), False),
        (offer("a/1", 0.2, parts={"page": 0.2}), False),
        (offer("a/1", 0.6), True),
        (offer("a/1", 0.2, rescored=True), True),
        (offer("a/1", 0.2, carry={"depth": 2}), True),
        (offer("a/1", 0.2, due=5.0), True),
        (offer("a/2", 0.2), True),
        (offer("a/1", math.nan), True),
    ],
)
def test_whether_an_offer_changes_anything(again: Candidate, matters: bool) -> None:
    frontier = MemoryFrontier()
    frontier.push(offer("a/1", 0.5))
    assert frontier.matters(again) is matters
    if not matters:
        before = list(frontier.entries())
        assert frontier.push(again) is None
        assert list(frontier.entries()) == before


@given(
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0.0, 0.2, 0.5, 1.5]), st.sampled_from([0.0, 5.0]))),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0.1, 0.2, 0.7, 2.0])), max_size=40),
)
def test_rescoring_many_equals_rescoring_one_by_one(
    first: list[tuple[int, float, float]], then: list[tuple[int, float]]
) -> None:
    together, single = MemoryFrontier(bound=20), MemoryFrontier(bound=20)
    for frontier in (together, single):
        for number, score, due in first:
            frontier.push(offer(f"h{number % 4}/{number}", score, due=due))
    anew = [offer(f"h{number % 4}/{number}", score, rescored=True, parts={"word": score}) for number, score in then]
    together.rescore(anew)
    for candidate in anew:
        if candidate.url in single:
            single.push(candidate)
    for frontier in (together, single):
        frontier.push(offer("h1/last", 0.3))
    for now in (0.0, 10.0):
        while (candidate := single.pop(now)) is not None:
            assert together.pop(now) == candidate
        assert together.pop(now) is None
        assert together.host_clock.next_wake() == single.host_clock.next_wake()
    assert len(together) == len(single) == 0


def test_a_new_score_that_is_not_a_number_changes_nothing() -> None:
    frontier = MemoryFrontier()
    frontier.push(offer("a/1", 0.5))
    before = list(frontier.entries())
    with pytest.raises(ValueError, match=r"a[.]test/1"):
        frontier.rescore([offer("a/1", 0.9, rescored=True), offer("a/1", math.nan, rescored=True)])
    assert list(frontier.entries()) == before
    assert short(frontier.pop(0.0)) == "a/1"


@settings(max_examples=long_form(333, 1000), deadline=None)
@given(
    st.one_of(
        st.floats(allow_nan=False),
        st.floats(-1001.0, 1001.0),
        st.floats(-1e-11, 1e-11),
        st.integers(-(10**15), 10**15).map(lambda halves: halves / 2e12),  # as near to the middle as can be
    )
)
def test_rounding_is_pythons(score: float) -> None:
    assert rounded(score) == round(score, DECIMALS)


def test_an_equal_carry_changes_nothing() -> None:
    frontier = MemoryFrontier()
    frontier.push(offer("a/1", 0.5, carry={"link": 3}))
    assert not frontier.matters(offer("a/1", 0.5, carry={"link": 3}))
    assert frontier.matters(offer("a/1", 0.5, carry={"link": 4}))


def test_a_full_frontier_of_many_small_hosts_forgets_evicted_candidates() -> None:
    frontier = MemoryFrontier(bound=400)
    gc.collect()
    before = sum(isinstance(thing, Candidate) for thing in gc.get_objects())
    for turn in range(8000):
        frontier.push(Candidate(Url(f"http://h{turn * 7 % 200}.test/{turn}"), turn * 7919 % 10_007 / 10_007))
    gc.collect()
    kept = sum(isinstance(thing, Candidate) for thing in gc.get_objects()) - before
    assert len(frontier) == 400
    assert kept <= 600, "the waiting ones, and a few that the heaps have not dropped yet"
