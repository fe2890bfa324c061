"""Make typed objects from JSON and TOML values, which come from files, requests and servers that may be wrong."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def from_json(data: bytes | str, kind: type[T]) -> T:
    """The JSON in `data` as a value of this type. Raises ValueError as `from_plain` does."""
    try:
        return from_plain(json.loads(data), kind)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def from_plain(plain: Any, kind: type[T]) -> T:
    """A value of this type (a struct, a dataclass, or a type such as `dict[str, int]`) from JSON or TOML values.

    Raises ValueError, which names the field that is missing, unknown, or of the wrong type.

    >>> from_plain({"a": [1, 2]}, dict[str, tuple[int, ...]])
    {'a': (1, 2)}
    """
    try:
        made = msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise ValueError(_in_words(str(error))) from None
    _refuse_unknown_fields(plain, made)
    return made


def _in_words(error: str) -> str:
    """A message of msgspec in our words."""
    problem, _, place = error.partition(" - at `")
    name = place.removeprefix("key` in `").lstrip("$.").rstrip("`")
    if problem.startswith("Object missing required field"):
        return f"{problem.removeprefix('Object missing required field ')} is missing" + (
            f" in `{name}`" if name else ""
        )
    if not name:
        return problem[:1].lower() + problem[1:]
    return f"`{name}` has the wrong type" if ", got " in problem else f"`{name}` can't have this value"


def _refuse_unknown_fields(plain: Any, made: Any) -> None:
    if is_dataclass(made):
        for name, value in plain.items():
            if name not in made.__dataclass_fields__:
                raise ValueError(f"there is no field `{name:.60}`")
            _refuse_unknown_fields(value, getattr(made, name))
