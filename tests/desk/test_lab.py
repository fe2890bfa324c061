"""An experiment at the desk has the numbers of its report, and can be saved as CSV, SVG and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from scenthound.lab.measure.compare_crawlers import measure_if_stale, open_run
from scenthound.lab.report.experiment_facts import ExperimentFacts
from scenthound.lab.run.experiment import RunOptions, run
from support.desk import WITH_TOKEN, client

for package in ("pyarrow", "scipy"):
    pytest.importorskip(package)
ONE = "/api/experiments/lab"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from scenthound.lab.generate.simple_web import generate

    home = tmp_path_factory.mktemp("lab")
    generate(home / "bed", 300, 3)
    strategies = "breadth-first,best-first,shark-search"
    experiment = run(home / "bed", strategies, home / "lab", RunOptions(pages=60))
    measure_if_stale(experiment, (30, 60))
    return home / "lab"


@pytest.fixture
def desk(folder: Path, tmp_path: Path) -> Iterator[TestClient]:
    with client(tmp_path / "home", folder) as made:
        yield made


@pytest.fixture(scope="module")
def facts(folder: Path) -> ExperimentFacts:
    return ExperimentFacts(open_run(folder), (30, 60))


@pytest.mark.parametrize("metric", ["target_recall", "description_precision", "harvest_rate"])
def test_every_number_is_that_of_the_report(desk: TestClient, facts: ExperimentFacts, metric: str) -> None:
    shown = desk.get(ONE, params={"metric": metric}).json()
    assert tuple(shown["strategies"]) == facts.strategies
    assert len(shown["topics"]) == len(facts.run.topics)
    for name in facts.strategies:
        curve = [(at, over.mean, over.error, over.number) for at, over in facts.curve(metric, name)]
        assert [(at["at"], at["mean"], at["se"], at["topics"]) for at in shown["curves"][name]] == curve
    tests = {(test["first"], test["second"]): test for test in shown["tests"]}
    compared = facts.comparisons(metric, 60)
    assert len(tests) == len(compared) == 3
    for each in compared:
        test = tests[each.first, each.second]
        assert (test["difference"], test["t"], test["p"], test["holm"]) == (
            each.paired.mean,
            each.paired.t,
            each.paired.p,
            each.adjusted,
        )
    by_topic = facts.values[metric][60]
    for topic, values in shown["by_topic"].items():
        assert values == {name: by_topic[name].get(topic) for name in facts.strategies}


def test_strategies_topics_and_point_can_be_chosen(desk: TestClient, facts: ExperimentFacts) -> None:
    topics = [topic.id for topic in facts.run.topics][:3]
    query = {"strategy": ["best-first", "breadth-first"], "topic": topics, "at": 30, "metric": "harvest_rate"}
    shown = desk.get(ONE, params=query).json()
    assert shown["strategies"] == ["breadth-first", "best-first"]
    assert list(shown["by_topic"]) == topics
    assert len(shown["tests"]) == 1
    assert shown["tests"][0]["topics"] == 3
    values = facts.values["harvest_rate"][30]["best-first"]
    mean = sum(values[topic] or 0.0 for topic in topics) / 3
    assert {at["at"]: at["mean"] for at in shown["curves"]["best-first"]}[30] == pytest.approx(mean)


def test_the_page_shows_the_figures_and_sentences(desk: TestClient, facts: ExperimentFacts) -> None:
    html = desk.get("/lab/lab", params={"metric": "target_recall"}).text
    over = facts.mean("target_recall", "best-first")
    assert f"{over.mean:.3f} ± {over.error:.3f}" in html
    assert desk.get(ONE).json()["tests"][0]["sentence"][:40] in html
    assert "topics.svg" in html
    assert "/lab/lab" in desk.get("/").text


def test_tables_are_saved_as_csv_and_latex(desk: TestClient) -> None:
    shown = desk.get(ONE).json()
    rows = list(csv.DictReader(io.StringIO(desk.get(f"{ONE}/curves.csv").text)))
    best = [row for row in rows if row["strategy"] == "best-first"]
    assert [float(row["mean"]) for row in best] == [at["mean"] for at in shown["curves"]["best-first"]]
    tests = list(csv.DictReader(io.StringIO(desk.get(f"{ONE}/tests.csv").text)))
    assert [float(row["difference"]) for row in tests] == [test["difference"] for test in shown["tests"]]
    topics = list(csv.reader(io.StringIO(desk.get(f"{ONE}/topics.csv").text)))
    assert [row[0] for row in topics[1:]] == shown["topics"]
    for what in ("curves", "tests", "topics"):
        text = desk.get(f"{ONE}/{what}.tex").text
        assert text.count("\\\\\n") == text.count("\n") - 6, "every row ends"
        assert "\\begin{tabular}" in text
    saved = desk.get(f"{ONE}/curves.tex?save=yes")
    assert saved.headers["content-disposition"] == 'attachment; filename="target-recall-curves.tex"'


def test_pictures_are_whole_files_without_scripts_or_links(desk: TestClient) -> None:
    topics = len(desk.get(ONE).json()["topics"])
    for what, kind, number in (("curves", "polygon", 3), ("topics", "circle", topics)):
        answer = desk.get(f"{ONE}/{what}.svg")
        root = ElementTree.fromstring(answer.text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(root.iter(f"{{http://www.w3.org/2000/svg}}{kind}"))) == number
        assert "script" not in answer.text
        assert "var(" not in answer.text, "programs other than browsers know no variables"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{ONE}?metric=none", 400),
        (f"{ONE}?strategy=none", 400),
        (f"{ONE}?topic=none", 400),
        (f"{ONE}?at=61", 400),
        (f"{ONE}/tests.svg", 404),
        (f"{ONE}/topics.svg?across=none", 400),
        ("/api/experiments/none", 404),
        ("/lab/none", 404),
    ],
)
def test_what_there_is_not_is_refused(desk: TestClient, path: str, status: int) -> None:
    assert desk.get(path).status_code == status


def test_a_lab_folder_is_opened_like_a_crawl(folder: Path, tmp_path: Path) -> None:
    with client(tmp_path / "home") as desk:
        opened = desk.post("/api/collections", json={"folder": str(folder)}, headers=WITH_TOKEN).json()
        assert opened == {"names": [], "experiments": ["lab"]}
        assert desk.get(ONE).status_code == 200


def test_an_experiment_that_was_not_measured_says_what_to_do(folder: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folder, tmp_path / "lab", ignore=shutil.ignore_patterns("*.parquet", "measured.json"))
    with client(tmp_path / "home", tmp_path / "lab") as desk:
        answer = desk.get("/lab/lab")
        assert answer.status_code == 400
        assert "scenthound lab measure" in answer.text
