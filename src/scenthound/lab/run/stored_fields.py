"""Check the types of values read from an experiment's files, which may be damaged or come from a stranger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

_TYPES: Mapping[str, type | tuple[type, ...]] = {"str": str, "int": int, "bool": bool, "float": (int, float)}
T = TypeVar("T")


def checked_types(instance: T) -> T:
    """Return the dataclass instance unchanged. Raises `TypeError` if a value does not have its field's type."""
    for field in fields(instance):  # type: ignore[arg-type]
        if not _has_type(getattr(instance, field.name), str(field.type)):
            raise TypeError(f"`{field.name}` has the wrong type")
    return instance


def _has_type(value: Any, annotation: str) -> bool:
    if annotation in _TYPES:
        return isinstance(value, _TYPES[annotation])
    if annotation.startswith("tuple["):
        inner = annotation.removeprefix("tuple[").partition(",")[0]
        return isinstance(value, tuple) and all(_has_type(item, inner) for item in value)
    if annotation.startswith("Mapping["):
        inner = annotation.removeprefix("Mapping[").removesuffix("]").partition(", ")[2]
        return isinstance(value, Mapping) and all(_has_type(item, inner) for item in value.values())
    return True
