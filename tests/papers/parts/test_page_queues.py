"""The frontier that queues pages: links of the best page in document order, hosts that rest, a bound, a restart."""

from __future__ import annotations

import json
import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.model import Candidate, Url
from scenthound.papers.parts.page_queues import PAGE, POSITION, PageQueues
from scenthound.ports import Popped

HOSTS = ["a.test", "b.test", "c.test"]


def link(name: str, score: float, page: int, place: int, due: float = 0.0) -> Candidate:
    return Candidate(Url(f"http://{name}"), score, {PAGE: page, POSITION: place}, {}, due=due)


def drained(queues: PageQueues, now: float = 0.0) -> list[str]:
    found = []
    while (popped := queues.pop(now)) is not None:
        found.append(popped.candidate.url.removeprefix("http://"))
    return found


def test_links_of_the_best_page_come_in_document_order() -> None:
    queues = PageQueues()
    for one in (link("a.test/1", 1.0, 0, 0), link("a.test/2", 1.0, 0, 1), link("b.test/", 2.0, 1, 0)):
        assert queues.push(one) is None
    assert drained(queues) == ["b.test/", "a.test/1", "a.test/2"]


def test_of_equal_pages_the_first_that_came_is_first() -> None:
    queues = PageQueues()
    queues.push(link("b.test/", 1.0, 7, 0))
    queues.push(link("a.test/", 1.0 + 1e-14, 9, 0))
    assert drained(queues) == ["b.test/", "a.test/"]


def test_a_url_on_two_pages_has_its_place_on_the_better_one() -> None:
    queues = PageQueues()
    for one in (link("x.test/", 1.0, 0, 0), link("y.test/", 2.0, 1, 0), link("x.test/", 2.0, 1, 1)):
        queues.push(one)
    queues.push(link("x.test/", 0.5, 2, 0))
    queues.push(link("z.test/", 1.5, 3, 0))
    assert drained(queues) == ["y.test/", "x.test/", "z.test/"]


def test_links_on_hosts_that_rest_are_passed_over_and_keep_their_place() -> None:
    queues = PageQueues()
    queues.push(link("a.test/1", 2.0, 0, 0))
    queues.push(link("b.test/", 1.0, 1, 0))
    queues.host_clock.rest("a.test", 5.0)
    first = queues.pop(0.0)
    assert first is not None
    assert first.candidate.url == "http://b.test/"
    assert queues.pop(0.0) is None
    assert queues.host_clock.next_wake() == 5.0
    queues.push(link("b.test/2", 1.5, 1, 0))
    assert drained(queues, 5.0) == ["a.test/1", "b.test/2"]
    queues.push(link("a.test/3", 1.0, 2, 0))
    queues.host_clock.rest("a.test", math.inf)
    assert queues.host_clock.next_wake() == math.inf
    queues.host_clock.rest("a.test", 0.0)
    assert drained(queues, 6.0) == ["a.test/3"]
    assert queues.host_clock.next_wake() == math.inf


def test_what_is_not_due_waits() -> None:
    queues = PageQueues()
    queues.push(link("a.test/", 2.0, 0, 0, due=10.0))
    queues.push(link("b.test/", 1.0, 0, 1))
    assert drained(queues) == ["b.test/"]
    assert queues.host_clock.next_wake() == 10.0
    assert drained(queues, 10.0) == ["a.test/"]


def test_a_full_frontier_drops_the_last_of_the_order() -> None:
    queues = PageQueues(bound=2)
    queues.push(link("a.test/", 1.0, 0, 0))
    queues.push(link("b.test/", 1.0, 0, 1))
    better = queues.push(link("c.test/", 2.0, 1, 0))
    assert better is not None
    assert better.url == "http://b.test/"
    poor = queues.push(link("d.test/", 0.5, 2, 0))
    assert poor is not None
    assert poor.url == "http://d.test/"
    assert drained(queues) == ["c.test/", "a.test/"]
    with pytest.raises(ValueError, match="at least 1"):
        PageQueues(bound=0)


def test_what_carries_no_place_comes_after_pages_of_the_same_score() -> None:
    queues = PageQueues()
    queues.push(Candidate(Url("http://s.test/"), 0.0))
    queues.push(link("a.test/", 0.0, 3, 0))
    assert drained(queues) == ["a.test/", "s.test/"]
    with pytest.raises(ValueError, match="number"):
        queues.push(Candidate(Url("http://s.test/"), math.nan))


OFFERS = st.tuples(
    st.sampled_from(HOSTS), st.integers(0, 5), st.sampled_from([0.5, 1.0, 2.0]), st.integers(0, 3), st.integers(0, 3)
)


@settings(deadline=None)
@given(st.lists(OFFERS, max_size=40), st.sets(st.sampled_from(HOSTS)), st.integers(0, 40))
def test_it_serves_what_a_sorted_list_would_and_survives_a_restart(
    offers: list[tuple[str, int, float, int, int]], resting: set[str], popped: int
) -> None:
    queues, best = PageQueues(), {}
    for host, number, score, page, place in offers:
        name = f"{host}/{number}"
        queues.push(link(name, score, page, place))
        best[name] = min(best.get(name, (math.inf, 0, 0, "")), (-score, page, place, f"http://{name}"))
    flying = [one.candidate.url for _ in range(popped) if (one := queues.pop(0.0)) is not None]
    order = sorted(best.values())
    assert flying == [one[3] for one in order[: len(flying)]]
    again = PageQueues()
    again.load(json.loads(json.dumps(queues.save())))
    assert len(again) == len(best), "what was on its way waits again"
    for host in resting:
        again.host_clock.rest(host, 1.0)
    awake = [one[3] for one in order if not one[3].startswith(tuple(f"http://{host}" for host in resting))]
    assert ["http://" + name for name in drained(again)] == awake
    assert len(drained(again, 2.0)) == len(order) - len(awake)


def test_evicting_for_ever_does_not_fill_the_memory() -> None:
    queues = PageQueues(bound=10)
    for number in range(5000):
        queues.push(link(f"a.test/{number}", float(number), number, 0))
        queues.host_clock.rest("b.test", float(number))
    assert len(queues) == 10
    assert len(pickle.dumps(queues)) < 20_000


def test_a_url_can_be_taken_given_back_and_settled() -> None:
    queues = PageQueues()
    queues.push(link("a.test/", 1.0, 0, 0))
    assert queues.take(Url("http://z.test/")) is None
    taken = queues.take(Url("http://a.test/"))
    assert taken is not None
    assert list(queues.in_flight()) == ["http://a.test/"]
    assert queues.give_back(Popped(taken)) is None
    assert not queues.in_flight()
    assert "http://a.test/" in queues
    queues.settle(Url("http://a.test/"))
    assert len(queues) == 0
