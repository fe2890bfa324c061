"""Shorthand for JSON Schema, used in the OpenAPI description."""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]

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


TEXTS = list_of(TEXT)
