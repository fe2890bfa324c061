"""The figures of the papers come out of `lab report`, as CSV, SVG and LaTeX."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scenthound.cli.root_command import run as command
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.generate.simple_web import generate
from scenthound.lab.measure.measure import load_table
from scenthound.lab.report.downloads import AGAINST_N, OVER_TIME, TOPS
from scenthound.lab.run.experiment import RunOptions, run


def test_report_writes_the_figures_of_the_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    bed = generate(tmp_path / "bed", pages=300, seed=1, topics=2, page_size=1500)
    experiment = run(bed, ["best-first", "breadth-first"], tmp_path / "run", RunOptions(pages=60, oracles=False))
    assert command(["lab", "report", str(tmp_path / "run"), "--figures", "--json", "--jobs", "1"]) == 0
    files = [Path(name) for name in json.loads(capsys.readouterr().out)["figures"]]
    assert {file.stem for file in files} == {*OVER_TIME, *AGAINST_N}
    assert {file.suffix for file in files} == {".csv", ".svg", ".tex"}
    folder = tmp_path / "run" / "figures"
    rows = list(csv.DictReader((folder / "coverage.csv").read_text().splitlines()))
    assert [int(row["n"]) for row in rows if row["strategy"] == "best-first"] == list(TOPS)
    table = load_table(experiment, "metrics", "coverage:top=50")
    values = [
        value
        for strategy, at, value in zip(table["strategy"], table["at"], table["value"], strict=True)
        if strategy == "best-first" and at == 60
    ]
    (shown,) = [float(row["mean"]) for row in rows if row["strategy"] == "best-first" and row["n"] == "50"]
    assert shown == pytest.approx(sum(values) / 2), "the mean of the two topics"
    ElementTree.parse(folder / "recall-per-cpu.svg")
    assert "\\toprule" in (folder / "mean-rank.tex").read_text()
