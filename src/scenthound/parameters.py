"""Parameters: dataclass fields that declare their meaning and allowed values, and functions to check and list them."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import Field, field, fields
from typing import Any, TypeVar, get_args, get_type_hints

from scenthound.errors import BadConfig

T = TypeVar("T")
TYPES_IN_WORDS: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    list[str]: "a list of strings",
}
"""The types of parameters; besides these there are literals."""


def parameter(
    default: Any,
    doc: str,
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    among: Collection[str] = (),
) -> Any:
    """A dataclass field with documentation and allowed values.

    >>> parameter(0.5, "weight of the page", least=0, most=1).metadata["most"]
    1
    """
    metadata = {"doc": doc, "least": least, "most": most, "above": above, "below": below, "among": among}
    if isinstance(default, list | dict):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


class Parameterised:
    """Base of dataclasses whose fields are parameters, which are checked when an object is created."""

    def __post_init__(self) -> None:
        check_parameters(self)


def check_parameters(thing: Any) -> None:
    """Raise `BadConfig` for the first parameter with a value of the wrong type or out of range."""
    types, values = get_type_hints(type(thing)), values_of(thing)
    for declared in fields(thing):
        if declared.init and (hint := hint_for_value(declared, types[declared.name], values[declared.name])):
            raise BadConfig(f"`{declared.name}` can't be {values[declared.name]!r}", hint)


def values_of(thing: Any) -> dict[str, Any]:
    """The parameters of an object, defaults included."""
    return {declared.name: getattr(thing, declared.name) for declared in fields(thing) if declared.init}


def group_of(kind: type[T], whole: Any) -> T:
    """The parameters of a group, from an object that inherits them."""
    return kind(**{declared.name: getattr(whole, declared.name) for declared in fields(kind) if declared.init})  # type: ignore[arg-type]


def changed_values(thing: Any) -> dict[str, Any]:
    """The parameters of an object that are not at their defaults."""
    values = values_of(thing)
    return {f.name: values[f.name] for f in fields(thing) if f.init and values[f.name] != default_of(f)}


def describe_parameters(kind: type[Any]) -> list[dict[str, Any]]:
    """The parameters of a class as JSON data."""
    return [
        {
            "name": f.name,
            "type": f.type if isinstance(f.type, str) else f.type.__name__,
            "default": default_of(f),
            "about": f.metadata.get("doc", ""),
        }
        for f in fields(kind)
        if f.init
    ]


def default_of(declared: Field[Any]) -> Any:
    """The default of a dataclass field, whether it is a value or a factory."""
    return declared.default_factory() if callable(declared.default_factory) else declared.default


def has_type(kind: Any, value: Any) -> bool:
    """Whether a value has the type of a parameter. Whole numbers are numbers; `True`, NaN and infinity are not."""
    if kind in (int, float):
        is_number = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
        return is_number and abs(value) <= sys.float_info.max
    if kind == list[str]:
        return isinstance(value, list) and all(isinstance(part, str) for part in value)
    return isinstance(value, kind) if kind in TYPES_IN_WORDS else True


def hint_for_value(declared: Field[Any], kind: Any, value: Any) -> str:
    """A hint for a value of the wrong type or out of range; empty if the value is allowed."""
    if names := list(declared.metadata.get("among", ()) or get_args(kind) * (kind != list[str])):
        return "" if value in names else "one of: " + ", ".join(names)
    is_number = kind in (int, float)
    if has_type(kind, value) and (not is_number or _is_within(declared.metadata, value)):
        return ""
    words = TYPES_IN_WORDS[kind]
    return f"give {words}{_range(declared.metadata)}" if is_number else f"write {words}"


def _is_within(bounds: Mapping[str, Any], value: float) -> bool:
    least, most, above, below = map(bounds.get, ("least", "most", "above", "below"))
    return not (
        (least is not None and value < least)
        or (most is not None and value > most)
        or (above is not None and value <= above)
        or (below is not None and value >= below)
    )


def _range(bounds: Mapping[str, Any]) -> str:
    """The allowed range in words, to follow "a number"."""
    least, most, above, below = map(bounds.get, ("least", "most", "above", "below"))
    if least is not None and most is not None:
        return f" from {least:g} to {most:g}"
    upper = f", at most {most:g}" if most is not None else f", below {below:g}" if below is not None else ""
    if above is not None:
        return f" above {above:g}{upper}"
    if least is not None:
        return f" from {least:g}{upper}" if upper else f", {least:g} or more"
    return upper
