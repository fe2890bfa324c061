"""The oracles follow links as every crawler must, but know more, and can't be chosen as strategies."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound.errors import BadUsage, UnknownName
from scenthound.lab.beds.bed import write_bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.measure.metrics.targets import target_recall
from scenthound.lab.run.oracles import ORACLES, OracleBed, content_oracle, path_oracle
from scenthound.lab.run.run_cell import run_cell
from scenthound.lab.run.spec import parse_strategies
from scenthound.lab.testing import TinyWeb, named
from scenthound.model import Response
from scenthound.strategies import STRATEGIES
from scenthound.topic_list import BedTopic

WEB = {
    "s.example/": "bees honey hive -> x.example/ near.example/ y.example/",
    "x.example/": "cars -> x2.example/",
    "x2.example/": "cars engines -> x3.example/",
    "x3.example/": "cars -> far.example/",
    "y.example/": "honey cake -> old.example/",
    "old.example/": "=> y2.example/",
    "y2.example/": "bees hive -> far.example/",
    "near.example/": "roads",
    "far.example/": "bees honey",
    "island.example/": "bees",
}
TARGETS = tuple(named(name) for name in ("near.example/", "far.example/", "island.example/", "gone.example/"))
TOPIC = BedTopic("bees", ("bees",), "bees", "", (named("s.example/"),), TARGETS)


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PreparedBed:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    web = TinyWeb(WEB)
    kind = ("Content-Type", "text/html; charset=utf-8")
    answers = [Response(url, 200, "OK", (kind,), html.encode()) for url, html in web.html.items()]
    answers += [Response(url, 301, "Moved", (("Location", to),), b"") for url, to in web.moved.items()]
    return prepare(write_bed(tmp_path / "bed", "tiny", answers, [TOPIC]))


def names(urls: list[str]) -> str:
    return " ".join(url.removeprefix("http://").removesuffix(".example/") for url in urls)


def test_the_path_oracle_walks_to_the_nearest_target_over_redirects_too(bed: PreparedBed) -> None:
    result = path_oracle(OracleBed(bed), TOPIC)
    assert names([*result.visited]) == "s near y y2 far"
    assert result.reason == "no target within reach"
    assert [step.parent for step in result.steps[2:]] == [
        named("s.example/"),
        named("y.example/"),
        named("y2.example/"),
    ]


def test_the_path_oracle_needs_no_page_beyond_the_budget(bed: PreparedBed) -> None:
    result = path_oracle(OracleBed(bed), TOPIC, pages=3)
    assert (names([*result.visited]), result.reason) == ("s near y", "pages")


def test_the_path_oracle_stops_when_all_is_found(bed: PreparedBed) -> None:
    topic = BedTopic("bees", (), "bees", "", TOPIC.seeds, (named("near.example/"),))
    assert path_oracle(OracleBed(bed), topic).reason == "all targets found"


def test_the_content_oracle_takes_the_waiting_page_most_like_the_seeds(bed: PreparedBed) -> None:
    scores = OracleBed(bed).centroid_similarity(TOPIC.seeds)
    by_name = dict(zip(map(str, bed.pages), scores.tolist(), strict=True))
    assert by_name["http://s.example/"] == pytest.approx(1.0)
    assert by_name["http://near.example/"] == 0.0
    result = content_oracle(OracleBed(bed), TOPIC)
    assert names([*result.visited[:4]]) == "s y y2 far"
    assert len(result.steps) == 8
    assert result.reason == "frontier empty"


def test_seeds_that_are_not_there_are_misses(bed: PreparedBed) -> None:
    for oracle in ORACLES.values():
        result = oracle(OracleBed(bed), TOPIC, 10, [named("nowhere.example/")])
        assert (result.steps, result.misses) == ([], {"http-404": 1})


def test_no_crawler_finds_targets_sooner_than_the_path_oracle(bed: PreparedBed) -> None:
    best = target_recall(path_oracle(OracleBed(bed), TOPIC).steps, set(TARGETS), at=range(1, 9))
    for strategy in ("breadth-first", "best-first"):
        recall = target_recall(run_cell(bed, TOPIC, strategy).steps, set(TARGETS), at=range(1, 9))
        assert all((bound or 0) >= (value or 0) for bound, value in zip(best, recall, strict=True))


def test_an_oracle_cannot_be_chosen_as_a_strategy() -> None:
    for name in ORACLES:
        with pytest.raises(UnknownName):
            STRATEGIES.get(name)
        with pytest.raises(BadUsage, match="reference line"):
            parse_strategies(name)
