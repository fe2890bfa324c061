"""Links planted where a command writes: nothing outside changes, and the command says which link it is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenthound.cli.app import run
from scenthound.cli.demo_command import MARK
from scenthound.desk.starting import LOG, Processes
from scenthound.errors import UnsafeFile
from scenthound.lab.beds.bed import write_bed
from scenthound.lab.beds.cache import VARIABLE
from scenthound.lab.generate.web import generate
from support import pupil  # noqa: F401 - registers the test's strategy
from support.desk import client
from support.resuming import TOPIC, WEB, born
from support.small_crawl import SEED, small_crawl
from support.small_crawl import WEB as SMALL_WEB

Talk = pytest.CaptureFixture[str]
WARC = "pages/pages-00001.warc.gz"
CRAWL_ENTRIES = (
    "crawl.lock",
    "crawl.toml",
    "crawl.db",
    "crawl.db-wal",
    "crawl.db-shm",
    "crawl.db-journal",
    "pages",
    WARC,
    "pages/pages-00002.warc.gz",
    "pages/index.cdxj",
    f"{WARC}.tail-1",
    "index",
    "model",
    "report.html",
)
CRAWL_COMMANDS = {
    "resume": ["resume", "{}"],
    "resume with more pages": ["resume", "{}", "--pages", "1000"],
    "report": ["report", "{}"],
    "export": ["export", "{}", "--to", "csv"],
    "label": ["label", "{}", SEED, "--on-topic"],
    "status": ["status", "{}"],
}


NEWER_COMMANDS = {
    ("search", "index"): ["search", "{}", "balloon"],
    ("search", "index/text.db"): ["search", "{}", "balloon"],
    ("search", "index/crawl.lock"): ["search", "{}", "balloon"],
    ("map", "map"): ["map", "{}"],
    ("map", "map/map.html"): ["map", "{}"],
    ("map", "map/sitemap.xml"): ["map", "{}"],
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


def plant(path: Path, outside: Path) -> Path:
    """Put a link at `path` that leads outside: to what was there, if something was, else to a file of somebody's."""
    target = outside / path.name
    if path.exists():
        path.rename(target)
    else:
        target.write_text("somebody's\n")
    path.symlink_to(target)
    return path


def state(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def refused(words: list[str], link: Path, outside: Path, capsys: Talk) -> None:
    """The command names the link, ends with code 4, and changes nothing outside."""
    before = state(outside)
    capsys.readouterr()
    code = run(words)
    told = capsys.readouterr()
    assert state(outside) == before
    assert code == 4, told
    error = [line for line in told.err.splitlines() if line.startswith("error: ")]
    assert error == [f"error: {link} is a symbolic link, and nothing is written through a link"]
    assert "hint: remove the link" in told.err
    assert "Traceback" not in told.err
    assert link.is_symlink()


@pytest.mark.parametrize("words", CRAWL_COMMANDS.values(), ids=CRAWL_COMMANDS)
@pytest.mark.parametrize("name", CRAWL_ENTRIES)
def test_no_command_writes_through_a_link_in_a_crawl_folder(
    name: str, words: list[str], tmp_path: Path, outside: Path, capsys: Talk
) -> None:
    folder = small_crawl(tmp_path / "balloons")
    link = plant(folder / name, outside)
    refused([word.format(folder) for word in words], link, outside, capsys)


@pytest.mark.parametrize(("command", "name"), NEWER_COMMANDS, ids=map("-".join, NEWER_COMMANDS))
def test_what_is_made_from_a_crawl_is_not_written_through_a_link(
    command: str, name: str, tmp_path: Path, outside: Path, capsys: Talk
) -> None:
    folder = small_crawl(tmp_path / "balloons")
    words = [word.format(folder) for word in NEWER_COMMANDS[command, name]]
    (folder / name).parent.mkdir(exist_ok=True)
    link = plant(folder / name, outside)
    before = state(outside)
    code = run(words)
    told = capsys.readouterr()
    assert state(outside) == before
    assert "Traceback" not in told.err
    assert code == 4, told
    assert f"{link} is a symbolic link" in told.err


@pytest.mark.parametrize("name", [".", "index.html", "categories.toml", "pages", "style.css"])
def test_a_portal_is_not_written_through_a_link(name: str, tmp_path: Path, outside: Path, capsys: Talk) -> None:
    folder = small_crawl(tmp_path / "balloons")
    assert run(["portal", str(folder)]) == 0
    link = plant(folder / "portal" / name, outside)
    if link.is_file():
        (outside / link.name).write_text("changed by somebody\n")
    before = state(outside)
    run(["portal", str(folder), "--clusters", "2"])
    assert "Traceback" not in capsys.readouterr().err
    assert state(outside) == before


def test_the_folder_itself_may_be_a_link(tmp_path: Path, capsys: Talk) -> None:
    (tmp_path / "link").symlink_to(small_crawl(tmp_path / "balloons"))
    for words in CRAWL_COMMANDS.values():
        if "1000" not in words:
            assert run([word.format(tmp_path / "link") for word in words]) == 0, capsys.readouterr()


def test_an_export_does_not_write_through_a_link(tmp_path: Path, outside: Path, capsys: Talk) -> None:
    folder = small_crawl(tmp_path / "balloons")
    link = plant(folder / "balloons.csv", outside)
    refused(["export", str(folder), "--to", "csv", "--force"], link, outside, capsys)
    (outside / "balloons.csv").unlink()
    refused(["export", str(folder), "--to", "csv"], link, outside, capsys)


def test_links_with_names_of_unfinished_files_lead_nowhere(tmp_path: Path, outside: Path) -> None:
    folder = small_crawl(tmp_path / "balloons")
    for name in ("report.html", "balloons.csv"):
        plant(folder / f".{name}.{os.getpid()}.part", outside)
    plant(folder / "crawl.toml.part", outside)
    before = state(outside)
    assert run(["report", str(folder)]) == 0
    assert run(["export", str(folder), "--to", "csv"]) == 0
    assert state(outside) == before


def test_a_salvage_does_not_write_through_a_link(tmp_path: Path, outside: Path) -> None:
    folder = small_crawl(tmp_path / "balloons")
    with (folder / "crawl.db").open("r+b") as file:
        file.write(b"\x00" * 4096)
    for name in ("crawl.db.damaged-1", "crawl.db.salvaged"):
        plant(folder / name, outside)
    (folder / "crawl.db.damaged-2").symlink_to(outside / "new")
    before = state(outside)
    run(["resume", str(folder), "--pages", "1"])
    assert state(outside) == before
    assert (folder / "crawl.db.damaged-3").is_file()


@pytest.mark.parametrize("name", ["crawl.lock", "crawl.db", WARC])
def test_a_hard_link_is_not_written_to(name: str, tmp_path: Path, outside: Path, capsys: Talk) -> None:
    folder = small_crawl(tmp_path / "balloons")
    os.link(folder / name, outside / "theirs")
    before = state(outside)
    code = run(["resume", str(folder), "--pages", "1000"])
    assert f"error: {folder / name} is a hard link: a file elsewhere would change with it\n" in capsys.readouterr().err
    assert code == 4
    assert state(outside) == before
    shutil.copy(folder / name, folder / "copy")
    (folder / "copy").replace(folder / name)
    assert run(["status", str(folder)]) == 0


@pytest.mark.parametrize("name", ["crawl.lock", "model"])
def test_a_new_crawl_does_not_write_through_a_link(name: str, tmp_path: Path, outside: Path, capsys: Talk) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    link = plant(folder / name, outside)
    if name == "crawl.lock":
        refused(["crawl", "bees", "--seed", SEED, "--out", str(folder)], link, outside, capsys)
    else:
        with pytest.raises(UnsafeFile, match="symbolic link"):
            born(folder, "context-graph")


def test_the_desk_does_not_write_its_log_through_a_link(tmp_path: Path, outside: Path) -> None:
    folder = small_crawl(tmp_path / "balloons")
    plant(tmp_path / f"balloons{LOG}", outside)
    before = state(outside)
    with pytest.raises(UnsafeFile, match="symbolic link"):
        Processes().resume(folder)
    assert state(outside) == before


# ---- the laboratory


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
    words = ["--strategies", "breadth-first", "--topics", "1", "--pages", "5", "--at", "5", "--jobs", "1"]
    return ["lab", "run", str(bed), *words, "--out", str(folder)]


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
    words = ["lab", "import", "html", str(site), str(tmp_path / "bed"), "--set", "base=http://bees.test/"]
    refused(words, tmp_path / "bed", outside, capsys)


def test_a_model_is_not_written_through_a_link(tmp_path: Path, outside: Path, capsys: Talk) -> None:
    write_bed(tmp_path / "bed", "demo", WEB.responses(), WEB.topics)
    topic = tmp_path / "mine.toml"
    listed = ", ".join(f'"{url}"' for url in TOPIC.examples)
    topic.write_text(f'[topic]\nkeywords = "{TOPIC.keywords}"\nname = "mine"\nexamples = [{listed}]\n')
    (tmp_path / "model").symlink_to(outside)
    words = ["train", "test-pupil", "--topic", str(topic), "--from", str(tmp_path / "bed")]
    refused([*words, "--out", str(tmp_path / "model")], tmp_path / "model", outside, capsys)


@pytest.mark.parametrize("name", ["t.toml", "t.examples.jsonl"])
def test_a_topic_is_not_written_through_a_link(name: str, tmp_path: Path, outside: Path, capsys: Talk) -> None:
    for folder, word in (("pages", "coral reefs"), ("others", "football")):
        (tmp_path / folder).mkdir()
        for number in range(3):
            text = f"<title>{word} {number}</title><p>{word} and {word} again, number {number}</p>"
            (tmp_path / folder / f"{number}.html").write_text(text)
    link = plant(tmp_path / name, outside)
    words = ["--examples", str(tmp_path / "pages"), "--background", str(tmp_path / "others"), "--force"]
    refused(["topic", "new", str(tmp_path / "t.toml"), *words], link, outside, capsys)


@pytest.mark.parametrize("name", [MARK, "hound"])
def test_the_demo_does_not_write_through_a_link(name: str, tmp_path: Path, outside: Path, capsys: Talk) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / MARK).touch()
    (folder / "hound").mkdir()
    link = plant(folder / name, outside)
    refused(["demo", "--out", str(folder)], link, outside, capsys)


# ---- what is read


SECRET = "secretword"


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls of the same addresses with an index and a portal; every page of `theirs` has a word of its own."""
    top = tmp_path_factory.mktemp("crawls")
    theirs = {url: (f"{title} {SECRET}", f"{text} {SECRET}", links) for url, (title, text, links) in SMALL_WEB.items()}
    for name, web in (("mine", SMALL_WEB), ("theirs", theirs)):
        folder = small_crawl(top / name, web)
        for command in ("index", "portal", "map"):
            assert run([command, str(folder)]) == 0
    return top


@pytest.mark.parametrize(
    "name", ["index", "index/text.db", WARC, "pages", "portal", "portal/.portal/files.json", "portal/categories.toml"]
)
def test_nothing_outside_of_a_folder_is_read_and_shown(name: str, crawls: Path, tmp_path: Path, capsys: Talk) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(crawls / "mine", folder)
    link = folder / name
    shutil.rmtree(link) if link.is_dir() else link.unlink()
    link.symlink_to(crawls / "theirs" / name)
    before = state(crawls)
    for words in (
        ["show", "{}", SEED],
        ["search", "{}", "balloons", "--category", "x"],
        ["portal", "{}"],
        ["map", "{}"],
    ):
        run([word.format(folder) for word in words])
    told = "".join(capsys.readouterr())
    with client(tmp_path / "home", folder) as desk:
        for path in ("/search?q=balloons", f"/copy?url={SEED}", f"/page?url={SEED}", "/portal/index.html"):
            told += desk.get(f"/c/crawl{path}").text
        told += desk.get("/api/collections/crawl/search?q=balloons").text
    written = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    told += "".join(path.read_bytes().decode("latin-1") for path in written if folder / name not in path.parents)
    assert SECRET not in told.lower()
    assert state(crawls) == before


@pytest.mark.parametrize("name", [WARC, "portal/.portal/files.json", "portal/categories.toml"])
def test_nobody_waits_for_a_pipe_in_a_folder(name: str, crawls: Path, tmp_path: Path, capsys: Talk) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(crawls / "mine", folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert run(["portal", str(folder)]) == 4
    assert f"{folder / name} is not a regular file" in capsys.readouterr().err


def test_a_cell_whose_name_leads_out_of_its_experiment_is_refused(
    experiment: Path, tmp_path: Path, capsys: Talk
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(experiment, folder)
    cells = (folder / "cells.jsonl").read_text()
    (folder / "cells.jsonl").write_text(cells.replace('"key":"breadth-first', '"key":"../../breadth-first', 1))
    assert run(["lab", "report", str(folder)]) == 4
    assert "names no crawl in line" in capsys.readouterr().err
