"""What the docstrings of strategies show comes out."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import sys

import pytest

import scenthound.strategies
from scenthound.page import anchors
from scenthound.strategies import STRATEGIES
from scenthound.text import id_lists, offsets, proximity, unions

MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(scenthound.strategies.__path__, "scenthound.strategies.")
]


@pytest.mark.parametrize(
    "module", [*MODULES, anchors, id_lists, offsets, proximity, unions], ids=lambda one: one.__name__
)
def test_the_examples_in_the_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


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
