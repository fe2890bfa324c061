"""hound's adaptive greed: how often it departs from its ranking, and how that is recorded."""

from __future__ import annotations

import numpy as np
import pytest

from scenthound.lab.testing import TinyWeb, walk
from scenthound.strategies.hound.features import FEATURES, SHIPPED, Scoring
from scenthound.strategies.hound.hound import NOT_RANKED, Hound
from scenthound.strategies.hound.ranking import AMONG, Ranking, exploration_rate, explore, rank_by_score

CHESS = "chess openings gambit endgame knight bishop castling"
WEB = TinyWeb(
    {
        "a.test/seed": f"<p>{CHESS}</p>" + "".join(f"<p><a href='/p{n}'>chess {n}</a></p>" for n in range(80)),
        **{f"a.test/p{n}": f"<p>{CHESS if n % 2 else 'garden tulip rake'} {n}</p>" for n in range(80)},
    }
)


def ranking(size: int) -> Ranking:
    return rank_by_score(np.linspace(3, 1, size), size)


def test_the_rate_falls_as_the_scores_explain_more_and_as_the_best_is_further_ahead() -> None:
    near, far = np.array([2.0, 1.9, 1.9]), np.array([5.0, 1.9, 1.9])
    rates = [exploration_rate(0.2, unexplained, near) for unexplained in (1.0, 0.5, 0.1, 0.0)]
    assert rates == sorted(rates, reverse=True)
    assert 0 == rates[-1] < rates[0] <= 0.2
    assert exploration_rate(0.2, 0.5, far) < exploration_rate(0.2, 0.5, near)


def test_a_rate_of_zero_keeps_the_ranking() -> None:
    ranked, added = explore(ranking(100), 0.0, 16, np.random.default_rng(1))
    assert ranked.order.tolist() == list(range(100))
    assert not added.any()


@pytest.mark.parametrize("size", [1, 2, 30, 150])
def test_lifted_urls_come_first_and_all_others_keep_their_order_and_score(size: int) -> None:
    before = ranking(size)
    after, added = explore(before, 1.0, 5, np.random.default_rng(7))
    assert sorted(after.order.tolist()) == list(range(size))
    assert (np.diff(after.scores) <= 0).all()
    rest = after.order[added == 0]
    assert (np.diff(rest) > 0).all()
    np.testing.assert_allclose(after.scores - added, before.scores[after.order])
    assert max(after.order[added != 0], default=0) < AMONG
    assert np.count_nonzero(added) == min(5, size - 1)


def trail_of(seed_number: int, exploration: float) -> list[str]:
    return [str(step.url) for step in walk(WEB, Hound(exploration=exploration), "chess", "a.test/seed",
                                          pages=60, seed_number=seed_number).steps]  # fmt: skip


def test_exploration_follows_from_the_seed_number() -> None:
    assert trail_of(1, 1.0) == trail_of(1, 1.0)
    assert trail_of(1, 1.0) != trail_of(2, 1.0)
    assert trail_of(1, 0.0) == trail_of(2, 0.0)


def test_the_rate_is_recorded_at_every_page_and_a_page_that_was_lifted_says_so() -> None:
    hound = Hound(exploration=1.0)
    walked = walk(WEB, hound, "chess", "a.test/seed", pages=60)
    tried = [step for step in walked.steps if "exploration" in step.parts]
    assert tried
    assert all(step.score > NOT_RANKED for step in tried)
    assert all(sum(step.parts.values()) == pytest.approx(step.score) for step in tried)
    events = {event.url: event for event in walked.history.strategy_events("exploration")}
    assert list(events) == [step.url for step in walked.steps]
    assert all(0 < event.facts["rate"] <= 1 for event in list(events.values())[1:])
    assert [url for url, event in events.items() if event.facts["tried"]] == [step.url for step in tried]
    assert [event.n for event in events.values()] == list(range(1, 61))


def test_without_exploration_the_rate_is_0_at_every_page() -> None:
    events = list(walk(WEB, Hound(), "chess", "a.test/seed", pages=60).history.strategy_events("exploration"))
    assert [(event.n, event.facts) for event in events] == [(n, {"rate": 0.0, "tried": False}) for n in range(1, 61)]


def test_scores_that_proved_right_leave_little_unexplained() -> None:
    draws = np.random.default_rng(3)
    z = draws.normal(size=(200, len(FEATURES)))
    right, wrong = Scoring(), Scoring()
    for scoring, relevance in ((right, z @ SHIPPED), (wrong, draws.normal(size=200))):
        scoring.set_ranked(list(range(200)), z)
        for number in range(200):
            scoring.fetched(number, number)
        assert scoring.unexplained == 1
        scoring.learn(relevance, belief=1.0)
    assert right.unexplained < 0.01
    assert wrong.unexplained > 0.8
