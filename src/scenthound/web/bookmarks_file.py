"""Read a browser's bookmarks: Netscape's HTML, which all browsers export; Chromium's JSON; Firefox's JSON backup.

The file may come from a stranger, so sizes are bounded, nothing is executed, and only http(s) URLs are returned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from scenthound import url as urls
from scenthound.errors import NotAUrl
from scenthound.web.html_document import parse_html

MOST = 100_000  # bookmarks and folders read from one file
LONGEST_TITLE = 500
_BASE = "http://bookmarks.invalid/"  # the base of relative links, which are left out


class Bookmark(NamedTuple):
    """One bookmark."""

    url: str
    title: str = ""
    folder: str = ""
    """The names of the folders that contain it, joined like `a/b`."""


def read_bookmarks(text: str) -> list[Bookmark] | None:
    """The bookmarks in a text, in order and without duplicate URLs; None if the text is not in one of the formats."""
    start = text.lstrip("\ufeff \t\r\n")[:1]
    if start == "<" and "<a " in text[:20_000].lower():
        bookmarks = _in_html(text)
    elif start == "{":
        roots = _roots(text)
        if roots is None:
            return None
        bookmarks = _in_tree(roots)
    else:
        return None
    return list({bookmark.url: bookmark for bookmark in bookmarks}.values())


def _in_html(text: str) -> Iterator[Bookmark]:
    for link in parse_html(text, _BASE, max_links=MOST).links:
        if not link.url.startswith(_BASE):
            yield Bookmark(link.spelling, link.anchor[:LONGEST_TITLE])


def _roots(text: str) -> list[Any] | None:
    """The top folders of a JSON file; None if it is neither Chromium's nor Firefox's."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    roots = document.get("roots")
    if isinstance(roots, dict):  # Chromium
        return list(roots.values())
    return [document] if isinstance(document.get("children"), list) else None  # Firefox


def _in_tree(roots: list[Any]) -> Iterator[Bookmark]:
    """The bookmarks below some nodes. A bookmark has `url` and `name` in Chromium, `uri` and `title` in Firefox."""
    waiting: list[tuple[Any, str]] = [(root, "") for root in reversed(roots)]
    for _ in range(MOST):
        if not waiting:
            return
        node, folder = waiting.pop()
        if not isinstance(node, dict):
            continue
        title = (_text(node, "name") or _text(node, "title"))[:LONGEST_TITLE]
        address = _text(node, "url") or _text(node, "uri")
        children = node.get("children")
        if isinstance(children, list):
            inside = f"{folder}/{title}".strip("/")[-LONGEST_TITLE:]
            waiting += [(child, inside) for child in reversed(children[:MOST])]
        elif _is_http(address):
            yield Bookmark(address, title, folder)


def _text(node: dict[str, Any], key: str) -> str:
    value = node.get(key)
    return value if isinstance(value, str) else ""


def _is_http(address: str) -> bool:
    try:
        urls.make(address)
    except NotAUrl:
        return False
    return True
