"""A strategy that reads what no crawler can is marked wherever figures are shown, and not compared with crawlers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenthound.cli.root_command import run as command
from scenthound.lab.beds.bed import Bed
from scenthound.lab.measure.compare_crawlers import Question, compare_within, measure_if_stale, non_oracles
from scenthound.lab.report.experiment_facts import ExperimentFacts
from scenthound.lab.report.experiment_report import write_report
from scenthound.lab.run.experiment import Experiment, RunOptions, run
from scenthound.lab.run.spec import display_name, is_oracle

MODE = "cc-bfs:lookahead=graph"


@pytest.fixture(scope="module")
def done(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    experiment = run(
        bed, f"breadth-first,cc-bfs,{MODE}", tmp_path_factory.mktemp("runs") / "first", RunOptions(pages=40)
    )
    measure_if_stale(experiment, [20, 40])
    return experiment


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert command(list(arguments)) == 0
    return capsys.readouterr().out


def test_an_oracle_is_known_by_its_parameters_however_they_are_written() -> None:
    assert is_oracle(MODE)
    assert is_oracle("cc-bfs:k=2:lookahead=graph")
    assert is_oracle("content-oracle")
    assert not is_oracle("cc-bfs")
    assert not is_oracle("cc-bfs:lookahead=fetch")
    assert not is_oracle("best-first")


def test_a_strategy_that_is_not_installed_counts_as_a_crawler() -> None:
    assert not is_oracle("of-another-time:depth=3")
    assert not is_oracle("cc-bfs:lookahead=backwards")
    assert display_name("of-another-time") == "of-another-time"


def test_reference_lines_keep_their_names_and_modes_get_a_mark() -> None:
    assert display_name("path-oracle") == "path-oracle"
    assert display_name(MODE) == f"{MODE} (oracle)"


def test_oracles_are_compared_if_there_is_nothing_else() -> None:
    assert non_oracles(["breadth-first", MODE, "path-oracle"]) == ["breadth-first"]
    assert non_oracles([MODE, "cc-bfs:k=2:lookahead=graph"]) == [MODE, "cc-bfs:k=2:lookahead=graph"]


def test_the_report_draws_it_with_the_reference_lines_and_says_what_it_is(done: Experiment) -> None:
    facts = ExperimentFacts(done, (20, 40))
    assert facts.strategies == ("breadth-first", "cc-bfs")
    assert facts.oracles == (MODE, "path-oracle", "content-oracle")
    page = write_report(done, (20, 40)).read_text(encoding="utf-8")
    assert f"{MODE} (oracle)</text>" in page, "at the end of its line"
    assert f'{MODE} <span class="reference">oracle</span>' in page, "in the tables"
    assert f"{MODE} is an oracle mode: it may read links of pages that were not fetched" in page
    assert f"better than {MODE}" not in page
    assert f"<strong>{MODE}" not in page
    assert "Two crawlers on" in page


def test_a_report_on_nothing_but_an_oracle_is_still_a_report(bed: Bed, tmp_path: Path) -> None:
    experiment = run(bed, MODE, tmp_path / "run", RunOptions(pages=20, topics=2))
    measure_if_stale(experiment, [20])
    page = write_report(experiment, (20,)).read_text(encoding="utf-8")
    assert "One crawler on" in page
    assert f'{MODE} <span class="reference">oracle</span>' in page


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def test_it_is_marked_in_what_measure_prints(done: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    printed = output_of(capsys, "lab", "measure", str(done.folder))
    assert f"{MODE} (oracle)" in printed
    assert "breadth-first (oracle)" not in printed
    assert "(oracle)" in output_of(capsys, "lab", "measure", str(done.folder), "--topics")
    assert MODE in json.loads(output_of(capsys, "lab", "measure", str(done.folder), "--json")), (
        "programs get the unmarked name"
    )


def test_it_is_compared_only_when_named_and_then_marked(done: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = {(test.first, test.second) for test in compare_within(done, [], Question("target_recall", (40,)))}
    assert pairs in ({("breadth-first", "cc-bfs")}, {("cc-bfs", "breadth-first")})
    assert f"{MODE} (oracle)" in output_of(capsys, "lab", "compare", str(done.folder), MODE, "cc-bfs")
    comparison = json.loads(output_of(capsys, "lab", "compare", str(done.folder), MODE, "cc-bfs", "--json"))
    assert (comparison["first"], comparison["second"], comparison["oracles"]) == (MODE, "cc-bfs", [MODE])
    assert "(oracle)" in comparison["sentence"]


def test_the_list_of_strategies_says_which_parameters_make_an_oracle(capsys: pytest.CaptureFixture[str]) -> None:
    text = output_of(capsys, "strategies", "cc-bfs")
    assert "Oracle mode, for the laboratory only and marked in its reports: lookahead=graph" in text
    assert json.loads(output_of(capsys, "strategies", "cc-bfs", "--json"))["oracle_modes"] == ["lookahead=graph"]
    assert json.loads(output_of(capsys, "strategies", "dom", "--json"))["oracle_modes"] == []
