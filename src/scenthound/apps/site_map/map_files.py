"""The map as files: one HTML page that loads nothing else, Markdown, and sitemap.xml."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from html import escape

from scenthound.apps.site_map.drawing import svg_of
from scenthound.apps.site_map.tree import Branch, SiteMap
from scenthound.formats import printable
from scenthound.report import web_text
from scenthound.report.report_layout import document, section

MOST_IN_SITEMAP = 50_000  # the protocol's limit
STYLE = """
.tree ul { list-style: none; padding-left: 1.3rem; border-left: 1px solid #8884; margin: 0 }
.tree li { margin: .15rem 0 } .tree summary { cursor: pointer }
.tree .hit { font-weight: 600; font-size: 1.15em } .tree .hit::before { content: "● "; color: #c2410c }
.tree .few { opacity: .7; font-size: .85em }
.picture { overflow: auto; max-height: 80vh; border: 1px solid #8884; background: #fff }
.zoom input { margin-left: 1rem } #half:checked ~ .picture svg { width: 50%; height: auto }
#whole:checked ~ .picture svg { width: 100%; height: auto } #twice:checked ~ .picture svg { width: 200%; height: auto }
"""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|!])")


def html_of(site: SiteMap) -> str:
    """The map as one page: the tree to open and close, and the drawing in three sizes. No script."""
    title = web_text.text(f"{site.site}: {site.topic}", 120)
    tree = f'<div class="tree">{_outline(site)}</div>'
    sizes = "".join(
        f'<input type="radio" name="size" id="{name}"{" checked" if name == "whole" else ""}>'
        f'<label for="{name}">{words}</label>'
        for name, words in (("half", "small"), ("whole", "as wide as the page"), ("twice", "large"))
    )
    picture = f'<div class="zoom">{sizes}<div class="picture">{svg_of(site)}</div></div>'
    none = "" if site.on_topic else "<p>No page is on topic. Try other words, or let the crawl fetch more pages.</p>"
    parts = [
        f"<h1>{title}</h1><p>{site.on_topic:,} of {site.pages:,} pages on topic.</p>{none}",
        section("Outline", "Pages on topic are marked; branches without any are folded.", tree),
        section("Map", "Each page stands below the page whose link led to it.", picture),
    ]
    return document(title, STYLE, parts)


def _outline(site: SiteMap) -> str:
    """The tree as nested lists; those below a page can be closed. Not recursive: a chain of pages may be long."""
    parts, level = list[str](), -1
    for depth, branch in site.rows():
        parts.append("<ul>" if depth > level else "</li>" + "</ul></details></li>" * (level - depth))
        level = depth
        shown = _shown(branch)
        parts.append(f"<li><details open><summary>{shown}</summary>" if branch.children else f"<li>{shown}")
    return "".join([*parts, "</li>", "</ul></details></li>" * level, "</ul>"])


def _shown(branch: Branch) -> str:
    kind = "hit" if branch.on_topic else "miss"
    more = f' <span class="few">+ {branch.folded_words}</span>' if branch.folded else ""
    return f'<span class="{kind}">{web_text.link(branch.url, branch.title or branch.url)}</span>{more}'


def markdown_of(site: SiteMap) -> str:
    """The map as an outline in Markdown."""
    lines = [
        f"# {_plain(site.site)}: {_plain(site.topic)}",
        "",
        f"{site.on_topic:,} of {site.pages:,} pages on topic.",
        "",
    ]
    for depth, branch in site.rows():
        title = f"[{_plain(branch.title or branch.url)}](<{branch.url.replace('>', '%3E').replace('<', '%3C')}>)"
        shown = f"**{title}** ({branch.relevance:.2f})" if branch.on_topic else title
        more = f", and {branch.folded_words}" if branch.folded else ""
        lines.append(f"{'  ' * depth}- {shown}{more}")
    return "\n".join(lines) + "\n"


def text_of(site: SiteMap, most: int = 60) -> str:
    """The map as lines for a terminal, at most so many."""
    rows = list(site.rows())
    lines = [f"{site.site}: {site.on_topic:,} of {site.pages:,} pages on topic"]
    for depth, branch in rows[:most]:
        more = f"  (+ {branch.folded_words})" if branch.folded else ""
        shown = branch.title or branch.url
        mark = f"● {branch.relevance:.2f} {shown}  {branch.url}" if branch.on_topic else f"○ {shown}"
        lines.append("  " * depth + printable(f"{mark}{more}", 200))
    if len(rows) > most:
        lines.append(f"… and {len(rows) - most:,} more; map.html has all")
    return "\n".join(lines)


def sitemap_of(site: SiteMap) -> str:
    """The pages on topic as sitemap.xml (sitemaps.org): relevance as priority, the time of fetching as lastmod."""
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


def _plain(text: str) -> str:
    """Text from the web without meaning in Markdown."""
    return _MARKDOWN.sub(r"\\\1", text)


FORMATS: Mapping[str, tuple[Callable[[SiteMap], str], str]] = {
    "map.html": (html_of, "text/html"),
    "map.svg": (svg_of, "image/svg+xml"),
    "map.md": (markdown_of, "text/markdown"),
    "sitemap.xml": (sitemap_of, "application/xml"),
}
"""The files of a map, each with what writes it and its media type."""
