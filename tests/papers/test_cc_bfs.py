"""CC-BFS: levels, verdicts, look-ahead, and the frontier it brings."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, Walk, named, walk
from scenthound.loop.settings import Settings, read
from scenthound.model import Candidate, Link, Miss, Moved, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Record
from scenthound.papers.cc_bfs import CcBfs, Level, ring_weights
from scenthound.papers.parts.level_frontier import ChosenUrl, LevelFrontier
from scenthound.wiring import Session, begin, make_strategy, resume
from support.resuming import SETTINGS, TOPIC, step_through, trail

# The small graph of the sheet: two seeds, a community around c and d, and a second one behind e.
LINKS = {
    "a": "c d e",
    "b": "c d f k",
    "c": "d g",
    "d": "h",
    "e": "c f k x y",
    "f": "c d",
    "k": "m",
    "g": "h",
    "h": "c",
    "x": "y z",
    "y": "z",
    "z": "",
    "m": "",
}


def web_of(links: dict[str, str]) -> TinyWeb:
    return TinyWeb({f"{page}.test/": "-> " + " ".join(f"{to}.test/" for to in links[page].split()) for page in links})


def order(walked: Walk) -> str:
    return " ".join(url.removeprefix("http://").removesuffix(".test/") for url in walked.visited)


def crawl(strategy: CcBfs, links: dict[str, str] = LINKS, seeds: str = "a.test/ b.test/", **options: Any) -> Walk:
    return walk(web_of(links), strategy, "", seeds, **options)


def accepted(strategy: CcBfs) -> set[str]:
    names = (strategy.graph_.names[number] for number in strategy.accepted_)
    return {name.removeprefix("http://").removesuffix(".test/") for name in names}


def random_links(seed: int, pages: int = 60) -> dict[str, str]:
    rng = random.Random(seed)
    names = [f"p{number}" for number in range(pages)]
    near = [names[max(0, n - 6) : n + 6] for n in range(pages)]
    return {
        name: " ".join(rng.sample(near[n], 3) + rng.sample(names, rng.randrange(3))) for n, name in enumerate(names)
    }


def test_the_worked_example_with_what_is_known() -> None:
    strategy = CcBfs()
    assert order(crawl(strategy)) == "a b c d e f k g h x y"
    assert accepted(strategy) == set("abcdefh")


def test_the_worked_example_with_pages_fetched_to_look_ahead() -> None:
    strategy = CcBfs(lookahead="fetch")
    assert order(crawl(strategy)) == "a b c d e f k g h x y m"
    assert accepted(strategy) == set("abdfhg")


def test_the_oracle_judges_as_if_it_had_fetched_and_does_not_pay() -> None:
    levels: dict[str, list[Level]] = {"fetch": [], "graph": []}
    for lookahead, seen in levels.items():
        strategy = CcBfs(lookahead=lookahead)
        strategy.on_level_ = seen.append
        strategy.peek(lambda url: [named(f"{to}.test/") for to in LINKS[url[7:-6]].split()])
        walked = crawl(strategy)
    assert order(walked) == "a b c d e f k h g", "x, y and m are looked at but never fetched"
    assert [level.verdicts for level in levels["graph"]] == [level.verdicts for level in levels["fetch"]]


def test_the_oracle_is_marked_and_refused_outside_the_laboratory(tmp_path: Path) -> None:
    oracle = CcBfs(lookahead="graph")
    assert oracle.declaration.oracle
    assert not CcBfs(lookahead="fetch").declaration.oracle
    with pytest.raises(BadConfig, match="laboratory"):
        oracle.start(Topic("bees"), [named("a.test/")])
    with pytest.raises(BadConfig, match="oracle"):
        begin("bees", ["http://a.test/"], tmp_path / "c", strategy="cc-bfs", parameters={"lookahead": "graph"})
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("lookahead", ["known", "fetch"])
@pytest.mark.parametrize("seed", range(5))
def test_one_ring_of_weight_one_is_the_plain_crawler(lookahead: str, seed: int) -> None:
    links = random_links(seed)
    seeds = "p0.test/ p3.test/"
    plain = crawl(CcBfs(lookahead=lookahead), links, seeds)
    assert order(crawl(CcBfs(lookahead=lookahead, k=1, weights="1"), links, seeds)) == order(plain)
    assert order(crawl(CcBfs(lookahead=lookahead, k=3, weights="1 0 0"), links, seeds)) == order(plain)
    assert len(plain.visited) > 5


def test_more_rings_see_what_one_ring_cannot() -> None:
    links = {"a": "c d", "b": "", "c": "e f", "d": "g", "e": "f", "f": "", "g": ""}
    verdicts: list[Level] = []
    for k in (1, 2):
        strategy = CcBfs(k=k, relax=False)
        strategy.on_level_ = verdicts.append
        crawl(strategy, links)
    c = [level.verdicts[0] for level in verdicts]
    assert (c[0].c0, c[0].is_clustered) == (0.0, False), "c knows one of S only"
    assert c[1].c0 == 0.0, "and a alone is one step away, b alone two"
    links["q"] = ""
    strategy = CcBfs(k=2, relax=False)
    strategy.on_level_ = verdicts.append
    crawl(strategy, links, "a.test/ b.test/ q.test/")
    assert verdicts[2].verdicts[0].c0 == 0.5, "b and q, linked as seeds, are the second ring, of weight 1/2"


def test_a_step_judges_the_best_of_the_queue_and_the_next_by_what_was_accepted() -> None:
    """C0 before fetching: c and d are linked by both seeds (1), so they go first; e, f, k have one neighbour (0)."""
    strategy = CcBfs(step=1)
    levels: list[Level] = []
    strategy.on_level_ = levels.append
    walked = crawl(strategy)
    assert order(walked).split()[:4] == ["a", "b", "c", "d"]
    assert all(len(level.candidates) == 1 for level in levels)
    assert len(levels) > 4, "a decision after every page, not after every level"
    assert {"c", "d"} <= accepted(strategy)


def test_a_step_as_large_as_every_level_and_whole_levels_agree_where_no_level_is_relaxed() -> None:
    whole, steps = CcBfs(relax=False), CcBfs(relax=False, step=1000)
    first = order(crawl(whole)).split()
    assert order(crawl(steps)).split()[: len(first)] == first
    assert accepted(whole) <= accepted(steps)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("step", [1, 3])
def test_the_queue_computes_again_whatever_has_changed(seed: int, step: int) -> None:
    links = random_links(seed)
    seeds = " ".join(f"{page}.test/" for page in list(links)[:3])
    careful, usual = CcBfs(step=step), CcBfs(step=step)
    careful.on_level_ = lambda level: careful.queue_.touch(careful.fringe_)
    assert crawl(usual, links, seeds).steps == crawl(careful, links, seeds).steps


def test_the_crawl_ends_when_enough_pages_are_accepted() -> None:
    strategy = CcBfs(step=1, wanted=3)
    walked = crawl(strategy)
    assert len(strategy.accepted_) == 3
    assert order(walked) == "a b c"


@pytest.mark.parametrize("seed", range(4))
def test_steps_decide_long_before_whole_levels_do(seed: int) -> None:
    links = random_links(seed)
    first: dict[int, int] = {}
    for step in (0, 4):
        strategy = CcBfs(step=step, lookahead="fetch")
        strategy.on_level_ = lambda level, step=step, strategy=strategy: first.setdefault(step, len(strategy.fetched_))  # type: ignore[misc]
        crawl(strategy, links, " ".join(f"{page}.test/" for page in list(links)[:2]))
    assert first[4] <= first[0]


def test_without_relaxing_a_sparse_start_ends_the_crawl() -> None:
    chain = {"a": "b", "b": "c", "c": "d", "d": ""}
    assert order(crawl(CcBfs(relax=False), chain, "a.test/")) == "a b"
    assert order(crawl(CcBfs(), chain, "a.test/")) == "a b c d", "with all values 0 it is breadth-first"


def test_a_page_thrown_away_is_never_asked_again_and_leads_nowhere() -> None:
    strategy = CcBfs()
    walked = crawl(strategy)
    assert "http://m.test/" not in walked.visited, "only k, which was thrown away, leads there"
    assert len(walked.visited) == len(set(walked.visited))


def test_a_level_goes_on_without_pages_that_cannot_be_had() -> None:
    links = {name: to for name, to in LINKS.items() if name not in "dk"}
    walked = crawl(CcBfs(), links)
    assert order(walked) == "a b c e f g x y z h", "d is dead: c, e and f are accepted without it"
    assert walked.reason == "frontier empty"


def test_where_a_redirect_leads_takes_the_place_of_what_was_asked_for() -> None:
    web = web_of(LINKS)
    web.moved[named("c.test/")] = named("new.test/")
    web.html[named("new.test/")] = web.html.pop(named("c.test/"))
    strategy = CcBfs()
    walked = walk(web, strategy, "", "a.test/ b.test/")
    assert order(walked) == "a b new d e f k g h x y"
    assert accepted(strategy) == {"a", "b", "new", "d", "e", "f", "h"}


def test_a_redirect_at_the_end_of_a_level_is_waited_for() -> None:
    web = web_of(LINKS)
    web.moved[named("k.test/")] = named("new.test/")
    web.html[named("new.test/")] = web.html.pop(named("k.test/"))
    in_turn = order(walk(web, CcBfs(), "", "a.test/ b.test/", in_flight=1))
    assert order(walk(web, CcBfs(), "", "a.test/ b.test/", in_flight=8)) == in_turn
    assert in_turn == "a b c d e f new g h x y"


def test_a_level_goes_on_without_a_url_that_is_dropped_without_a_word() -> None:
    web = web_of(LINKS)
    web.moved[named("f.test/")] = named("c.test/")  # a redirect to what is known brings neither a page nor a miss
    assert order(walk(web, CcBfs(), "", "a.test/ b.test/")) == "a b c d e k g h"


@pytest.mark.parametrize("in_flight", [2, 5, 75])
def test_pages_on_their_way_are_waited_for_before_a_level_is_judged(in_flight: int) -> None:
    for lookahead in ("known", "fetch"):
        links = random_links(7)
        one = crawl(CcBfs(lookahead=lookahead), links, "p0.test/ p3.test/", pages=1000)
        many = crawl(CcBfs(lookahead=lookahead), links, "p0.test/ p3.test/", pages=1000, in_flight=in_flight)
        assert order(many) == order(one)


def test_a_score_is_explained_by_its_coefficients() -> None:
    steps = crawl(CcBfs()).steps
    assert [step.score for step in steps[:4]] == [math.inf, math.inf, 1.0, 1.0]
    assert dict(steps[2].parts) == {"C0": 1.0, "C1": 0.0, "C2": 0.0}
    assert [step.carry["stage"] for step in steps] == [0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2]


def test_a_single_seed_without_links_is_the_whole_crawl() -> None:
    walked = crawl(CcBfs(), {"a": ""}, "a.test/")
    assert (order(walked), walked.reason) == ("a", "frontier empty")


def test_a_full_frontier_refuses_newcomers_and_the_bound_is_kept() -> None:
    walked = crawl(CcBfs(), bound=3)
    assert order(walked) == "a b c d f g h"
    assert walked.evicted[0] == "http://e.test/", "while b, c and d wait there is no room for it"


def test_a_page_with_a_hundred_thousand_links_is_judged() -> None:
    strategy, url = CcBfs(), named("a.test/")
    frontier = strategy.frontier(None)
    strategy.start(Topic("x"), [url])
    links = [Link(Url(f"http://n.test/{number}")) for number in range(100_000)]
    for offer in strategy.read(Page(url, Candidate(url, 1.0, {"stage": 0, "node": 0}), Record(url, "", "", links))):
        frontier.push(offer)
    popped = frontier.pop(0.0)
    assert popped is not None
    first = popped.candidate
    assert first is not None
    assert (first.url, first.score, first.carry) == ("http://n.test/0", 0.0, {"stage": 1, "node": 1})
    assert first.parts == {"C0": 0.0, "C1": 0.0, "C2": 0.0}
    assert len(frontier) == 99_999


def test_memory_has_an_end() -> None:
    strategy = CcBfs(memory=4)
    walked = crawl(strategy)
    assert strategy.graph_.is_full
    assert len(strategy.graph_) <= 13
    assert set(order(walked).split()) <= set("abcdefk")


@pytest.mark.parametrize(
    "wrong",
    [
        {"lookahead": "peep"},
        {"k": 0},
        {"k": 9},
        {"k": True},
        {"k": 2, "weights": "1"},
        {"weights": "one"},
        {"weights": "-1"},
        {"weights": "inf"},
        {"memory": 0},
        {"relax": 3},
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused_with_a_way_out(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadConfig) as caught:
        CcBfs(**wrong)
    assert caught.value.hint
    assert next(reversed(wrong)) in caught.value.message


def test_parameters_come_as_text_too() -> None:
    made = make_strategy("cc-bfs", {"k": "2", "weights": "1/0.5", "relax": "no"})
    assert made == CcBfs(k=2, weights="1/0.5", relax=False)
    assert ring_weights("1, 0.5", 2) == (1.0, 0.5)
    assert ring_weights("", 3) == (1.0, 0.5, 0.25)


def test_a_crawl_taken_up_from_saved_state_decides_the_same() -> None:
    links = random_links(11)
    web = web_of(links)
    whole = crawl(CcBfs(lookahead="fetch"), links, "p0.test/ p3.test/").visited
    for cut in (1, 5, 17, 30):
        first = CcBfs(lookahead="fetch")
        frontier = first.frontier(None)
        visited = by_hand(first, frontier, web, start=["p0.test/", "p3.test/"], pages=cut)
        second = CcBfs(lookahead="fetch")
        again = second.frontier(None)
        list(second.start(Topic(""), [named("p0.test/"), named("p3.test/")]))
        second.load(first.save())
        assert visited + by_hand(second, again, web, pages=1000, seen=visited) == whole


@pytest.mark.parametrize("lookahead", ["known", "fetch"])
@pytest.mark.parametrize("step", [0, 3])
@pytest.mark.parametrize("snapshot", [7, 1000])
def test_levels_begun_after_the_last_saved_state_are_begun_again(
    tmp_path: Path, lookahead: str, snapshot: int, step: int
) -> None:
    def born(folder: Path) -> Session:
        settings = read(Settings, {**SETTINGS, "snapshot": snapshot, "pages": 200})
        chosen = {"lookahead": lookahead, "step": step}
        return begin(TOPIC.topic, TOPIC.seeds, folder, strategy="cc-bfs", parameters=chosen, settings=settings)

    whole = born(tmp_path / "whole")
    step_through(whole, 1000)
    session = born(tmp_path / "cut")
    for steps in (1, 13, 29, 41, 60):
        step_through(session, steps)
        session.folder.close()  # without a commit
        session = resume(tmp_path / "cut", clock=lambda: 0.0)
    step_through(session, 1000)
    for one in (whole, session):
        one.folder.commit(1.0)
        one.close()
    assert trail(tmp_path / "cut") == trail(tmp_path / "whole")
    assert len(trail(tmp_path / "cut")) == 200


def by_hand(
    strategy: CcBfs, frontier: Any, web: TinyWeb, pages: int, start: Iterable[str] = (), seen: Iterable[Url] = ()
) -> list[Url]:
    """The loop in its plainest form."""
    visited: list[Url] = []
    known = set(seen)
    for candidate in strategy.start(Topic(""), [named(name) for name in start]) if start else ():
        frontier.push(candidate)
    while len(visited) < pages and (popped := frontier.pop(0.0)) is not None:
        candidate = popped.candidate
        landed = web.fetch(candidate)
        assert not isinstance(landed, Moved)
        offers = list(strategy.miss(landed) if isinstance(landed, Miss) else strategy.read(landed))
        frontier.settle(candidate.url)
        known.add(candidate.url)
        if isinstance(landed, Page):
            visited.append(candidate.url)
        for offer in offers:
            if offer.url not in known:
                frontier.push(offer)
    return visited


# ---- the frontier it brings


def test_a_level_waits_for_hosts_that_rest_and_asks_them_in_their_order() -> None:
    stages = iter([[choice("a.test/1", 0.5), choice("b.test/1", 0.9), choice("a.test/2", 0.7)], None])
    levels = LevelFrontier(None, lambda: next(stages))
    for name in ("a.test/1", "a.test/2", "b.test/1", "c.test/1"):
        levels.push(Candidate(named(name), 0.0))
    levels.host_clock.rest("b.test", 5.0)
    assert levels.host_clock.next_wake() == math.inf, "the stage has not begun"
    first = levels.pop(1.0)
    assert first is not None
    assert (first.candidate.url, first.candidate.score) == ("http://a.test/2", 0.7)
    levels.host_clock.rest("a.test", math.inf)
    assert levels.pop(2.0) is None
    assert levels.host_clock.next_wake() == 5.0
    levels.host_clock.rest("a.test", 9.0)
    levels.settle(first.candidate.url)
    second = levels.pop(5.0)
    assert second is not None
    assert second.candidate == Candidate(named("b.test/1"), 0.9, {"stage": 1})
    assert levels.host_clock.next_wake() == 9.0
    assert levels.pop(8.0) is None
    last = levels.pop(9.0)
    assert last is not None
    assert last.candidate.url == "http://a.test/1"
    assert levels.give_back(last) is None
    assert levels.pop(9.0) == last
    assert len(levels) == 1, "c/1 was found and never chosen"
    levels.settle(last.candidate.url)
    assert levels.pop(10.0) is None, "b/1 is still on its way"
    assert list(levels.in_flight()) == ["http://b.test/1"]
    levels.settle(named("b.test/1"))
    assert levels.pop(11.0) is None
    assert levels.host_clock.next_wake() == math.inf


def test_what_may_be_asked_only_later_and_what_is_too_much_is_refused() -> None:
    levels = LevelFrontier(1, lambda: None)
    late = Candidate(named("a.test/"), 0.0, due=5.0)
    assert levels.push(late) is late
    assert levels.push(Candidate(named("a.test/"), 0.0)) is None
    assert levels.push(Candidate(named("a.test/"), 0.5)) is None, "it waits already"
    other = Candidate(named("b.test/"), 0.0)
    assert levels.push(other) is other
    with pytest.raises(ValueError, match="number"):
        levels.push(Candidate(named("c.test/"), math.nan))
    with pytest.raises(ValueError, match="bound"):
        LevelFrontier(0, lambda: None)


def test_saved_levels_put_back_what_was_on_its_way() -> None:
    levels = LevelFrontier(None, lambda: None)
    for name in ("a.test/", "b.test/"):
        levels.push(Candidate(named(name), math.inf, {"stage": 0}))
    levels.push(Candidate(named("c.test/"), 0.0, parent=named("a.test/"), anchor="c", depth=1, spelling="HTTP://C"))
    assert levels.pop(0.0) is not None
    again = LevelFrontier(None, lambda: None)
    again.load(levels.save())
    assert again.save() == levels.save()
    popped = [one.candidate for _ in range(2) if (one := again.pop(0.0)) is not None]
    assert popped == [Candidate(named(f"{n}.test/"), math.inf, {"stage": 0}) for n in "ab"]
    assert again.take(named("c.test/")) is None
    assert list(again.in_flight()) == ["http://a.test/", "http://b.test/", "http://c.test/"]


def choice(name: str, score: float) -> ChosenUrl:
    return ChosenUrl(named(name), score, {"stage": 1}, {})
