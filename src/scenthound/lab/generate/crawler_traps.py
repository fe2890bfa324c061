"""Crawler traps, made on demand: an endless calendar, session ids, a folder that contains itself.

A bed records only the links to them: in a replay they are dead links, over HTTP they are traps. The response of a trap
depends on the URL alone.
"""

from __future__ import annotations

import hashlib
import re

from scenthound.lab.beds.bed import new_response
from scenthound.lab.generate.rng import stream
from scenthound.lab.generate.simple_text import sentences, word_table
from scenthound.model import Response

_CALENDAR = re.compile(r"/calendar/(\d{1,6})-(\d{2})\.html(?:\?day=(\d{1,2}))?")
_SESSION = re.compile(r"/view\?page=(\d{1,6})&sid=[0-9a-f]{12}")
_FOLDER = re.compile(r"/files/(?:a/b/)*(?:a/)?")
MAX_URL_LENGTH = 1900  # the folder trap ends before its URLs get longer than crawlers accept

ENTRANCES = ("/calendar/2024-01.html", "/view?page=1&sid=000000000000", "/files/a/b/")
"""The first URL of each kind of trap; hosts with a trap link to one of them."""


def trap(url: str) -> Response | None:
    """The trap page at this URL; None if the URL is not part of a trap."""
    path = "/" + url.partition("://")[2].partition("/")[2]
    if len(url) > MAX_URL_LENGTH:
        return None
    if match := _CALENDAR.fullmatch(path):
        title, links = _calendar(int(match[1]), int(match[2]), match[3])
    elif match := _SESSION.fullmatch(path):
        title, links = _session(int(match[1]), url)
    elif _FOLDER.fullmatch(path):
        title, links = f"Folder of {path.count('/')} parts", ["b/" if path.endswith("/a/") else "a/", "../"]
    else:
        return None
    text = sentences(6, word_table(-1, 0, 0), stream("trap", url))
    items = [
        f'<li><a href="{link.replace("&", "&amp;")}">{link.rpartition("?")[0] or link}</a></li>\n' for link in links
    ]
    body = (
        f"<!DOCTYPE html>\n<html><head><title>{title}</title></head>\n<body><h1>{title}</h1>\n"
        f"<p>{text}</p>\n<ul>\n{''.join(items)}</ul>\n</body></html>\n"
    ).encode()
    return new_response(url, "text/html; charset=utf-8", body)


def _calendar(year: int, month: int, day: str | None) -> tuple[str, list[str]]:
    before = (year, month - 1) if month > 1 else (max(year - 1, 0), 12)
    after = (year, month + 1) if month < 12 else (year + 1, 1)
    links = [f"/calendar/{y}-{m:02d}.html" for y, m in (before, after)]
    if day is None:
        links += [f"/calendar/{year}-{month:02d}.html?day={n}" for n in range(1, 29)]
    return f"Calendar {year}-{month:02d}{' day ' + day if day else ''}", links


def _session(page: int, url: str) -> tuple[str, list[str]]:
    """Title and links of one of nine pages, each link with a new session id."""
    digest = hashlib.sha256(url.encode()).hexdigest()
    return f"View {page}", [
        f"/view?page={(page + step) % 9}&sid={digest[step * 12 : step * 12 + 12]}" for step in range(1, 4)
    ]
