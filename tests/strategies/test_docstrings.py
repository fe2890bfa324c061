"""The docstrings of strategies begin with what the strategy is, and its formula."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import pytest

import scenthound.strategies
from scenthound.strategies import STRATEGIES

MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(scenthound.strategies.__path__, "scenthound.strategies.")
]


@pytest.mark.parametrize("module", MODULES, ids=lambda one: one.__name__)
def test_a_module_says_what_it_is_and_not_what_it_is_not(module: object) -> None:
    said = module.__doc__ or ""
    assert len(said.strip()) > 20
    assert "not a strategy" not in said.lower()


@pytest.mark.parametrize(
    "name", [name for name, kind in STRATEGIES.items() if kind.__module__.startswith("scenthound.")]
)
def test_the_file_of_a_strategy_begins_with_its_formula(name: str) -> None:
    first, blank, formula, *_ = (sys.modules[STRATEGIES.get(name).__module__].__doc__ or "").split("\n")
    assert first
    assert not blank
    assert formula.startswith("    "), "the second paragraph is the formula"
