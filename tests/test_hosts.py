"""The clock of all hosts: when each may be asked, in which order they wake, and what is kept in memory."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.hosts import DAY, HostClock, KnownHost, OriginRules
from scenthound.lab.testing import named
from scenthound.model import Candidate, Miss
from scenthound.web.robots import ALLOW_ALL, parse

NO_SECRETS = parse(b"User-agent: *\nDisallow: /secret\nCrawl-delay: 3", "scenthound")


def test_rules_hold_for_an_hour_or_as_long_as_set_and_never_longer_than_a_day() -> None:
    for host_clock, hold in (
        (HostClock(), 3600.0),
        (HostClock(robots_cache=60), 60.0),
        (HostClock(robots_cache=1e9), DAY),
    ):
        assert host_clock.verdict("http://a.test/", 0.0) == "ask-robots"
        host_clock.learn("http://a.test", NO_SECRETS, 0.0)
        assert host_clock.verdict("http://a.test/", hold - 1) == "fetch"
        assert host_clock.verdict("http://a.test/secret", hold - 1) == "robots"
        assert host_clock.verdict("http://a.test/", hold) == "ask-robots"


def test_an_origin_is_scheme_host_and_port_but_a_host_rests_as_one() -> None:
    host_clock = HostClock(delay=1.0)
    host_clock.learn("http://a.test", NO_SECRETS, 0.0)
    assert host_clock.verdict("https://a.test/secret", 1.0) == "ask-robots"
    assert host_clock.rest_after("http://a.test", 10.0) == 13.0
    assert host_clock.host("a.test").next_allowed == 13.0


def test_without_obedience_nothing_is_asked() -> None:
    host_clock = HostClock(obey=False)
    host_clock.learn("http://a.test", NO_SECRETS, 0.0)
    assert host_clock.verdict("http://a.test/secret", 0.0) == "fetch"
    assert host_clock.rest_after("http://a.test", 0.0) == 1.0


def test_a_hopeless_robots_txt_is_not_asked_for_twice() -> None:
    host_clock = HostClock()
    host_clock.learn("http://a.test", None, 0.0, hopeless="refused-address")
    assert host_clock.verdict("http://a.test/", 1.0) == "refused-address"
    assert not host_clock.asks_again("http://a.test")


def test_trouble_doubles_the_rest_and_an_answer_ends_it() -> None:
    host_clock = HostClock(delay=1.0, backoff=10.0)
    miss = Miss(Candidate(named("a.test/"), 0.0), "http-503", status=503, retry_after=0.0)
    assert [host_clock.rest_after_miss(miss, "http://a.test", 0.0) for _ in range(3)] == [10.0, 20.0, 40.0]
    host_clock.rest_after("http://a.test", 0.0)
    assert host_clock.rest_after_miss(miss, "http://a.test", 0.0) == 10.0


def test_no_server_may_send_us_away_for_more_than_a_day() -> None:
    host_clock = HostClock()
    miss = Miss(Candidate(named("a.test/"), 0.0), "http-429", status=429, retry_after=1e9)
    assert host_clock.rest_after_miss(miss, "http://a.test", 0.0) == DAY


def test_memory_is_bounded_and_what_was_let_go_is_recalled() -> None:
    written: dict[str, KnownHost] = {}
    rules: dict[str, OriginRules] = {}
    recalled: list[str] = []

    def recall(name: str) -> KnownHost | None:
        recalled.append(name)
        return written.get(name)

    host_clock = HostClock(most_hosts=100, most_rules=1000, recall_host=recall, recall_origin=rules.get)
    for number in range(1000):
        origin = f"http://h{number}.test"
        host_clock.learn(origin, ALLOW_ALL, 0.0)
        host_clock.rest_after(origin, float(number))
        host_clock.advance(float(number))
        if number % 10 == 9:  # somebody writes it down
            changes = host_clock.take_changes()
            written.update(changes.hosts)
            rules.update(changes.origins)
    recalled.clear()
    for number in reversed(range(1000)):  # the latest are in memory
        host_clock.next_allowed(f"h{number}.test")
        if recalled:
            break
    assert 890 <= number < 999
    assert host_clock.host("h0.test").next_allowed == 1.0
    assert host_clock.verdict("http://h0.test/", 1.0) == "fetch"


# ---- the order in which hosts wake


def test_a_host_that_was_asked_for_while_it_rests_is_named_once_when_it_is_ready() -> None:
    clock = HostClock()
    clock.rest("a.test", 5.0)
    clock.rest("b.test", 3.0)
    assert clock.is_ready("c.test"), "nothing is known about it"
    assert not clock.is_ready("a.test")
    assert clock.next_wake() == 5.0, "nobody asked for b"
    clock.advance(4.0)
    assert clock.take_woken() == []
    clock.advance(5.0)
    assert clock.next_wake() == 5.0
    assert clock.take_woken() == ["a.test"]
    assert clock.take_woken() == []
    assert clock.next_wake() == math.inf


def test_a_host_in_flight_is_named_when_its_rest_is_known_and_over() -> None:
    clock = HostClock()
    assert clock.launched("a.test") == "new"
    assert not clock.is_ready("a.test")
    assert clock.next_wake() == math.inf
    clock.rest("a.test", 9.0)
    clock.rest("a.test", 2.0)
    assert clock.next_wake() == 2.0
    clock.rest("a.test", 7.0)
    assert clock.next_wake() == 7.0, "the latest rest counts"
    clock.forget("a.test")
    assert clock.next_wake() == math.inf


def test_a_delayed_candidate_waits_for_its_host_as_well() -> None:
    clock = HostClock()
    clock.want("a.test", 8.0)
    assert clock.next_wake() == 8.0
    clock.rest("a.test", 10.0)
    assert clock.next_wake() == 10.0
    clock.want("a.test", 20.0)
    assert clock.next_wake() == 10.0, "an earlier wish stays"


def test_a_patient_crawl_rests_only_hosts_that_it_passes_over() -> None:
    clock = HostClock()
    clock.begin(patience=10.0, is_patient=True)
    clock.rest("a.test", 5.0)
    clock.rest("b.test", 11.0)
    clock.launched("c.test")
    assert [clock.is_ready(name) for name in ("a.test", "b.test", "c.test")] == [True, False, True]
    assert clock.next_overdue() == 10.0
    clock.advance(10.0)
    clock.lose_patience()
    assert clock.passes_over("c.test")
    assert sorted(clock.not_ready()) == ["b.test", "c.test"]
    clock.rest("c.test", 12.0)
    assert clock.is_ready("c.test"), "it has answered"
    clock.be_patient(False)
    assert not clock.is_ready("c.test")
    clock.be_patient(True)
    assert sorted(clock.take_woken()) == ["b.test", "c.test"], "b rests for one more second: worth waiting for"


def test_a_host_whose_rules_are_on_their_way_offers_nothing_though_it_may_be_asked() -> None:
    clock = HostClock()
    clock.rest_after("http://a.test", 0.0)
    clock.rest_without_rules("a.test")
    clock.advance(5.0)
    assert clock.next_allowed("a.test") == 1.0
    assert not clock.is_ready("a.test")
    assert clock.next_wake() == math.inf
    clock.rest("a.test", 1.0)
    assert clock.is_ready("a.test")


def test_pending_candidates_come_in_the_order_in_which_their_hosts_wake() -> None:
    clock = HostClock()
    clock.rest("a.test", 5.0)
    clock.rest("b.test", 3.0)
    clock.launched("c.test")
    for name in ("a.test/1", "b.test/", "c.test/", "a.test/2"):
        clock.hold(Candidate(named(name), 0.0))
    clock.rest("c.test", 4.0)
    assert clock.pending.ready_at() == 3.0
    assert clock.pending.pop(2.9) is None
    popped = [clock.pending.pop(5.0) for _ in range(4)]
    assert [one and one.url for one in popped] == [
        named(name) for name in ("b.test/", "c.test/", "a.test/1", "a.test/2")
    ]


def test_a_crawl_that_begins_with_the_hosts_of_another_continues_their_rests() -> None:
    clock = HostClock(delay=2.0)
    clock.rest("a.test", 50.0)
    clock.launched("b.test")
    clock.hold(Candidate(named("b.test/"), 0.0))
    clock.is_ready("a.test")
    clock.begin(patience=10.0, is_patient=False)
    clock.rest_on(7.0)
    assert len(clock.pending) == 0
    assert (clock.ready_at("a.test"), clock.ready_at("b.test")) == (50.0, 9.0), "b was asked, and the request cancelled"
    assert clock.next_wake() == math.inf


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["rest", "launch", "ask", "want", "forget", "advance", "patience", "late", "rules"]),
            st.sampled_from(["a.test", "b.test", "c.test"]),
            st.integers(0, 12),
        )
    )
)
def test_the_next_wake_is_that_of_the_first_wanted_host(calls: list[tuple[str, str, int]]) -> None:
    clock, wanted = HostClock(), dict[str, float]()
    clock.begin(patience=6.0, is_patient=False)
    for call, host, number in calls:
        match call:
            case "rest":
                clock.rest(host, clock.now + number)
            case "launch":
                clock.launched(host)
            case "ask" if not clock.is_ready(host):
                wanted[host] = 0.0
            case "want":
                wanted[host] = min(wanted.get(host, math.inf), clock.now + number)
                clock.want(host, clock.now + number)
            case "forget":
                wanted.pop(host, None)
                clock.forget(host)
            case "advance":
                clock.advance(clock.now + number)
            case "patience":
                clock.be_patient(not clock.is_patient)
            case "late":
                clock.lose_patience([host])
            case "rules":
                clock.rest_without_rules(host)
        times = {name: max(clock.ready_at(name), due) for name, due in wanted.items()}
        first = min(times.values(), default=math.inf)
        assert max(clock.next_wake(), clock.now) == max(first, clock.now)
        if number % 3 == 0:
            woken = clock.take_woken()
            assert sorted(woken) == sorted(name for name, time in times.items() if time <= clock.now)
            for name in woken:
                del wanted[name]
