"""Shorthand for JSON Schema, used in the OpenAPI description."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

Shape = dict[str, Any]
_NAMED = "#/components/schemas/{name}"

TEXT: Shape = {"type": "string"}
NUMBER: Shape = {"type": "number"}
INTEGER: Shape = {"type": "integer"}
FLAG: Shape = {"type": "boolean"}
ANY: Shape = {"type": "object"}
SHARE: Shape = {"type": "number", "minimum": 0, "maximum": 1}


def list_of(of: Shape) -> Shape:
    return {"type": "array", "items": of}


def nullable(shape: Shape) -> Shape:
    """This shape, or null."""
    return {**shape, "type": [shape["type"], "null"]}


def fields(required: list[str] | None = None, /, **shapes: Shape) -> Shape:
    """An object with these fields, all required unless `required` says otherwise."""
    return {"type": "object", "properties": shapes, "required": list(shapes) if required is None else required}


def shape_of(kind: Any) -> Shape:
    """The shape of a type; of a struct or a dataclass, where to find it among the named shapes."""
    return msgspec.json.schema_components([kind], ref_template=_NAMED)[0][0]


def named_shapes(kinds: Iterable[Any]) -> dict[str, Shape]:
    """The shapes of the structs and dataclasses in these types."""
    return msgspec.json.schema_components(kinds, ref_template=_NAMED)[1]


TEXTS = list_of(TEXT)
