"""Politeness: the state of hosts, how long it is kept in memory, and when it is read again."""

from __future__ import annotations

from scenthound.lab.testing import named
from scenthound.loop.politeness import ALLOW_ALL, DAY, KnownHost, OriginRules, Politeness
from scenthound.model import Candidate, Miss
from scenthound.web.robots import parse

NO_SECRETS = parse(b"User-agent: *\nDisallow: /secret\nCrawl-delay: 3", "scenthound")


def test_rules_hold_for_an_hour_or_as_long_as_set_and_never_longer_than_a_day() -> None:
    for politeness, hold in (
        (Politeness(), 3600.0),
        (Politeness(robots_cache=60), 60.0),
        (Politeness(robots_cache=1e9), DAY),
    ):
        assert politeness.verdict("http://a.test/", 0.0) == "ask-robots"
        politeness.learn("http://a.test", NO_SECRETS, 0.0)
        assert politeness.verdict("http://a.test/", hold - 1) == "fetch"
        assert politeness.verdict("http://a.test/secret", hold - 1) == "robots"
        assert politeness.verdict("http://a.test/", hold) == "ask-robots"


def test_an_origin_is_scheme_host_and_port_but_a_host_rests_as_one() -> None:
    politeness = Politeness(delay=1.0)
    politeness.learn("http://a.test", NO_SECRETS, 0.0)
    assert politeness.verdict("https://a.test/secret", 1.0) == "ask-robots"
    assert politeness.rest_after("http://a.test", 10.0) == 13.0
    assert politeness.host("a.test").next_allowed == 13.0


def test_without_obedience_nothing_is_asked() -> None:
    politeness = Politeness(obey=False)
    politeness.learn("http://a.test", NO_SECRETS, 0.0)
    assert politeness.verdict("http://a.test/secret", 0.0) == "fetch"
    assert politeness.rest_after("http://a.test", 0.0) == 1.0


def test_a_hopeless_robots_txt_is_not_asked_for_twice() -> None:
    politeness = Politeness()
    politeness.learn("http://a.test", None, 0.0, hopeless="refused-address")
    assert politeness.verdict("http://a.test/", 1.0) == "refused-address"
    assert not politeness.asks_again("http://a.test")


def test_trouble_doubles_the_rest_and_an_answer_ends_it() -> None:
    politeness = Politeness(delay=1.0, backoff=10.0)
    miss = Miss(Candidate(named("a.test/"), 0.0), "http-503", status=503, retry_after=0.0)
    assert [politeness.rest_after_miss(miss, "http://a.test", 0.0) for _ in range(3)] == [10.0, 20.0, 40.0]
    politeness.rest_after("http://a.test", 0.0)
    assert politeness.rest_after_miss(miss, "http://a.test", 0.0) == 10.0


def test_no_server_may_send_us_away_for_more_than_a_day() -> None:
    politeness = Politeness()
    miss = Miss(Candidate(named("a.test/"), 0.0), "http-429", status=429, retry_after=1e9)
    assert politeness.rest_after_miss(miss, "http://a.test", 0.0) == DAY


def test_memory_is_bounded_and_what_was_let_go_is_recalled() -> None:
    written: dict[str, KnownHost] = {}
    rules: dict[str, OriginRules] = {}
    politeness = Politeness(most_hosts=100, most_rules=1000, recall_host=written.get, recall_origin=rules.get)
    for number in range(1000):
        origin = f"http://h{number}.test"
        politeness.learn(origin, ALLOW_ALL, 0.0)
        politeness.rest_after(origin, float(number))
        if number % 10 == 9:  # somebody writes it down
            changes = politeness.take_changes()
            written.update(changes.hosts)
            rules.update(changes.origins)
    assert len(politeness.resting(0.0)) <= 110
    assert politeness.host("h0.test").next_allowed == 1.0
    assert politeness.verdict("http://h0.test/", 1.0) == "fetch"
