"""The worked examples of the sheets are reproduced to the last printed digit."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parent / "golden.py"
NEAR = 2e-6
Answered = tuple[dict[str, Any], dict[str, Any], str]
COMPUTED = [
    *("urls", "words", "md5", "toy_terms", "toy_sim", "weights"),
    *("bf", "naive", "dom", "hub", "hub_n", "fish", "shark", "spread"),
    *("hayek", "curriculum", "ig"),
    *("nb", "bayes", "tax", "distil"),
    *("cg", "rl", "ic", "app"),
    *("is_links", "is_learn", "is_energy"),
    *("cc", "gc", "pr", "order"),
    *("metrics", "topic", "ttest", "augment"),
]


def differences(found: Any, right: Any, path: str = "") -> Iterator[str]:
    """Where two JSON values differ, such as `naive.scores[3][1]: 0.5 is not 0.4`."""
    if isinstance(right, dict) and isinstance(found, dict):
        for key in right.keys() | found.keys():
            if key not in found or key not in right:
                yield f"{path}.{key}: {'missing' if key in right else 'not asked for'}"
            else:
                yield from differences(found[key], right[key], f"{path}.{key}")
    elif isinstance(right, list) and isinstance(found, list):
        if len(found) != len(right):
            yield f"{path}: {len(found)} values, not {len(right)}: {found} is not {right}"
        else:
            for place, (one, other) in enumerate(zip(found, right, strict=True)):
                yield from differences(one, other, f"{path}[{place}]")
    elif _is_number(found) and _is_number(right):
        if not abs(found - right) <= NEAR:
            yield f"{path}: {found} is not {right}"
    elif found != right or type(found) is not type(right):
        yield f"{path}: {found!r} is not {right!r}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def run(inputs: Path) -> tuple[dict[str, Any], str]:
    """The results of the script, and its printed explanation."""
    done = subprocess.run([sys.executable, str(SCRIPT), str(inputs)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["expected"], done.stderr


@pytest.fixture(scope="module")
def answered(golden_public: Path, tmp_path_factory: pytest.TempPathFactory) -> Answered:
    """Our results, computed from a file with only the inputs, and the right results."""
    public = json.loads(golden_public.read_text(encoding="utf-8"))
    blind = tmp_path_factory.mktemp("golden") / "inputs.json"
    blind.write_text(json.dumps({"inputs": public["inputs"]}), encoding="utf-8")
    found, talk = run(blind)
    return found, public["expected"], talk


@pytest.mark.parametrize("key", COMPUTED)
def test_a_worked_example_comes_out(key: str, answered: Answered) -> None:
    found, right, talk = answered
    assert key in found, talk
    wrong = list(differences(found[key], right[key], key))
    assert not wrong, "\n".join(wrong)


def test_every_key_that_is_computed_is_compared(answered: Answered) -> None:
    found, right, _ = answered
    assert sorted(found) == sorted(COMPUTED)
    assert set(found) <= set(right)


def test_a_key_whose_inputs_are_missing_is_left_out(tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.json"
    inputs.write_text(json.dumps({"inputs": {"WORDS": ["ponies"]}}), encoding="utf-8")
    found, talk = run(inputs)
    assert found == {"words": {"ponies": "poni"}}
    assert "golden: urls left out, KeyError: 'URLS'" in talk


def test_differences_are_named_by_their_place() -> None:
    assert list(differences({"a": [1.0, "x"]}, {"a": [1.0000019, "x"]})) == []
    assert list(differences({"a": [1.0, "x"]}, {"a": [1.00001, "y"]}, "k")) == [
        "k.a[0]: 1.0 is not 1.00001",
        "k.a[1]: 'x' is not 'y'",
    ]
    assert list(differences({"a": 1}, {"b": 1}, "k")) != []
    assert list(differences(None, 0.0, "k")) == ["k: None is not 0.0"]
    assert list(differences("inf", "inf", "k")) == []
