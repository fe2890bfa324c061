"""A disk that fails under the commands that work on a crawl: a code of their own, one line of cause, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.power_loss import build_shim

KINDS = {"EIO": "rwsn", "EMFILE": "o"}
FEW = ("index-again", "portal", "desk", "mcp", "companion")
STEP = {"EIO": 101, "EMFILE": 37}
LONG = "SCENTHOUND_FAIL_EVERY"
"""If this variable is set, all commands are tried, and every so many-th call fails: see benchmarks/hostile.py."""


def attempts(folder: Path, error: str) -> list[dict[str, Any]]:
    shim = build_shim(folder)
    if shim is None:
        pytest.skip("there is no C compiler")
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    surroundings = {
        **os.environ,
        "LD_PRELOAD": str(shim),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
        "SCENTHOUND_CACHE": str(folder / "cache"),
    }
    command = [sys.executable, "-m", "support.failing_commands", str(shim), str(folder / "disk"), error, KINDS[error]]
    rest = [os.environ[LONG]] if LONG in os.environ else [str(STEP[error]), *FEW]
    done = subprocess.run(
        [*command, *rest], env=surroundings, capture_output=True, text=True, timeout=3000, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"command"')]


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("error", ["EIO", "EMFILE"])
def test_every_command_says_that_the_disk_failed(tmp_path: Path, error: str) -> None:
    tried = attempts(tmp_path, error)
    assert {attempt["command"] for attempt in tried} >= set(FEW)
    for attempt in tried:
        text, names_no_source = attempt["said"], attempt["command"] not in ("seeds", "backlinks")
        assert "Traceback" not in text, attempt
        assert "should not happen" not in text, attempt
        assert attempt["code"] in (0, 5) if names_no_source else attempt["code"] in (0, 1, 2), attempt
        assert attempt["code"] == 0 or "error: " in text, attempt
        assert attempt["again"] == 0, attempt
    assert any(attempt["code"] == 5 for attempt in tried)
