"""The command line's promises: help, JSON, exit codes, and quick starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import scenthound
from scenthound.cli.root_command import COMMANDS, app, run
from scenthound.errors import BadConfig, DiskFull
from support.small_crawl import small_crawl


def every_command(
    group: click.Command = app, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None, name
            yield (*path, name), command
            yield from every_command(command, (*path, name))


LEAVES = [(path, command) for path, command in every_command() if not isinstance(command, click.Group)]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_crawl(tmp_path_factory.mktemp("cli") / "crawl")


def json_of(words: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> object:
    assert run([*words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


# ---- help


@pytest.mark.parametrize("path", [path for path, _ in LEAVES], ids=" ".join)
def test_every_command_has_help_with_an_example_and_json(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*path, "--help"]) == 0
    told = capsys.readouterr().out
    assert f"$ scenthound {' '.join(path)}" in told
    assert "--json" in told


def test_the_contract_of_the_design_is_there() -> None:
    names = {" ".join(path) for path, _ in every_command()}
    assert names >= {
        "demo", "crawl", "resume", "status", "trail", "explain", "report", "export", "strategies", "doctor",
        "completion", "lab", "lab generate", "lab serve",
    }  # fmt: skip


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    told = capsys.readouterr().out
    assert all(f"  {name} " in told for name in COMMANDS)


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom scenthound.cli.root_command import run\nrun(['--help'])\n"
        "heavy = {'aiohttp', 'numpy', 'rich', 'selectolax', 'sqlite3', 'scenthound.crawl', 'scenthound.wiring'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"scenthound {scenthound.__version__}\n"


def test_it_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "scenthound", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("scenthound ")


# ---- errors


@pytest.mark.parametrize(
    ("words", "code", "message", "hint"),
    [
        (["crwl"], 2, "error: no command called `crwl`", "hint: did you mean `crawl`?"),
        (["lab", "genrate"], 2, "error: no command called `genrate`", "hint: did you mean `generate`?"),
        (["status"], 2, "error: Missing argument 'DIR'.", "hint: see `scenthound status --help`"),
        (["status", "x", "--jsn"], 2, "--jsn", "hint: see `scenthound status --help`"),
        (["status", "nowhere"], 4, "error: there is no folder nowhere", "hint: give the folder"),
        (["strategies", "best-frist"], 2, "error: no strategy called `best-frist`", "hint: did you mean `best-first`?"),
        (["export", "x", "--to", "jsnl"], 2, "error: no export format called `jsnl`", "hint: did you mean `jsonl`?"),
        (["completion", "tcsh"], 2, "'tcsh'", "hint: see `scenthound completion --help`"),
        (["demo", "--pages", "0"], 2, "--pages", "hint: see `scenthound demo --help`"),
        (["lab", "serve", "nowhere"], 4, "error: no bed in nowhere", "hint: make one"),
    ],
)
def test_mistakes_are_named_with_a_way_out(
    words: list[str], code: int, message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err
    assert hint in told.err
    assert run([*words, "--json"]) == code
    told = capsys.readouterr()
    document = json.loads(told.out)
    assert document["exit_code"] == code
    assert set(document) == {"error", "hint", "exit_code"}


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    told = capsys.readouterr()
    assert "Commands:" in told.out + told.err


@pytest.mark.parametrize(
    ("error", "code"),
    [(DiskFull("no room"), 3), (BadConfig("bad"), 4), (OSError(28, "No space left on device"), 3), (KeyError("x"), 1)],
)
def test_what_goes_wrong_has_its_exit_code(
    error: Exception, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("scenthound.cli.doctor_command.examine", fail)
    assert run(["doctor"]) == code
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert "Traceback" not in told


def test_debug_shows_where_it_came_from(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("scenthound.cli.doctor_command.examine", lambda: 1 / 0)
    assert run(["--debug", "doctor"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_errors_are_cleaned_of_escape_sequences(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "\x1b]0;owned\x07\x1b[31mx"]) == 4
    assert "\x1b" not in capsys.readouterr().err


def test_a_closed_pipe_is_not_an_error(crawled: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "scenthound", "trail", str(crawled)], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


# ---- looking at a crawl


def test_status_for_people_and_programs(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", str(crawled)]) == 0
    told = capsys.readouterr().out
    for words in ("hot air balloons", "4 of 1,000", "http-404 1", "no URL was left to fetch", "http://a.test/"):
        assert words in told
    assert "\x1b" not in told
    found = json_of(["status", str(crawled)], capsys)
    assert isinstance(found, dict)
    assert (found["pages"], found["misses"], found["ended"], found["frontier"]) == (
        4,
        {"http-404": 1},
        "frontier empty",
        0,
    )


def test_the_trail_is_json_lines(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = [
        "n",
        "url",
        "parent",
        "anchor",
        "score",
        "parts",
        "similarity",
        "relevance",
        "relevant",
        "depth",
        "status",
        "bytes",
        "time",
    ]
    assert run(["trail", str(crawled)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [list(line) for line in lines] == [keys] * 4
    assert run(["trail", str(crawled), "--limit", "2", "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert run(["trail", str(crawled), "--misses"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["reason"] for line in lines if "reason" in line] == ["http-404"]


def test_explain_tells_the_path(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", str(crawled), "http://c.test/three"]) == 0
    told = capsys.readouterr().out
    assert told.index("http://a.test/") < told.index("http://c.test/two") < told.rindex("http://c.test/three")
    assert "a seed" in told
    found = json_of(["explain", str(crawled), "http://d.test/gone"], capsys)
    assert isinstance(found, dict)
    assert found["state"] == "dead"
    assert run(["explain", str(crawled), "not a url"]) == 2
    told = capsys.readouterr().err
    assert "not a URL" in told
    assert "hint: write the full URL" in told


def test_report_is_regenerated(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (crawled / "report.html").unlink(missing_ok=True)
    found = json_of(["report", str(crawled)], capsys)
    assert found == {"report": str(crawled / "report.html")}
    assert (crawled / "report.html").is_file()


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet", "wacz", "gexf"])
def test_export_writes_a_file_and_says_which(
    name: str, crawled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json_of(["export", str(crawled), "--to", name], capsys)
    assert isinstance(found, dict)
    assert (found["file"], found["pages"]) == (str(crawled / f"crawl.{name}"), 4)
    file = tmp_path / "mine"
    assert run(["export", str(crawled), "--to", name, "--output", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    file.write_text("precious")
    assert run(["export", str(crawled), "--to", name, "--output", str(file)]) == 2
    assert file.read_text() == "precious"
    assert run(["export", str(crawled), "--to", name, "--output", str(file), "--force"]) == 0
    assert file.stat().st_size == found["bytes"] or name == "wacz"


def test_export_to_stdout(crawled: Path) -> None:
    words = [sys.executable, "-m", "scenthound", "export", str(crawled), "--to", "jsonl", "--output", "-"]
    done = subprocess.run(words, capture_output=True, check=True)
    assert [json.loads(line)["n"] for line in done.stdout.splitlines()] == [1, 2, 3, 4]


# ---- the rest


def test_strategies_tells_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    found = json_of(["strategies"], capsys)
    assert isinstance(found, list)
    assert {"breadth-first", "random", "best-first", "best-n-first"} <= {one["name"] for one in found}
    one = json_of(["strategies", "best-n-first"], capsys)
    assert isinstance(one, dict)
    assert one["parameters"][0]["name"] == "n"
    assert one["parameters"][0]["default"] == 256
    assert any("exploration versus exploitation" in paper.lower() for paper in one["papers"])
    assert run(["strategies", "best-first"]) == 0
    assert "stop_words" in capsys.readouterr().out


def test_doctor_finds_this_machine_well(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = json_of(["doctor"], capsys)
    assert isinstance(found, dict)
    assert found["ok"] is True
    assert {"Python", "SQLite", "loopback", "strategies"} <= {one["what"] for one in found["findings"]}


def test_doctor_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from scenthound.cli import doctor_command

    real = doctor_command._version
    monkeypatch.setattr(doctor_command, "_version", lambda name: "" if name == "click" else real(name))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run(["doctor"]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "pip install 'scenthound[parquet]'" in told
    assert "pip install click" in told


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_for_the_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    assert "_SCENTHOUND_COMPLETE" in capsys.readouterr().out


def test_completion_completes_commands() -> None:
    environment = {
        **os.environ,
        "_SCENTHOUND_COMPLETE": "bash_complete",
        "COMP_WORDS": "scenthound st",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", "from scenthound.cli import main; main()"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["plain,status", "plain,strategies"]


# ---- the façade


def test_importing_the_package_imports_nothing_else() -> None:
    script = "import sys, scenthound; print([m for m in sys.modules if m.startswith('scenthound.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    for name in scenthound.__all__:
        assert getattr(scenthound, name) is not None
    assert set(scenthound.__all__) <= set(dir(scenthound))
    with pytest.raises(AttributeError, match="no attribute `nonsense`"):
        scenthound.nonsense  # noqa: B018


def test_crawl_is_a_verb_and_a_room() -> None:
    script = (
        "import scenthound\nfrom scenthound import crawl\nimport scenthound.loop.core as core\n"
        "assert callable(crawl) and callable(scenthound.crawl) and core.Crawl\n"
        "from scenthound import wiring\nprint(wiring.crawl.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "crawl"
