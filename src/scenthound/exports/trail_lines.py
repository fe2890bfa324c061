"""Trail lines: the history as plain data that any program can read (docs/concepts/files.md)."""

from __future__ import annotations

import json
import math
from typing import Any

from scenthound.model import Event, Lost, Step


def trail_line(step: Step) -> dict[str, Any]:
    """One page of a trail, with the keys of the contract in their order."""
    return {
        "n": step.n,
        "url": step.url,
        "parent": step.parent,
        "anchor": step.anchor,
        "score": plain_number(step.score),
        "parts": {name: plain_number(value) for name, value in step.parts.items()},
        "similarity": plain_number(step.similarity),
        "depth": step.depth,
        "status": step.status,
        "bytes": step.bytes,
        "time": step.time,
    }


def miss_line(lost: Lost) -> dict[str, Any]:
    """A request that brought no page: the same keys, no number of its own, and the reason."""
    return {
        "n": None,
        "url": lost.url,
        "parent": lost.parent,
        "anchor": lost.anchor,
        "score": plain_number(lost.score),
        "parts": {},
        "similarity": None,
        "depth": lost.depth,
        "status": lost.status,
        "bytes": lost.bytes,
        "time": lost.time,
        "reason": lost.reason,
        "detail": lost.detail,
    }


def event_line(event: Event) -> dict[str, Any]:
    """What a strategy told of itself: after how many pages, what, of which page, and the facts."""
    return {"n": event.n, "event": event.kind, "url": event.url, "facts": plain_facts(dict(event.facts))}


def plain_facts(value: Any) -> Any:
    """Facts as JSON can say them, whatever a strategy put into them."""
    if isinstance(value, float):
        return plain_number(value)
    if isinstance(value, dict):
        return {str(key): plain_facts(one) for key, one in value.items()}
    return [plain_facts(one) for one in value] if isinstance(value, list | tuple) else value


def whole_line(step: Step) -> dict[str, Any]:
    """A trail line and what else is known of the page: its title, the rank it had, where a redirect began."""
    return {**trail_line(step), "title": step.title, "rank": step.rank, "requested": step.requested}


def plain_number(value: float | None) -> float | str | None:
    """A number that JSON can say. A seed's score is infinite, which JSON has no number for: it is the text "inf".

    >>> plain_number(0.5), plain_number(float("inf")), plain_number(float("nan"))
    (0.5, 'inf', None)
    """
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else str(float(value))


def as_line(fields: dict[str, Any]) -> str:
    """One line of JSON. Text stays text, but for what a terminal would obey: JSON escapes only half of that."""
    text = json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
