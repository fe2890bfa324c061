"""Build HTML: text is always escaped, and only `element` produces markup.

    >>> str(element("p", "1 < 2 ", element("b", "yes"), title='"'))
    '<p title="&quot;">1 &lt; 2 <b>yes</b></p>'

Text from the web can thus never become markup, and mypy finds mistakes that a template language would report at run
time or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

_VOID = frozenset(("br", "hr", "img", "input", "link", "meta"))
_NAME = re.compile(r"[a-z][a-z0-9-]*\Z", re.IGNORECASE)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
"""Characters that HTML forbids, and those that change the text direction."""


class Markup:
    """A piece of HTML. Create it with `element`, `text` or `join`."""

    __slots__ = ("_html",)

    def __init__(self, html: str) -> None:
        self._html = html

    def __str__(self) -> str:
        return self._html


Content = Markup | str | int | None | Iterable["Content"]
"""What an element may contain. None is skipped."""
NOTHING = Markup("")


def text(raw: str) -> Markup:
    """Escape text."""
    return Markup(escape(_FORBIDDEN.sub("\ufffd", raw)))


def join(*contents: Content) -> Markup:
    """Concatenate contents."""
    return Markup("".join(_flat(contents)))


def element(name: str, /, *contents: Content, **attributes: str | int | bool | None) -> Markup:
    """Create an element. `class_` becomes `class`, `data_url` becomes `data-url`; False and None omit the attribute."""
    rendered = "".join(_attribute(key, value) for key, value in attributes.items())
    if not _NAME.match(name):
        raise ValueError(f"invalid element name: {name}")
    if name in _VOID:
        return Markup(f"<{name}{rendered}>")
    return Markup(f"<{name}{rendered}>{''.join(_flat(contents))}</{name}>")


def _attribute(key: str, value: str | int | bool | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.match(name) or name.lower().startswith("on") or name.lower() == "style":
        raise ValueError(f"attribute not allowed: {name}")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'


def _flat(contents: Iterable[Content]) -> Iterable[str]:
    for content in contents:
        if isinstance(content, Markup):
            yield str(content)
        elif isinstance(content, str):
            yield str(text(content))
        elif isinstance(content, int):
            yield str(content)
        elif content is not None:
            yield from _flat(content)
