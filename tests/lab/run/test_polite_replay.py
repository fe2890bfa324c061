"""Replay on a virtual clock is deterministic for every strategy, and is measured by pages and by seconds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import Bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.measure.by_cost import curve_by_time, times
from scenthound.lab.measure.measure import load_table, measure
from scenthound.lab.report.experiment_facts import ExperimentFacts
from scenthound.lab.report.experiment_report import render
from scenthound.lab.run.experiment import RunOptions, open_experiment, run
from scenthound.lab.run.polite_replay import LONGEST, PoliteLimits
from scenthound.lab.run.run_cell import CellResult, ReplayLimits, run_cell
from scenthound.url import host
from support import trails

PAGES = 60


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    folder = tmp_path_factory.mktemp("polite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "cache"))
        generate(folder / "bed", pages=400, seed=11, topics=6, page_size=3_000)
        yield Bed.open(folder / "bed")


@pytest.fixture(scope="module")
def prepared(bed: Bed) -> PreparedBed:
    return prepare(bed)


def crawled(
    bed: Bed, prepared: PreparedBed, strategy: str, polite: PoliteLimits | None, pages: int = PAGES
) -> CellResult:
    limits = ReplayLimits(pages, polite=polite)
    parameters = trails.PARAMETERS.get(strategy)
    result = run_cell(prepared, bed.topics[0], strategy, parameters, limits, topics=bed.topics)
    assert not result.error, result.error
    return result


@pytest.mark.parametrize("strategy", trails.strategies())
def test_every_strategy_crawls_politely_and_the_same_way_twice(bed: Bed, prepared: PreparedBed, strategy: str) -> None:
    first, second = (crawled(bed, prepared, strategy, PoliteLimits()) for _ in range(2))
    assert len(first.steps) == PAGES
    assert first.steps == second.steps
    assert first.polite == second.polite
    assert [step.time for step in first.steps] == sorted(step.time for step in first.steps)


@pytest.mark.parametrize("strategy", ["best-first", "breadth-first", "hayek-epsilon", "infospiders", "context-graph"])
def test_with_one_request_at_a_time_the_order_is_that_without_delays(
    bed: Bed, prepared: PreparedBed, strategy: str
) -> None:
    plain, polite = (crawled(bed, prepared, strategy, limits) for limits in (None, PoliteLimits(concurrency=1)))
    assert polite.visited == plain.visited


def test_a_host_rests_between_two_requests(bed: Bed, prepared: PreparedBed) -> None:
    last: dict[str, float] = {}
    for step in crawled(bed, prepared, "best-first", PoliteLimits(order="speed", sigma=0.0)).steps:
        assert step.time >= last.get(host(step.url), -9.0) + 1.2 - 1e-9, "the delay, then the latency"
        last[host(step.url)] = step.time


def test_speed_is_quicker_and_quality_is_in_order(bed: Bed, prepared: PreparedBed) -> None:
    quality, speed = (crawled(bed, prepared, "best-first", PoliteLimits(order=order)) for order in ("quality", "speed"))
    assert speed.polite["seconds"] < quality.polite["seconds"]
    assert quality.polite["out_of_order"] == 0 < speed.polite["out_of_order"]
    assert speed.polite["waited"] == 0 < quality.polite["waited"]


def test_under_a_time_limit_that_is_too_short_the_order_is_speed(bed: Bed, prepared: PreparedBed) -> None:
    auto, speed = (
        crawled(bed, prepared, "best-first", PoliteLimits(seconds=5, order=order), 400) for order in ("auto", "speed")
    )
    assert auto.reason == "time"
    assert auto.visited == speed.visited


def test_latency_is_a_function_of_seed_number_and_url() -> None:
    polite = PoliteLimits(latency=0.2, sigma=0.5)
    drawn = sorted(polite.latency_of(f"http://a.test/{n}") for n in range(1001))
    assert drawn[500] == pytest.approx(0.2, rel=0.1)
    assert polite.latency_of("http://a.test/") == polite.latency_of("http://a.test/")
    assert polite.latency_of("http://a.test/", 1) != polite.latency_of("http://a.test/", 2)
    assert PoliteLimits(latency=99.0).latency_of("http://a.test/") <= LONGEST


@pytest.mark.parametrize("wrong", [{"delay": -1.0}, {"concurrency": 0}, {"order": "best"}, {"latency": float("nan")}])
def test_a_wrong_limit_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(BadConfig):
        PoliteLimits(**wrong)  # type: ignore[arg-type]


def test_an_experiment_is_measured_by_pages_and_by_seconds(bed: Bed, tmp_path: Path) -> None:
    limits = ReplayLimits(PAGES, polite=PoliteLimits(latency=0.1))
    options = RunOptions(topics=2, limits=limits, oracles=False)
    experiment = run(bed, "best-first,breadth-first", tmp_path / "run", options)
    assert open_experiment(tmp_path / "run").spec.limits == limits
    measure(experiment, [30, PAGES])
    table = load_table(experiment, "by_time")
    curve = curve_by_time(table, "pages", "best-first")
    assert curve[-1][1].mean is not None
    assert curve[0][1].mean < curve[-1][1].mean
    assert times(experiment)["best-first"]["seconds"] > 0
    html = render(ExperimentFacts(experiment, (30, PAGES)))
    assert "By virtual time" in html
    assert "--polite --latency 0.1" in html


def test_plain_experiments_keep_their_keys_and_files(bed: Bed, tmp_path: Path) -> None:
    plain = run(bed, "best-first", tmp_path / "plain", RunOptions(topics=1, pages=20, oracles=False))
    polite = run(
        bed,
        "best-first",
        tmp_path / "polite",
        RunOptions(topics=1, limits=ReplayLimits(20, polite=PoliteLimits()), oracles=False),
    )
    assert plain.cells[0].key != polite.cells[0].key
    assert "polite" not in plain.spec.limits.as_plain()
    assert "polite" not in json.loads((plain.folder / "cells" / f"{plain.cells[0].key}.json").read_text())
    with pytest.raises(BadConfig, match="limits"):
        run(bed, "best-first", tmp_path / "plain", RunOptions(topics=1, limits=ReplayLimits(20, polite=PoliteLimits())))
