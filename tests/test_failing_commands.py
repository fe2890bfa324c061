"""If the disk fails during a command, there is a distinct exit code, one line with the cause, and no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from scenthound.cli.root_command import app
from support.power_loss import build_shim

KINDS = {"EIO": "rwsn", "EMFILE": "o"}
FEW = ("index-again", "portal", "ask-and-keep", "desk", "mcp", "companion")
STEP = {"EIO": 419, "EMFILE": 131}
LONG = "SCENTHOUND_FAIL_EVERY"
"""If this variable is set to N, all commands are tried, and every N-th call fails: see benchmarks/hostile.py."""


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


def command_paths(command: click.Command, context: click.Context, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Every command, such as `lab run`."""
    if not isinstance(command, click.Group):
        yield " ".join(path)
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from command_paths(inner, context, (*path, name))


def test_every_command_is_tried_or_has_a_reason_not_to_be() -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    from support.failing_commands import ASKED, COMMANDS, ELSEWHERE

    there = set(command_paths(app, click.Context(app)))
    tried = {path for words in COMMANDS.values() for path in there if words[: path.count(" ") + 1] == path.split()}
    assert tried | set(ASKED) | set(ELSEWHERE) == there


def fault(attempt: Mapping[str, Any]) -> str:
    """The problems with how a command failed; empty if there are none."""
    text, code = attempt["said"], attempt["code"]
    allowed = (0, 1, 2) if attempt["command"] in ("seeds", "backlinks") else (0, 5)  # a source must not end a crawl
    faults = {
        "a traceback": "Traceback" in text or "should not happen" in text,
        f"code {code}": code not in allowed,
        "no cause": code != 0 and "error: " not in text,
        f"code {attempt['again']} when it was run again": attempt["again"] != 0,
    }
    return ", ".join(name for name, is_true in faults.items() if is_true)


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("error", ["EIO", "EMFILE"])
def test_every_command_says_that_the_disk_failed(tmp_path: Path, error: str) -> None:
    tried = attempts(tmp_path, error)
    assert {attempt["command"] for attempt in tried} >= set(FEW)
    assert [(fault(attempt), attempt) for attempt in tried if fault(attempt)] == []
    assert any(attempt["code"] == 5 for attempt in tried)
