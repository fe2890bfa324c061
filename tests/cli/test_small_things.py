"""What a newcomer stumbles over: numbers, proxies, a crawl that brought nothing, words that need a key."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from scenthound.cli.cited_papers import PAPERS
from scenthound.cli.root_command import run
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.settings import Settings, read
from scenthound.report.causes import meaning
from support.small_crawl import small_crawl

DEAD = ["--proxy", "http://127.0.0.1:1", "--delay", "0", "--set", "backoff=0.01", "--set", "retries=0"]


def test_a_number_may_begin_with_its_point() -> None:
    assert read(Settings, {"delay": ".2"}).delay == 0.2
    assert read(Settings, {"delay": ".5 s", "relevant": ".25"}).delay == 0.5
    assert read(Settings, {"delay": "1."}).delay == 1.0


@pytest.mark.parametrize("proxy", ["banana", "banana/", "://x", "http://"])
def test_a_proxy_that_is_none_is_refused_before_anything_is_written(
    proxy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["crawl", "bees", "--seed", "http://a.test/", "--proxy", proxy, "--out", str(tmp_path / "out")]) == 4
    assert "proxy" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_crawl_that_fetched_nothing_gives_way_to_its_correction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    assert run(["crawl", "bees", "--seed", "http://a.test/", *DEAD, "--out", out]) == 1
    assert run(["crawl", "honey", "--seed", "http://b.test/", *DEAD, "--out", out]) == 1
    with CrawlFolder.look(out) as folder:
        assert folder.request.topic.keywords == "honey"


def test_a_crawl_with_pages_or_other_files_is_never_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = small_crawl(tmp_path / "full")
    assert run(["crawl", "bees", "--seed", "http://a.test/", *DEAD, "--out", str(folder)]) == 4
    assert "there is a crawl in" in capsys.readouterr().err
    out = tmp_path / "noted"
    assert run(["crawl", "bees", "--seed", "http://a.test/", *DEAD, "--out", str(out)]) == 1
    (out / "notes.txt").write_text("mine")
    assert run(["crawl", "bees", "--seed", "http://a.test/", *DEAD, "--out", str(out)]) == 4
    assert (out / "notes.txt").read_text() == "mine"


def test_a_running_crawl_is_never_replaced(tmp_path: Path) -> None:
    from scenthound.errors import BadConfig
    from scenthound.wiring import begin

    session = begin("bees", "http://a.test/", tmp_path / "out")
    with pytest.raises(BadConfig, match="there is a crawl"):
        begin("bees", "http://a.test/", tmp_path / "out")
    session.close()


def test_redirects_are_explained_correctly() -> None:
    assert "already" in meaning("redirect-to-known")
    assert "circles" in meaning("redirect-loop")
    assert "may not fetch" in meaning("redirect-out-of-scope")


def test_addresses_in_a_command_are_quoted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "my crawl"
    assert run(["crawl", "bees", "--seed", "http://a.test/", *DEAD, "--out", str(out)]) == 1
    (out / "notes.txt").write_text("mine")
    assert run(["crawl", "bees", "--seed", "http://a.test/", *DEAD, "--out", str(out)]) == 4
    hint = capsys.readouterr().err.split("scenthound resume ")[1]
    assert shlex.split(hint)[0] == str(out)


def test_short_names_of_papers_and_sheets_have_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["strategies", "best-first"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "[EXP] Pant, Srinivasan, Menczer" in told
    assert "Sheets 20.2, 00: the sections with these numbers in docs/spec" in told
    assert run(["judges", "keywords-present"]) == 0
    assert "[CHAP] Pant, Srinivasan, Menczer" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("words", [["strategies"], ["judges"], ["lab", "import", "--help"], ["lab", "run", "--help"]])
def test_lists_and_help_have_no_short_names_of_papers(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 0
    assert not re.search(rf"\[({'|'.join(PAPERS)})|[Ss]heet \d", capsys.readouterr().out)


def test_settings_speak_to_users() -> None:
    from dataclasses import fields

    assert not [field.name for field in fields(Settings) if "sheet" in field.metadata["doc"]]


def test_the_demo_shows_commands_that_work_where_the_program_is_not_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", [".venv/bin/scenthound", "demo"])
    assert run(["demo", "--pages", "10", "--out", str(tmp_path / "demo")]) == 0
    assert "  .venv/bin/scenthound desk " in capsys.readouterr().out
