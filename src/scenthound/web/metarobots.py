"""Robots directives in `<meta>` and headers, and `<meta http-equiv=refresh>`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Directives(NamedTuple):
    """What a page asks of crawlers; the strictest of several statements."""

    noindex: bool = False
    """Do not keep or show the page."""
    nofollow: bool = False
    """Do not follow its links."""


# A value ends at a comma, except where a date has one of its own (`unavailable_after: Saturday, 25 Jun 2030`).
_DATE_COMMA = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)[a-z]*\s*,", re.IGNORECASE)
# Directives that take a value with a colon. Any other name before a colon is a user agent's.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_AGENT = re.compile(r"[a-z_*][a-z0-9_.*-]*")
_EVERYONE = "robots"
_LONGEST = 10_000  # characters of one statement that are read

_SPACE = "\t\n\f\r "  # ASCII white space as HTML counts it
_REFRESH_TIME = re.compile(rf"[{_SPACE}]*([0-9]*)([0-9.]*)")
_REFRESH_PREFIX = re.compile(rf"url[{_SPACE}]*=[{_SPACE}]*", re.IGNORECASE)
_LONGEST_WAIT = 10**9  # seconds


def directives(
    meta_contents: Iterable[tuple[str, str]],
    x_robots_headers: Iterable[str],
    agent: str,
) -> Directives:
    """What the page's meta elements, as (name, content), and its X-Robots-Tag headers ask of `agent`, a product token.

    >>> directives([("ROBOTS", "NoFollow")], ["otherbot: noindex", "unavailable_after: Sat, 25 Jun 2030"], "us")
    Directives(noindex=False, nofollow=True)
    """
    ours = agent.partition("/")[0].strip().lower()
    words: set[str] = set()
    for name, content in meta_contents:
        if name.strip().lower() in (_EVERYONE, ours):
            words.update(word for _, word in _statements(content))
    for header in x_robots_headers:
        words.update(word for whose, word in _statements(header) if whose in ("", _EVERYONE, "*", ours))
    return Directives(
        noindex=not words.isdisjoint({"noindex", "none"}),
        nofollow=not words.isdisjoint({"nofollow", "none"}),
    )


def _statements(value: str) -> Iterable[tuple[str, str]]:
    """Each directive in small letters, with the user agent it is for; empty: for all.

    The name of an agent applies until the next one or the end, so that `a: noindex, b: nofollow`, as in joined
    headers, gives each its own.
    """
    whose = ""
    for part in _DATE_COMMA.sub(" ", value[:_LONGEST]).split(","):
        name, colon, rest = part.strip().lower().partition(":")
        name = name.strip()
        if not colon:
            rest = name
        elif name in _VALUED or not _AGENT.fullmatch(name):  # the latter is what is left of a date
            continue
        else:
            whose = name
        for word in rest.split():  # some forget the comma
            yield whose, word


def meta_refresh(content: str) -> tuple[float, str] | None:
    """Seconds and URL, as written, of a meta refresh; None if it is invalid. Empty: the page itself.

    The shared declarative refresh steps of the HTML standard, up to resolving the URL.
    """
    time = _REFRESH_TIME.match(content)
    if time is None or not (time[1] or time[2].startswith(".")):
        return None
    seconds = float(min(int(time[1].lstrip("0")[:10] or 0), _LONGEST_WAIT))
    rest = content[time.end() :]
    if not rest:
        return seconds, ""
    if rest[0] not in ";," + _SPACE:
        return None
    rest = rest.lstrip(_SPACE)
    if rest[:1] in (";", ","):
        rest = rest[1:].lstrip(_SPACE)
    return seconds, _refresh_url(rest)


def _refresh_url(rest: str) -> str:
    """The URL of a refresh: the label `url=` may be missing, and a quotation mark only counts behind it or alone."""
    label = _REFRESH_PREFIX.match(rest)
    if label:
        rest = rest[label.end() :]
    if rest[:1] in ("'", '"'):
        rest = rest[1:].partition(rest[0])[0]
    # As the URL parser would: it strips the ends and drops tabs and line ends within.
    return rest.strip(_SPACE).translate({ord(c): None for c in "\t\n\r"})
