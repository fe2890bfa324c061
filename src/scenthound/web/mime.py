"""Media types as the MIME Sniffing standard reads them, and whether a body without one is HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

LONGEST = 10_000  # characters of a header that are looked at

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_QUOTABLE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)("?)', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_COMMA = re.compile(r'((?:[^",]|"(?:[^"\\]|\\.)*+(?:"|\Z|\\\Z))*+)(?:,|\Z)', re.DOTALL)
_SPACE = "\t\n\r "

_HTML = frozenset(("text/html", "application/xhtml+xml"))
_UNKNOWN = frozenset(("unknown/unknown", "application/unknown", "*/*"))
_OPENING = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*(?:<!--|<\?xml|<(?:!doctype[ ]html|html|head|script|iframe|h1|div|font|table|a"
    rb"|style|title|b|body|br|p|meta|link)[\t\n\f\r />])",
    re.IGNORECASE,
)


class Mime(NamedTuple):
    """A media type: `essence` in lower case, parameters in order, the first of each name."""

    essence: str
    parameters: tuple[tuple[str, str], ...] = ()

    def parameter(self, name: str) -> str | None:
        return next((value for key, value in self.parameters if key == name), None)

    def __str__(self) -> str:
        return self.essence + "".join(f";{name}={_written(value)}" for name, value in self.parameters)


def parse(text: str) -> Mime | None:
    """The media type in `text`, by the standard's algorithm; None if it is invalid.

    >>> str(parse('Text/HTML ; charset="utf\\\\-8"; charset=gbk'))
    'text/html;charset=utf-8'
    """
    text = text[:LONGEST].strip(_SPACE)
    kind, slash, rest = text.partition("/")
    subtype, _, rest = rest.partition(";")
    subtype = subtype.rstrip(_SPACE)
    if not slash or not _TOKEN.fullmatch(kind) or not _TOKEN.fullmatch(subtype):
        return None
    return Mime(f"{kind}/{subtype}".lower(), tuple(_parameters(rest).items()))


def _parameters(rest: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    at = 0
    while at < len(rest):
        while at < len(rest) and rest[at] in _SPACE:
            at += 1
        end = _next(rest, at, ";=")
        name = rest[at:end].lower()
        if end >= len(rest) or rest[end] == ";":
            at = end + 1
            continue
        at = end + 1
        if rest[at : at + 1] == '"':
            quoted = _QUOTED.match(rest, at)
            assert quoted is not None  # it matches any opening quote
            value = _ESCAPE.sub(r"\1", quoted[1])
            if not quoted[2] and rest[quoted.end() :] == "\\":
                value += "\\"
            at = _next(rest, quoted.end(), ";") + 1
        else:
            end = _next(rest, at, ";")
            value = rest[at:end].rstrip(_SPACE)
            at = end + 1
            if not value:
                continue
        if name not in parameters and _TOKEN.fullmatch(name) and _QUOTABLE.fullmatch(value):
            parameters[name] = value
    return parameters


def _next(text: str, at: int, ends: str) -> int:
    positions = [position for end in ends if (position := text.find(end, at)) >= 0]
    return min(positions, default=len(text))


def _written(value: str) -> str:
    if _TOKEN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def extract(values: Iterable[str]) -> Mime | None:
    """The media type of a response, from all its Content-Type headers, as the Fetch standard extracts it.

    The last valid one counts; without a charset it takes that of an earlier one of the same type.
    """
    result: Mime | None = None
    charset: str | None = None
    for part in _COMMA.findall(",".join(values)[:LONGEST]):
        mime = parse(part)
        if mime is None or mime.essence == "*/*":
            continue
        if result is None or mime.essence != result.essence:
            charset = mime.parameter("charset")
        elif mime.parameter("charset") is None and charset is not None:
            mime = Mime(mime.essence, (*mime.parameters, ("charset", charset)))
        result = mime
    return result


def is_html(mime: Mime | None, body: bytes) -> bool:
    """Whether a browser would show the body as HTML: by its type, or without one by its first bytes."""
    if mime is not None and mime.essence not in _UNKNOWN:
        return mime.essence in _HTML
    opening = _OPENING.match(body)
    if opening is None:
        return False
    return not opening[0].lower().endswith(b"<?xml") or b"<html" in body[:2048].lower()
