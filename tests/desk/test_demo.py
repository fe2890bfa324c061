"""The demo leads to the desk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from scenthound.cli.root_command import run

ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_opens_both_crawls_at_the_desk(tmp_path: Path) -> None:
    words = ["demo", "--pages", "20", "--out", str(tmp_path / "demo"), "--desk", "--no-browser"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "scenthound", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("http://127.0.0.1:"):
                break
        assert any("scenthound desk" in line for line in lines), "it names the command"
        with urllib.request.urlopen(lines[-1].partition("#")[0] + "api/collections", timeout=30) as answer:
            found = {row["name"]: row["pages"] for row in json.load(answer)["collections"]}
        assert found == {"hound": 20, "breadth-first": 20}
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


def test_an_option_of_the_desk_needs_the_desk(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--no-browser"]) == 2
    assert "add --desk" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_demo_ends_by_naming_the_command_that_opens_the_desk() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.rstrip().splitlines()[-1].endswith('scenthound desk demo"')
