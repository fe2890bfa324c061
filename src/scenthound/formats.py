"""Text formats that several packages write: printable text, TOML values and trail lines (docs/concepts/files.md)."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from scenthound.errors import BadConfig
from scenthound.model import Event, Lost, Step

_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, screen
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS and other strings
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
)
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # needed to write Persian, Hindi and some emoji
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_WHOLE_NUMBER = re.compile(r"(-?)0*([0-9]{1,18})")


# ---- printable text


def printable(text: str, most: int = 0) -> str:
    """Text on one line, without escape sequences, control characters or marks that change the direction of text.

    White space is collapsed. With `most` the line is cut to that many characters.

    >>> printable("\\x1b[31mred\\x1b[0m \\x1b]0;title\\x07bell\\n\\u202etxt.exe")
    'red bell txt.exe'
    """
    if most and len(text) > 20 * most + 1000:
        text = text[: 20 * most + 1000]
    if not (text.isascii() and text.isprintable()):
        text = _ESCAPE_SEQUENCE.sub("", text)
        text = "".join(c if c.isprintable() or c in _JOINERS else _printable_character(c) for c in text)
    text = " ".join(text.split())
    return text[: most - 1] + "…" if most and len(text) > most else text


def _printable_character(character: str) -> str:
    if character.isspace():
        return " "
    return "" if unicodedata.category(character) in _INVISIBLE else character


def replace_unprintable(text: str, most: int = 120) -> str:
    """The first `most` characters, with each unprintable one replaced by U+FFFD.

    >>> replace_unprintable("a\\x00b")
    'a\ufffdb'
    """
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:most])
    return shown + "…" if len(text) > most else shown


# ---- figures


def duration(seconds: float) -> str:
    """Seconds as a readable duration.

    >>> duration(42), duration(185), duration(7500)
    ('42 s', '3 min 5 s', '2 h 5 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"


def size(count: float) -> str:
    """A number of bytes with its unit.

    >>> size(512), size(12_400_000)
    ('512 B', '12.4 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


# ---- TOML


def toml_value(value: Any) -> str:
    """A value as TOML. JSON strings are valid TOML, except for the delete character. Raises `BadConfig`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()  # TOML has no lone surrogates
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    raise BadConfig(f"{value!r} can't be written as TOML", "parameters are strings, numbers, true/false and lists")


def toml_key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else toml_value(name)


# ---- trail lines


def trail_line(step: Step) -> dict[str, Any]:
    """One page of a trail, with the documented keys in their order."""
    return {
        "n": step.n,
        "url": step.url,
        "parent": step.parent,
        "anchor": step.anchor,
        "score": json_number(step.score),
        "parts": {name: json_number(value) for name, value in step.parts.items()},
        "similarity": json_number(step.similarity),
        "relevance": json_number(step.relevance),
        "relevant": step.relevant,
        "depth": step.depth,
        "status": step.status,
        "bytes": step.bytes,
        "time": step.time,
    }


def full_trail_line(step: Step) -> dict[str, Any]:
    """A trail line with the title, the rank when it was chosen, and the URL that was requested before redirects."""
    return {**trail_line(step), "title": step.title, "rank": step.rank, "requested": step.requested}


def miss_line(lost: Lost) -> dict[str, Any]:
    """A miss: the keys of a trail line, with `n` null, and the reason."""
    return {
        "n": None,
        "url": lost.url,
        "parent": lost.parent,
        "anchor": lost.anchor,
        "score": json_number(lost.score),
        "parts": {},
        "similarity": None,
        "relevance": None,
        "relevant": None,
        "depth": lost.depth,
        "status": lost.status,
        "bytes": lost.bytes,
        "time": lost.time,
        "reason": lost.reason,
        "detail": lost.detail,
    }


def event_line(event: Event) -> dict[str, Any]:
    """An event of a strategy: the page count, the kind of event, the page it is about, and its facts."""
    return {"n": event.n, "event": event.kind, "url": event.url, "facts": json_facts(dict(event.facts))}


def json_facts(value: Any) -> Any:
    """The facts of an event as JSON values (for numbers that are not finite, see `json_number`)."""
    if isinstance(value, float):
        return json_number(value)
    if isinstance(value, dict):
        return {str(key): json_facts(item) for key, item in value.items()}
    return [json_facts(item) for item in value] if isinstance(value, list | tuple) else value


def json_number(value: float | None) -> float | None:
    """A number that JSON can represent: the infinite score of a seed becomes null, and so does NaN.

    A text in a column of numbers, such as "inf", would stop readers that infer types (pyarrow).

    >>> json_number(0.5), json_number(float("inf")), json_number(float("nan"))
    (0.5, None, None)
    """
    return value if value is not None and math.isfinite(value) else None


def json_line(fields: dict[str, Any]) -> str:
    """One line of JSON for a terminal, with all unprintable characters escaped (JSON itself escapes only some)."""
    text = json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def whole_number(text: str) -> int | None:
    """The value of a whole number; None if this is none, or if it has more than 18 digits without its leading zeros.

    >>> whole_number("007"), whole_number("-5"), whole_number("9" * 5000), whole_number("\u00b2")
    (7, -5, None, None)
    """
    match = _WHOLE_NUMBER.fullmatch(text)
    return int(match[1] + match[2]) if match else None
