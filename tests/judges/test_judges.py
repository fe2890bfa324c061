"""Every registered judge keeps the contract; `topic` learns, doubts, and distinguishes sites from pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from scenthound.judges import JUDGES
from scenthound.judges.topic import TopicJudge, best_threshold
from scenthound.judging import HearsLabels, Revises, Verdict
from scenthound.lab.testing import judge_contract, page_of
from scenthound.model import Candidate, Topic, Url
from scenthound.page.page import Page

ON = "hot air balloon basket burner envelope propane flight pilot festival"
OFF = (
    "bank loan interest account money credit",
    "goal match team league player coach",
    "recipe oven flour butter cake",
)
TOPIC = Topic("hot air balloon", description="Pages about balloon flights with a burner and a basket")


def page(url: str, words: str, title: str = "", links: str = "") -> Page:
    text = " ".join([words] * 4)
    made = page_of(f"<title>{title}</title><body>{text} {links}</body>", url)
    return Page(Url(url), Candidate(Url(url), 0.0), made.record)


def seeds(number: int = 3) -> list[Page]:
    return [page(f"http://a.test/{n}", f"{ON} alpha{n} beta{n}") for n in range(number)]


def others(number: int = 40) -> list[Page]:
    return [page(f"http://b.test/{n}", f"{OFF[n % 3]} gamma{n} delta{n}") for n in range(number)]


@pytest.mark.parametrize("name", JUDGES.names())
def test_a_judge_keeps_the_contract(name: str) -> None:
    for says, check in judge_contract(JUDGES.get(name)):
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"{name}: {says}: {error}") from error


def test_the_contract_finds_a_judge_that_forgets() -> None:
    class Forgets(TopicJudge):
        def load(self, state: Mapping[str, Any]) -> None:
            super().load({**state, "others": state["given"]})

    checks = dict(judge_contract(Forgets))
    with pytest.raises(AssertionError, match="all that the judge learns"):
        checks["after a restart it gives the same verdicts"]()


BY_WORDS = ["topic", "keywords", "keywords-present", "description", "seed-pages"]


@pytest.mark.parametrize("name", BY_WORDS)
def test_a_judge_prefers_a_page_on_topic(name: str) -> None:
    judge = JUDGES.get(name)()
    judge.start(TOPIC, [Url("http://a.test/0")])
    judge.judge(seeds()[0])
    good, bad = judge.judge(seeds()[1]), judge.judge(others()[0])
    assert good.probability > bad.probability
    assert good.is_relevant
    assert not bad.is_relevant


@pytest.mark.parametrize("name", ["in-links", "pagerank", "hits"])
def test_a_page_that_many_link_to_is_important(name: str) -> None:
    judge = JUDGES.get(name)()
    judge.start(TOPIC, [])
    links = '<a href="http://star.test/">x</a>'
    for n in range(30):
        judge.judge(page(f"http://b.test/{n}", OFF[0], links=links))
    star, dark = judge.judge(page("http://star.test/", OFF[1])), judge.judge(page("http://dark.test/", OFF[1]))
    assert star.is_relevant
    assert star.probability > 0.95
    assert not dark.is_relevant


def test_topical_hits_needs_endorsement_by_pages_on_topic() -> None:
    judge = JUDGES.get("topical-hits")()
    judge.start(TOPIC, [])
    for n in range(20):
        judge.judge(page(f"http://hub{n}.test/", ON, links='<a href="http://good.test/">x</a>'))
        judge.judge(page(f"http://other{n}.test/", OFF[n % 3], links='<a href="http://bank.test/">x</a>'))
    good, bank = page("http://good.test/", ON), page("http://bank.test/", OFF[0])
    judge.judge(good), judge.judge(bank)
    later = dict(judge.revised())
    assert later[good.url].is_relevant
    assert not later[bank.url].is_relevant


def test_topical_hits_says_when_no_page_is_endorsed() -> None:
    judge = JUDGES.get("topical-hits")()
    judge.start(TOPIC, [])
    for each in others(20):
        judge.judge(each)
    assert "another judge" in judge.doubts()[0]


def started(
    topic: Topic = TOPIC, urls: tuple[str, ...] = ("http://a.test/0", "http://a.test/1", "http://a.test/2")
) -> TopicJudge:
    judge = TopicJudge()
    judge.start(topic, [Url(url) for url in urls])
    return judge


def test_topic_finds_pages_without_the_keywords() -> None:
    judge = started(Topic("balloon"))
    for each in (*seeds(), *others()):
        judge.judge(each)
    hidden = judge.judge(page("http://c.test/1", "basket burner envelope propane pilot festival"))
    assert hidden.is_relevant
    assert not judge.judge(page("http://c.test/2", OFF[0])).is_relevant


def test_topic_goes_on_from_a_state_that_has_no_inner_pages() -> None:
    judge = started(Topic("balloon"))
    for each in (*seeds(), *others()):
        judge.judge(each)
    restored = started(Topic("balloon"))
    restored.load({key: value for key, value in judge.save().items() if key != "inner"})
    hidden = page("http://c.test/1", "basket burner envelope propane pilot festival")
    assert restored.judge(hidden) == judge.judge(hidden)


def test_topic_works_with_keywords_only() -> None:
    judge = started(Topic("hot air balloon"), ())
    for each in others():
        judge.judge(each)
    assert judge.judge(page("http://c.test/1", ON, "Hot air balloon")).is_relevant
    assert not judge.judge(page("http://c.test/2", OFF[1])).is_relevant


def test_seeds_that_are_only_starting_points_do_not_become_the_topic() -> None:
    judge = started(Topic("hot air balloon"))
    for number in range(3):
        judge.judge(page(f"http://a.test/{number}", f"{OFF[number]} portal news weather"))
    for each in others():
        judge.judge(each)
    assert not judge.judge(page("http://c.test/1", f"{OFF[0]} portal news")).is_relevant
    assert judge.judge(page("http://c.test/2", ON)).is_relevant
    (doubt,) = [each for each in judge.doubts() if "seeds" in each]
    assert doubt.startswith("3 of 3 seeds have little in common")
    assert "http://a.test/1" in doubt


def test_a_label_changes_the_verdict_at_once() -> None:
    judge = started()
    for each in (*seeds(), *others()):
        judge.judge(each)
    url = Url("http://b.test/0")
    assert isinstance(judge, HearsLabels)
    assert isinstance(judge, Revises)
    assert not dict(judge.revised())[url].is_relevant
    judge.take_label(url, True)
    assert dict(judge.revised())[url].is_relevant
    judge.take_label(url, False)
    assert not dict(judge.revised())[url].is_relevant


HOMES = ("http://x.test/", "http://y.test/", "http://z.test/")


def judged_homes(topic: Topic) -> TopicJudge:
    """A judge that has seen three home pages as seeds, and other pages."""
    judge = started(topic, HOMES)
    assert all(judge.judge(page(url, ON)).is_relevant for url in HOMES)
    for each in others():
        judge.judge(each)
    return judge


def test_seeds_that_are_home_pages_do_not_make_it_look_for_sites() -> None:
    assert judged_homes(TOPIC).judge(page("http://w.test/about", ON)).is_relevant


def test_in_a_search_for_sites_only_home_pages_count_and_others_keep_the_relevance_of_their_content() -> None:
    judge = judged_homes(replace(TOPIC, looking_for="sites"))
    assert judge.judge(page("http://w.test/", ON)).is_relevant
    on, off = judge.judge(page("http://w.test/about", ON)), judge.judge(page("http://w.test/legal", OFF[0]))
    assert not on.is_relevant
    assert on.probability > 0.5 > off.probability
    later = dict(judge.revised())
    assert later[Url("http://w.test/about")].probability > 0.5 > later[Url("http://w.test/legal")].probability
    assert not later[Url("http://w.test/about")].is_relevant


def test_what_is_looked_for_can_change_and_pages_judged_before_are_rated_again() -> None:
    judge, about = judged_homes(replace(TOPIC, looking_for="sites")), Url("http://w.test/about")
    judge.judge(page(about, ON))
    for looked_for, counts in (("pages", True), ("sites", False), ("pages", True)):
        judge.take_looking_for(looked_for)
        assert dict(judge.revised())[about].is_relevant is counts
        assert judge.judge(page("http://v.test/more", ON)).is_relevant is counts


def test_if_no_seed_is_a_home_page_a_search_for_sites_learns_from_all_of_them() -> None:
    seeds = [f"{url}about" for url in HOMES]
    judge = started(replace(TOPIC, looking_for="sites"), seeds)
    for each in (*(page(url, ON) for url in seeds), *others()):
        judge.judge(each)
    assert judge.judge(page("http://w.test/", ON)).is_relevant


def test_the_threshold_maximises_the_expected_f1() -> None:
    import numpy as np

    assert best_threshold(np.zeros(20)) == 0.2
    assert best_threshold(np.ones(20)) == 0.5


def test_a_verdict_is_a_pair() -> None:
    assert Verdict(0.5, True) == (0.5, True)
