"""The optional parts of the installation: listed by the doctor, and checked before a command begins to work."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from scenthound.cli.root_command import run
from scenthound.extras import WHAT_FOR, extras
from support.small_crawl import small_crawl

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def test_the_doctor_lists_every_extra_of_the_package_and_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    declared = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras()) == set(declared) == set(WHAT_FOR)
    run(["doctor", "--json"])
    findings = {finding["what"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]}
    for name in declared:
        assert WHAT_FOR[name] in findings[f"extra {name}"]["detail"]


def test_the_doctor_names_an_extra_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    run(["doctor", "--json"])
    findings = {finding["what"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]}
    missing = findings["extra zstd"]
    assert (missing["state"], missing["todo"]) == ("missing", "pip install 'scenthound[zstd]'")


@pytest.mark.parametrize(
    ("command", "extra", "package"),
    [
        ("lab run BED --strategies breadth-first --pages 5 --out OUT", "lab", "pyarrow"),
        ("lab run BED --strategies breadth-first --pages 5 --out OUT", "lab", "scipy"),
        ("lab measure CRAWL", "lab", "scipy"),
        ("lab report CRAWL", "lab", "pyarrow"),
        ("lab compare CRAWL a b", "lab", "scipy"),
        ("export CRAWL --to parquet --output OUT", "parquet", "pyarrow"),
        ("desk --no-browser", "desk", "uvicorn"),
        ("mcp CRAWL", "mcp", "mcp"),
        ("crawl bees --seed http://a.test/ --pdf --out OUT", "pdf", "pypdf"),
        ("crawl bees --seed http://a.test/ --proxy socks5://127.0.0.1:1 --out OUT", "socks", "aiohttp_socks"),
        ("export CRAWL --to jsonl --fields main_text --output OUT", "text", "resiliparse"),
    ],
)
def test_a_command_names_the_missing_extra_before_it_does_anything(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    extra: str,
    package: str,
) -> None:
    crawl = small_crawl(tmp_path / "crawl")
    assert run(["lab", "generate", str(tmp_path / "bed"), "--pages", "60"]) == 0
    capsys.readouterr()
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    places = {"BED": tmp_path / "bed", "CRAWL": crawl, "OUT": tmp_path / "out"}
    assert run([str(places.get(word, word)) for word in command.split()]) in (2, 4)
    told = capsys.readouterr().err
    assert f"scenthound[{extra}]" in told
    assert "bug" not in told
    assert not (tmp_path / "out").exists()


def test_a_data_frame_without_pandas_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scenthound.errors import BadConfig
    from scenthound.loop.folder import CrawlFolder

    monkeypatch.setitem(sys.modules, "pandas", None)
    with (
        CrawlFolder.look(small_crawl(tmp_path / "crawl")) as opened,
        pytest.raises(BadConfig, match=r"scenthound\[pandas\]"),
    ):
        opened.to_pandas()
