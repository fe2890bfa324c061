"""Run the long forms of the tests in docs/reliability.md one after the other, and print a table of results.

    python benchmarks/hostile.py             # about an hour: 1,000 power cuts, 2,000 changed folders, 200 kills, ...
    python benchmarks/hostile.py --quick     # the same with small numbers: a few minutes
    python benchmarks/hostile.py kill traps  # only these

Each runs in a separate process. The exit code is 1 if any of them failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
NOTHING: Mapping[str, str] = MappingProxyType({})
LONG_TESTS: Mapping[str, str] = MappingProxyType({"SCENTHOUND_LONG_TESTS": "1"})


class Trial(NamedTuple):
    """A command for Python, and the arguments to add for a quick run."""

    promise: str
    command: tuple[str, ...]
    quick: tuple[str, ...] = ()
    environment: Mapping[str, str] = NOTHING
    """Variables for the long form."""


def _tests(*files: str) -> tuple[str, ...]:
    return (
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *(file if file.startswith("-") else f"tests/{file}" for file in files),
    )


TRIALS = {
    "power-loss": Trial("a power cut costs what was not synced yet", ("benchmarks/power_loss.py",), ("--quick",)),
    "bad-state": Trial("a changed folder is repaired or refused", ("benchmarks/bad_state.py",), ("--quick",)),
    "kill": Trial("a killed crawl loses nothing that was committed", ("benchmarks/kill.py",), ("--quick",)),
    "traps": Trial("traps take few requests, good pages all arrive", ("benchmarks/traps.py",), ("--pages", "300")),
    "failing-disk": Trial(
        "I/O errors end a crawl with code 5", _tests("loop/test_failing_disk.py"), environment=LONG_TESTS
    ),
    "floors": Trial(
        "no strategy falls below its pinned recall",
        _tests("test_floors.py", "test_floors_taught.py"),
        environment=LONG_TESTS,
    ),
    "api": Trial("the API answers any input as described", _tests("desk/test_description.py"), environment=LONG_TESTS),
    "failing-commands": Trial(
        "I/O errors end every command with code 5",
        _tests("test_failing_commands.py"),
        environment={"SCENTHOUND_FAIL_EVERY": "5"},
    ),
    "frontier-order": Trial(
        "a frontier on disk has the order of one in memory",
        _tests("store/test_spilling_frontier.py"),
        environment=LONG_TESTS,
    ),
    "any-input": Trial("what holds for any input holds for many", _tests("-mhypothesis"), environment=LONG_TESTS),
    "slow-hosts": Trial(
        "slow and dead hosts do not delay others",
        _tests("loop/test_slow_hosts.py", "loop/test_slots.py", "loop/test_real_sockets.py"),
    ),
    "hostile-web": Trial("a hostile web is crawled", _tests("loop/test_hostile.py")),
    "frontier": Trial(
        "ten million waiting URLs take at most 256 MB",
        ("benchmarks/frontier.py", "--open", "10000000"),
        ("--open", "200000"),
    ),
    "soak": Trial("memory is flat over a long crawl", ("benchmarks/scale.py", "--soak", "200000"), ("--soak", "2000")),
    "memory": Trial(
        "a page costs a bounded amount of memory",
        _tests("page/test_memory.py", "loop/test_memory_of_a_crawl.py", "-rP"),
    ),
    "folder": Trial(
        "nothing in a folder is executed, no symbolic link is followed, no archive is truncated",
        _tests("test_processes.py", "test_files.py", "test_links.py", "lab/test_links.py", "loop/test_archive.py"),
    ),
    "private": Trial(
        "no private address is contacted, no clock change stalls a crawl, no PDF bomb succeeds",
        _tests("test_private_addresses.py", "test_clock_set_back.py", "page/test_pdf.py"),
    ),
}


def run(trial: Trial, is_quick: bool) -> tuple[bool, float, str]:
    """Run a trial. Returns whether it passed, its duration in seconds, and its last line of output."""
    command = [sys.executable, *trial.command, *(trial.quick if is_quick else ())]
    environment = {**os.environ, **({} if is_quick else trial.environment)}
    began = time.monotonic()
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        last = ""
        for line in process.stdout:
            print(f"    {line}", end="", flush=True)
            last = line.strip() or last
    return process.returncode == 0, time.monotonic() - began, last


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trials", nargs="*", metavar="TRIAL", help=f"some of: {', '.join(TRIALS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="small numbers, for a quick run")
    options = parser.parse_args()
    if unknown := [name for name in options.trials if name not in TRIALS]:
        parser.error(f"no such trial: {', '.join(unknown)}; choose from {', '.join(TRIALS)}")
    outcomes = {}
    for name in options.trials or TRIALS:
        print(f"{name}: {TRIALS[name].promise}", flush=True)
        outcomes[name] = run(TRIALS[name], options.quick)
    print(f"\n{'trial':13} {'result':7} seconds  last line")
    for name, (passed, seconds, last) in outcomes.items():
        print(f"{name:13} {'passed' if passed else 'FAILED':7} {seconds:7.0f}  {last[:90]}")
    return int(not all(passed for passed, _, _ in outcomes.values()))


if __name__ == "__main__":
    raise SystemExit(main())
