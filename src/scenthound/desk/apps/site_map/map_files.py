"""Render a site map as a self-contained HTML page, as Markdown, as sitemap.xml and as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from html import escape

from scenthound import templates
from scenthound.desk.apps.site_map.drawing import svg_of
from scenthound.desk.apps.site_map.tree import Branch, SiteMap
from scenthound.formats import printable
from scenthound.report.report_layout import document, section

MOST_IN_SITEMAP = 50_000  # limit of the sitemaps.org protocol
STYLE = """
.tree ul { list-style: none; padding-left: 1.3rem; border-left: 1px solid #8884; margin: 0 }
.tree li { margin: .15rem 0 } .tree summary { cursor: pointer }
.tree .hit { font-weight: 600; font-size: 1.15em } .tree .hit::before { content: "● "; color: #c2410c }
.tree .note { opacity: .7; font-size: .85em }
.picture { overflow: auto; max-height: 80vh; border: 1px solid #8884; background: #fff }
.zoom input { margin-left: 1rem } #half:checked ~ .picture svg { width: 50%; height: auto }
#whole:checked ~ .picture svg { width: 100%; height: auto } #twice:checked ~ .picture svg { width: 200%; height: auto }
"""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|!])")


def html_of(site: SiteMap) -> str:
    """Return the map as one HTML page without scripts: a collapsible tree, and the drawing in three sizes."""
    title = templates.text(f"{site.site}: {site.topic}", 120)
    tree = f'<div class="tree">{_outline(site)}</div>'
    sizes = "".join(
        f'<input type="radio" name="size" id="{name}"{" checked" if name == "whole" else ""}>'
        f'<label for="{name}">{label}</label>'
        for name, label in (("half", "small"), ("whole", "fit to page"), ("twice", "large"))
    )
    picture = f'<div class="zoom">{sizes}<div class="picture">{svg_of(site)}</div></div>'
    hint = "" if site.on_topic else "<p>No page is on topic. Try other keywords, or let the crawl fetch more pages.</p>"
    parts = [
        f"<h1>{title}</h1><p>{site.on_topic:,} of {site.pages:,} pages on topic.</p>{hint}",
        section("Outline", "Pages on topic are marked; branches with nothing on the topic are folded.", tree),
        section("Map", "Each page appears below the page it was found on.", picture),
    ]
    return document(title, STYLE, parts)


def _outline(site: SiteMap) -> str:
    """Return the tree as nested, collapsible lists. Iterative, because a chain of pages may be long."""
    parts, last_depth = list[str](), -1
    for depth, branch in site.rows():
        parts.append("<ul>" if depth > last_depth else "</li>" + "</ul></details></li>" * (last_depth - depth))
        last_depth = depth
        entry = _entry(branch)
        parts.append(f"<li><details open><summary>{entry}</summary>" if branch.children else f"<li>{entry}")
    return "".join([*parts, "</li>", "</ul></details></li>" * last_depth, "</ul>"])


def _entry(branch: Branch) -> str:
    kind = "hit" if branch.on_topic else "miss"
    more = f' <span class="note">+ {branch.folded_label}</span>' if branch.folded else ""
    return f'<span class="{kind}">{templates.link(branch.url, branch.title or branch.url)}</span>{more}'


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
