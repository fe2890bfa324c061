"""What was learned, before the crawl or during it, survives a kill: decisions are those of an undisturbed crawl."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scenthound.lab.beds.prepared import prepare
from scenthound.lab.run.topic_lessons import lessons_of
from scenthound.loop.settings import Settings, read
from scenthound.parameters import values_of
from scenthound.ports import Trains
from scenthound.store.model_folder import TrainedModel, TrainedOn, save_model
from scenthound.wiring import begin, make_strategy, resume
from support.resuming import SETTINGS, TOPIC, WEB, Recorded, step_through, trail

SITES = "sites"
"""Among the parameters of a case: the crawl looks for sites."""
CASES: list[tuple[str, dict[str, Any], bool]] = [
    ("context-graph", {"layers": 2, "vocabulary_from": "all", "length_norm": True, "threshold": 0.3}, True),
    ("reinforcement", {"links": 2000}, True),
    ("intelligent", {"breadth": 20, "every": 15, "threshold": 0.05}, False),
    ("apprentice", {"after": 25}, False),
    ("apprentice", {"after": 25}, True),
    ("hound", {}, False),
    ("hound", {"exploration": 0.5}, False),
    ("hound", {SITES: True}, False),
]


def model_of(name: str, parameters: dict[str, Any], folder: Path) -> Path:
    made = make_strategy(name, parameters)
    assert isinstance(made, Trains)
    made.train(lessons_of(prepare(WEB), TOPIC, WEB.topics), random.Random(1), lambda _: None)
    on = TrainedOn("generated", WEB.name, WEB.digest)
    save_model(folder, TrainedModel(name, values_of(made), TOPIC.topic, on, made.model()))
    return folder


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda n: f"{n}-{CASES[n][0]}{'-trained' * CASES[n][2]}")
def test_a_killed_crawl_goes_on_with_what_it_learned(tmp_path: Path, case: int) -> None:
    name, parameters, is_trained = CASES[case]
    topic = replace(TOPIC.topic, looking_for="sites" if SITES in parameters else "pages")
    parameters = {key: value for key, value in parameters.items() if key != SITES}
    asked: dict[str, Any] = {
        "strategy": name,
        "parameters": parameters,
        "settings": read(Settings, {**SETTINGS, "pages": 80}),
    }
    if is_trained:
        asked["model"] = model_of(name, parameters, tmp_path / "model")
    whole = begin(topic, TOPIC.seeds, tmp_path / "whole", fetcher=Recorded(), **asked)
    step_through(whole, 1000)
    whole.folder.finish("pages", 1.0)
    whole.close()
    session = begin(topic, TOPIC.seeds, tmp_path / "cut", fetcher=Recorded(), **asked)
    for steps in (3, 17, 31, 1000):
        if step_through(session, steps):
            break
        session.folder.close()
        session = resume(tmp_path / "cut", fetcher=Recorded(), clock=lambda: 0.0)
    session.folder.finish("pages", 1.0)
    session.close()
    undisturbed = trail(tmp_path / "whole")
    assert trail(tmp_path / "cut") == undisturbed
    assert len(undisturbed) == 80
    assert len({score for _, _, _, score, _, _ in undisturbed}) > 10, "what was learned told pages apart"
