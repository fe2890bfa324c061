"""Read robots directives in `<meta>` elements and headers, and `<meta http-equiv=refresh>`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Directives(NamedTuple):
    """The requests of a page to crawlers; if there are several statements, the strictest."""

    noindex: bool = False
    """Do not keep or show the page."""
    nofollow: bool = False
    """Do not follow its links."""


# A value ends at a comma, except for the comma in a date (`unavailable_after: Saturday, 25 Jun 2030`).
_DATE_COMMA = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)[a-z]*\s*,", re.IGNORECASE)
# Directives that take a value after a colon. Any other name before a colon is a user agent.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_AGENT = re.compile(r"[a-z_*][a-z0-9_.*-]*")
_EVERYONE = "robots"
_LONGEST = 10_000  # characters read of one statement

_SPACE = "\t\n\f\r "  # ASCII white space in the HTML standard
_REFRESH_TIME = re.compile(rf"[{_SPACE}]*([0-9]*)([0-9.]*)")
_REFRESH_PREFIX = re.compile(rf"url[{_SPACE}]*=[{_SPACE}]*", re.IGNORECASE)
_LONGEST_WAIT = 10**9  # seconds


def directives(
    meta_contents: Iterable[tuple[str, str]],
    x_robots_headers: Iterable[str],
    agent: str,
) -> Directives:
    """The directives for `agent`, a product token, in the meta elements (name, content) and X-Robots-Tag headers.

    >>> directives([("ROBOTS", "NoFollow")], ["otherbot: noindex", "unavailable_after: Sat, 25 Jun 2030"], "us")
    Directives(noindex=False, nofollow=True)
    """
    ours = agent.partition("/")[0].strip().lower()
    words: set[str] = set()
    for name, content in meta_contents:
        if name.strip().lower() in (_EVERYONE, ours):
            words.update(word for _, word in _statements(content))
    for header in x_robots_headers:
        words.update(word for agent_name, word in _statements(header) if agent_name in ("", _EVERYONE, "*", ours))
    return Directives(
        noindex=not words.isdisjoint({"noindex", "none"}),
        nofollow=not words.isdisjoint({"nofollow", "none"}),
    )


def _statements(value: str) -> Iterable[tuple[str, str]]:
    """The user agent (empty: all) and the directive of each statement, in lower case.

    The name of an agent applies until the next name or the end, so that in `a: noindex, b: nofollow`, as in joined
    headers, each agent gets its own directive.
    """
    agent_name = ""
    for part in _DATE_COMMA.sub(" ", value[:_LONGEST]).split(","):
        name, colon, rest = part.strip().lower().partition(":")
        name = name.strip()
        if not colon:
            rest = name
        elif name in _VALUED or not _AGENT.fullmatch(name):  # the latter is the rest of a date
            continue
        else:
            agent_name = name
        for word in rest.split():  # some pages omit the comma
            yield agent_name, word


def meta_refresh(content: str) -> tuple[float, str] | None:
    """Seconds and URL, as written, of a meta refresh; None if it is invalid. An empty URL means the page itself.

    Follows the shared declarative refresh steps of the HTML standard, except that the URL is not resolved.
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
    """The URL of a refresh. The label `url=` may be missing; a quotation mark counts only at the beginning."""
    label = _REFRESH_PREFIX.match(rest)
    if label:
        rest = rest[label.end() :]
    if rest[:1] in ("'", '"'):
        rest = rest[1:].partition(rest[0])[0]
    # Like the URL parser, which strips white space and drops tabs and line breaks inside.
    return rest.strip(_SPACE).translate({ord(c): None for c in "\t\n\r"})
