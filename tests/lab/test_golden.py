"""The worked examples of sheets 50 and 60, number by number."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

TOLERANCE = 2e-6


def the_golden_module() -> Any:
    spec = importlib.util.spec_from_file_location(
        "golden_lab", Path(__file__).resolve().parents[1] / "support" / "golden_lab.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def differences(expected: Any, actual: Any, where: str = "") -> list[str]:
    """Where two values differ: orders and strings exactly, numbers by more than the tolerance."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        wrong = [f"{where}: keys {expected.keys() ^ actual.keys()}"] if expected.keys() != actual.keys() else []
        return wrong + [
            line
            for key in expected.keys() & actual.keys()
            for line in differences(expected[key], actual[key], f"{where}/{key}")
        ]
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        return [
            line
            for n, pair in enumerate(zip(expected, actual, strict=True))
            for line in differences(*pair, f"{where}[{n}]")
        ]
    if isinstance(expected, float | int) and isinstance(actual, float | int):
        return [] if abs(expected - actual) <= TOLERANCE else [f"{where}: {actual} instead of {expected}"]
    return [] if expected == actual else [f"{where}: {actual!r} instead of {expected!r}"]


@pytest.mark.parametrize("key", ["metrics", "topic", "ttest", "augment", "pr"])
def test_the_worked_example_comes_out(golden_public: Path, key: str) -> None:
    golden = json.loads(golden_public.read_text(encoding="utf-8"))
    orders = {
        "breadth-first": golden["expected"]["bf"]["unbounded"],
        "hub-seeking": golden["expected"]["hub"]["order"],
    }
    found = the_golden_module().compute(golden["inputs"], orders)
    assert differences(golden["expected"][key], found[key]) == []


def test_a_wrong_number_is_detected() -> None:
    assert differences({"a": [1.0, None]}, {"a": [1.00001, None]}) == ["/a[0]: 1.00001 instead of 1.0"]
    assert differences([1], [1, 2]) == [": [1, 2] instead of [1]"]
    assert differences({"a": 1}, {"b": 1}) != []
