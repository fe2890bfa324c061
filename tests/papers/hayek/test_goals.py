"""Goals of an economy: by a judge of the user's own, by labels; URLs that lead to goals; agents of a finished crawl."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.errors import BadConfig
from scenthound.judges import judge
from scenthound.judging import Verdict
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.run.lesson_sources import Source
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.lab.run.train_model import train
from scenthound.lab.testing import TinyLessons, TinyWeb, walk
from scenthound.loop.settings import Settings, read
from scenthound.model import Candidate, Topic, Url
from scenthound.page.page import Page
from scenthound.papers.hayek.hayek_crawler import HayekEstimating
from scenthound.papers.hayek.known_web import FAR, KnownWeb
from scenthound.store.model_folder import load_model
from scenthound.text.tokens import Analyser
from scenthound.wiring import begin
from support.resuming import SETTINGS, TOPIC, WEB, Recorded, born, step_through

CHAIN = {"a.example/": "start -> b.example/", "b.example/": "middle -> g.example/", "g.example/": "prize"}


def fetched(web: TinyWeb, url: str) -> Page:
    page = web.fetch(Candidate(Url(url), 0.0))
    assert isinstance(page, Page)
    return page


def known_chain() -> KnownWeb:
    """a links to b, b to g, and g is a goal."""
    web, pages = KnownWeb(Analyser(), lambda page: "prize" in page.text), TinyWeb(CHAIN)
    for url in pages.html:
        web.learn(fetched(pages, url))
    return web


def distances(web: KnownWeb) -> list[int]:
    return [web.pages[web.numbers[f"http://{name}.example/"]].distance for name in "abg"]


def test_a_label_makes_a_goal_and_unmakes_one() -> None:
    web = known_chain()
    assert distances(web) == [2, 1, 0]
    web.label("http://g.example/", False)
    assert distances(web) == [FAR, FAR, FAR]
    assert web.goals == []
    web.label("http://b.example/", True)
    assert distances(web) == [1, 0, FAR]
    assert web.dictionaries.pages[:3].tolist() == [1, 1, 0]


def test_a_label_of_a_page_that_comes_later_overrules_the_judge() -> None:
    web, pages = KnownWeb(Analyser(), lambda page: "prize" in page.text), TinyWeb(CHAIN)
    web.label("http://g.example/", False)
    web.learn(fetched(pages, "http://g.example/"))
    assert web.goals == []


def test_urls_that_led_to_goals_tell_a_new_web_how_far_they_are() -> None:
    connected = known_chain().connected()
    assert connected == {"http://a.example/": 2, "http://b.example/": 1, "http://g.example/": 0}
    fresh = KnownWeb(Analyser(), lambda page: False)
    fresh.connect(connected)
    fresh.learn(fetched(TinyWeb({"n.example/": "new -> b.example/"}), "http://n.example/"))
    assert fresh.pages[fresh.numbers["http://n.example/"]].distance == 2, "one more than b, which was not fetched here"


def test_a_model_has_the_goal_connected_urls_and_uses_them_if_asked() -> None:
    web = TinyWeb(
        CHAIN | {"a.example/": "start -> b.example/ x.example/", "b.example/": "middle -> g.example/ x.example/"}
    )
    strategy = HayekEstimating(training=20)
    strategy.train(TinyLessons(web, "prize", "g.example/"), random.Random(1), lambda _: None)
    assert strategy.model()["connected"]["http://b.example/"] == 1
    for is_connected in (False, True):
        other = HayekEstimating(connected=is_connected)
        other.use(strategy.model())
        other.start(Topic("prize"), [Url("http://n.example/")])
        assert ("http://b.example/" in other.economy_.web.numbers) == is_connected
    broken = {**strategy.model(), "connected": {"http://b.example/": 99}}
    with pytest.raises(ValueError, match="distance"):
        HayekEstimating().use(broken)


@judge("test-long-words")
@dataclass
class LongWords:
    """Relevant: a page with a word of ten letters. Only for these tests."""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> None:
        self.asked_ = 0

    def judge(self, page: Page) -> Verdict:
        self.asked_ += 1
        is_long = any(len(word) >= 10 for word in page.text.split())
        return Verdict(float(is_long), is_long)

    def doubts(self) -> list[str]:
        return []


def test_goals_are_what_the_judge_of_the_crawl_says() -> None:
    strategy = HayekEstimating(goal="judge")
    strategy.start(Topic("bees"), [Url("http://a.example/")])
    pages = TinyWeb({"a.example/": "bees bees", "b.example/": "extraordinary"})
    for url, said in (("http://a.example/", False), ("http://b.example/", True)):
        strategy.take_verdict(Url(url), float(said), said)
        strategy.read(fetched(pages, url))
    goals = [strategy.economy_.web.pages[number].url for number in strategy.economy_.web.goals]
    assert goals == ["http://b.example/"]


def test_training_and_replay_ask_a_judge_of_the_users_own(tmp_path: Path) -> None:
    limits = ReplayLimits(pages=40, judge="test-long-words")
    cell = run_cell(
        prepare(WEB), TOPIC, "hayek-estimating", {"goal": "judge", "training": 20}, limits, topics=WEB.topics
    )
    assert not cell.error
    assert len(cell.steps) == 40
    told = Topic(TOPIC.topic.keywords, examples=tuple(TOPIC.seeds))
    source = Source("generated", WEB.name, WEB.digest, prepare(WEB))
    given = {"goal": "judge", "training": 10}
    model = train("hayek-estimating", told, source, tmp_path / "m", parameters=given, judge="test-long-words")
    assert model.state["connected"]


def test_a_label_reaches_the_economy_of_a_crawl() -> None:
    strategy = HayekEstimating()
    web = TinyWeb(CHAIN)
    walk(web, strategy, "prize", "a.example/")
    assert len(strategy.economy_.web.goals) == 1
    assert list(strategy.take_label(Url("http://g.example/"), False)) == []
    assert strategy.economy_.web.goals == []


def test_agents_of_a_finished_crawl_start_another_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = born(tmp_path / "crawl", "hayek-estimating", pages=60)
    step_through(session, 1000)
    session.folder.finish("pages", 1.0)
    strategy = session.crawl.strategy
    assert isinstance(strategy, HayekEstimating)
    alive = {number: agent.wealth for number, agent in strategy.economy_.market.agents.items()}
    session.close()
    assert run(["economy", str(tmp_path / "crawl"), "--out", str(tmp_path / "agents"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["population"] == len(alive)
    assert load_model(tmp_path / "agents").trained_on.kind == "crawl"
    settings = read(Settings, SETTINGS | {"pages": 10})
    made = begin(
        TOPIC.topic, TOPIC.seeds, tmp_path / "next", settings=settings, fetcher=Recorded(), model=tmp_path / "agents"
    )
    assert isinstance(made.crawl.strategy, HayekEstimating)
    step_through(made, 1)
    assert {number: agent.wealth for number, agent in made.crawl.strategy.economy_.market.agents.items()} == alive
    made.close()


def test_a_crawl_without_agents_has_none_to_give(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = born(tmp_path / "crawl", pages=3)
    step_through(session, 10)
    session.folder.finish("pages", 1.0)
    session.close()
    assert run(["economy", str(tmp_path / "crawl")]) == BadConfig.exit_code
    assert "hayek" in capsys.readouterr().err
