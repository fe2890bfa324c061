"""If the disk fails, the exit code is 5, one line names the cause, and the crawl can be resumed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.long_form import long_form
from support.power_loss import build_shim

KINDS = {"EIO": "rwsn", "EMFILE": "o"}
STEP = {"EIO": long_form(307, 61), "EMFILE": long_form(13, 7)}


def attempts(folder: Path, error: str, step: int) -> list[dict[str, Any]]:
    shim = build_shim(folder)
    if shim is None:
        pytest.skip("there is no C compiler")
    surroundings = {
        **os.environ,
        "LD_PRELOAD": str(shim),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
    }
    command = [sys.executable, "-m", "support.failing_disk", str(shim), str(folder / "disk"), error, KINDS[error]]
    done = subprocess.run(
        [*command, str(step)], env=surroundings, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("error", ["EIO", "EMFILE"])
def test_every_nth_call_fails_with_a_code_and_a_line_of_its_own(tmp_path: Path, error: str) -> None:
    tried = attempts(tmp_path, error, STEP[error])
    assert len(tried) > 5
    for attempt in tried[:-1]:
        text = attempt["said"]
        assert "Traceback" not in text, attempt
        assert "should not happen" not in text, attempt
        assert attempt["code"] in (0, 5), attempt
        assert attempt["code"] == 0 or len([line for line in text.splitlines() if line.startswith("error: ")]) == 1
        assert attempt["again"] == 0, attempt
    assert sum(attempt["code"] == 5 for attempt in tried) > len(tried) / 3, "few failing calls ended the crawl"
    assert tried[-1]["code"] == 0, "no call failed"
