"""Frontiers that strategies bring name the best candidate that rests, and when it wakes."""

from __future__ import annotations

import math
import random

from scenthound.model import Candidate, Url
from scenthound.papers.hayek.auction_frontier import AuctionFrontier
from scenthound.papers.parts.level_frontier import ChosenUrl, LevelFrontier
from scenthound.papers.parts.page_queues import PAGE, POSITION, PageQueues
from scenthound.papers.spiders.net import Net
from scenthound.papers.spiders.population import Population, Spider
from scenthound.papers.spiders.private_frontier import PrivateFrontier
from scenthound.text.vectors import Counts

A, B, C = (Url(f"http://{name}.test/") for name in "abc")


def named(found: tuple[Candidate, float] | None) -> tuple[Url, float] | None:
    return None if found is None else (found[0].url, found[1])


def test_levels_name_the_best_of_the_stage_under_way() -> None:
    stages = iter([[ChosenUrl(A, 0.9, {"stage": 1}, {}), ChosenUrl(B, 0.5, {"stage": 1}, {})], None])
    levels = LevelFrontier(None, lambda: next(stages))
    for url in (A, B, C):
        levels.push(Candidate(url, 0.0))
    levels.rest("a.test", 5.0)
    levels.rest("c.test", 2.0)
    assert levels.best_resting(0.0) is None, "the stage has not begun"
    popped = levels.pop(0.0)
    assert popped is not None
    assert popped.candidate.url == B
    assert named(levels.best_resting(0.0)) == (A, 5.0)
    levels.rest("a.test", math.inf)
    assert levels.best_resting(1.0) is None, "nobody knows when it wakes"
    levels.rest("a.test", 7.0)
    assert named(levels.best_resting(1.0)) == (A, 7.0)
    assert levels.best_resting(7.0) is None, "it is awake"


def test_page_queues_name_the_first_of_the_order_that_rests_or_is_not_due() -> None:
    queues = PageQueues()
    queues.push(Candidate(A, 1.0, {PAGE: 0, POSITION: 0}))
    queues.push(Candidate(B, 2.0, {PAGE: 1, POSITION: 0}))
    queues.push(Candidate(C, 3.0, {PAGE: 2, POSITION: 0}, due=30.0))
    assert named(queues.best_resting(0.0)) == (C, 30.0)
    queues.rest("a.test", 5.0)
    queues.rest("b.test", 6.0)
    queues.rest("c.test", math.inf)
    assert named(queues.best_resting(1.0)) == (B, 6.0)
    queues.rest("c.test", 40.0)
    assert named(queues.best_resting(1.0)) == (C, 40.0)
    queues.settle(C)
    assert named(queues.best_resting(5.5)) == (B, 6.0)
    assert queues.best_resting(6.0) is None


def test_the_desk_names_the_first_promise_whose_host_rests() -> None:
    desk = AuctionFrontier(None, lambda: None, lambda: False)
    for url in (A, B):
        desk.push(Candidate(url, math.inf, {"asked": url}))
    desk.push(Candidate(C, 0.0))
    for host, until in (("a.test", math.inf), ("b.test", 4.0), ("c.test", 2.0)):
        desk.rest(host, until)
    assert named(desk.best_resting(0.0)) == (B, 4.0), "nobody wants c yet"
    assert desk.best_resting(4.0) is None


def test_a_pack_names_the_best_link_of_an_agent_that_may_draw() -> None:
    pack = Population(None, 64, 5.0, lambda agent: None, lambda: None)
    net = Net.untrained(1, 0, random.Random(0))
    pack.join(Spider(0, None, Counts({"bees": 1}), net, 1.0, PrivateFrontier(1)))
    for url, score in ((A, 0.2), (B, 0.9), (C, 0.5)):
        pack.push(Candidate(url, score, {"agent": 0}))
    assert pack.best_resting(0.0) is None
    pack.rest("a.test", 3.0)
    pack.rest("b.test", 9.0)
    assert named(pack.best_resting(0.0)) == (B, 9.0)
    pack.rest("b.test", math.inf)
    assert named(pack.best_resting(0.0)) == (A, 3.0)
    assert pack.best_resting(3.0) is None
