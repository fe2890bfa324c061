"""A frontier as a plug-in author might write it: a sorted list. It keeps the contract and works in a crawl."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from scenthound.lab.testing import CONTRACT_TOPIC, CONTRACT_WEB, CheckedFrontier, TinyWeb, named
from scenthound.lab.testing.frontier import FrontierContract, ModelFrontier
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Limits
from scenthound.loop.politeness import Politeness
from scenthound.loop.replay import replay
from scenthound.model import Candidate, Url
from scenthound.papers.pagerank_order import PageRankOrder
from scenthound.ports import Frontier, Popped
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.strategies.best_first import BestFirst


class PlainFrontier(Frontier):
    """The model of the contract with the names of the port. It inherits `matters` and `rescore`."""

    def __init__(self, bound: int | None = None, eviction: str = "scored", spread: int = 1) -> None:
        self._model, self._now = ModelFrontier(bound, eviction, spread), 0.0

    def push(self, candidate: Candidate) -> Candidate | None:
        return self._model.push(candidate)

    def rest(self, host: str, until: float) -> None:
        self._model.resting[host] = until

    def pop(self, now: float) -> Popped | None:
        self._now = now
        order = self._model.order()
        candidate = self._model.pop(now)
        if candidate is None:
            return None
        return Popped(candidate, order.index(candidate) + 1, self._model.in_flight[candidate.url][0])

    def take(self, url: Url) -> Candidate | None:
        return self._model.take(url)

    def give_back(self, popped: Popped) -> Candidate | None:
        return self._model.give_back(popped.candidate.url)

    def settle(self, url: Url) -> None:
        self._model.settle(url)

    def in_flight(self) -> Collection[Url]:
        return self._model.in_flight.keys()

    def urls(self) -> Collection[Url]:
        return self._model.waiting.keys()

    def ready_at(self) -> float | None:
        return self._model.ready_at(self._now)

    def best_resting(self, now: float) -> tuple[Candidate, float] | None:
        return self._model.best_resting(now)

    def __len__(self) -> int:
        return len(self._model.waiting)

    def __contains__(self, url: object) -> bool:
        return url in self._model.waiting


class Plain(FrontierContract):
    make = staticmethod(PlainFrontier)


TestPlain = Plain.TestCase


def trail(frontier: Frontier, strategy: Any) -> list[tuple[Url, float, int]]:
    seeds = [(named(name), named(name)) for name in ("a.example/", "b.example/")]
    history = MemoryHistory()
    polite = Politeness(delay=3.0, obey=False)
    limits = Limits(pages=50)
    crawl = Crawl(strategy, frontier, history, CONTRACT_TOPIC, seeds, limits=limits, politeness=polite)
    crawl.start()
    assert replay(crawl, TinyWeb(CONTRACT_WEB).fetch, in_flight=3) == "frontier empty"
    return [(step.url, step.score, step.rank) for step in history.trail()]


def test_a_crawl_is_the_same_with_any_frontier_that_keeps_the_contract() -> None:
    for make in (lambda: BestFirst(n=3), lambda: PageRankOrder(every=2)):
        ours = trail(MemoryFrontier(), make())
        assert len(ours) >= 9
        assert trail(CheckedFrontier(PlainFrontier()), make()) == ours
        assert trail(CheckedFrontier(MemoryFrontier()), make()) == ours


def test_the_best_resting_candidate_is_returned_with_its_time() -> None:
    for frontier in (MemoryFrontier(), PlainFrontier()):
        frontier.push(Candidate(named("a.test/1"), 0.9))
        frontier.push(Candidate(named("b.test/1"), 0.5))
        frontier.push(Candidate(named("c.test/1"), 0.7, due=20.0))
        assert frontier.best_resting(0.0) == (Candidate(named("c.test/1"), 0.7, due=20.0), 20.0)
        frontier.rest("a.test", 8.0)
        assert frontier.best_resting(1.0) == (Candidate(named("a.test/1"), 0.9), 8.0)
        frontier.rest("a.test", math.inf)
        assert frontier.best_resting(1.0) == (Candidate(named("c.test/1"), 0.7, due=20.0), 20.0), (
            "a host that rests without a known end does not count"
        )
        frontier.rest("a.test", 3.0)
        assert frontier.best_resting(3.0) == (Candidate(named("c.test/1"), 0.7, due=20.0), 20.0), "a is awake"
        assert frontier.best_resting(20.0) is None
