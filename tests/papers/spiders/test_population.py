"""The frontier of a pack of spiders: whose turn it is, hosts that rest, the bound, what is on its way."""

from __future__ import annotations

import math
import pickle
import random

from scenthound.lab.testing import named
from scenthound.model import Candidate
from scenthound.papers.spiders.net import Net
from scenthound.papers.spiders.population import Population, Spider
from scenthound.papers.spiders.private_frontier import Hosts, PrivateFrontier
from scenthound.text.tokens import Analyser


def pack_of(agents: int, bound: int | None = None, most: int = 64) -> Population:
    pack = Population(bound, most, 5.0, lambda agent: None, lambda: None)
    pack.clear(1)
    for number in range(agents):
        net = Net.untrained(1, 1, random.Random(1))
        pack.join(Spider(number, None, Analyser().counts("bees"), net, 1.0, PrivateFrontier(1)))
    return pack


def put(pack: Population, agent: int, names: str, score: float = 0.5) -> None:
    for name in names.split():
        pack.push(Candidate(named(name), score, {"agent": agent}))


def test_an_agent_holds_no_more_than_its_share_of_the_bound() -> None:
    pack = pack_of(1, bound=2000, most=64)
    fallen = [pack.push(Candidate(named(f"x.example/{n}"), (n % 50) / 50)) for n in range(100)]
    assert len(pack) == 2000 // 64
    assert sum(one is not None for one in fallen) == 100 - 31
    kept = sorted((pack.agents[0].links.score[row] for row in pack.agents[0].links.rows.values()), reverse=True)
    assert kept == sorted(((n % 50) / 50 for n in range(100)), reverse=True)[:31], "the worst fell out"
    assert pack_of(1, bound=10).limit == 16
    assert pack_of(1).limit is None


def test_a_link_found_again_keeps_the_larger_score() -> None:
    pack = pack_of(1)
    for score in (0.3, 0.8, 0.5):
        put(pack, 0, "x.example/", score)
    assert len(pack) == 1
    one = pack.pop(0.0)
    assert one is not None
    assert one.candidate.score == 0.8


def test_links_of_resting_hosts_do_not_take_part_in_the_draw() -> None:
    pack = pack_of(1)
    put(pack, 0, "a.example/1 a.example/2", 0.9)
    put(pack, 0, "b.example/", 0.0)
    pack.host_clock.rest("a.example", 10.0)
    one = pack.pop(1.0)
    assert one is not None
    assert one.candidate.url == named("b.example/")
    pack.settle(one.candidate.url)
    assert pack.pop(1.0) is None
    assert pack.host_clock.next_wake() == 10.0
    two = pack.pop(10.0)
    assert two is not None
    assert two.candidate.url in (named("a.example/1"), named("a.example/2"))


def test_an_agent_that_waits_for_a_reply_lets_the_others_go_on() -> None:
    pack = pack_of(2)
    put(pack, 0, "a.example/1 a.example/2")
    put(pack, 1, "b.example/1 b.example/2")
    first, second = pack.pop(0.0), pack.pop(0.0)
    assert first is not None
    assert second is not None
    assert [first.candidate.carry["agent"], second.candidate.carry["agent"]] == [0, 1]
    assert pack.pop(0.0) is None, "both wait"
    assert pack.host_clock.next_wake() == math.inf
    pack.landed(second.candidate)
    third = pack.pop(0.0)
    assert third is not None
    assert third.candidate.carry["agent"] == 1


def test_an_agent_whose_page_waits_for_its_host_may_draw_another() -> None:
    pack = pack_of(1)
    put(pack, 0, "a.example/ b.example/")
    first = pack.pop(0.0)
    assert first is not None
    # Its robots.txt was asked for, and the page has to wait for a delay.
    pack.host_clock.rest(first.candidate.url.split("/")[2], 5.0)
    second = pack.pop(0.0)
    assert second is not None
    assert second.candidate.url != first.candidate.url


def test_an_agent_whose_links_all_rest_misses_its_turn() -> None:
    pack = pack_of(2)
    put(pack, 0, "a.example/")
    put(pack, 1, "b.example/")
    pack.host_clock.rest("a.example", math.inf)
    one = pack.pop(0.0)
    assert one is not None
    assert one.candidate.carry["agent"] == 1
    assert 0 in pack.agents, "it is not removed"


def test_a_popped_link_can_be_given_back() -> None:
    pack = pack_of(1)
    put(pack, 0, "a.example/")
    one = pack.pop(0.0)
    assert one is not None
    assert named("a.example/") not in pack
    pack.give_back(one)
    assert named("a.example/") in pack
    assert not pack.in_flight()


def test_a_saved_pack_goes_on_as_if_nothing_had_happened() -> None:
    pack = pack_of(2)
    put(pack, 0, "a.example/1 a.example/2 a.example/3")
    put(pack, 1, "b.example/1 b.example/2 a.example/2")
    flying = pack.pop(0.0)
    assert flying is not None
    state = pack.save()
    other = pack_of(0)
    other.load(state)
    assert other.take(flying.candidate.url) == flying.candidate, "the loop asks for what it had on its way"
    for one in (pack, other):
        one.landed(flying.candidate)
    trails = [[each.pop(0.0), each.pop(0.0)] for each in (pack, other)]
    assert trails[0] == trails[1]
    assert None not in trails[0]


def test_unclaimed_urls_wait_again_after_a_restart() -> None:
    pack = pack_of(1)
    put(pack, 0, "a.example/")
    assert pack.pop(0.0)
    other = pack_of(0)
    other.load(pack.save())
    assert len(other) == 1
    one = other.pop(0.0)
    assert one is not None
    assert one.candidate.url == named("a.example/")


def test_hosts_without_waiting_urls_are_forgotten() -> None:
    hosts, numbers, sizes = Hosts(), set(), []
    for moment in range(5000):
        host = f"h{moment}.example"
        numbers.add(hosts.enter(host))
        hosts.leave(0)
        sizes.append(len(pickle.dumps(hosts)))
    assert numbers == {0}, "numbers are used again"
    assert max(sizes[2500:]) <= max(sizes[:2500]) + 100
