"""The Hayek economy as a crawler: auctions decide, pages are bought unseen, populations learn, freeze and travel."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenthound.cli.root_command import run
from scenthound.errors import BadConfig, FolderBroken
from scenthound.lab.testing import TinyLessons, TinyWeb, page_of, strategy_contract, walk
from scenthound.loop.settings import Settings, read
from scenthound.model import Topic
from scenthound.papers.hayek.agents import WEIGHTINGS, draw, weights
from scenthound.papers.hayek.difficulty import Difficulty, DifficultyRules, choose_start
from scenthound.papers.hayek.hayek_crawler import HayekEpsilon, HayekEstimating
from scenthound.papers.hayek.known_web import KnownWeb
from scenthound.papers.hayek.market import ROOT, units
from scenthound.papers.hayek.page_features import Dictionaries, Lexicon, LinkWords, url_features
from scenthound.papers.parts.goals import make_judge
from scenthound.store.model_folder import TrainedModel, TrainedOn, load_model, save_model
from scenthound.text.tokens import Analyser
from scenthound.wiring import begin, resume
from support.resuming import SETTINGS, TOPIC, Recorded, step_through, trail


def honey_web(hosts: int = 12) -> TinyWeb:
    """Shops lead to shelves and shelves to honey; roads lead to cars. The words around links say which is which."""
    pages = {"start.example/": "index -> " + " ".join(f"shop{n}.example/ road{n}.example/" for n in range(hosts))}
    for n in range(hosts):
        pages[f"shop{n}.example/"] = f"grocer number{n} -> shop{n}.example/shelf shop{n}.example/door start.example/"
        pages[f"shop{n}.example/shelf"] = f"jars grocer -> shop{n}.example/honey shop{n}.example/ road{n}.example/"
        pages[f"shop{n}.example/honey"] = f"bees honey -> shop{n}.example/ start.example/"
        pages[f"shop{n}.example/door"] = "closed -> start.example/ road0.example/"
        pages[f"road{n}.example/"] = f"cars -> road{n}.example/a road{n}.example/b start.example/"
        pages[f"road{n}.example/a"] = "engine cars -> start.example/ road0.example/b"
        pages[f"road{n}.example/b"] = "wheel cars -> start.example/ road0.example/a"
    return TinyWeb(pages)


MODES: list[dict[str, Any]] = [
    {},
    {"fetch_all": True},
    {"sequences": "restarted"},
    {"sequences": "restarted", "fetch_all": True},
    {"sequences": "restarted", "pay": "afterwards", "forget": False},
    {"blacklist_site_after_goal": True},
]


@pytest.mark.parametrize("kind", [HayekEstimating, HayekEpsilon])
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_keeps_the_contract(kind: type[HayekEstimating], mode: dict[str, Any]) -> None:
    for _, check in strategy_contract(lambda: kind(**mode, training=30)):
        check()


@pytest.mark.parametrize("mode", MODES)
def test_every_page_that_can_be_reached_is_fetched_once(mode: dict[str, Any]) -> None:
    if mode.get("blacklist_site_after_goal"):
        mode = {**mode, "sequences": "restarted"}  # an endless sequence never comes back to a host
    web = honey_web(5)
    visited = walk(web, HayekEstimating(**mode), "bees honey", "start.example/").visited
    assert len(visited) == len(set(visited)) == len(web.html)


@pytest.mark.parametrize("mode", MODES[:5])
def test_a_killed_and_resumed_crawl_decides_as_an_undisturbed_one(tmp_path: Path, mode: dict[str, Any]) -> None:
    settings = read(Settings, SETTINGS | {"pages": 60})
    common: dict[str, Any] = {"strategy": "hayek-estimating", "settings": settings, "fetcher": Recorded()}
    whole = begin(TOPIC.topic, TOPIC.seeds, tmp_path / "whole", parameters=mode, **common)
    step_through(whole, 1000)
    whole.folder.finish("pages", 1.0)
    whole.close()
    session = begin(TOPIC.topic, TOPIC.seeds, tmp_path / "cut", parameters=mode, **common)
    for steps in (9, 17, 23, 1000):
        if step_through(session, steps):
            break
        session.folder.close()
        session = resume(tmp_path / "cut", fetcher=Recorded(), clock=lambda: 0.0)
    session.folder.finish("pages", 1.0)
    session.close()
    assert trail(tmp_path / "cut") == trail(tmp_path / "whole")


def test_many_pages_may_be_on_their_way() -> None:
    for mode in MODES:
        web = honey_web(4)
        found = walk(web, HayekEstimating(**mode), "bees honey", "start.example/ shop0.example/", in_flight=7, pages=28)
        assert len(found.visited) == 28, mode


def test_agents_that_lead_to_goals_become_rich_and_their_bids_rise() -> None:
    strategy = HayekEstimating(sequences="restarted", retrace=30)
    walk(honey_web(7), strategy, "bees honey", "start.example/")
    economy = strategy.economy_
    names = economy.web.lexicon.names
    rich = sorted(economy.market.agents.values(), key=lambda agent: -agent.wealth)[:5]
    words = {names[feature] for agent in rich for feature in agent.features}
    assert words & {"bees", "honey", "jars", "grocer", "anchor:honey", "path:honey", "distance:1", "path:shelf"}
    assert len(economy.counts.recognised) >= 4


def trained_on_honey(training: int, number: int, said: list[str]) -> HayekEstimating:
    """A population trained with six of the twelve goals as examples."""
    strategy = HayekEstimating(training=training)
    examples = " ".join(f"shop{n}.example/honey" for n in range(6))
    strategy.train(TinyLessons(honey_web(), "bees honey", examples), random.Random(number), said.append)
    return strategy


def test_trained_economies_find_goals_faster_than_breadth_first_order() -> None:
    goals, recognised = 0, 0
    for number in range(4):
        said: list[str] = []
        strategy = trained_on_honey(600, number, said)
        assert len(said) == 6
        assert "sequences" in said[-1]
        assert "recognised" in said[-1]
        visited = walk(honey_web(), strategy, "bees honey", "start.example/", pages=40).visited
        goals += sum(url.endswith("/honey") for url in visited)
        recognised += len(strategy.economy_.counts.recognised)
    assert goals >= 16, "breadth-first has none of the twelve by then, four times"
    assert recognised >= 8


def test_a_frozen_population_changes_neither_its_members_nor_its_bids() -> None:
    web = honey_web(6)
    teacher = HayekEstimating(training=200)
    lessons = TinyLessons(web, "bees honey", "shop0.example/honey shop1.example/honey shop2.example/honey")
    teacher.train(lessons, random.Random(2), lambda _: None)
    frozen, free = HayekEstimating(adapt=False), HayekEstimating()
    for strategy in (frozen, free):
        strategy.use(teacher.model())
        walk(web, strategy, "bees honey", "start.example/")
    before = {row[0]: bid[0] for row, bid in zip(teacher.model()["numbers"], teacher.model()["bids"], strict=True)}
    known = {number: before[number] for number in before if not np.isnan(before[number])}
    after = {agent.number: agent.bid for agent in frozen.economy_.market.agents.values()}
    assert after.keys() == before.keys()
    assert {number: after[number] for number in known} == known
    assert frozen.economy_.market.balance() == 0
    assert free.economy_.market.births > len(before)


def test_a_site_is_off_the_market_after_its_goal() -> None:
    pages = {"s.example/": "index -> a.example/goal a.example/1 a.example/2 b.example/1"}
    pages |= {"a.example/goal": "bees honey -> a.example/3 b.example/2"}
    pages |= dict.fromkeys(("a.example/1", "a.example/2", "a.example/3", "b.example/1"), "words -> s.example/")
    strategy = HayekEstimating(blacklist_site_after_goal=True, fetch_all=True, agents=0)
    walk(TinyWeb(pages), strategy, "bees honey", "s.example/")
    bought = [
        one.facts["agent"] for one in strategy.take_events() if one.kind == "sold" and "a.example/3" in str(one.url)
    ]
    assert not bought


def test_births_deaths_sales_and_goals_are_reported_as_events() -> None:
    strategy = HayekEstimating(sequences="restarted")
    walk(honey_web(6), strategy, "bees honey", "start.example/")
    kinds = Counter(event.kind for event in walk_events(strategy))
    assert kinds["born"] == strategy.economy_.market.births
    assert kinds["died"] == kinds["born"] - len(strategy.economy_.market.agents)
    assert kinds["goal"] == 6
    assert kinds["sold"] > 0


def walk_events(strategy: HayekEstimating) -> list[Any]:
    """The loop has drained them; hold the same crawl again and listen."""
    told: list[Any] = []
    again = type(strategy)(sequences="restarted")
    inner = again.take_events
    again.take_events = lambda: told.extend(inner()) or []  # type: ignore[method-assign, func-returns-value]
    walk(honey_web(6), again, "bees honey", "start.example/")
    told.extend(inner())
    return told


# ---- judges, features, weights


def test_a_goal_has_all_words_or_enough_points() -> None:
    analyser = Analyser("english", False)
    both, one = page_of("<p>beach volleyball</p>"), page_of("<p>beach</p>")
    words = make_judge("words", "beach volleyball", 0.5, analyser)
    assert (words(both), words(one)) == (True, False)
    points = make_judge("points", "board:3 director chairman", 0.6, analyser)
    assert points(page_of("<p>the board</p>")) is True
    assert points(page_of("<p>a director and a chairman</p>")) is False
    assert make_judge("words", "", 0.5, analyser)(both) is False, "without words there are no goals"


def test_features_tell_url_link_and_text_apart() -> None:
    assert url_features("http://www.fivb.org/en") == ["host:www", "host:fivb", "host:org", "path:en"]
    analyser = Analyser("english", False)
    html = "<p>old news and the big results of</p><a href='/x'>beach cup</a><p>from Rio in winter with photos</p>"
    page = page_of(html, "http://a.example/")
    assert LinkWords(page, analyser).features(page.outlinks[0]) == [
        *("before:news", "before:big", "before:results", "anchor:beach", "anchor:cup"),
        *("after:rio", "after:winter", "after:photos"),
    ]


def test_six_weightings_and_corr_ub_weigh_words() -> None:
    known = Dictionaries()
    known.pages[[0, 1, 8]] = [15, 10, 75]
    known.documents[0, :3], known.documents[1, :3], known.documents[8, :3] = [12, 15, 0], [1, 5, 0], [0, 15, 10]
    known.occurrences[:, :3] = 3 * known.documents[:, :3]
    found = {kind: weights(kind, known, np.arange(3), 0).round(6).tolist() for kind in WEIGHTINGS}
    assert found["uniform"] == [1, 1, 1]
    assert found["tf"] == [36, 45, 0]
    assert found["documents"] == [12, 15, 0]
    assert found["information-gain"] == [0.370713, 0.26501, 0.02482]
    assert found["corr-ub"] == [54.0, 0.0, 15.0], "9, -45 and -30, shifted"
    assert found["differential"] == [0.788235, 0.764706, 0.0]
    assert found["tf-idf"][0] > found["tf-idf"][1] > found["tf-idf"][2] == 0
    from_near = weights("differential", known, np.arange(3), 1)
    assert from_near.tolist() == [0.0, 0.0, 0.0], "no word is commoner one link away than in goals"


def test_words_are_drawn_without_replacement_in_proportion_to_their_weights() -> None:
    rng = random.Random(0)
    first = Counter(draw(rng, [1, 2, 3], [6.0, 3.0, 1.0], 1)[0] for _ in range(5000))
    assert [round(first[word] / 500) for word in (1, 2, 3)] == [6, 3, 1]
    assert sorted(draw(rng, [1, 2, 3], [1.0, 0.0, 0.0], 3)) == [1, 2, 3]
    assert draw(rng, [], [], 2) == []


def test_difficulty_dithers_before_it_settles_and_stays_where_pages_are_known() -> None:
    difficulty = Difficulty(DifficultyRules(step=0.35))
    assert [difficulty.update(met) for met in (True, True, True, True, False)] == [1, 1, 2, 1, 2]
    capped = Difficulty(DifficultyRules(step=1.0), most=2)
    assert max(capped.update(True) for _ in range(20)) == 2


def test_a_sequence_starts_as_far_from_a_goal_as_the_difficulty_says() -> None:
    web = KnownWeb(Analyser("english", False), make_judge("words", "bees honey", 0.5, Analyser("english", False)))
    tiny = honey_web(8)
    for url in tiny.html:
        web.learn(page_of(tiny.html[url], url))
    rng = random.Random(3)
    for difficulty, ends in ((1, "/shelf"), (2, (".example/",))):
        found = [choose_start(web, difficulty, rng, lambda link: True) for _ in range(20)]
        assert all(web.pages[number].url.endswith(ends) for number in found if number is not None)
    assert len({web.pages[number].host for number in found if number is not None}) > 3


def test_a_lexicon_that_is_full_learns_nothing_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenthound.papers.hayek.page_features.MOST_FEATURES", 10)
    lexicon = Lexicon()
    assert lexicon.add(["one", "two", "three", "one"]).tolist() == [8, 9, -1, 8]
    assert lexicon.ids(["two", "three"]).tolist() == [9, -1]


def test_an_economy_numbers_features_independently_of_other_readers() -> None:
    """What a page keeps for the next reader is names, not numbers."""
    tiny = honey_web(8)
    pages = [page_of(tiny.html[url], url) for url in tiny.html]
    backwards, after, alone = (KnownWeb(Analyser(stem=False), lambda page: False) for _ in range(3))
    for one in reversed(pages):
        backwards.learn(one)
    for one in pages:
        after.learn(one)
        alone.learn(page_of(tiny.html[one.url], one.url))
    assert backwards.lexicon.names != after.lexicon.names
    assert after.lexicon.names == alone.lexicon.names
    assert len(set(after.lexicon.names)) == len(after.lexicon.names)
    assert [(one.words, one.counts, one.seen) for one in after.pages] == [
        (one.words, one.counts, one.seen) for one in alone.pages
    ]


# ---- bad input


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"goal_words": "the of and"}, "goal_words"),
        ({"goal": "beauty"}, "goal"),
        ({"reward": -1.0}, "reward"),
        ({"q": 1.5}, "q"),
        ({"rate": 0.0}, "rate"),
        ({"cap": 0}, "cap"),
        ({"hysthi": 0.5}, "hysthi"),
        ({"features": "words smell"}, "smell"),
        ({"features": "words"}, "links"),
        ({"goal_words": "board:-2"}, "goal_words"),
        ({"sequences": "endless", "pay": "afterwards"}, "endless"),
        ({"weighting": "luck"}, "weighting"),
        ({"adapt": "no"}, "adapt"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_named_with_a_way_out(given: dict[str, Any], named: str) -> None:
    with pytest.raises(BadConfig, match=named) as refused:
        HayekEstimating(**given)
    assert refused.value.hint


def test_training_without_goals_or_without_links_to_them_is_refused() -> None:
    web = TinyWeb({"a.example/": "bees honey", "b.example/": "cars -> c.example/"})
    with pytest.raises(BadConfig, match="no goal pages"):
        HayekEstimating().train(TinyLessons(web, "bees honey", ""), random.Random(0), print)
    with pytest.raises(BadConfig, match="leads to a goal"):
        HayekEstimating().train(TinyLessons(web, "bees honey", "a.example/"), random.Random(0), print)


def test_a_crawl_without_any_goal_goes_on_to_the_end() -> None:
    web = TinyWeb({"a.example/": "cars -> b.example/ c.example/", "b.example/": "", "c.example/": "-> d.example/"})
    assert len(walk(web, HayekEpsilon(), Topic("nothing like it"), "a.example/").visited) == 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    strategy = HayekEstimating(training=150)
    lessons = TinyLessons(honey_web(6), "bees honey", "shop0.example/honey shop1.example/honey")
    strategy.train(lessons, random.Random(4), lambda _: None)
    made = tmp_path_factory.mktemp("economy") / "model"
    on = TrainedOn("pages", "honey", "x")
    save_model(made, TrainedModel("hayek-estimating", {"training": 150}, Topic("bees honey"), on, strategy.model()))
    return made


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state.pop("books"),
        lambda state: state["numbers"].__setitem__((0, 2), -5),
        lambda state: state["numbers"].__setitem__((0, 2), 5),
        lambda state: state["features"].__setitem__(0, 10**6),
        lambda state: state.update(words="one word"),
        lambda state: state.update(price="third"),
        lambda state: state.update(bids=state["bids"][:-1]),
        lambda state: state["bids"].__setitem__((0, 1), np.inf),
    ],
)
def test_a_model_that_was_tampered_with_is_refused(folder: Path, damage: Any) -> None:
    state = {key: value.copy() if hasattr(value, "copy") else value for key, value in load_model(folder).state.items()}
    HayekEstimating().use(state)
    damage(state)
    with pytest.raises((ValueError, KeyError, TypeError)):
        HayekEstimating().use(state)


def test_the_other_price_rule_has_no_use_for_the_model(folder: Path) -> None:
    with pytest.raises(ValueError, match="trained by hayek-estimating"):
        HayekEpsilon().use(load_model(folder).state)


def test_economy_shows_the_richest_agents_and_a_balance_that_adds_up(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["economy", str(folder), "--top", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    money = told["money"]
    assert len(told["agents"]) == 3
    assert told["agents"][0]["wealth"] >= told["agents"][2]["wealth"]
    assert set(told["agents"][0]) == {
        *("agent", "kind", "features", "wealth", "bid", "wins", "parent", "children", "source")
    }
    there = money["wealth"] + money["root"]
    assert there == pytest.approx(money["brought_in"] + money["rewards"] - money["taxes"] - money["buried"])
    assert run(["economy", str(folder)]) == 0
    said = capsys.readouterr()
    assert "wealth" in said.out
    assert "Money:" in said.err


def test_economy_says_what_is_wrong_with_a_damaged_or_foreign_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in folder.iterdir():
        (broken / file.name).write_bytes(file.read_bytes()[:-1] if file.name == "numbers.npy" else file.read_bytes())
    assert run(["economy", str(broken)]) == FolderBroken.exit_code
    assert "numbers.npy" in capsys.readouterr().err
    assert run(["economy", str(tmp_path)]) == BadConfig.exit_code
    assert "hint: " in capsys.readouterr().err


def test_a_trained_economy_may_be_let_loose_frozen_or_in_another_kind_of_sequence(folder: Path, tmp_path: Path) -> None:
    settings = read(Settings, SETTINGS | {"pages": 10})
    session = begin(
        TOPIC.topic,
        TOPIC.seeds,
        tmp_path / "crawl",
        parameters={"adapt": False},
        settings=settings,
        fetcher=Recorded(),
        model=folder,
    )
    step_through(session, 100)
    strategy = session.crawl.strategy
    assert isinstance(strategy, HayekEstimating)
    assert strategy.adapt is False
    assert len(strategy.economy_.market.agents) == load_model(folder).state["numbers"].shape[0]
    session.folder.finish("pages", 1.0)
    session.close()
    with pytest.raises(BadConfig, match="rate"):
        begin(TOPIC.topic, TOPIC.seeds, tmp_path / "other", parameters={"rate": 0.3}, model=folder)


def test_the_root_keeps_money_that_no_birth_may_use() -> None:
    strategy = HayekEstimating(cap=1, agents=1, sequences="restarted")
    walk(honey_web(12), strategy, "bees honey", "start.example/")
    assert len(strategy.economy_.market.agents) <= 1
    assert strategy.economy_.market.balance() == 0
    assert units(strategy.economy_.market.rewards) > 0
    assert ROOT not in strategy.economy_.market.agents


def test_seeds_that_link_to_each_other_cause_no_auctions() -> None:
    """A seed that another seed links to was taken for a page whose auctions had to be repeated: hundreds were held."""
    shops = " ".join(f"shop{n}.example/" for n in range(12))
    strategy = HayekEstimating()
    walk(honey_web(12), strategy, "bees honey", f"start.example/ {shops}", pages=13)
    assert strategy.economy_.counts.auctions <= 1


def test_the_population_of_a_training_grows_and_hardly_anybody_is_mute() -> None:
    agents = mute = 0
    for number in range(3):
        said: list[str] = []
        bids = trained_on_honey(600, number, said).model()["bids"][:, 0]
        alive = [int(re.search(r"(\d+) agents", line)[1]) for line in said]  # type: ignore[index]
        assert alive[-1] > alive[0]
        agents, mute = agents + len(bids), mute + int(sum(np.isnan(bids) | (bids == 0)))
    assert mute < 0.1 * agents
