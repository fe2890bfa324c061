"""If links are planted where a command writes, nothing outside changes, and the command names the link."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.desk.agent_tools.agent_limits import ToolLimits
from scenthound.desk.agent_tools.tool_methods import Tools
from scenthound.desk.apps.companion import Companion
from scenthound.desk.apps.companion.companion import FILE as PROFILE
from scenthound.desk.commands.demo_command import MARK
from scenthound.desk.pairing import FILE as PAIRINGS
from scenthound.desk.pairing import Pairings
from scenthound.desk.start_processes import LOG, Processes
from scenthound.errors import UnsafeFile
from support import pupil  # noqa: F401 - registers the test's strategy
from support.application_webs import CLUB_SEEDS, CLUBS
from support.desk import client
from support.html_crawl import html_crawl
from support.planted_links import Talk, plant, refused, state
from support.resuming import born
from support.small_crawl import SEED, small_crawl
from support.small_crawl import WEB as SMALL_WEB

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
    output = capsys.readouterr()
    assert state(outside) == before
    assert "Traceback" not in output.err
    assert code == 4, output
    assert f"{link} is a symbolic link" in output.err


@pytest.mark.parametrize("name", ["crawl.lock", "crawl.toml", "crawl.db", "pages", "index"])
def test_an_answer_is_not_kept_behind_a_link(name: str, tmp_path: Path, outside: Path, capsys: Talk) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    plant(folder / name, outside)
    before = state(outside)
    assert run(["ask", "balloons", "--seed", SEED, "--keep", str(folder)]) == 4
    assert "Traceback" not in capsys.readouterr().err
    assert state(outside) == before


def test_a_table_of_organisations_is_not_written_through_a_link(tmp_path: Path, outside: Path, capsys: Talk) -> None:
    folder = html_crawl(tmp_path / "clubs", CLUBS, CLUB_SEEDS, "hot air balloons")
    link = plant(tmp_path / "related.csv", outside)
    refused(["related", str(folder), "--csv", str(link)], link, outside, capsys)


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


@pytest.mark.parametrize("name", ["index", "index/text.db", "index/crawl.lock"])
def test_no_tool_of_an_agent_writes_through_a_link(name: str, tmp_path: Path, outside: Path) -> None:
    folder = small_crawl(tmp_path / "balloons")
    (folder / name).parent.mkdir(exist_ok=True)
    plant(folder / name, outside)
    before = state(outside)
    tools = Tools(tmp_path / "home", [folder], ToolLimits())
    with pytest.raises(UnsafeFile, match="symbolic link"):
        tools.search("balloons", "air", 5)
    assert state(outside) == before


def test_an_agent_starts_no_crawl_whose_log_is_a_link(tmp_path: Path, outside: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    tools = Tools(home, [], ToolLimits())
    plant(home / f"balloons{LOG}", outside)
    before = state(outside)
    with pytest.raises(UnsafeFile, match="symbolic link"):
        tools.start_crawl("balloons", [SEED], 3)
    assert state(outside) == before


@pytest.mark.parametrize("name", [".", PROFILE, PAIRINGS])
@pytest.mark.parametrize("is_there", [True, False])
def test_the_companion_does_not_write_through_a_link(
    name: str, is_there: bool, tmp_path: Path, outside: Path, capsys: Talk
) -> None:
    folder = tmp_path / "companion"
    if is_there:
        Pairings(folder).listen_on(8000)
        Companion(folder).exclude(["no.test"])
    elif name != ".":
        folder.mkdir()
    link = plant(folder / name, outside)
    refused(["companion", str(folder), "--no-browser"], link, outside, capsys)


@pytest.mark.parametrize("name", [PROFILE, PAIRINGS])
def test_a_link_that_is_planted_while_the_companion_runs_is_not_followed(
    name: str, tmp_path: Path, outside: Path
) -> None:
    folder = tmp_path / "companion"
    companion, pairings = Companion(folder), Pairings(folder)
    plant(folder / name, outside)
    before = state(outside)
    with pytest.raises(UnsafeFile, match="symbolic link"):
        pairings.listen_on(8000) if name == PAIRINGS else companion.exclude(["no.test"])
    assert state(outside) == before


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
    """Two crawls of the same URLs with an index and a portal; every page of `theirs` contains a distinct word."""
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
    output = "".join(capsys.readouterr())
    with client(tmp_path / "home", folder) as desk:
        for path in ("/search?q=balloons", f"/copy?url={SEED}", f"/page?url={SEED}", "/portal/index.html"):
            output += desk.get(f"/c/crawl{path}").text
        output += desk.get("/api/collections/crawl/search?q=balloons").text
    written = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    output += "".join(path.read_bytes().decode("latin-1") for path in written if folder / name not in path.parents)
    assert SECRET not in output.lower()
    assert state(crawls) == before


@pytest.mark.parametrize("name", [WARC, "portal/.portal/files.json", "portal/categories.toml"])
def test_no_command_hangs_on_a_pipe_in_a_folder(name: str, crawls: Path, tmp_path: Path, capsys: Talk) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(crawls / "mine", folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert run(["portal", str(folder)]) == 4
    assert f"{folder / name} is not a regular file" in capsys.readouterr().err
