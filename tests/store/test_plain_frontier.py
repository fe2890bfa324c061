"""A frontier as a plug-in author might write it: a sorted list. It keeps the contract and works in a crawl."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from scenthound.hosts import HostClock
from scenthound.lab.testing import CONTRACT_TOPIC, CONTRACT_WEB, CheckedFrontier, TinyWeb, named
from scenthound.lab.testing.frontier import FrontierContract, ModelFrontier
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Limits
from scenthound.loop.replay import replay
from scenthound.model import Candidate, Url
from scenthound.papers.pagerank_order import PageRankOrder
from scenthound.ports import Frontier, Popped
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.strategies.best_first import BestFirst
from scenthound.url import host as host_of


class PlainFrontier(Frontier):
    """The model of the contract with the names of the port. It inherits `matters` and `rescore`."""

    def __init__(self, bound: int | None = None, eviction: str = "scored", spread: int = 1) -> None:
        self._model, self.host_clock = ModelFrontier(bound, eviction, spread), HostClock()

    def push(self, candidate: Candidate) -> Candidate | None:
        return self._model.push(candidate)

    def pop(self, now: float) -> Popped | None:
        self.host_clock.advance(now)
        self.host_clock.forget_all()
        order = self._model.order()
        ready = [candidate for candidate in order if self._is_ready(candidate)]
        recent = self._model.picks[1 - self._model.spread :] if self._model.spread > 1 else []
        best = next((one for one in ready if host_of(one.url) not in recent), next(iter(ready), None))
        if best is None:
            return None
        self._model.picks.append(host_of(best.url))
        self._model.take(best.url)
        return Popped(best, order.index(best) + 1, self._model.in_flight[best.url][0])

    def _is_ready(self, candidate: Candidate) -> bool:
        if candidate.due > self.host_clock.now:
            self.host_clock.want(host_of(candidate.url), candidate.due)
            return False
        return self.host_clock.is_ready(host_of(candidate.url))

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
    polite = HostClock(delay=3.0, obey=False)
    limits = Limits(pages=50)
    crawl = Crawl(strategy, frontier, history, CONTRACT_TOPIC, seeds, limits=limits, host_clock=polite)
    crawl.start()
    assert replay(crawl, TinyWeb(CONTRACT_WEB).fetch, in_flight=3) == "frontier empty"
    return [(step.url, step.score, step.rank) for step in history.trail()]


def test_a_crawl_is_the_same_with_any_frontier_that_keeps_the_contract() -> None:
    for make in (lambda: BestFirst(n=3), lambda: PageRankOrder(every=2)):
        ours = trail(MemoryFrontier(), make())
        assert len(ours) >= 9
        assert trail(CheckedFrontier(PlainFrontier()), make()) == ours
        assert trail(CheckedFrontier(MemoryFrontier()), make()) == ours
