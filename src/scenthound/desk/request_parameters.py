"""Query parameters and JSON fields of requests: one declaration both parses a value and describes it for OpenAPI.

Errors name the parameter and say which values are valid.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from starlette.datastructures import QueryParams
from starlette.requests import Request

from scenthound.desk.security import LARGEST_BODY
from scenthound.desk.shapes import SHARE, TEXT, TEXTS, Shape
from scenthound.errors import BadUsage, OurFault
from scenthound.formats import whole_number
from scenthound.search import parse_day

LONGEST = 20_000  # characters of a text parameter
MOST = 20  # values of a repeated parameter
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


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

REQUIRED: Any = object()
_LARGEST = 10**300  # a larger whole number is no number for a parameter that is a float
_KINDS = {
    str: ("string", "a string"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
    bool: ("boolean", "true or false"),
}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a JSON body. Required if it has no default."""

    name: str
    kind: type
    about: str = ""
    default: Any = REQUIRED
    least: float | None = None
    most: float | None = None
    among: tuple[str, ...] = field(default=())

    @property
    def shape(self) -> Shape:
        limits = {"minimum": self.least, "maximum": self.most, "enum": list(self.among), "description": self.about}
        shape = {"type": _KINDS[self.kind][0], **{name: limit for name, limit in limits.items() if limit or limit == 0}}
        return shape if self.default in (REQUIRED, None, "") else {**shape, "default": self.default}

    def of(self, body: Mapping[str, Any]) -> Any:
        if self.name not in body:
            if self.default is REQUIRED:
                raise BadUsage(f"`{self.name}` is missing", f"send {_KINDS[self.kind][1]}")
            return self.default
        value = body[self.name]
        if self.kind is float and type(value) is int:
            value = float(value) if abs(value) < _LARGEST else math.nan
        if type(value) is not self.kind or (isinstance(value, float) and not math.isfinite(value)):
            raise BadUsage(f"`{self.name}` has the wrong type", f"send {_KINDS[self.kind][1]}")
        self._check(value)
        return value

    def _check(self, value: Any) -> None:
        if self.among and value not in self.among:
            raise BadUsage(f"invalid value for `{self.name}`: {value[:40]}", f"use one of: {', '.join(self.among)}")
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            limits = (("from", self.least), ("to", self.most))
            between = " ".join(f"{word} {limit:,}" for word, limit in limits if limit is not None)
            raise BadUsage(
                f"invalid value for `{self.name}`: {str(value)[:40]}", f"use {_KINDS[self.kind][1]} {between}"
            )


@dataclass(frozen=True, slots=True)
class Items:
    """A field of a JSON body with a list of strings or objects. Required if it has no default."""

    name: str
    kind: type
    about: str
    items: Shape
    most: int
    default: Any = REQUIRED

    @property
    def shape(self) -> Shape:
        return {"type": "array", "items": self.items, "maxItems": self.most, "description": self.about}

    def of(self, body: Mapping[str, Any]) -> list[Any]:
        value = body.get(self.name, self.default)
        if not isinstance(value, list) or not all(isinstance(item, self.kind) for item in value):
            raise BadUsage(f"`{self.name}` is missing or has the wrong type", f"send a list: {self.about}")
        if len(value) > self.most:
            raise BadUsage(f"too many items in `{self.name}`", f"send at most {self.most:,}")
        return value


class BodyTooLong(OurFault):
    """The request body is too large."""


async def body_of(request: Request, most: int = LARGEST_BODY) -> dict[str, Any]:
    """Read the JSON object in the request body, of at most `most` bytes."""
    data = bytearray()
    async for part in request.stream():  # the Content-Length header may be missing
        data += part
        if len(data) > most:
            raise BodyTooLong("the request body is too large", f"send at most {most:,} bytes")
    try:
        body = json.loads(data.decode("utf-8"))
        if _SURROGATE.search(data):
            json.dumps(body, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise BadUsage(
            "the request body has half a character (a lone surrogate)", "send both halves, or U+FFFD"
        ) from None
    except (ValueError, RecursionError):
        raise BadUsage("the request body is not JSON", 'send an object such as {"action": "pause"}') from None
    if not isinstance(body, dict):
        raise BadUsage("the request body is not a JSON object", 'send an object such as {"action": "pause"}')
    return body
