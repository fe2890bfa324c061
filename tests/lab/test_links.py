"""Symbolic links where a command of the lab writes: nothing outside changes, and the error names the link."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.lab.beds.bed import write_bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.generate.simple_web import generate
from support import pupil  # noqa: F401 - registers the test's strategy
from support.planted_links import Talk, plant, refused, state
from support.resuming import TOPIC, WEB


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder / "cache"))
        generate(folder / "bed", pages=60, seed=1, topics=2, page_size=800)
        yield folder / "bed"


@pytest.fixture(scope="module")
def experiment(bed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert run(lab_run(bed, folder)) == 0
    return folder


def lab_run(bed: Path, folder: Path) -> list[str]:
    arguments = ["--strategies", "breadth-first", "--topics", "1", "--pages", "5", "--at", "5", "--jobs", "1"]
    return ["lab", "run", str(bed), *arguments, "--out", str(folder)]


@pytest.mark.parametrize(
    "name",
    [
        "experiment.toml",
        "topics.jsonl",
        "cells.jsonl",
        "failures.jsonl",
        "trails",
        "cells",
        "times",
        "metrics.parquet",
        "costs.parquet",
        "measured.json",
        "report.html",
    ],
)
def test_no_command_of_the_lab_writes_through_a_link(
    name: str, bed: Path, experiment: Path, tmp_path: Path, outside: Path, capsys: Talk
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(experiment, folder)
    (folder / "measured.json").unlink()
    link = plant(folder / name, outside)
    if name != "report.html":
        refused(lab_run(bed, folder), link, outside, capsys)
    if name in ("metrics.parquet", "costs.parquet", "measured.json", "report.html"):
        refused(["lab", "report", str(folder)], link, outside, capsys)


@pytest.mark.parametrize("kind", ["trails", "cells", "times"])
def test_no_cell_is_written_through_a_link(
    kind: str, bed: Path, experiment: Path, tmp_path: Path, outside: Path, capsys: Talk
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(experiment, folder)
    link = plant(next((folder / kind).glob("breadth-first*")), outside)
    for path in (folder / "cells").glob("breadth-first*"):
        path.unlink()
    if kind == "cells":
        link.symlink_to(outside / "gone")
    refused(lab_run(bed, folder), link, outside, capsys)


def test_links_with_names_of_unfinished_tables_lead_nowhere(experiment: Path, tmp_path: Path, outside: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(experiment, folder)
    (folder / "measured.json").unlink()
    plant(folder / ".metrics.parquet", outside)
    before = state(outside)
    assert run(["lab", "report", str(folder)]) == 0
    assert state(outside) == before


@pytest.mark.parametrize("name", ["bed.toml", "topics.jsonl"])
def test_a_generated_bed_is_not_written_through_a_link(name: str, tmp_path: Path, outside: Path, capsys: Talk) -> None:
    folder = tmp_path / "bed"
    folder.mkdir()
    link = plant(folder / name, outside)
    (outside / name).unlink()  # a link that leads nowhere, yet
    refused(["lab", "generate", str(folder), "--pages", "20"], link, outside, capsys)


def test_an_imported_bed_is_not_written_through_a_link(tmp_path: Path, outside: Path, capsys: Talk) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<title>Bees</title>")
    (tmp_path / "bed").symlink_to(outside)
    arguments = ["lab", "import", "html", str(site), str(tmp_path / "bed"), "--set", "base=http://bees.test/"]
    refused(arguments, tmp_path / "bed", outside, capsys)


def test_a_model_is_not_written_through_a_link(tmp_path: Path, outside: Path, capsys: Talk) -> None:
    write_bed(tmp_path / "bed", "demo", WEB.responses(), WEB.topics)
    topic = tmp_path / "mine.toml"
    listed = ", ".join(f'"{url}"' for url in TOPIC.examples)
    topic.write_text(f'[topic]\nkeywords = "{TOPIC.keywords}"\nname = "mine"\nexamples = [{listed}]\n')
    (tmp_path / "model").symlink_to(outside)
    arguments = ["train", "test-pupil", "--topic", str(topic), "--from", str(tmp_path / "bed")]
    refused([*arguments, "--out", str(tmp_path / "model")], tmp_path / "model", outside, capsys)


@pytest.mark.parametrize("name", ["t.toml", "t.examples.jsonl"])
def test_a_topic_is_not_written_through_a_link(name: str, tmp_path: Path, outside: Path, capsys: Talk) -> None:
    for folder, word in (("pages", "coral reefs"), ("others", "football")):
        (tmp_path / folder).mkdir()
        for number in range(3):
            text = f"<title>{word} {number}</title><p>{word} and {word} again, number {number}</p>"
            (tmp_path / folder / f"{number}.html").write_text(text)
    link = plant(tmp_path / name, outside)
    arguments = ["--examples", str(tmp_path / "pages"), "--background", str(tmp_path / "others"), "--force"]
    refused(["topic", "new", str(tmp_path / "t.toml"), *arguments], link, outside, capsys)


def test_a_cell_whose_name_leads_out_of_its_experiment_is_refused(
    experiment: Path, tmp_path: Path, capsys: Talk
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(experiment, folder)
    cells = (folder / "cells.jsonl").read_text()
    (folder / "cells.jsonl").write_text(cells.replace('"key":"breadth-first', '"key":"../../breadth-first', 1))
    assert run(["lab", "report", str(folder)]) == 4
    assert "does not describe a crawl in line" in capsys.readouterr().err
