"""Strategies that emit events: each event reaches the watcher and the folder exactly once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scenthound.cli.root_command import run
from scenthound.lab.testing import TinyWeb, named
from scenthound.loop.core import Crawl
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.messages import Limits
from scenthound.loop.replay import replay
from scenthound.model import Candidate, Event, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.report.explain import explain
from scenthound.store import sqlite_history
from scenthound.store.database import CrawlDatabase
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.store.sqlite_frontier import SqliteHistory
from scenthound.strategies import strategy
from scenthound.wiring import resume
from support.resuming import Recorded, born, step_through


@strategy("test-teller")
@dataclass
class Teller:
    """Emits a birth on every fifth page, and a meal of the youngest agent on every page."""

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.read_, self.unreturned_ = 0, [Event("born", {"agent": 0, "parent": None})]
        return [Candidate(url, float("inf")) for url in seeds]

    def read(self, page: Page) -> Iterable[Candidate]:
        agent = self.read_ // 5
        self.unreturned_.append(Event("fed", {"agent": agent, "energy": self.read_ / 4}, page.url))
        self.read_ += 1
        if self.read_ % 5 == 0:
            self.unreturned_.append(Event("born", {"agent": agent + 1, "parent": agent, "keywords": ["bee", "hive"]}))
        return [page.offer(link, 0.5) for link in page.outlinks]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self.unreturned_.append(Event("missed", {"reason": miss.reason}, miss.candidate.url))
        return ()

    def take_events(self) -> Iterable[Event]:
        events, self.unreturned_ = self.unreturned_, []
        return events

    def save(self) -> Mapping[str, Any]:
        return {"read": self.read_, "untold": [[e.kind, dict(e.facts), e.url] for e in self.unreturned_]}

    def load(self, state: Mapping[str, Any]) -> None:
        self.read_, self.unreturned_ = state["read"], [Event(*fields) for fields in state["untold"]]


def test_a_watcher_gets_events_after_the_page_they_come_from() -> None:
    web = TinyWeb({"a.example/": "bees -> b.example/ gone.example/", "b.example/": "honey"})
    heard: list[Any] = []
    history = MemoryHistory()
    seeds = [(named("a.example/"), "http://a.example/")]
    crawl = Crawl(Teller(), MemoryFrontier(None), history, Topic("bees"), seeds, limits=Limits(), watch=heard.append)
    crawl.start()
    replay(crawl, web.fetch)
    events = [event for event in heard if isinstance(event, Event)]
    assert [(event.kind, event.n) for event in events] == [("born", 1), ("fed", 1), ("fed", 2), ("missed", 2)]
    assert list(history.strategy_events()) == events
    assert [event.url for event in history.strategy_events("fed")] == ["http://a.example/", "http://b.example/"]
    assert next(index for index, event in enumerate(heard) if event in events) == 1, "after the step of the first page"


def recorded_events(folder: Path) -> list[Event]:
    with CrawlFolder.look(folder) as opened:
        return list(opened.history.strategy_events())


def test_a_killed_and_resumed_crawl_records_each_event_once(tmp_path: Path) -> None:
    whole = born(tmp_path / "whole", "test-teller")
    step_through(whole, 1000)
    whole.folder.finish("pages", 1.0)
    whole.close()
    session = born(tmp_path / "cut", "test-teller")
    for steps in (1, 13, 29, 41, 1000):
        if step_through(session, steps):
            break
        session.folder.close()
        session = resume(tmp_path / "cut", fetcher=Recorded(), clock=lambda: 0.0)
    session.folder.finish("pages", 1.0)
    session.close()
    assert recorded_events(tmp_path / "cut") == recorded_events(tmp_path / "whole")
    assert len([event for event in recorded_events(tmp_path / "cut") if event.kind == "fed"]) == 120


def test_explain_shows_the_events_of_a_page_and_the_family_of_its_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = born(tmp_path / "crawl", "test-teller")
    step_through(session, 1000)
    session.folder.finish("pages", 1.0)
    step = list(session.folder.history.trail())[12]
    explanation = explain(session.folder, step.url)
    session.close()
    assert [dict(event.facts) for event in explanation.events] == [{"agent": 2, "energy": 3.0}]
    assert [event.facts["agent"] for event in explanation.family] == [0, 1, 2]
    assert run(["explain", str(tmp_path / "crawl"), step.url]) == 0
    output = capsys.readouterr().out
    assert "  fed (page 13): agent 2, energy 3" in output
    assert "  born (page 10): agent 2, parent 1, keywords bee hive" in output
    assert run(["trail", str(tmp_path / "crawl"), "--events", "--limit", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[0]) == {"n": 1, "event": "born", "url": None, "facts": {"agent": 0, "parent": None}}
    assert len(lines) == 2
    assert run(["trail", str(tmp_path / "crawl"), "--events", "--misses"]) == 2


def test_of_each_kind_only_the_latest_events_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_history, "EVENTS_KEPT", 50)
    history = SqliteHistory(CrawlDatabase(":memory:"))
    history.note(Event("born", {"agent": 1}))
    for number in range(500):
        history.note(Event("fed", {"agent": 1, "meal": number}))
    meals = [event.facts["meal"] for event in history.strategy_events("fed")]
    assert meals[-1] == 499
    assert 50 <= len(meals) <= 56
    assert meals == list(range(meals[0], 500))
    assert len(list(history.strategy_events("born"))) == 1, "the many do not crowd out the few"


def test_an_event_of_any_size_is_kept_within_bounds() -> None:
    history = SqliteHistory(CrawlDatabase(":memory:"))
    history.note(Event("born", {"agent": 3, "keywords": ["word"] * 100_000}))
    (event,) = history.strategy_events()
    assert set(event.facts) == {"agent", "characters"}
    assert len(list(history.strategy_events(agent=3))) == 1
