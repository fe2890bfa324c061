"""Checks the types of what was read from the files of an experiment, which may be damaged or a stranger's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

_KINDS: Mapping[str, type | tuple[type, ...]] = {"str": str, "int": int, "bool": bool, "float": (int, float)}
Noun = TypeVar("Noun")


def fitting(noun: Noun) -> Noun:
    """The same dataclass. Raises `TypeError` if a value does not have the type that its field states."""
    for field in fields(noun):  # type: ignore[arg-type]
        if not _fits(getattr(noun, field.name), str(field.type)):
            raise TypeError(f"`{field.name}` has another type")
    return noun


def _fits(value: Any, stated: str) -> bool:
    if stated in _KINDS:
        return isinstance(value, _KINDS[stated])
    if stated.startswith("tuple["):
        inner = stated.removeprefix("tuple[").partition(",")[0]
        return isinstance(value, tuple) and all(_fits(one, inner) for one in value)
    if stated.startswith("Mapping["):
        inner = stated.removeprefix("Mapping[").removesuffix("]").partition(", ")[2]
        return isinstance(value, Mapping) and all(_fits(one, inner) for one in value.values())
    return True
