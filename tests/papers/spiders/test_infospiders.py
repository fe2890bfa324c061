"""InfoSpiders: what they see, learn and live off; turns, splits, deaths, hosts that rest (sheet 40.1)."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, Walk, named, page_of, walk
from scenthound.model import Candidate, Event, Miss, Topic, Url
from scenthound.papers.spiders.infospiders import InfoSpiders, meal, new_word
from scenthound.papers.spiders.net import Net, Numbers, link_inputs, sightings, softmax
from scenthound.papers.spiders.private_frontier import PrivateFrontier
from scenthound.text.tokens import Analyser, stem
from support.long_form import long_form

NUMBERS = st.floats(-2, 2, allow_nan=False)


# ---- what is seen of a link


def seen(html: str, words: str, reach: int = 5) -> list[list[float]]:
    page = page_of(html)
    columns = {word: place for place, word in enumerate(words.split())}
    found = sightings(page, columns, Analyser())
    return [list(map(float, row)) for row in link_inputs(found, len(page.links), columns, reach)]


def test_a_word_counts_by_the_inverse_of_its_distance_in_anchors() -> None:
    html = "<p>honey <a href=/1>bees</a> x <a href=/2>wax</a> <a href=/3>jar</a> honey</p>"
    assert seen(html, "honei bee") == [[1 / 2 + 1 / 4, 1.0], [1 / 3 + 1 / 3, 1 / 2], [1 / 4 + 1 / 2, 1 / 3]]


def test_words_beyond_the_reach_are_not_seen() -> None:
    html = "honey " + "".join(f"<a href=/{n}>link</a> " for n in range(5))
    assert [row[0] for row in seen(html, "honei", reach=1)] == [1 / 2, 1 / 3, 0, 0, 0]
    inside = "".join(f"<a href=/{n}>{'honey' if n == 2 else 'wax'}</a> " for n in range(6))
    assert [row[0] for row in seen(inside, "honei", reach=0)] == [0, 1 / 2, 1, 1 / 2, 0, 0]


def test_the_words_of_an_image_link_are_its_alt_text() -> None:
    html = "<a href=/1><img src=x alt='honey'></a> <a href=/2>wax</a>"
    assert seen(html, "honei") == [[1.0], [1 / 2]]


def plain_inputs(html: str, words: list[str], reach: int) -> Numbers:
    """The definition, occurrence by occurrence."""
    page, analyser = page_of(html), Analyser()
    found, before = np.zeros((len(page.links), len(words))), 0
    leaves = page.record.leaves
    for begin, end, anchor in zip(leaves.begin, leaves.end, leaves.anchor.tolist(), strict=True):
        before = anchor + 1 if anchor >= 0 else before
        for term in analyser.terms(page.text[begin:end]):
            for number in range(len(page.links)):
                if term not in words:
                    continue
                if anchor >= 0:
                    between = abs(number - anchor) - 1
                else:
                    between = number - before if number >= before else before - 1 - number
                if between <= reach:
                    found[number, words.index(term)] += 1 / (1 if anchor == number else 2 + between)
    return found


@settings(deadline=None, max_examples=long_form(20, 60))
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["honey", "bees", "wax", "honey bees"]))), st.integers(0, 6))
def test_inputs_are_those_of_the_definition(parts: list[tuple[bool, str]], reach: int) -> None:
    html = "".join(
        f"<a href=/{n}>{text}</a> " if is_link else f"<p>{text}</p>" for n, (is_link, text) in enumerate(parts)
    )
    found = np.array(seen(html, "honei bee", reach)).reshape(-1, 2)
    np.testing.assert_allclose(found, plain_inputs(html, ["honei", "bee"], reach), atol=1e-12)


@settings(deadline=None)
@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=12))
def test_a_stem_begins_as_its_word_does(word: str) -> None:
    assert stem(word)[:1] == word[:1], "so only tokens with a keyword's first letter are looked up"


# ---- the net


def net_of(inputs: int, hidden: int, seed: int = 1) -> Net:
    return Net.untrained(inputs, hidden, random.Random(seed))


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 4), st.lists(NUMBERS, min_size=1, max_size=4), st.floats(0, 1), st.integers(0, 99))
def test_a_step_follows_the_gradient_of_half_the_squared_error(
    hidden: int, inputs: list[float], target: float, seed: int
) -> None:
    x = np.array(inputs)

    def error(net: Net) -> float:
        return 0.5 * (target - float(net.outputs(x[None])[0])) ** 2

    before, after = net_of(len(x), hidden, seed), net_of(len(x), hidden, seed)
    after.learn(x, target, rate=1.0)
    for name in ("w1", "b1", "w2"):
        weights, small = getattr(before, name), 1e-6
        for place in np.ndindex(weights.shape):
            old = weights[place]
            weights[place] = old + small
            above = error(before)
            weights[place] = old - small
            slope = (above - error(before)) / (2 * small)
            weights[place] = old
            assert getattr(after, name)[place] - old == pytest.approx(-slope, abs=1e-6)
    old_b2, before.b2 = before.b2, before.b2 + 1e-6
    above, before.b2 = error(before), old_b2 - 1e-6
    assert after.b2 - old_b2 == pytest.approx(-(above - error(before)) / 2e-6, abs=1e-6)


@pytest.mark.parametrize("hidden", [0, 3])
def test_a_childs_net_behaves_as_its_parents_until_it_learns(hidden: int) -> None:
    parent = net_of(2, hidden)
    child = parent.child(1)
    inputs = np.array([[0.5, 1.0, 7.0], [2.0, 0.0, 3.0]])
    np.testing.assert_array_equal(child.outputs(inputs), parent.outputs(inputs[:, :2]))
    child.learn(inputs[0], 1.0, 0.5)
    assert child.outputs(inputs)[0] > parent.outputs(inputs[:, :2])[0]
    assert (child.w1[:, 2] if hidden else child.w2[2:]).any(), "it has begun to listen to the new word"


def test_first_weights_are_small_and_a_function_of_the_seed() -> None:
    one, same, other = net_of(3, 4, 1), net_of(3, 4, 1), net_of(3, 4, 2)
    np.testing.assert_array_equal(one.w1, same.w1)
    assert not np.array_equal(one.w1, other.w1)
    assert max(np.abs(one.w1).max(), np.abs(one.b1).max(), np.abs(one.w2).max(), abs(one.b2)) <= 0.5


# ---- the draw


@settings(deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=20), st.floats(0, 50))
def test_probabilities_are_those_of_the_formula(scores: list[float], greed: float) -> None:
    weights = [math.exp(greed * score) for score in scores]
    np.testing.assert_allclose(softmax(scores, greed), [one / sum(weights) for one in weights], atol=1e-12)


def frontier_of(scores: Iterable[float]) -> PrivateFrontier:
    links = PrivateFrontier(0)
    for number, score in enumerate(scores):
        links.put(Candidate(Url(f"u{number}"), score), 0, number, 0.0, 0.0)
    return links


def test_draws_are_as_frequent_as_their_probabilities_say() -> None:
    scores, rng = [0.1, 0.5, 0.45, 0.0, 0.9, 0.3], random.Random(7)
    links = frontier_of([*scores[:3], 0.7, *scores[3:]])
    links.remove(Url("u3"))  # who has left is never drawn
    rows, times = [0, 1, 2, 4, 5, 6], 20_000
    drawn = [links.draw(rng.random(), 5.0, None) for _ in range(times)]
    found = [sum(one is not None and one.row == row for one in drawn) for row in rows]
    expected = [times * share for share in softmax(scores, 5.0)]
    assert sum(found) == times
    chi_square = sum((seen - right) ** 2 / right for seen, right in zip(found, expected, strict=True))
    assert chi_square < 20.5, "the 99.9th percentile for 5 degrees of freedom"
    assert {round(one.probability, 9) for one in drawn if one} == {round(share, 9) for share in softmax(scores, 5.0)}


def test_a_blind_draw_and_a_greedy_one() -> None:
    links = frontier_of([0.1, 0.2, 0.9])
    links.remove(Url("u0"))
    blind = [links.draw(luck, 0.0, None) for luck in (0.1, 0.6)]
    assert [one and one.row for one in blind] == [1, 2]
    assert all((one := links.draw(luck, 1e6, None)) and one.row == 2 for luck in (0.0, 0.5, 0.999999))


def test_seeds_are_drawn_before_all_else() -> None:
    links = frontier_of([0.9, math.inf, math.inf])
    assert (one := links.draw(0.99, 5.0, None))
    assert one == (1, 1.0)


# ---- splitting


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.1, 0.3, 0.5, 0.9]), max_size=12))
def test_a_frontier_is_split_by_places_of_its_order(scores: list[float]) -> None:
    order = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
    stay, go = frontier_of(scores).halves()
    assert (stay.tolist(), go.tolist()) == (order[::2], order[1::2])


HIVE = {
    "a.example/": "bees honey hive hive hive hive hive hive -> b.example/ c.example/ d.example/ e.example/ f.example/",
    "b.example/": "bees honey -> g.example/",
    "c.example/": "bees wax -> h.example/ d.example/",
    "d.example/": "cars -> i.example/",
    **{f"{name}.example/": f"bees {name * 3} -> a.example/" for name in "efghi"},
}


def told(walked: Walk, kind: str) -> list[Event]:
    return list(walked.history.strategy_events(kind))


def test_energy_is_kept_when_an_agent_splits() -> None:
    walked = walk(TinyWeb(HIVE), InfoSpiders(theta=0.8), "bees honey", "a.example/")
    strategy: Any = walked.crawl.strategy
    births, meals, deaths = told(walked, "born"), told(walked, "fed"), told(walked, "died")
    assert len(births) > 2
    gained = sum(event.facts["similarity"] for event in meals)
    left = sum(agent.energy for agent in strategy.population_.agents.values())
    lost = sum(event.facts["energy"] for event in deaths)
    assert left + lost == pytest.approx(0.4 + gained, abs=1e-5), "what began and was eaten, no more and no less"


def test_a_child_has_one_more_word_half_the_energy_and_half_the_links() -> None:
    walked = walk(TinyWeb(HIVE), InfoSpiders(theta=0.3), "bees honey", "a.example/", pages=1)
    first, second = told(walked, "born")
    assert first.facts["keywords"] == ["bee", "honei"]
    assert second.facts["keywords"] == ["bee", "honei", "hive"], "the most frequent word of the page that is none yet"
    assert second.facts["parent"] == 0
    (fed,) = told(walked, "fed")
    assert second.facts["energy"] == pytest.approx(fed.facts["energy"] / 2, abs=1e-6)
    strategy: Any = walked.crawl.strategy
    parent, child = strategy.population_.agents.values()
    assert (len(parent.links), len(child.links)) == (3, 2)
    assert len(walked.crawl.frontier) == 5, "different URLs that wait"
    assert child.links.inputs.shape[1] == 3


def test_the_new_word_is_the_first_of_the_most_frequent() -> None:
    assert new_word({"bee": 9, "wax": 2, "hive": 3, "jar": 3}, ["bee"]) == "hive"
    assert new_word({"bee": 9}, ["bee"]) is None
    assert new_word({}, []) is None


def test_the_population_is_bounded() -> None:
    walked = walk(TinyWeb(HIVE), InfoSpiders(theta=0.01, population=3), "bees honey", "a.example/")
    alive = 0
    for event in walked.history.strategy_events():
        alive += {"born": 1, "died": -1}.get(event.kind, 0)
        assert alive <= 3
    assert len(told(walked, "born")) >= 3


@pytest.mark.parametrize(
    ("parameters", "bound", "links"),
    [
        ({"buffer": 256, "population": 8}, None, 32),
        ({"buffer": 256, "population": 8}, 70_000, 32),
        ({"buffer": 256, "population": 8}, 128, 16),
        ({"buffer": 256, "population": 4}, 100_000, 64),
        ({}, 70_000, 32),
        ({"buffer": 0, "population": 8}, 80_000, 10_000),
    ],
)
def test_all_agents_together_hold_no_more_links_than_the_study_allows(
    parameters: dict[str, int], bound: int | None, links: int
) -> None:
    strategy = InfoSpiders(**parameters)  # type: ignore[arg-type]
    strategy.frontier(bound)
    assert strategy.population_.limit == links


def test_an_agent_with_nothing_left_goes_unless_it_is_the_last() -> None:
    web = TinyWeb({"a.example/": "bees", "b.example/": "bees -> c.example/", "c.example/": "bees"})
    walked = walk(web, InfoSpiders(theta=100.0), "bees", "a.example/ b.example/")
    assert len(walked.visited) == 3
    assert [(event.facts["agent"], event.facts["why"]) for event in told(walked, "died")] == [(0, "nothing left")]
    assert walked.reason == "frontier empty"


def test_agents_that_starve_take_their_links_with_them() -> None:
    web = TinyWeb({"a.example/": "cars -> b.example/", "b.example/": "cars -> c.example/", "c.example/": "cars"})
    assert len(walk(web, InfoSpiders(theta=1.0, cost=0.3), "bees", "a.example/").visited) == 3, "death is off"
    walked = walk(web, InfoSpiders(theta=1.0, cost=0.3, death=True), "bees", "a.example/")
    assert walked.visited == [named("a.example/"), named("b.example/")]
    assert told(walked, "died")[0].facts["why"] == "starved"
    assert len(walked.crawl.frontier) == 0


def test_without_memory_only_links_of_the_current_page_are_left() -> None:
    web = TinyWeb(
        {"a.example/": "bees -> b.example/ c.example/ d.example/", **{f"{x}.example/": "bees" for x in "bcd"}}
    )
    assert len(walk(web, InfoSpiders(), "bees", "a.example/").visited) == 4
    walked = walk(web, InfoSpiders(memory=0), "bees", "a.example/")
    assert len(walked.visited) == 2, "the page it went to leads nowhere, and the others are forgotten"
    assert len(walk(web, InfoSpiders(memory=0, population=1), "bees", "b.example/ c.example/").visited) == 2, (
        "but seeds"
    )


def test_agents_take_turns_oldest_first() -> None:
    pages = {f"{x}{n}.example/": f"bees -> {x}{n + 1}.example/" for x in "abc" for n in range(4)}
    walked = walk(TinyWeb(pages), InfoSpiders(theta=100.0), "bees", "a0.example/ b0.example/ c0.example/")
    assert "".join(url.removeprefix("http://")[0] for url in walked.visited) == "abc" * 4
    assert [int(step.parts["agent"]) for step in walked.steps] == [0, 1, 2] * 4


def test_more_seeds_than_agents_are_dealt_out() -> None:
    pages = {f"{x}.example/": "bees" for x in "abcde"}
    walked = walk(TinyWeb(pages), InfoSpiders(population=2), "bees", [f"{x}.example/" for x in "abcde"])
    assert [int(step.parts["agent"]) for step in walked.steps] == [0, 1, 0, 1, 0]


def test_what_one_agent_draws_leaves_the_frontiers_of_all() -> None:
    web = TinyWeb({"a.example/": "bees -> c.example/", "b.example/": "bees -> c.example/", "c.example/": "bees"})
    walked = walk(web, InfoSpiders(), "bees", "a.example/ b.example/")
    assert sorted(walked.visited) == [named(f"{x}.example/") for x in "abc"]


def test_the_score_is_made_of_net_and_page() -> None:
    walked = walk(TinyWeb(HIVE), InfoSpiders(alpha=0.3), "bees honey", "a.example/")
    for step in walked.steps[1:]:
        assert step.score == pytest.approx(0.3 * step.parts["net"] + 0.7 * step.parts["page"], abs=1e-9)
        assert 0 < step.parts["probability"] <= 1


def test_a_net_learns_which_words_pay() -> None:
    pages = {"a.example/": "".join(f"<p><a href='/{n}'>{'honey' if n < 20 else 'cars'}</a></p>" for n in range(40))}
    pages |= {f"a.example/{n}": "bees bees" if n < 20 else "engines" for n in range(40)}
    strategy = InfoSpiders(theta=1000.0, reach=0)
    walk(TinyWeb(pages), strategy, "bees honey", "a.example/", pages=30)
    (agent,) = strategy.population_.agents.values()
    columns = [2.0 if word == "honei" else 0.0 for word in agent.keywords]
    with_honey, without = agent.net.outputs(np.array([columns, [0.0, 0.0]])).tolist()
    assert with_honey > without + 0.2


# ---- odds and ends


def test_a_redirect_takes_the_place_of_what_led_to_it() -> None:
    web = TinyWeb({"a.example/": "bees -> old.example/", "old.example/": "=> new.example/", "new.example/": "bees"})
    walked = walk(web, InfoSpiders(theta=1000.0), "bees", "a.example/")
    assert walked.visited == [named("a.example/"), named("new.example/")]
    assert "expected" in told(walked, "fed")[1].facts, "the net learns from it"


def test_misses_cost_nothing_and_the_crawl_goes_on() -> None:
    web = TinyWeb({"a.example/": "bees -> gone.example/ b.example/", "b.example/": "bees"})
    strategy = InfoSpiders(theta=1000.0, cost=0.1)
    walked = walk(web, strategy, "bees", "a.example/")
    assert len(walked.visited) == 2
    (agent,) = strategy.population_.agents.values()
    similarities = sum(event.facts["similarity"] for event in told(walked, "fed"))
    assert agent.energy == pytest.approx(500 + similarities - 0.2, abs=1e-5)


def test_many_pages_at_once_lose_nothing() -> None:
    pages = {
        f"{n}.example/": "bees -> " + " ".join(f"{m % 60}.example/" for m in (2 * n, 2 * n + 1)) for n in range(60)
    }
    walked = walk(TinyWeb(pages), InfoSpiders(theta=1.0), "bees", "1.example/", in_flight=8)
    assert len(walked.visited) == len(set(walked.visited)) == 60


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": 1.5},
        {"alpha": "much"},
        {"greed": -1.0},
        {"greed": math.inf},
        {"rate": math.nan},
        {"reach": -1},
        {"reach": 2.5},
        {"hidden": -1},
        {"hidden": True},
        {"theta": 0.0},
        {"cost": -0.1},
        {"death": 1},
        {"population": 0},
        {"population": 10**9},
        {"memory": 2},
        {"stop_words": "klingon"},
        {"stem": "yes"},
    ],
    ids=str,
)
def test_parameters_that_cannot_be_meant_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadConfig, match=next(iter(wrong))) as caught:
        InfoSpiders(**wrong)
    assert caught.value.hint


def test_a_meal_and_a_topic_without_words() -> None:
    assert meal(1.0, 1.0, 0.0, 2.0).is_enough, "theta itself is enough"
    walked = walk(TinyWeb(HIVE), InfoSpiders(hidden=0), Topic(""), "a.example/")
    assert len(walked.visited) == 9


def test_no_agent_is_no_reason_to_fail() -> None:
    strategy = InfoSpiders()
    assert list(strategy.start(Topic("bees"), [])) == []
    assert list(strategy.read(page_of("<p>bees"))) == []
    assert list(strategy.miss(Miss(Candidate(named("a.example/"), 0.0), "http-404"))) == []
