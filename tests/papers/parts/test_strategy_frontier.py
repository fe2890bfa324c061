"""What the frontiers of strategies share: queues by host, compared with a sorted list, and saved candidates."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound import url as urls
from scenthound.hosts import HostClock
from scenthound.model import Candidate, Url
from scenthound.papers.parts.page_queues import PageQueues
from scenthound.papers.parts.strategy_frontier import HostQueues, from_plain, plain

HOSTS = ["a.test", "b.test", "c.test"]
Placed = tuple[int, Url]


def place(number: int) -> Placed:
    return number, Url(f"http://{HOSTS[number % 3]}/{number}")


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["enter", "leave", "rest", "wake"]), st.integers(0, 30), st.integers(0, 9))))
def test_the_first_is_the_least_of_all_whose_host_is_awake(calls: list[tuple[str, int, int]]) -> None:
    lines: HostQueues[Placed] = HostQueues(is_bounded=True)
    clock = HostClock()
    inside: set[Placed] = set()
    resting: dict[str, float] = {}
    due: dict[Placed, float] = {}
    now = 0.0
    for call, number, moment in calls:
        one = place(number)
        if call == "enter" and one not in inside:
            due[one] = now + moment if moment > 6 else 0.0
            lines.enter(one, due[one])
            inside.add(one)
        elif call == "leave" and one in inside:
            lines.leave(one[1])
            inside.discard(one)
        elif call == "rest":
            until = math.inf if moment == 9 else now + moment - 2
            clock.rest(HOSTS[number % 3], until)
            resting[HOSTS[number % 3]] = until
        elif call == "wake":
            now += moment
            clock.advance(now)
        lines.wake(clock.take_woken())
        wakes = {one: max(resting.get(HOSTS[one[0] % 3], 0.0), due[one]) for one in inside}
        first = lines.first(clock)
        assert first == min((one for one in inside if wakes[one] <= now), default=None)
        assert len(lines) == len(inside)
        if inside:
            assert lines.last() == max(inside)
        if first is None:
            # not later than needed; it may be earlier, for a host whose URLs have left, but never now
            assert now < clock.next_wake() <= min(wakes.values(), default=math.inf)
            later = min((one for one in inside if wakes[one] < math.inf), default=None)
            assert lines.first_later(clock) == (None if later is None else later[1])


def test_what_has_left_is_swept_out() -> None:
    lines: HostQueues[Placed] = HostQueues()
    for number in range(0, 3000, 3):  # all of one host
        lines.enter(place(number))
        if number >= 30:
            lines.leave(place(number - 15)[1])
    assert len(lines) < 20
    assert len(pickle.dumps(lines)) < 10_000, "not the thousand that have come and gone"


def test_a_candidate_is_the_same_after_a_stay_in_json() -> None:
    seed = Candidate(Url("http://a.test/"), math.inf, {"stage": 1})
    found = Candidate(Url("http://a.test/x"), 0.5, {}, {"page": 0.5}, seed.url, "x", 1, "http://a.test/X", 7.0)
    assert [from_plain(plain(one)) for one in (seed, found)] == [seed, found]
    assert from_plain(plain(found)[:8]) == found._replace(due=0.0), "as it was written once"


def test_a_pop_does_not_ask_about_every_host_that_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    is_ready = HostClock.is_ready

    def count(clock: HostClock, host: str) -> bool:
        asked.append(host)
        return is_ready(clock, host)

    monkeypatch.setattr(HostClock, "is_ready", count)
    frontier, clock = PageQueues(), HostClock(delay=1000.0)
    frontier.host_clock = clock
    for number in range(400):
        for page in range(2):
            frontier.push(Candidate(Url(f"http://h{number}.test/{page}"), 1.0))
    for number in range(400):
        popped = frontier.pop(float(number))
        assert popped is not None
        clock.launched(urls.host(popped.candidate.url))
        clock.rest(urls.host(popped.candidate.url), number + 1000.0)
        frontier.settle(popped.candidate.url)
    assert len(asked) < 400 * 4
    assert frontier.pop(400.0) is None
    assert frontier.pop(1000.0) is not None
