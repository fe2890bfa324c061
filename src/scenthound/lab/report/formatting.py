"""Format text and numbers as HTML for the report."""

from __future__ import annotations

import html
from collections.abc import Sequence

from scenthound.formats import replace_unprintable

LONGEST = 80
_WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def text(raw: str, most: int = LONGEST) -> str:
    """Untrusted text, cleaned, shortened and escaped; `bdi` isolates its writing direction."""
    cleaned = html.escape(replace_unprintable(raw, most))
    return cleaned if raw.isascii() else f"<bdi>{cleaned}</bdi>"


def plain(raw: str, most: int = LONGEST) -> str:
    """Untrusted text for drawings, cleaned and shortened; their templates escape it."""
    return replace_unprintable(raw, most)


def details(title: str, *parts: str) -> str:
    return f"<details><summary>{title}</summary>{''.join(parts)}</details>"


def number(value: float | None, digits: int = 3) -> str:
    """A number with a readable precision; a dash for None.

    >>> number(0.12345), number(None), number(1234.5)
    ('0.123', '–', '1,234')
    """
    if value is None:
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}" if abs(value) >= 10 else f"{value:.{digits}f}"


def plus_minus(mean: float | None, error: float | None, digits: int = 3) -> str:
    if mean is None:
        return "–"
    spread = f' <span class="se">± {number(error, digits)}</span>' if error is not None else ""
    return f"{number(mean, digits)}{spread}"


def probability(p: float | None) -> str:
    if p is None:
        return "–"
    return "&lt; 0.001" if p < 0.001 else f"{p:.3f}"


def many(count: int, word: str) -> str:
    """The count with its noun, in the plural if needed."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def count_in_words(count: int) -> str:
    """A count as a word if it is small.

    >>> count_in_words(3), count_in_words(40)
    ('three', '40')
    """
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def and_list(names: Sequence[str]) -> str:
    """`a, b and c`, escaped."""
    escaped = [text(name) for name in names]
    return escaped[0] if len(escaped) == 1 else f"{', '.join(escaped[:-1])} and {escaped[-1]}"
