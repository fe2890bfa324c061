"""The Bayesian crawl: it expands what looks like a goal, learns as it crawls, uses labels, can be interrupted."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyLessons, TinyWeb, Walk, named, strategy_contract, walk
from scenthound.loop.settings import Settings, read
from scenthound.model import Candidate, Topic, Url
from scenthound.page.page import Page
from scenthound.papers.bayes import Bayes
from scenthound.ports import OwnFrontier, Saves, TakesLabels, Trains
from scenthound.store.blobs import pack, unpack
from scenthound.wiring import begin, resume
from support.resuming import SETTINGS, TOPIC, Recorded, step_through, trail

BEES = Topic("bees honey", description="Keeping bees.")
MODES = pytest.mark.parametrize("mode", ["link", "fetch-all"])


@pytest.fixture
def web() -> TinyWeb:
    """What goals have in common besides the keywords is the hive; a page about wax has a hive and no honey."""
    return TinyWeb(
        {
            "start.example/": "list -> cars.example/ hive.example/ moor.example/ wax.example/",
            "cars.example/": "cars engines wheels -> cars.example/1 cars.example/2",
            "hive.example/": "bees honey hive hive hive -> queen.example/",
            "moor.example/": "heather moor cars -> moor.example/1",
            "wax.example/": "hive hive candles -> candle.example/",
            "cars.example/1": "cars",
            "cars.example/2": "wheels",
            "moor.example/1": "bog",
            "queen.example/": "bees honey queen hive",
            "candle.example/": "light",
        }
    )


def names(walked: Walk) -> list[str]:
    return [url.removeprefix("http://").replace(".example/", "") for url in walked.visited]


def test_links_of_pages_that_share_words_with_goals_come_before_others(web: TinyWeb) -> None:
    walked = walk(web, Bayes(), BEES, "hive.example/ cars.example/ moor.example/ wax.example/")
    assert names(walked)[4:6] == ["queen", "candle"], "the hive was learned from a goal: no keyword says it"
    assert sorted(names(walked)[6:]) == ["cars1", "cars2", "moor1"]


def test_a_seed_keeps_its_turn_whatever_links_to_it(web: TinyWeb) -> None:
    order = "cars.example/ wax.example/ hive.example/ moor.example/ cars.example/2"
    assert names(walk(web, Bayes(), BEES, order))[4] == "cars2"
    made = Bayes()
    offers = read_all(web, made, "cars.example/ hive.example/", named("cars.example/2"))
    assert offers[named("cars.example/2")] < 1.0
    assert named("cars.example/2") not in [one.url for one in made.take_label(named("cars.example/"), True)]
    made.start(BEES, [named("cars.example/")])
    assert made.take_label(named("cars.example/"), False) == ()


def test_the_parts_of_a_score_are_shown(web: TinyWeb) -> None:
    step = walk(web, Bayes(score="probability"), BEES, "start.example/").steps[1]
    assert step.parts.keys() == {"goal", "logit"}
    assert step.parts["goal"] == step.score
    step = walk(web, Bayes(score="logit"), BEES, "start.example/").steps[1]
    assert step.parts["logit"] == step.score


def test_link_mode_scores_waiting_links_again_as_often_as_asked() -> None:
    """By hand, of page a, whose words are "cars" and "example" (its link). First: prior 1 : 1, each of the two words
    1/4 among goals and 2/5 among others: odds (5/8)² = 25/64, P(goal) = 25/89. After a goal with both words: prior
    2 : 1, each 2/7 among goals: odds 2 · (5/7)² = 50/49, P(goal) = 50/99."""
    web = TinyWeb({"a.example/": "cars -> a.example/1", "b.example/": "cars bees -> b.example/1"})
    for every, expected in ((0, {}), (2, {named("a.example/1"): 0.505051}), (3, {})):
        made = Bayes(score="probability", rescore_every=every)
        made.start(Topic("bees"), [])
        offers = []
        for name in ("a.example/", "b.example/"):
            found = web.fetch(Candidate(named(name), 0.0))
            assert isinstance(found, Page)
            offers += list(made.read(found))
        assert round(offers[0].score, 6) == 0.280899
        assert {one.url: round(one.score, 6) for one in offers if one.rescored} == expected


def test_the_paper_scores_the_whole_corona_before_every_selection(web: TinyWeb) -> None:
    def selections(**parameters: Any) -> list[tuple[str, float]]:
        made, selected = Bayes(mode="fetch-all", **parameters), []
        made.on_select_ = lambda url, probability: selected.append((url, probability))
        walk(web, made, BEES, "start.example/")
        return selected

    assert selections() == selections(rescore_every=1) != selections(rescore_every=50)


def test_fetch_all_fetches_every_link_of_the_page_it_selects_in_document_order(web: TinyWeb) -> None:
    made = Bayes(mode="fetch-all", rescore_every=1)
    selected: list[str] = []
    made.on_select_ = lambda url, _: selected.append(url)
    walked = walk(web, made, BEES, "start.example/")
    assert names(walked)[:6] == ["start", "cars", "hive", "moor", "wax", "queen"]
    assert selected[1] == "http://hive.example/"
    assert sorted(selected) == sorted(walked.visited), "in the end all are selected"
    queen = walked.steps[5]
    assert queen.parent == "http://hive.example/"
    assert queen.parts["goals fetched"] == 1
    assert queen.parts["goals selected"] == 1
    assert walked.steps[1].parts["goals selected"] == 0
    assert (made.fetched_, made.fetched_goals_, made.selected_, made.selected_goals_) == (10, 2, 10, 2)


def test_only_fetch_all_brings_a_frontier_of_its_own() -> None:
    assert isinstance(Bayes(mode="fetch-all"), OwnFrontier)
    assert not isinstance(Bayes(), OwnFrontier)
    for power in (Saves, TakesLabels, Trains):
        assert isinstance(Bayes(), power)


def test_a_page_that_was_found_first_on_another_is_fetched_for_the_one_selected() -> None:
    web = TinyWeb(
        {
            "start.example/": "list -> dull.example/ hive.example/",
            "dull.example/": "cars -> both.example/",
            "hive.example/": "bees honey -> both.example/",
            "both.example/": "end",
        }
    )
    walked = walk(web, Bayes(mode="fetch-all", rescore_every=1), BEES, "start.example/")
    assert walked.steps[-1].parent == "http://hive.example/"
    assert walked.steps[-1].depth == 2


@pytest.mark.parametrize(
    ("parameters", "goals"),
    [
        ({}, 2),
        ({"goal": "engines"}, 1),
        ({"goal": "hive candles"}, 1),
        ({"goal": "honey hive candles", "judge": "points", "threshold": 2}, 3),
        ({"goal": "honey hive candles", "judge": "points", "threshold": 3}, 0),
        ({"goal": "candles:2.5 engines:0.5", "judge": "points", "threshold": 2.5}, 1),
        ({"goal": "candles:2.5 engines:0.5", "judge": "points", "threshold": 0.5}, 2),
    ],
)
def test_a_goal_holds_all_words_or_enough_of_them(web: TinyWeb, parameters: dict[str, Any], goals: int) -> None:
    for mode in ("link", "fetch-all"):
        made = Bayes(mode=mode, **parameters)
        walk(web, made, BEES, "start.example/")
        assert made.fetched_goals_ == goals


def test_words_are_not_stemmed_and_stop_words_are_left_out(web: TinyWeb) -> None:
    made = Bayes()
    walk(web, made, Topic("the bees and honeys"), "start.example/")
    assert made.goal_points_ == {"bees": 1.0, "honeys": 1.0}
    assert made.fetched_goals_ == 0


# ---- lessons


def lessons(web: TinyWeb, examples: str = "queen.example/", others: str = "moor.example/1") -> TinyLessons:
    return TinyLessons(web, BEES, examples, others)


def taught(web: TinyWeb, **parameters: Any) -> Bayes:
    made = Bayes(**parameters)
    made.train(lessons(web), random.Random(0), lambda _: None)
    return made


@MODES
def test_what_it_was_taught_comes_before_what_it_reads(web: TinyWeb, mode: str) -> None:
    made = taught(web, mode=mode)
    walk(web, made, BEES, "cars.example/", pages=1)
    assert made.classifier_.documents("goal") == 1
    assert made.classifier_.documents("other") == 2, "one taught and one read"
    assert not made.classifier_.knows("keeping"), "examples stand for the keywords"
    walk(web, made, BEES, "cars.example/", pages=1)
    assert made.classifier_.documents("other") == 2, "every crawl starts with what was taught"


def test_untrained_the_keywords_are_the_only_goal_known(web: TinyWeb) -> None:
    made = Bayes()
    made.start(BEES, [])
    assert made.classifier_.documents("goal") == 1
    assert made.classifier_.posterior("goal", {"anything": 1}) == 1.0
    assert made.classifier_.knows("keeping")


@pytest.mark.parametrize("others", ["moor.example/1", ""])
@pytest.mark.parametrize("examples", ["queen.example/", "queen.example/ queen.example/ hive.example/"])
def test_one_example_equal_ones_or_no_others_are_enough(web: TinyWeb, examples: str, others: str) -> None:
    made = Bayes()
    made.train(lessons(web, examples, others), random.Random(0), lambda _: None)
    found = names(walk(web, made, BEES, "start.example/"))
    assert found.index("queen") < found.index("moor1")


def test_no_example_is_refused_with_a_way_out(web: TinyWeb) -> None:
    with pytest.raises(BadConfig, match="no example") as caught:
        Bayes().train(lessons(web, ""), random.Random(0), lambda _: None)
    assert "without a model" in caught.value.hint
    empty = TinyLessons(TinyWeb({"a.example/": ""}), BEES, "a.example/")
    with pytest.raises(BadConfig, match="the examples contain no words"):
        Bayes().train(empty, random.Random(0), lambda _: None)


def test_a_model_of_another_kind_is_refused(web: TinyWeb) -> None:
    model = taught(web).model()
    with pytest.raises(ValueError, match="other parameters"):
        Bayes(events="bernoulli").use(model)
    with pytest.raises(ValueError, match="other parameters"):
        Bayes(stem=True).use(model)
    for wrong in ({}, {"classifier": {}, "analyser": "x"}, {"tree": {}}):
        with pytest.raises((KeyError, ValueError, TypeError)):
            Bayes().use(wrong)
    with pytest.raises(BadConfig, match="not been trained"):
        Bayes().model()


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "both"},
        {"events": "gaussian"},
        {"judge": "me"},
        {"score": "rank"},
        {"threshold": 0},
        {"rescore_every": -1},
        {"goal": "honey:-2"},
        {"recent": -1},
        {"stop_words": "klingon"},
        {"goal": "the and"},
    ],
)
def test_a_wrong_parameter_is_named_with_a_way_out(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadConfig, match=next(iter(wrong))) as caught:
        Bayes(**wrong)
    assert caught.value.hint


# ---- labels


def read_all(web: TinyWeb, made: Bayes, urls: str, *seeds: Url) -> dict[str, float]:
    """The last score offered for each URL."""
    made.start(BEES, seeds)
    offers: dict[str, float] = {}
    for name in urls.split():
        page = web.fetch(Candidate(named(name), 0.0))
        assert isinstance(page, Page)
        offers |= {candidate.url: candidate.score for candidate in made.read(page)}
    return offers


def test_a_label_changes_the_classifier_and_the_scores_that_wait(web: TinyWeb) -> None:
    made = Bayes()
    offers = read_all(web, made, "hive.example/ cars.example/ moor.example/ wax.example/")
    heard = {one.url: one for one in made.take_label(named("cars.example/"), True)}
    assert made.classifier_.documents("goal") == 3
    assert made.classifier_.documents("other") == 2
    assert heard[named("cars.example/1")].score == 1.0, "its own links are certain"
    moor = heard[named("moor.example/1")]
    assert moor.rescored
    assert moor.parent is None
    assert moor.score > offers[named("moor.example/1")], "it shares a word with what was called a goal"
    assert made.take_label(named("cars.example/"), True) == [], "said twice is said once"
    again = {one.url: one.score for one in made.take_label(named("cars.example/"), False)}
    assert again[named("cars.example/1")] == 0.0
    assert made.classifier_.documents("goal") == 2


def test_a_label_for_a_url_that_was_never_read_waits_for_it(web: TinyWeb) -> None:
    made = Bayes()
    read_all(web, made, "hive.example/")
    (offer,) = made.take_label(named("cars.example/"), True)
    assert (offer.score, offer.rescored, offer.parent) == (1.0, True, None)
    page = web.fetch(Candidate(named("cars.example/"), 0.0))
    assert isinstance(page, Page)
    assert {one.score for one in made.read(page)} == {1.0}
    assert made.classifier_.documents("goal") == 3


def test_in_fetch_all_a_label_decides_what_is_selected_next(web: TinyWeb) -> None:
    class Listening(Bayes):
        def read(self, page: Page) -> Iterable[Candidate]:
            offers = list(super().read(page))
            if page.url == named("wax.example/"):
                self.take_label(named("cars.example/"), True)
            return offers

    made = Listening(mode="fetch-all", rescore_every=1000)
    assert names(walk(web, made, BEES, "start.example/"))[5:7] == ["cars1", "cars2"]
    assert made.selected_goals_ == 3


def test_no_more_pages_are_remembered_than_asked_for(web: TinyWeb) -> None:
    made = Bayes(recent=2)
    read_all(web, made, "hive.example/ cars.example/ moor.example/ wax.example/")
    assert list(made.recent_.documents) == [named("moor.example/"), named("wax.example/")]
    (offer,) = made.take_label(named("cars.example/"), True)
    assert offer.url == named("cars.example/"), "its words are forgotten: nothing but its own score can change"
    assert made.classifier_.documents("goal") == 2


# ---- interruptions


@MODES
@pytest.mark.parametrize("events", ["multinomial", "bernoulli"])
def test_every_mode_keeps_the_contract(mode: str, events: str) -> None:
    for says, check in strategy_contract(lambda: Bayes(mode=mode, events=events, rescore_every=2)):
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"{says}: {error}") from error


@pytest.mark.parametrize(
    "parameters",
    [
        {"mode": "fetch-all", "rescore_every": 3},
        {"mode": "fetch-all", "events": "bernoulli", "rescore_every": 1, "judge": "points", "threshold": 1},
        {"score": "logit", "recent": 20},
        {"rescore_every": 4, "recent": 20},
    ],
)
def test_a_killed_and_resumed_crawl_decides_as_an_undisturbed_one(tmp_path: Path, parameters: dict[str, Any]) -> None:
    def born(folder: Path) -> Any:
        settings = read(Settings, SETTINGS)
        return begin(
            TOPIC.topic,
            TOPIC.seeds,
            folder,
            strategy="bayes",
            parameters=parameters,
            settings=settings,
            fetcher=Recorded(),
        )

    whole = born(tmp_path / "whole")
    step_through(whole, 1000)
    whole.folder.finish("pages", 1.0)
    whole.close()
    session = born(tmp_path / "cut")
    for steps in (1, 13, 29, 41, 1000):
        if step_through(session, steps):
            break
        session.folder.close()  # without a commit: what came after the last one is gone
        session = resume(tmp_path / "cut", fetcher=Recorded(), clock=lambda: 0.0)
    session.folder.finish("pages", 1.0)
    session.close()
    assert trail(tmp_path / "cut") == trail(tmp_path / "whole")


@MODES
def test_state_is_plain_and_labels_are_in_it(web: TinyWeb, mode: str) -> None:
    made = Bayes(mode=mode)
    read_all(web, made, "hive.example/ cars.example/ wax.example/")
    made.take_label(named("cars.example/"), True)
    made.take_label(named("candle.example/"), False)
    other = Bayes(mode=mode)
    other.start(BEES, [])
    other.load(unpack(pack(made.save())))
    assert other.labels_ == {named("cars.example/"): True, named("candle.example/"): False}
    assert pack(other.save()) == pack(made.save())
