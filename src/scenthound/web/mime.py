"""Parse media types according to the MIME Sniffing standard, and decide whether a body is HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

LONGEST = 10_000  # characters read of a header

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
    """A media type: its `essence` in lower case, and its parameters in order, the first of each name."""

    essence: str
    parameters: tuple[tuple[str, str], ...] = ()

    def parameter(self, name: str) -> str | None:
        return next((value for key, value in self.parameters if key == name), None)

    def __str__(self) -> str:
        return self.essence + "".join(f";{name}={_written(value)}" for name, value in self.parameters)


def parse(text: str) -> Mime | None:
    """The media type in `text`, parsed with the standard's algorithm; None if it is invalid.

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
    position = 0
    while position < len(rest):
        while position < len(rest) and rest[position] in _SPACE:
            position += 1
        end = _find_any(rest, position, ";=")
        name = rest[position:end].lower()
        position = end + 1
        if end >= len(rest) or rest[end] == ";":
            continue
        if rest[position : position + 1] == '"':
            quoted = _QUOTED.match(rest, position)
            assert quoted is not None  # it matches any opening quote
            value = _ESCAPE.sub(r"\1", quoted[1])
            if not quoted[2] and rest[quoted.end() :] == "\\":
                value += "\\"
            position = _find_any(rest, quoted.end(), ";") + 1
        else:
            end = _find_any(rest, position, ";")
            value = rest[position:end].rstrip(_SPACE)
            position = end + 1
            if not value:
                continue
        if name not in parameters and _TOKEN.fullmatch(name) and _QUOTABLE.fullmatch(value):
            parameters[name] = value
    return parameters


def _find_any(text: str, start: int, characters: str) -> int:
    """The position of the first of these characters; the length of the text if there is none."""
    positions = [position for character in characters if (position := text.find(character, start)) >= 0]
    return min(positions, default=len(text))


def _written(value: str) -> str:
    if _TOKEN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def extract(values: Iterable[str]) -> Mime | None:
    """The media type of a response from all its Content-Type headers, according to the Fetch standard.

    The last valid header counts; if it has no charset, the charset of an earlier header of the same type is used.
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
    """Whether a browser would show the body as HTML, based on its type, or on its first bytes if that is unknown."""
    if mime is not None and mime.essence not in _UNKNOWN:
        return mime.essence in _HTML
    opening = _OPENING.match(body)
    if opening is None:
        return False
    return not opening[0].lower().endswith(b"<?xml") or b"<html" in body[:2048].lower()
