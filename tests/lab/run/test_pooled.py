"""Live crawls are pooled and measured together; pages fetched and pages selected are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import topic_line
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.measure.compare_crawlers import measure_if_stale
from scenthound.lab.measure.measure import load_table
from scenthound.lab.run.cells import load_outcome, load_trail
from scenthound.lab.run.experiment import RunOptions
from scenthound.lab.run.experiment import run as run_experiment
from scenthound.lab.run.pooled import pool_crawls
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.lab.topics.crawl_starts import Start, start_topic
from scenthound.loop.settings import Settings, read
from scenthound.wiring import begin
from support.resuming import SETTINGS, TOPIC, WEB, Recorded, born, step_through


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))


def crawled(folder: Path, strategy: str, pages: int = 30) -> Path:
    session = born(folder, strategy, pages=pages)
    step_through(session, 1000)
    session.folder.finish("pages", 1.0)
    session.close()
    return folder


def test_live_crawls_are_measured_over_their_common_pool(tmp_path: Path) -> None:
    crawls = [crawled(tmp_path / name, name) for name in ("best-first", "breadth-first")]
    assert run(["lab", "pool", *map(str, crawls), "--out", str(tmp_path / "run"), "--jobs", "1"]) == 0
    experiment = pool_crawls(crawls, tmp_path / "again")
    fetched = {str(step.url) for cell in experiment.cells for step in load_trail(experiment.folder, cell.key)}
    assert len(experiment.bed(1)) == len(fetched)
    measure_if_stale(experiment, (10, 30))
    table = load_table(experiment, "metrics")
    names = set(zip(table["strategy"], table["metric"], strict=True))
    for metric in ("target_recall", "coverage", "mean_rank", "fetched_goals", "recognised_goals"):
        assert ("best-first", metric) in names


def test_targets_may_come_from_a_topics_file(tmp_path: Path) -> None:
    (tmp_path / "topics.jsonl").write_text(topic_line(TOPIC))
    experiment = pool_crawls([crawled(tmp_path / "a", "best-first")], tmp_path / "run", tmp_path / "topics.jsonl")
    assert experiment.topics[0].targets == TOPIC.targets


def test_crawls_that_began_elsewhere_are_not_pooled(tmp_path: Path) -> None:
    first = crawled(tmp_path / "first", "best-first", 5)
    settings = read(Settings, SETTINGS | {"pages": 5})
    other = begin(TOPIC.topic, TOPIC.seeds[:2], tmp_path / "other", settings=settings, fetcher=Recorded())
    step_through(other, 10)
    other.folder.finish("pages", 1.0)
    other.close()
    with pytest.raises(BadConfig, match="differ in seeds"):
        pool_crawls([first, tmp_path / "other"], tmp_path / "run")


def test_goals_selected_come_after_goals_fetched() -> None:
    limits = ReplayLimits(pages=60)
    prepared = prepare(WEB)
    everything = run_cell(prepared, TOPIC, "bayes", {"mode": "fetch-all"}, limits, topics=WEB.topics)
    assert everything.selected
    numbers = {str(step.url): step.n for step in everything.steps}
    assert all(fetched >= numbers[url] for url, fetched in everything.selected.items())
    assert len(everything.selected) < len(everything.steps)
    assert run_cell(prepared, TOPIC, "best-first", None, limits).selected == {}
    economy = run_cell(prepared, TOPIC, "hayek-estimating", {"training": 20}, limits, topics=WEB.topics)
    assert set(economy.selected) <= {str(step.url) for step in economy.steps}


def test_recognised_goals_are_a_metric_of_an_experiment(tmp_path: Path) -> None:
    bed = generate(tmp_path / "bed", pages=300, seed=1, topics=2, page_size=1500)
    options = RunOptions(pages=60, topics=1, oracles=False)
    experiment = run_experiment(bed, ["bayes:mode=fetch-all", "best-first"], tmp_path / "run", options)
    measure_if_stale(experiment, (60,))
    table = load_table(experiment, "metrics")
    values = dict(zip(zip(table["strategy"], table["metric"], strict=True), table["value"], strict=True))
    assert values["best-first", "recognised_goals"] == values["best-first", "fetched_goals"]
    assert values["bayes:mode=fetch-all", "recognised_goals"] <= values["bayes:mode=fetch-all", "fetched_goals"]
    (cell,) = [cell for cell in experiment.cells if cell.strategy.startswith("bayes")]
    outcome = load_outcome(experiment.folder, cell.key)
    assert outcome is not None
    assert outcome.selected


def test_only_hub_seeking_that_asks_learns_the_original_seeds() -> None:
    prepared = prepare(WEB)
    topic = start_topic(prepared, TOPIC, Start("augmented"))
    assert topic.originals == TOPIC.seeds
    assert not set(topic.topic.examples) & set(TOPIC.seeds), "no strategy sees them in the topic"
    limits = ReplayLimits(pages=20)
    result = run_cell(prepared, topic, "hub-seeking", {"counted": "originals"}, limits)
    assert result.given == ("original seeds",)
    assert run_cell(prepared, topic, "hub-seeking", None, limits).given == ()
    assert not result.error
