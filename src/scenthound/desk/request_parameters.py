"""Query parameters and JSON fields of requests: one declaration both parses a value and describes it for OpenAPI.

Errors name the parameter and say which values are valid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request

from scenthound.desk.security import LARGEST_BODY
from scenthound.desk.shapes import SHARE, TEXT, TEXTS, Shape, shape_of
from scenthound.errors import BadUsage, OurFault
from scenthound.formats import whole_number
from scenthound.search import parse_day

LONGEST = 20_000  # characters of a text parameter
MOST = 20  # values of a repeated parameter
_OBJECT = 'send an object such as {"action": "pause"}'
_HALF_A_CHARACTER = re.compile(
    rb"\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F]"
)
_WORDS = {"string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
_NUMBERS = {"integer": (int,), "number": (int, float)}
T = TypeVar("T", bound=msgspec.Struct)


class Parameter(Protocol):
    """A query parameter."""

    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def is_required(self) -> bool: ...
    @property
    def shape(self) -> Shape: ...


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer parameter."""

    name: str
    about: str
    default: int
    least: int
    most: int
    is_required: ClassVar[bool] = False

    @property
    def shape(self) -> Shape:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def of(self, values: Mapping[str, str], default: int | None = None) -> int:
        raw = values.get(self.name, str(self.default if default is None else default))
        number = whole_number(raw)
        if number is None or not self.least <= number <= self.most:
            raise BadUsage(
                f"invalid value for `{self.name}`: {raw[:40]}", f"use a whole number from {self.least} to {self.most:,}"
            )
        return number


@dataclass(frozen=True, slots=True)
class Share:
    """A parameter with a number from 0 to 1; None if missing."""

    name: str
    about: str
    is_required: ClassVar[bool] = False
    shape: ClassVar[Shape] = SHARE

    def of(self, values: Mapping[str, str]) -> float | None:
        raw = values.get(self.name, "")
        if not raw:
            return None
        try:
            number = float(raw)
        except ValueError:
            number = math.nan
        if not 0.0 <= number <= 1.0:
            raise BadUsage(f"invalid value for `{self.name}`: {raw[:40]}", "use a number from 0 to 1")
        return number


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter with a fixed set of values, each mapped to its meaning; the first is the default."""

    name: str
    about: str
    choices: Mapping[str, Any]
    is_required: ClassVar[bool] = False

    @property
    def shape(self) -> Shape:
        return {"type": "string", "enum": list(self.choices)}

    def of(self, values: Mapping[str, str]) -> Any:
        raw = values.get(self.name, next(iter(self.choices)))
        if raw not in self.choices:
            raise BadUsage(
                f"invalid value for `{self.name}`: {raw[:40]}", f"use one of: {', '.join(map(repr, self.choices))}"
            )
        return self.choices[raw]


@dataclass(frozen=True, slots=True)
class Text:
    """A text parameter; empty if missing and not required."""

    name: str
    about: str
    is_required: bool = False
    shape: ClassVar[Shape] = TEXT

    def of(self, values: Mapping[str, str]) -> str:
        raw = values.get(self.name, "").strip()
        if len(raw) > LONGEST or (self.is_required and not raw):
            raise BadUsage(f"`{self.name}` is missing or too long", f"add {self.name}=… to the URL")
        return raw


@dataclass(frozen=True, slots=True)
class Day:
    """A date parameter, parsed to the timestamp of the start of the day; None if missing."""

    name: str
    about: str
    is_required: ClassVar[bool] = False
    shape: ClassVar[Shape] = {"type": "string", "format": "date"}

    def of(self, values: Mapping[str, str]) -> float | None:
        raw = values.get(self.name, "").strip()
        return parse_day(raw) if raw else None


@dataclass(frozen=True, slots=True)
class Texts:
    """A text parameter that may be repeated."""

    name: str
    about: str
    is_required: ClassVar[bool] = False
    shape: ClassVar[Shape] = TEXTS

    def of(self, values: QueryParams) -> tuple[str, ...]:
        return tuple(value for value in values.getlist(self.name) if value)[:MOST]


# ---- JSON bodies


class BodyTooLong(OurFault):
    """The request body is too large."""


async def body_of(request: Request, kind: type[T], most: int = LARGEST_BODY) -> T:
    """Read the JSON object in the request body, of at most `most` bytes; `kind` declares its fields."""
    data = bytearray()
    async for part in request.stream():  # the Content-Length header may be missing
        data += part
        if len(data) > most:
            raise BodyTooLong("the request body is too large", f"send at most {most:,} bytes")
    body = _json_object(bytes(data))
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError:
        raise _refusal(body, kind) from None


def _json_object(data: bytes) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(data.decode("utf-8"))
    except (ValueError, RecursionError):
        if _HALF_A_CHARACTER.search(data):
            hint = "send both halves, or U+FFFD"
            raise BadUsage("the request body has half a character (a lone surrogate)", hint) from None
        raise BadUsage("the request body is not JSON", _OBJECT) from None
    if not isinstance(body, dict):
        raise BadUsage("the request body is not a JSON object", _OBJECT)
    return body


def _refusal(body: Mapping[str, Any], kind: type[msgspec.Struct]) -> BadUsage:
    """Name the first field of a body that does not fit its declaration, and say what to send instead."""
    for field in msgspec.structs.fields(kind):
        if field.name not in body:
            if field.required:
                return _refused_field(field.name, None, shape_of(field.type), "is missing")
            continue
        try:
            msgspec.convert(body[field.name], field.type)
        except msgspec.ValidationError:
            return _refused_field(field.name, body[field.name], shape_of(field.type), "has the wrong type")
    raise AssertionError(f"every field fits {kind.__name__}")


def _refused_field(name: str, value: Any, shape: Shape, problem: str) -> BadUsage:
    kind = shape.get("type", "string")
    if kind == "array":
        if isinstance(value, list) and len(value) > shape["maxItems"]:
            return BadUsage(f"too many items in `{name}`", f"send at most {shape['maxItems']:,}")
        return BadUsage(f"`{name}` is missing or has the wrong type", f"send a list: {shape['description']}")
    if "enum" in shape and isinstance(value, str):
        return BadUsage(f"invalid value for `{name}`: {value[:40]}", f"use one of: {', '.join(shape['enum'])}")
    if type(value) in _NUMBERS.get(kind, ()):
        limits = (("from", shape.get("minimum")), ("to", shape.get("maximum")))
        between = " ".join(f"{word} {limit:,}" for word, limit in limits if limit is not None)
        return BadUsage(f"invalid value for `{name}`: {str(value)[:40]}", f"use {_WORDS[kind]} {between}")
    return BadUsage(f"`{name}` {problem}", f"send {_WORDS[kind]}")
