"""The contract of a frontier: a Hypothesis state machine that compares it with the simplest possible model.

    class Mine(FrontierContract):
        make = staticmethod(MyFrontier)         # takes bound, eviction, spread
    TestMine = Mine.TestCase

A frontier that survives a restart also sets `reopen`, which takes the old frontier and returns the one that a new
process would find. A frontier with its own order is checked by `CheckedFrontier` instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scenthound.hosts import HostClock
from scenthound.model import Candidate, Url
from scenthound.ports import Popped

HOSTS = ["a.test", "b.test", "c.test", "d.test"]
URLS = [Url(f"http://{host}/{number}") for host in HOSTS for number in range(4)]
SCORES = st.one_of(
    st.sampled_from([0.0, 0.25, 0.5, 0.5 + 1e-14, 1.0, 3.0, -1.0, math.inf]),
    st.floats(min_value=-2, max_value=2, allow_nan=False),
)
CARRY = st.dictionaries(
    st.sampled_from(["food", "path"]), st.one_of(st.integers(-5, 5), st.sampled_from(["x", "y"])), max_size=2
)


class ModelFrontier:
    """A frontier as a dict that every operation scans from end to end."""

    def __init__(self, bound: int | None, eviction: str, spread: int) -> None:
        self.bound, self.eviction, self.spread = bound, eviction, spread
        self.waiting: dict[Url, tuple[int, Candidate]] = {}
        self.in_flight: dict[Url, tuple[int, Candidate]] = {}
        self.resting: dict[str, float] = {}
        self.picks: list[str] = []
        self.number = 0

    @staticmethod
    def host(url: Url) -> str:
        return url.split("/")[2]

    def order(self) -> list[Candidate]:
        ranked = sorted(self.waiting.values(), key=lambda entry: (-round(entry[1].score, 12), entry[0]))
        return [candidate for _, candidate in ranked]

    def push(self, new: Candidate) -> Candidate | None:
        self.in_flight.pop(new.url, None)
        if new.url in self.waiting:
            number, old = self.waiting[new.url]
            self.waiting[new.url] = (number, self.merged(old, new))
            return None
        full = self.bound is not None and len(self.waiting) >= self.bound
        if full and self.eviction == "refuse":
            return new
        dropped = None
        if full and self.eviction == "literal":
            dropped = self.order()[-1]
            del self.waiting[dropped.url]
        self.waiting[new.url] = (self.number, new)
        self.number += 1
        if full and self.eviction == "scored":
            dropped = self.order()[-1]
            del self.waiting[dropped.url]
        return dropped

    @staticmethod
    def merged(old: Candidate, new: Candidate) -> Candidate:
        wins = new.rescored or round(new.score, 12) > round(old.score, 12)
        winner, loser = (new, old) if wins else (old, new)
        carry: dict[str, Any] = {**loser.carry, **winner.carry}
        for key, value in loser.carry.items():
            if isinstance(value, int) and isinstance(winner.carry.get(key), int):
                carry[key] = max(value, winner.carry[key])
        origin = old if new.rescored and new.parent is None else winner
        return Candidate(
            old.url,
            winner.score,
            carry,
            winner.parts,
            origin.parent,
            origin.anchor,
            origin.depth,
            winner.spelling or old.spelling,
            max(old.due, new.due),
        )

    def pop(self, now: float) -> Candidate | None:
        ready = [
            candidate
            for candidate in self.order()
            if candidate.due <= now and self.resting.get(self.host(candidate.url), 0.0) <= now
        ]
        recent_hosts = self.picks[-(self.spread - 1) :] if self.spread > 1 else []
        fresh = [candidate for candidate in ready if self.host(candidate.url) not in recent_hosts]
        if not ready:
            return None
        best = (fresh or ready)[0]
        self.picks.append(self.host(best.url))
        return self.take(best.url)

    def take(self, url: Url) -> Candidate | None:
        if url not in self.waiting:
            return None
        self.in_flight[url] = self.waiting.pop(url)
        return self.in_flight[url][1]

    def give_back(self, url: Url) -> Candidate | None:
        self.waiting[url] = self.in_flight.pop(url)
        if self.bound is None or len(self.waiting) <= self.bound:
            return None
        dropped = self.order()[-1]
        del self.waiting[dropped.url]
        return dropped

    def settle(self, url: Url) -> None:
        self.in_flight.pop(url, None)
        self.waiting.pop(url, None)

    def ready_at(self) -> float:
        """When the first candidate can be popped."""
        hosts = {candidate.url: self.resting.get(self.host(candidate.url), 0.0) for candidate in self.order()}
        return min((max(hosts[url], candidate.due) for url, (_, candidate) in self.waiting.items()), default=math.inf)


class FrontierContract(RuleBasedStateMachine):
    """Makes the same calls to a frontier and to the model, and compares the results."""

    make: ClassVar[Callable[..., Any]]
    reopen: ClassVar[Callable[[Any], Any] | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.frontier: Any = None
        self.popped: dict[Url, Popped] = {}

    @initialize(
        bound=st.one_of(st.none(), st.integers(1, 6)),
        eviction=st.sampled_from(["scored", "literal", "refuse"]),
        spread=st.sampled_from([1, 1, 2, 3]),
    )
    def open(self, bound: int | None, eviction: str, spread: int) -> None:
        self.frontier = type(self).make(bound=bound, eviction=eviction, spread=spread)
        self.clock = self.frontier.host_clock = HostClock()
        self.model = ModelFrontier(bound, eviction, spread)

    @rule(
        url=st.sampled_from(URLS),
        score=SCORES,
        carry=CARRY,
        parent=st.sampled_from([None, "http://p.test/1", "http://p.test/2"]),
        wait=st.sampled_from([0.0, 0.0, 0.0, 1.0, 4.0]),
        rescored=st.sampled_from([False, False, True]),
    )
    def push(
        self, url: Url, score: float, carry: dict[str, Any], parent: Url | None, wait: float, rescored: bool
    ) -> None:
        due = self.now + wait if wait else 0.0
        depth = 2 if parent else 0
        candidate = Candidate(url, score, carry, {"all": score}, parent, "anchor", depth, url + "#", due, rescored)
        waiting = url in self.model.waiting
        matters = self.frontier.matters(candidate)
        assert matters or waiting, "a new URL always matters"
        dropped = self.frontier.push(candidate)
        before = self.model.waiting[url][1] if waiting else None
        assert same(dropped, self.model.push(candidate))
        assert not (waiting and dropped), "an update of a waiting URL evicts nothing"
        assert matters or same(self.model.waiting[url][1], before), "a candidate that does not matter changes nothing"

    @rule(urls=st.lists(st.sampled_from(URLS), max_size=6), scores=st.lists(SCORES, min_size=6, max_size=6))
    def rescore(self, urls: list[Url], scores: list[float]) -> None:
        new = [Candidate(url, score, rescored=True) for url, score in zip(urls, scores, strict=False)]
        self.frontier.rescore(new)
        for candidate in new:
            if candidate.url in self.model.waiting:
                self.model.push(candidate)

    @rule(host=st.sampled_from(HOSTS), wait=st.sampled_from([0.0, 0.5, 2.0, 5.0, math.inf]))
    def rest(self, host: str, wait: float) -> None:
        self.clock.rest(host, self.now + wait)
        self.model.resting[host] = self.now + wait

    @rule(wait=st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0]), settled=st.booleans())
    def pop(self, wait: float, settled: bool) -> None:
        self.now += wait
        before = len(self.model.waiting)
        popped = self.frontier.pop(self.now)
        assert same(popped, self.model.pop(self.now))
        if popped is None:
            assert self.clock.next_wake() == self.model.ready_at(), "the loop has to ask again at the right time"
        else:
            assert 1 <= popped.rank <= before
            self.popped[popped.candidate.url] = popped
            if settled:
                self.settle(popped.candidate.url)

    @rule(url=st.sampled_from(URLS))
    def take(self, url: Url) -> None:
        self.popped.pop(url, None)
        assert same(self.frontier.take(url), self.model.take(url))

    @rule(url=st.sampled_from(URLS))
    def settle(self, url: Url) -> None:
        self.frontier.settle(url)
        self.model.settle(url)

    @rule(url=st.sampled_from(URLS))
    def give_back(self, url: Url) -> None:
        if url in self.popped and url in self.model.in_flight:
            assert same(self.frontier.give_back(self.popped.pop(url)), self.model.give_back(url))

    @precondition(lambda self: type(self).reopen is not None)
    @rule()
    def restart(self) -> None:
        """URLs in flight wait again, in their old order."""
        reopen = type(self).reopen
        assert reopen is not None
        self.frontier = reopen(self.frontier)
        self.model.waiting.update(self.model.in_flight)
        self.model.in_flight.clear()
        self.popped.clear()
        self.clock.begin(math.inf, is_patient=False)
        self.frontier.host_clock = self.clock

    @invariant()
    def agrees(self) -> None:
        if self.frontier is None:  # not open yet
            return
        assert len(self.frontier) == len(self.model.waiting)
        assert all((url in self.frontier) == (url in self.model.waiting) for url in URLS)
        assert sorted(self.frontier.urls()) == sorted(self.model.waiting)
        assert sorted(self.frontier.in_flight()) == sorted(self.model.in_flight)


def same(first: Candidate | Popped | None, other: Candidate | None) -> bool:
    """Whether two candidates are equal, except for the `rescored` flag, which a waiting candidate does not have."""
    first = first.candidate if isinstance(first, Popped) else first
    return (first and first._replace(rescored=False)) == (other and other._replace(rescored=False))


FrontierContract.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
