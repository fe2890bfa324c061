"""JSON Schema in few words, for the description of the API."""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]

TEXT: Shape = {"type": "string"}
NUMBER: Shape = {"type": "number"}
WHOLE: Shape = {"type": "integer"}
FLAG: Shape = {"type": "boolean"}
ANY: Shape = {"type": "object"}
SHARE: Shape = {"type": "number", "minimum": 0, "maximum": 1}


def listed(of: Shape) -> Shape:
    return {"type": "array", "items": of}


def maybe(shape: Shape) -> Shape:
    """This, or null."""
    return {**shape, "type": [shape["type"], "null"]}


def fields(required: list[str] | None = None, /, **shapes: Shape) -> Shape:
    """An object with these fields; unless it is said, all of them have to be there."""
    return {"type": "object", "properties": shapes, "required": list(shapes) if required is None else required}


TEXTS = listed(TEXT)
