"""What CI runs, and in which order, asked of the scripts themselves with a `make` that only notes its targets."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def made(tmp_path: Path, failing: str = "") -> tuple[int, list[str]]:
    """The exit code of `.ci/run`, and the targets that it made."""
    program = tmp_path / "make"
    program.write_text(f'#!/bin/sh\nfor target; do echo "$target" >> {tmp_path}/made; done\n[ "$*" != "{failing}" ]\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([ROOT / ".ci" / "run"], env=environment, capture_output=True, timeout=60, check=False)
    return done.returncode, (tmp_path / "made").read_text().split()


def test_ci_checks_then_tests_with_other_numerics_and_closes_with_all_tests(tmp_path: Path) -> None:
    code, targets = made(tmp_path)
    assert code == 0
    assert {"format-check", "lint", "types", "docs-check"} < set(targets)
    assert targets[-2:] == ["portable", "test"]


def test_a_failure_with_other_numerics_fails_ci(tmp_path: Path) -> None:
    code, targets = made(tmp_path, failing="portable")
    assert code != 0
    assert targets[-1] == "portable"


def test_all_tests_run_on_all_cores_and_show_the_slowest_and_why_some_were_skipped() -> None:
    command = ["make", "--dry-run", "--no-print-directory", "WORKERS=5", "test"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout
    announced, tests = printed.strip().splitlines()[-2:]
    assert announced == "scripts/system_tools.sh chromium searx"
    assert "-n 5" in tests
    assert "--durations 20" in tests
    assert "-r fEs" in tests
