"""Frontiers that strategies bring tell whether a better candidate waits for its host."""

from __future__ import annotations

import math
import random

from scenthound.model import Candidate, Url
from scenthound.papers.hayek.auction_frontier import AuctionFrontier
from scenthound.papers.parts.level_frontier import ChosenUrl, LevelFrontier
from scenthound.papers.parts.page_queues import PAGE, POSITION, PageQueues
from scenthound.papers.parts.strategy_frontier import StrategyFrontier
from scenthound.papers.spiders.net import Net
from scenthound.papers.spiders.population import Population, Spider
from scenthound.papers.spiders.private_frontier import PrivateFrontier
from scenthound.text.vectors import Counts

A, B, C, D = (Url(f"http://{name}.test/") for name in "abcd")


def pop(frontier: StrategyFrontier, now: float = 0.0) -> tuple[Url, bool] | None:
    popped = frontier.pop(now)
    return None if popped is None else (popped.candidate.url, popped.overtakes)


def test_levels_overtake_only_what_is_better_and_of_the_stage_under_way() -> None:
    chosen = [ChosenUrl(A, 0.9, {"stage": 1}, {}), ChosenUrl(B, 0.5, {"stage": 1}, {}), ChosenUrl(D, 0.1, {}, {})]
    levels = LevelFrontier(None, iter([chosen, None]).__next__)
    for url in (A, B, C, D):
        levels.push(Candidate(url, 0.0))
    levels.host_clock.rest("a.test", math.inf)
    levels.host_clock.rest("c.test", 2.0)
    assert pop(levels) == (B, False), "nobody knows when a wakes, and c is of a later stage"
    levels.host_clock.rest("a.test", 7.0)
    assert pop(levels) == (D, True)
    assert pop(levels, 7.0) == (A, False)


def test_page_queues_overtake_what_rests_and_what_is_not_due() -> None:
    queues = PageQueues()
    queues.push(Candidate(A, 1.0, {PAGE: 0, POSITION: 0}))
    queues.push(Candidate(B, 2.0, {PAGE: 1, POSITION: 0}))
    queues.push(Candidate(C, 3.0, {PAGE: 2, POSITION: 0}, due=30.0))
    queues.host_clock.rest("c.test", math.inf)
    assert pop(queues) == (B, False)
    queues.host_clock.rest("c.test", 40.0)
    assert pop(queues) == (A, True)
    assert pop(queues, 30.0) is None
    assert pop(queues, 40.0) == (C, False)


def test_an_auction_overtakes_the_first_promise_whose_host_rests() -> None:
    auctions = AuctionFrontier(None, lambda: None, lambda: False)
    for url, score in ((A, 0.9), (B, 0.8), (D, 0.5)):
        auctions.push(Candidate(url, score, {"asked": url}))
    auctions.push(Candidate(C, 0.0))
    for host, until in (("a.test", math.inf), ("b.test", 4.0), ("c.test", 2.0)):
        auctions.host_clock.rest(host, until)
    assert pop(auctions) == (D, True)
    assert pop(auctions) is None, "nobody wants c yet"
    assert auctions.host_clock.next_wake() == 4.0
    assert pop(auctions, 4.0) == (B, False)


def test_a_pack_overtakes_the_best_link_of_an_agent_that_may_draw() -> None:
    pack = Population(None, 64, 5.0, lambda agent: None, lambda: None)
    for number in (0, 1):
        net = Net.untrained(1, 0, random.Random(0))
        pack.join(Spider(number, None, Counts({"bees": 1}), net, 1.0, PrivateFrontier(1)))
    for agent, url, score in ((0, A, 0.2), (0, B, 0.9), (1, C, 0.5), (1, D, 0.4)):
        pack.push(Candidate(url, score, {"agent": agent}))
    pack.host_clock.rest("b.test", 9.0)
    pack.host_clock.rest("d.test", 9.0)
    assert pop(pack) == (A, True), "the other agent's d is better"
    assert pop(pack) == (C, False), "the agent that has b waits for a page, so it may not draw"
    for url in (A, C):
        pack.landed(Candidate(url, 0.0))
    assert pop(pack) is None
    assert pack.host_clock.next_wake() == 9.0
