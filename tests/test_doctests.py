"""The examples in docstrings are correct."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import scenthound

SOURCE = Path(scenthound.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text()
)


def names_for_all(module: ModuleType) -> dict[str, Any]:
    """The names defined by examples in the docstring of a module or its package, which other examples may use."""
    names: dict[str, Any] = {}
    for home in {module.__package__: None, module.__name__: None}:
        names |= vars(importlib.import_module(str(home)))
        exec(doctest.script_from_examples(names["__doc__"] or ""), names)
    return {name: value for name, value in names.items() if name not in vars(module)}


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_are_true(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, extraglobs=names_for_all(module))
    assert result.attempted > 0
    assert result.failed == 0


def test_modules_with_examples_are_found() -> None:
    assert {"scenthound.page.tree_columns", "scenthound.page.views", "scenthound.text.vocabulary"} <= set(MODULES)
