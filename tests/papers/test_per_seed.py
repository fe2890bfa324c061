"""One frontier for each seed: turns, where links go, what the inner strategy keeps, and an exact restart."""

from __future__ import annotations

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, strategy_contract, walk
from scenthound.model import Candidate, Topic, Url
from scenthound.papers.parts.seed_frontiers import THREAD, SeedFrontiers
from scenthound.papers.per_seed import PerSeed

BEES = Topic("bees honey")
WEB = {
    "rich.test/": "bees honey -> rich.test/1 rich.test/2 rich.test/3",
    "rich.test/1": "bees honey",
    "rich.test/2": "bees honey",
    "rich.test/3": "bees honey",
    "poor.test/": "bees and cars -> poor.test/1 poor.test/2",
    "poor.test/1": "cars",
    "poor.test/2": "cars",
}
INNER = ("best-first", "best-n-first:n=3", "hound", "hound:exploration=0", "shark-search", "fish-search", "hub-seeking")


def test_seeds_take_turns_where_one_frontier_would_empty_the_better_seed_first() -> None:
    alone = walk(TinyWeb(WEB), PerSeed("best-first"), BEES, "rich.test/ poor.test/").visited
    assert [url.removeprefix("http://") for url in alone] == [
        "rich.test/", "poor.test/", "rich.test/1", "poor.test/1", "rich.test/2", "poor.test/2", "rich.test/3",
    ]  # fmt: skip
    together = walk(TinyWeb(WEB), PerSeed("best-first", threads=1), BEES, "rich.test/ poor.test/").visited
    assert [url.removeprefix("http://") for url in together][2:5] == ["rich.test/1", "rich.test/2", "rich.test/3"]


def test_a_step_says_which_frontier_it_came_from() -> None:
    steps = walk(TinyWeb(WEB), PerSeed("best-first"), BEES, "rich.test/ poor.test/").steps
    assert {step.url.split("/")[2]: step.parts["agent"] for step in steps} == {"rich.test": 0.0, "poor.test": 1.0}


@pytest.mark.parametrize("inner", INNER)
def test_it_keeps_the_contract_of_strategies_with_any_inner_one(inner: str) -> None:
    for _, check in strategy_contract(lambda: PerSeed(inner, threads=2)):
        check()


def test_what_can_not_be_wrapped_says_why() -> None:
    for inner, why in (("infospiders", "own frontier"), ("context-graph", "own frontier"), ("focused-soft", "trained")):
        with pytest.raises(BadConfig, match=why):
            PerSeed(inner)
    with pytest.raises(BadConfig, match="does not know"):
        PerSeed("best-first:colour=red")
    with pytest.raises(BadConfig, match="is not a parameter"):
        PerSeed("best-first:n")


def candidate(name: str, score: float, thread: int, due: float = 0.0) -> Candidate:
    return Candidate(Url(f"http://{name}.test/"), score, {THREAD: thread}, due=due)


def test_a_url_found_by_another_frontier_stays_where_it_is_with_the_better_score() -> None:
    frontier = SeedFrontiers()
    frontier.clear(2)
    frontier.push(candidate("a", 0.1, 0))
    frontier.push(candidate("a", 0.9, 1))
    popped = frontier.pop(0.0)
    assert popped is not None
    assert (popped.candidate.score, popped.candidate.carry[THREAD]) == (0.9, 0)
    assert frontier.pop(0.0) is None


def test_a_full_frontier_drops_the_worst_of_the_longest() -> None:
    frontier = SeedFrontiers(3)
    frontier.clear(2)
    for name, score, thread in (("a", 0.5, 0), ("b", 0.4, 0), ("c", 0.1, 1)):
        assert frontier.push(candidate(name, score, thread)) is None
    fallen = frontier.push(candidate("d", 0.3, 1))
    assert fallen is not None
    assert fallen.url == "http://b.test/"


def test_frontiers_whose_hosts_rest_are_passed_over_and_nothing_is_popped_before_it_is_due() -> None:
    frontier = SeedFrontiers()
    frontier.clear(2)
    frontier.push(candidate("a", 0.5, 0))
    frontier.push(candidate("b", 0.9, 1, due=30.0))
    frontier.host_clock.rest("a.test", 20.0)
    assert frontier.pop(0.0) is None
    assert frontier.host_clock.next_wake() == 20.0
    popped = [frontier.pop(25.0), frontier.pop(25.0), frontier.pop(31.0)]
    assert [one and (one.candidate.url, one.overtakes) for one in popped] == [
        ("http://a.test/", True),
        None,
        ("http://b.test/", False),
    ]
