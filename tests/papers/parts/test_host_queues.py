"""Queues by host: the first candidate on a host that is awake, compared with a sorted list."""

from __future__ import annotations

import math
import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.model import Candidate, Url
from scenthound.papers.parts.host_queues import HostQueues
from scenthound.papers.parts.saved_candidates import from_plain, plain

HOSTS = ["a.test", "b.test", "c.test"]
Placed = tuple[int, Url]


def place(number: int) -> Placed:
    return number, Url(f"http://{HOSTS[number % 3]}/{number}")


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["enter", "leave", "rest", "wake"]), st.integers(0, 30), st.integers(0, 9))))
def test_the_first_is_the_least_of_all_whose_host_is_awake(calls: list[tuple[str, int, int]]) -> None:
    lines: HostQueues[Placed] = HostQueues()
    inside: set[Placed] = set()
    resting: dict[str, float] = {}
    now = 0.0
    for call, number, moment in calls:
        one = place(number)
        if call == "enter" and one not in inside:
            lines.enter(one)
            inside.add(one)
        elif call == "leave":
            lines.leave(one[1])
            inside.discard(one)
        elif call == "rest":
            until = math.inf if moment == 9 else now + moment - 2
            lines.rest(HOSTS[number % 3], until)
            resting[HOSTS[number % 3]] = until
        elif call == "wake":
            now += moment
            lines.wake(now)
        awake = [one for one in inside if resting.get(HOSTS[one[0] % 3], 0.0) <= now]
        assert lines.first() == min(awake, default=None)
        assert len(lines) == len(inside)
        later = [resting[HOSTS[one[0] % 3]] for one in inside if one not in awake]
        assert lines.ready_at() == (now if awake else min(later, default=math.inf))


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
