"""Parameters are declared on their field and checked in one place."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal

import pytest

from scenthound.errors import BadConfig
from scenthound.parameters import Parameterised, changed_values, parameter, values_of
from scenthound.strategies import STRATEGIES


@dataclass
class Example(Parameterised):
    weight: float = parameter(0.5, "a share", least=0, most=1)
    rate: float = parameter(0.1, "a rate", above=0, below=1)
    count: int = parameter(3, "how many", least=1)
    order: Literal["up", "down"] = parameter("up", "which way")
    name: str = parameter("a", "one of two", among=("a", "b"))
    quick: bool = parameter(False, "no checks")


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"weight": 1.5}, "give a number from 0 to 1"),
        ({"weight": math.nan}, "give a number from 0 to 1"),
        ({"weight": True}, "give a number from 0 to 1"),
        ({"rate": 0}, "give a number above 0, below 1"),
        ({"rate": 1}, "give a number above 0, below 1"),
        ({"count": 0}, "give a whole number, 1 or more"),
        ({"count": 2.0}, "give a whole number, 1 or more"),
        ({"count": 10**400}, "give a whole number, 1 or more"),
        ({"order": "left"}, "one of: up, down"),
        ({"name": ["a"]}, "one of: a, b"),
        ({"quick": 1}, "write true or false"),
    ],
)
def test_a_value_that_is_not_allowed_is_named_with_what_is(given: dict[str, Any], hint: str) -> None:
    (name, value), *_ = given.items()
    with pytest.raises(BadConfig) as caught:
        Example(**given)
    assert caught.value.message == f"`{name}` can't be {value!r}"
    assert caught.value.hint == hint


def test_values_include_defaults_and_changes_do_not() -> None:
    example = Example(weight=1, order="down")
    assert values_of(example)["count"] == 3
    assert changed_values(example) == {"weight": 1, "order": "down"}


OURS = [name for name, kind in STRATEGIES.items() if kind.__module__.startswith("scenthound.")]  # not those of tests


@pytest.mark.parametrize("name", OURS)
def test_every_parameter_of_every_strategy_refuses_a_wrong_type(name: str) -> None:
    kind = STRATEGIES.get(name)
    for declared in fields(kind):
        for value in (None, [1], {}, object()):
            with pytest.raises(BadConfig, match=f"`{declared.name}` can't be"):
                kind(**{declared.name: value})
        assert declared.metadata["doc"], f"{name}: `{declared.name}` has no documentation"
