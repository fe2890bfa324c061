"""docs/reliability.md: every promise names tests or commands that exist, and a figure."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reliability.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| promise |", "| what was wrong |"))
]
NAMED = re.compile(r"`((?:python )?(?:tests|benchmarks)/[^`]+|make [^`]+)`")
MADE = re.compile(r"^([a-z-]+):", re.MULTILINE)


def trials() -> set[str]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from hostile import TRIALS
    finally:
        sys.path.pop(0)
    return set(TRIALS)


def missing(named: str) -> list[str]:
    """What a named test or command needs but is missing."""
    first, *words = named.removeprefix("python ").split()
    if first == "make":
        targets = MADE.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
        return [word for word in words if "=" not in word and word not in targets]
    if not (ROOT / first).exists():
        return [first]
    if first == "benchmarks/hostile.py":
        return [word for word in words if not word.startswith("--") and word not in trials()]
    options = [word for word in words if word.startswith("--")]
    text = (ROOT / first).read_text(encoding="utf-8") if options else ""
    return [option for option in options if f'"{option}"' not in text]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_a_promise_names_tests_and_a_figure(row: list[str]) -> None:
    promise, tests, figure = row
    assert promise
    assert figure
    assert NAMED.findall(tests), f"no test or command: {tests}"


def test_what_the_page_names_exists() -> None:
    named = NAMED.findall(PAGE.read_text(encoding="utf-8"))
    assert len(named) > 60
    assert {name: lacking for name in named if (lacking := missing(name))} == {}


@pytest.mark.parametrize("named", ["tests/no_such.py", "benchmarks/scale.py --no-such 3", "make nothing"])
def test_a_name_that_does_not_exist_is_found(named: str) -> None:
    assert missing(named)
