"""How names and numbers are shown in reports and downloads of experiments."""

from __future__ import annotations

from scenthound.formats import replace_unprintable
from scenthound.templates import Markup, environment

LONGEST = 80
_WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def cleaned(raw: str, most: int = LONGEST) -> str:
    """Untrusted text, cleaned and shortened: for drawings and titles, whose templates escape it."""
    return replace_unprintable(raw, most)


def name(raw: str, most: int = LONGEST, breaks: str = "") -> Markup:
    """Untrusted text as HTML, cleaned and shortened; `bdi` isolates its writing direction. A line may end after a
    letter of `breaks`."""
    shown = Markup.escape(cleaned(raw, most))
    for letter in breaks:
        shown = shown.replace(letter, Markup(f"{letter}<wbr>"))
    return shown if raw.isascii() else Markup("<bdi>{}</bdi>").format(shown)


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


def count_in_words(count: int) -> str:
    """A count as a word if it is small.

    >>> count_in_words(3), count_in_words(40)
    ('three', '40')
    """
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


TEMPLATES = environment("scenthound.lab.report", "scenthound.report")
TEMPLATES.filters |= {"name": name, "number": number, "in_words": count_in_words, "cleaned": cleaned}
