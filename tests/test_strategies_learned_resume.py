"""What was learned, before the crawl or during it, survives a kill: decisions are those of an undisturbed crawl."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from generated_lessons import GeneratedLessons
from resuming import SETTINGS, TOPIC, Recorded, step_through, trail
from scenthound.crawl.settings import Settings, read
from scenthound.ports import Strategy, Trains
from scenthound.wiring import begin, make_strategy, resume

CASES: list[tuple[str, dict[str, Any], bool]] = [
    ("context-graph", {"layers": 2, "vocabulary_from": "all", "length_norm": True, "threshold": 0.3}, True),
    ("reinforcement", {"links": 2000}, True),
    ("intelligent", {"breadth": 20, "every": 15, "threshold": 0.05}, False),
    ("apprentice", {"after": 25}, False),
    ("apprentice", {"after": 25}, True),
]


@cache
def lessons() -> GeneratedLessons:
    return GeneratedLessons()


@cache
def model_of(case: int) -> Mapping[str, Any]:
    name, parameters, _ = CASES[case]
    made = make_strategy(name, parameters)
    assert isinstance(made, Trains)
    made.train(lessons(), random.Random(1), lambda _: None)
    return made.model()


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda n: f"{CASES[n][0]}{'-trained' * CASES[n][2]}")
def test_a_killed_crawl_goes_on_with_what_it_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: int
) -> None:
    name, parameters, is_trained = CASES[case]

    def made(name: str, given: Mapping[str, Any] | None = None) -> Strategy:
        strategy = make_strategy(name, given)
        if is_trained:
            assert isinstance(strategy, Trains)
            strategy.use(model_of(case))
        return strategy

    monkeypatch.setattr("scenthound.wiring.make_strategy", made)
    asked: dict[str, Any] = {"strategy": name, "parameters": parameters, "settings": read(Settings, SETTINGS)}
    whole = begin(TOPIC.topic, TOPIC.seeds, tmp_path / "whole", fetcher=Recorded(), **asked)
    step_through(whole, 1000)
    whole.folder.finish("pages", 1.0)
    whole.close()
    session = begin(TOPIC.topic, TOPIC.seeds, tmp_path / "cut", fetcher=Recorded(), **asked)
    for steps in (3, 17, 31, 43, 1000):
        if step_through(session, steps):
            break
        session.folder.close()
        session = resume(tmp_path / "cut", fetcher=Recorded())
        session.crawl.not_before = 0.0
        assert session.crawl.manners is not None
        session.crawl.manners.resumed_at = None
    session.folder.finish("pages", 1.0)
    session.close()
    undisturbed = trail(tmp_path / "whole")
    assert trail(tmp_path / "cut") == undisturbed
    assert len(undisturbed) > 60
    assert len({score for _, _, _, score, _, _ in undisturbed}) > 10, "what was learned told pages apart"
