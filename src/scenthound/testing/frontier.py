"""What every frontier must do, as a Hypothesis state machine beside the plainest model of it.

    class Mine(FrontierContract):
        make = staticmethod(MyFrontier)         # takes bound, eviction, spread
    TestMine = Mine.TestCase

A frontier that survives a restart may also give `reopen`, which is handed the old frontier and
gives back the one that a new process would find.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scenthound.model import Candidate, Url

HOSTS = ["a.test", "b.test", "c.test", "d.test"]
URLS = [Url(f"http://{host}/{number}") for host in HOSTS for number in range(4)]
SCORES = st.one_of(
    st.sampled_from([0.0, 0.25, 0.5, 0.5 + 1e-14, 1.0, 3.0, -1.0, math.inf]),
    st.floats(min_value=-2, max_value=2, allow_nan=False),
)
CARRY = st.dictionaries(
    st.sampled_from(["food", "path"]), st.one_of(st.integers(-5, 5), st.sampled_from(["x", "y"])), max_size=2
)


class Model:
    """A frontier as a dict that is looked through from end to end."""

    def __init__(self, bound: int | None, eviction: str, spread: int) -> None:
        self.bound, self.eviction, self.spread = bound, eviction, spread
        self.waiting: dict[Url, tuple[int, Candidate]] = {}
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
        if new.url in self.waiting:
            number, old = self.waiting[new.url]
            self.waiting[new.url] = (number, self.merged(old, new))
            return None
        full = self.bound is not None and len(self.waiting) >= self.bound
        if full and self.eviction == "refuse":
            return new
        fallen = None
        if full and self.eviction == "literal":
            fallen = self.order()[-1]
            del self.waiting[fallen.url]
        self.waiting[new.url] = (self.number, new)
        self.number += 1
        if full and self.eviction == "scored":
            fallen = self.order()[-1]
            del self.waiting[fallen.url]
        return fallen

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
        lately = self.picks[-(self.spread - 1) :] if self.spread > 1 else []
        fresh = [candidate for candidate in ready if self.host(candidate.url) not in lately]
        if not ready:
            return None
        best = (fresh or ready)[0]
        self.picks.append(self.host(best.url))
        del self.waiting[best.url]
        return best

    def ready_at(self, now: float) -> float | None:
        moments = [
            max(candidate.due, self.resting.get(self.host(candidate.url), 0.0), now)
            for _, candidate in self.waiting.values()
        ]
        return min(moments, default=None)


class FrontierContract(RuleBasedStateMachine):
    """Drives a frontier and the model with the same calls and wants the same answers."""

    make: ClassVar[Callable[..., Any]]
    reopen: ClassVar[Callable[[Any], Any] | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    @initialize(
        bound=st.one_of(st.none(), st.integers(1, 6)),
        eviction=st.sampled_from(["scored", "literal", "refuse"]),
        spread=st.sampled_from([1, 1, 2, 3]),
    )
    def open(self, bound: int | None, eviction: str, spread: int) -> None:
        self.frontier = type(self).make(bound=bound, eviction=eviction, spread=spread)
        self.model = Model(bound, eviction, spread)

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
        fallen = self.frontier.push(candidate)
        assert same(fallen, self.model.push(candidate))
        assert not (waiting and fallen), "an update of a waiting URL evicts nobody"

    @rule(host=st.sampled_from(HOSTS), wait=st.sampled_from([0.0, 0.5, 2.0, 5.0, math.inf]))
    def rest(self, host: str, wait: float) -> None:
        self.frontier.rest(host, self.now + wait)
        self.model.resting[host] = self.now + wait

    @rule(wait=st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0]))
    def pop(self, wait: float) -> None:
        self.now += wait
        before = len(self.model.waiting)
        popped = self.frontier.pop(self.now)
        assert same(popped, self.model.pop(self.now))
        if popped is not None:
            assert 1 <= getattr(self.frontier, "last_rank", 1) <= before
            settle = getattr(self.frontier, "settle", None)
            if settle is not None:
                settle(popped.url)

    @precondition(lambda self: type(self).reopen is not None)
    @rule()
    def restart(self) -> None:
        """The loop, not the frontier, remembers how long hosts rest; so it says so again."""
        reopen = type(self).reopen
        assert reopen is not None
        self.frontier = reopen(self.frontier)
        for host, until in self.model.resting.items():
            self.frontier.rest(host, until)

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "frontier"):
            return
        assert len(self.frontier) == len(self.model.waiting)
        assert all((url in self.frontier) == (url in self.model.waiting) for url in URLS)
        ready = self.frontier.ready_at()
        # what can be had already may be dated anywhere in the past
        assert (ready if ready is None else max(ready, self.now)) == self.model.ready_at(self.now)


def same(one: Candidate | None, other: Candidate | None) -> bool:
    """Equal, whatever a re-scoring flag says: it speaks of an offer, not of what waits."""
    return (one and one._replace(rescored=False)) == (other and other._replace(rescored=False))


FrontierContract.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
