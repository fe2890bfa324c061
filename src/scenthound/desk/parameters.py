"""Reads what a browser or a script sent: query parameters and JSON bodies, checked, with errors that name the field."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from scenthound.desk.security import LARGEST_BODY
from scenthound.errors import BadUsage, OurFault

LONGEST = 20_000


class TooMuch(OurFault):
    """More was sent than is taken."""


def whole(values: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    """A whole number of the query."""
    raw = values.get(name, str(default))
    if not raw.isascii() or not raw.isdigit() or not least <= int(raw[:18]) <= most:
        raise BadUsage(f"not a value of `{name}`: {raw[:40]}", f"it is a whole number from {least} to {most:,}")
    return int(raw)


def share(values: Mapping[str, str], name: str) -> float | None:
    """A number from 0 to 1 of the query; None if it is not there."""
    raw = values.get(name, "")
    if not raw:
        return None
    try:
        number = float(raw)
    except ValueError:
        number = math.nan
    if not 0.0 <= number <= 1.0:
        raise BadUsage(f"not a value of `{name}`: {raw[:40]}", "it is a number from 0 to 1")
    return number


def among(values: Mapping[str, str], name: str, choices: Mapping[str, Any]) -> Any:
    """One of a few words of the query, as the value it stands for; the first is the default."""
    raw = values.get(name, next(iter(choices)))
    if raw not in choices:
        raise BadUsage(f"not a value of `{name}`: {raw[:40]}", f"there are: {', '.join(map(repr, choices))}")
    return choices[raw]


def required(values: Mapping[str, str], name: str) -> str:
    """A text of the query that must be there."""
    raw = values.get(name, "").strip()
    if not raw or len(raw) > LONGEST:
        raise BadUsage(f"`{name}` is missing or too long", f"add {name}=… to the address")
    return raw


async def body_of(request: Request, most: int = LARGEST_BODY) -> dict[str, Any]:
    """The JSON object that was sent, of at most so many bytes, whether or not their number was announced."""
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > most:
            raise TooMuch("too much at once", f"send at most {most:,} bytes")
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadUsage("what was sent is no JSON", 'send an object, as {"action": "pause"}') from None
    if not isinstance(body, dict):
        raise BadUsage("what was sent is no JSON object", 'send an object, as {"action": "pause"}')
    return body


def field(body: Mapping[str, Any], name: str, kind: type, default: Any = None) -> Any:
    """A field of a body; without a default it must be there."""
    value = body.get(name, default)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if value is None and name in body and default is None:
        raise BadUsage(f"`{name}` is empty", f"send {_KINDS[kind]}")
    if value is None and default is None:
        raise BadUsage(f"`{name}` is missing", f"send {_KINDS[kind]}")
    is_wrong_number = isinstance(value, bool) and kind is not bool
    if not isinstance(value, kind) or is_wrong_number or (isinstance(value, float) and not math.isfinite(value)):
        raise BadUsage(f"`{name}` has the wrong kind", f"send {_KINDS[kind]}")
    return value


_KINDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
