"""Render a site map as a self-contained HTML page, as Markdown, as sitemap.xml and as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from html import escape
from typing import Any

from scenthound.desk.apps.site_map.tree import Branch, SiteMap
from scenthound.formats import printable
from scenthound.templates import environment

MOST_IN_SITEMAP = 50_000  # limit of the sitemaps.org protocol
ROW, INDENT, LEFT, TOP = 26, 24, 18, 54  # pixels of the drawing
MOST_ROWS = 3_000
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|!])")


def html_of(site: SiteMap) -> str:
    """Return the map as one HTML page without scripts: a collapsible tree, and the drawing in three sizes."""
    return TEMPLATES.get_template("map.html").render(site=site, rows=list(site.rows()), **_drawing(site))


def svg_of(site: SiteMap) -> str:
    """Return the map as a standalone SVG file."""
    return TEMPLATES.get_template("map.svg").render(site=site, **_drawing(site))


def _drawing(site: SiteMap) -> dict[str, Any]:
    """Where each page is drawn, and where its parent is."""
    drawn, ancestors = list[tuple[Branch, int, int, tuple[int, int] | None]](), list[tuple[int, int]]()
    for index, (depth, branch) in enumerate(list(site.rows())[:MOST_ROWS]):
        x, y = LEFT + min(depth, 24) * INDENT, TOP + index * ROW
        del ancestors[depth:]
        drawn.append((branch, x, y, ancestors[-1] if ancestors else None))
        ancestors.append((x, y))
    return {"drawn": drawn, "height": TOP + len(drawn) * ROW}


def markdown_of(site: SiteMap) -> str:
    """Return the map as a Markdown outline."""
    lines = [
        f"# {_escaped(site.site)}: {_escaped(site.topic)}",
        "",
        f"{site.on_topic:,} of {site.pages:,} pages on topic.",
        "",
    ]
    for depth, branch in site.rows():
        title = f"[{_escaped(branch.title or branch.url)}](<{branch.url.replace('>', '%3E').replace('<', '%3C')}>)"
        entry = f"**{title}** ({branch.relevance:.2f})" if branch.on_topic else title
        more = f", and {branch.folded_label}" if branch.folded else ""
        lines.append(f"{'  ' * depth}- {entry}{more}")
    return "\n".join(lines) + "\n"


def text_of(site: SiteMap, most: int = 60) -> str:
    """Return the map as text for a terminal: a heading and at most `most` branches."""
    rows = list(site.rows())
    lines = [f"{site.site}: {site.on_topic:,} of {site.pages:,} pages on topic"]
    for depth, branch in rows[:most]:
        more = f"  (+ {branch.folded_label})" if branch.folded else ""
        title = branch.title or branch.url
        entry = f"● {branch.relevance:.2f} {title}  {branch.url}" if branch.on_topic else f"○ {title}"
        lines.append("  " * depth + printable(f"{entry}{more}", 200))
    if len(rows) > most:
        lines.append(f"… and {len(rows) - most:,} more; see map.html for all of them")
    return "\n".join(lines)


def sitemap_of(site: SiteMap) -> str:
    """Return the pages on topic as sitemap.xml (sitemaps.org): relevance as `priority`, fetch date as `lastmod`."""
    entries: list[str] = []
    for _, branch in site.rows():
        if branch.on_topic and len(entries) < MOST_IN_SITEMAP:
            day = datetime.fromtimestamp(branch.time, UTC).date().isoformat()
            entries.append(
                f"<url><loc>{escape(branch.url)}</loc><lastmod>{day}</lastmod>"
                f"<priority>{branch.relevance:.1f}</priority></url>\n"
            )
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{head}{''.join(entries)}</urlset>\n"


def _escaped(text: str) -> str:
    """Text from the web with Markdown characters escaped."""
    return _MARKDOWN.sub(r"\\\1", text)


FORMATS: Mapping[str, tuple[Callable[[SiteMap], str], str]] = {
    "map.html": (html_of, "text/html"),
    "map.svg": (svg_of, "image/svg+xml"),
    "map.md": (markdown_of, "text/markdown"),
    "sitemap.xml": (sitemap_of, "application/xml"),
}
"""The files of a map: name -> (function that renders it, media type)."""
TEMPLATES = environment("scenthound.desk.apps.site_map", "scenthound.report")
