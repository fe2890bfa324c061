"""Turn text and links from the web into safe HTML: cleaned, shortened and escaped. Crawl reports use it throughout."""

from __future__ import annotations

import html

from scenthound.formats import printable

LONGEST = 160  # characters of a title, an anchor or a URL as shown; links keep the whole URL


def text(raw: str, most: int = LONGEST) -> str:
    """Text from the web, cleaned, shortened and escaped; `bdi` isolates its writing direction."""
    escaped = html.escape(printable(raw, most))
    return escaped if raw.isascii() else f"<bdi>{escaped}</bdi>"


def link(url: str, label: str = "", most: int = LONGEST) -> str:
    """An HTML link if the URL is http(s), otherwise only its text."""
    shown = text(label or url, most)
    if not url.lower().startswith(("http://", "https://")) or not url.isprintable():
        return shown
    return f'<a href="{html.escape(url)}" rel="noopener noreferrer nofollow" target="_blank">{shown}</a>'
