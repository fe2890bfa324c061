"""Measuring experiments and trails of other crawlers: tables, averages over topics, known figures of a real bed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenthound.errors import BadConfig, UnknownName
from scenthound.lab.beds.bed import Bed, write_bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.generate.simple_web import GeneratedWeb, generate
from scenthound.lab.measure.measure import default_points, load_table, measure, measure_trail, summary, topic_values
from scenthound.lab.measure.metrics.targets import target_recall
from scenthound.lab.measure.statistics import mean
from scenthound.lab.run.cells import load_trail
from scenthound.lab.run.experiment import Experiment, RunOptions, run
from scenthound.lab.run.oracles import OracleBed, path_oracle
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.model import Response
from scenthound.topic_list import BedTopic
from support.suites import SHARED, with_shared

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bed, Experiment]]:
    folder = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "cache"))
        bed = generate(folder / "bed", pages=200, seed=1, topics=3, page_size=1500)
        strategies = "breadth-first,best-first"
        experiment = run(bed, strategies, folder / "run", RunOptions(pages=40, seed_numbers=(0, 1), robustness=True))
        yield bed, measure(experiment, at=[10, 20, 40])


def test_the_table_has_the_values_of_the_metric(measured: tuple[Bed, Experiment]) -> None:
    bed, experiment = measured
    cell, topic = experiment.cells[0], bed.topics[0]
    table = load_table(experiment, "metrics")
    rows = list(zip(*table.values(), strict=True))
    values = {row[5]: row[6] for row in rows if row[:5] == (cell.strategy, topic.id, 0, False, "target_recall")}
    trail = load_trail(experiment.folder, cell.key)
    expected = target_recall(trail, set(topic.targets), topic.seeds, {}, [10, 20, 40])
    assert [values[10], values[20], values[40]] == expected
    assert len(values) > 20, "and the points of a curve"
    goals = {row[5]: row[6] for row in rows if row[:5] == (cell.strategy, topic.id, 0, False, "fetched_goals")}
    assert goals[40] == len({step.url for step in trail[:40]}.intersection(topic.targets))


def test_a_summary_is_a_mean_over_topics_of_the_means_over_runs(measured: tuple[Bed, Experiment]) -> None:
    _, experiment = measured
    table = summary(experiment)
    assert set(table) == {"breadth-first", "best-first", "path-oracle", "content-oracle"}
    assert set(table["best-first"]) >= {
        "target_recall",
        "precision",
        "harvest_rate",
        "coverage",
        "mean_rank",
        "hosts_found",
        "fetched_goals",
    }
    values = topic_values(experiment, "target_recall", 20)["best-first"]
    average = mean(list(values.values()))
    assert summary(experiment, at=[20])["best-first"]["target_recall"][20] == {
        "mean": average.mean,
        "se": average.error,
        "topics": 3,
        "groups": 3,
    }
    json.dumps(table)


def test_metrics_of_measured_seconds_are_in_a_table_of_their_own(measured: tuple[Bed, Experiment]) -> None:
    _, experiment = measured
    assert set(load_table(experiment, "costs")["metric"]) == {
        "recall_per_cpu_second",
        "description_recall_per_cpu_second",
    }
    assert not any("cpu" in metric for metric in load_table(experiment, "metrics")["metric"])


def test_tables_are_the_same_bytes_when_measured_again_by_more_processes(measured: tuple[Bed, Experiment]) -> None:
    _, experiment = measured
    names = [f"{name}.parquet" for name in ("metrics", "reach", "pairs", "topics")]
    before = [(experiment.folder / name).read_bytes() for name in names]
    measure(experiment.folder, at=[10, 20, 40], jobs=2)
    assert [(experiment.folder / name).read_bytes() for name in names] == before


def test_an_oracle_has_no_metrics_that_need_the_pool(measured: tuple[Bed, Experiment]) -> None:
    table = summary(measured[1])
    assert "precision" not in table["path-oracle"]
    assert "coverage" not in table["path-oracle"]
    assert table["path-oracle"]["target_recall"][40]["mean"] >= table["best-first"]["target_recall"][40]["mean"]


def test_pairs_have_overlap_and_robustness(measured: tuple[Bed, Experiment]) -> None:
    table = load_table(measured[1], "pairs")
    assert set(table["metric"]) == {"overlap", "overlap_hosts", "robustness", "robustness_hosts"}
    assert all(0.0 <= value <= 1.0 for value in table["value"])


def test_reach_has_search_lengths_and_what_was_not_reached(measured: tuple[Bed, Experiment]) -> None:
    table = load_table(measured[1], "reach")
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    assert {row["fraction"] for row in rows} == {0.25, 0.5, 0.75, 1.0}
    for row in rows:
        assert (row["pages"] is None) == (row["found"] < round(row["fraction"] * row["wanted"] + 0.4999))


def test_the_trail_of_another_crawler_is_measured_by_its_urls(measured: tuple[Bed, Experiment], tmp_path: Path) -> None:
    bed, _ = measured
    topic, ready = bed.topics[0], prepare(bed)
    urls = [*topic.seeds[:2], topic.targets[0].replace("http://", "HTTP://"), "http://elsewhere.test/"]
    trail = tmp_path / "trail.jsonl"
    trail.write_text("".join(json.dumps({"url": url}) + "\n" for url in urls))
    values = measure_trail(trail, ready, topic, at=[2, 4])
    assert values["target_recall"] == {2: 0.0, 4: 1 / len(topic.targets)}
    assert values["precision"][4] is not None
    trail.write_text('{"url": "http://a.test/"}\n{"page": 1}\n')
    with pytest.raises(BadConfig, match="line 2 has no `url`"):
        measure_trail(trail, ready, topic)


def test_missing_values_raise_an_error_that_says_what_to_do(measured: tuple[Bed, Experiment], tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="has not been measured"):
        load_table(tmp_path, "metrics")
    with pytest.raises(BadConfig, match="no target_recall at 4321 pages"):
        topic_values(measured[1], "target_recall", 4321)
    with pytest.raises(UnknownName):
        topic_values(measured[1], "target_recal", 20)


def test_the_points_end_with_the_crawl() -> None:
    assert default_points(1000) == (100, 250, 500, 1000)
    assert default_points(60) == (60,)


Figures = dict[str, list[float]]
"""Mean recall of a strategy after some numbers of pages."""

AT = [100, 250, 500, 1000]
SCHOOLS: Figures = {"breadth-first": [0.248, 0.439, 0.494, 0.583], "path-oracle": [0.868, 0.891, 0.891, 0.891]}
PLAN = GeneratedWeb(1200, seed=5, topics=4)


def planned_bed(folder: Path) -> tuple[Bed, Figures]:
    """A bed with only the links of a generated web, and the figures of a search over its plan instead of a crawl."""
    html = (("Content-Type", "text/html"),)
    pages = [
        Response(
            PLAN.url(n), 200, "OK", html, "".join(f"<a href={PLAN.url(to)}>x</a>" for to in PLAN.links(n)).encode()
        )
        for n in range(PLAN.pages)
    ]
    recalls = [plain_recall(topic) for topic in PLAN.topics]
    means = [sum(column) / len(recalls) for column in zip(*recalls, strict=True)]
    return write_bed(folder / "bed", "plan", pages, PLAN.topics), {"breadth-first": means}


def plain_recall(topic: BedTopic) -> list[float]:
    numbers = {url: PLAN.number(url) for url in (*topic.seeds, *topic.targets)}
    order = [number for url in topic.seeds if (number := numbers[url]) is not None]
    for number in order:
        order += [to for to in PLAN.links(number) if to not in order]
    targets = {numbers[url] for url in set(topic.targets) - set(topic.seeds)}
    return [len(targets.intersection(order[:pages])) / len(targets) for pages in AT]


@pytest.mark.slow
@pytest.mark.parametrize("name", with_shared(["plan"], ["schools"]))
def test_an_independent_implementation_found_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Breadth-first and the path oracle use only links, so every figure must agree."""
    if name == "plan":
        monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    bed, expected = planned_bed(tmp_path) if name == "plan" else (Bed.open(SHARED / "data" / name), SCHOOLS)
    ready = prepare(bed)
    limits = ReplayLimits(1000, judge="keywords")  # the judge is not used: a simple one takes a quarter of the time
    crawls = {
        "breadth-first": lambda topic: run_cell(ready, topic, "breadth-first", limits=limits),
        "path-oracle": lambda topic: path_oracle(OracleBed(ready), topic, 1000),
    }
    for strategy, means in expected.items():
        rows = [
            target_recall(crawls[strategy](topic).steps, set(topic.targets), topic.seeds, ready.aliases, AT)
            for topic in bed.topics
        ]
        assert [mean(column).mean for column in zip(*rows, strict=True)] == pytest.approx(means, abs=0.001), strategy
