"""Parameters of strategies: dataclass fields that declare what they may be, and one function that checks them all."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import Field, field, fields
from typing import Any, get_type_hints

from scenthound.errors import BadConfig


def parameter(
    default: Any,
    doc: str,
    *,
    least: float | None = None,
    most: float | None = None,
    below: float | None = None,
    among: Collection[str] | None = None,
) -> Any:
    """A field with its documentation and its bounds: from `least` to `most`, or to just `below`; or `among` names.

    >>> parameter(0.5, "weight of the page", least=0, most=1).metadata["most"]
    1
    """
    return field(default=default, metadata={"doc": doc, "least": least, "most": most, "below": below, "among": among})


def check_parameters(strategy: Any, name: str) -> None:
    """Raise `BadConfig` for the first parameter whose value is not what its field declares."""
    hints = get_type_hints(type(strategy))
    for declared in fields(strategy):
        value = getattr(strategy, declared.name)
        if declared.init and (hint := _wrong(declared, hints[declared.name], value)):
            raise BadConfig(f"{name}: `{declared.name}` can't be {value!r}", hint)


def _wrong(declared: Field[Any], kind: Any, value: Any) -> str:
    """What to write instead of a wrong value; empty if it is right."""
    bounds = declared.metadata
    if names := bounds.get("among"):
        return "" if value in list(names) else "one of: " + ", ".join(names)
    if kind is bool:
        return "" if type(value) is bool else "say true or false"
    if kind is str:
        return "" if isinstance(value, str) else "write text"
    if kind in (int, float):
        is_number = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
        return "" if is_number and math.isfinite(value) and _is_within(bounds, value) else _numbers(kind, bounds)
    return ""


def _is_within(bounds: Any, value: float) -> bool:
    least, most, below = (bounds.get(name) for name in ("least", "most", "below"))
    return (least is None or value >= least) and (most is None or value <= most) and (below is None or value < below)


def _numbers(kind: type, bounds: Any) -> str:
    least, most, below = (bounds.get(name) for name in ("least", "most", "below"))
    name = "a whole number" if kind is int else "a number"
    if most is not None:
        return f"give {name} from {least:g} to {most:g}"
    if below is not None:
        return f"give {name} from {least:g}, below {below:g}"
    return f"give {name}" if least is None else f"give {name}, {least:g} or more"
