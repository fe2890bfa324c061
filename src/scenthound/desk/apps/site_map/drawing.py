"""Draw a site map as SVG: one row per page, indented by depth; relevant pages are highlighted."""

from __future__ import annotations

from html import escape

from scenthound.desk.apps.site_map.tree import Branch, SiteMap
from scenthound.formats import printable

ROW, INDENT, LEFT, TOP = 26, 24, 18, 54
WIDTH = 1000
MOST_ROWS = 3_000
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#444}.on{font-size:16px;font-weight:600;fill:#111}"
    ".note{font-size:11px;fill:#777}.title{font-size:20px;font-weight:600;fill:#111}"
    "path{fill:none;stroke:#bbb}circle{fill:#fff;stroke:#999}circle.hit{fill:#c2410c;stroke:#7c2d12}"
    "a:hover text{text-decoration:underline}"
)


def svg_of(site: SiteMap) -> str:
    """Return the map as a standalone SVG file. Titles link to the pages; all text from the web is escaped."""
    parts, ancestors = [], list[tuple[float, float]]()
    rows = list(site.rows())[:MOST_ROWS]
    for index, (depth, branch) in enumerate(rows):
        x, y = LEFT + min(depth, 24) * INDENT, TOP + index * ROW
        del ancestors[depth:]
        if ancestors:
            parent_x, parent_y = ancestors[-1]
            parts.append(f'<path d="M{parent_x:g} {parent_y + 8:g}V{y:g}H{x - 8:g}"/>')
        ancestors.append((x, y))
        parts.append(_row(branch, x, y))
    height = TOP + len(rows) * ROW
    title = escape(printable(f"{site.site}: {site.topic}", 100))
    summary = f"{site.on_topic:,} of {site.pages:,} pages on topic"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{title}"><title>{title}</title><style>{STYLE}</style>'
        f'<text class="title" x="{LEFT}" y="24">{title} <tspan class="note">{summary}</tspan></text>'
        f"{''.join(parts)}</svg>\n"
    )


def _row(branch: Branch, x: float, y: float) -> str:
    radius = 5 + 4 * branch.relevance if branch.on_topic else 3
    marker = ' class="hit"' if branch.on_topic else ""
    title = escape(branch.title or printable(branch.url, 100))
    emphasis = ' class="on"' if branch.on_topic else ""
    label = f'<text{emphasis} x="{x + 14:g}" y="{y + 5:g}">{title}'
    folded = f' <tspan class="note">+ {branch.folded_label}</tspan>' if branch.folded else ""
    return (
        f'<circle{marker} cx="{x:g}" cy="{y:g}" r="{radius:.1f}"/>'
        f'<a href="{escape(branch.url)}" rel="noopener noreferrer">'
        f"<title>{escape(printable(branch.url, 300))}</title>{label}{folded}</text></a>"
    )
