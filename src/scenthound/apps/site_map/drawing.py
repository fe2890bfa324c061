"""The map as SVG: a row for each page, indented by its depth; relevant pages are marked and large."""

from __future__ import annotations

from html import escape

from scenthound.apps.site_map.tree import Branch, SiteMap
from scenthound.formats import printable

ROW, INDENT, LEFT, TOP = 26, 24, 18, 54
WIDTH = 1000
MOST_ROWS = 3_000
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#444}.on{font-size:16px;font-weight:600;fill:#111}"
    ".few{font-size:11px;fill:#777}.title{font-size:20px;font-weight:600;fill:#111}"
    "path{fill:none;stroke:#bbb}circle{fill:#fff;stroke:#999}circle.hit{fill:#c2410c;stroke:#7c2d12}"
    "a:hover text{text-decoration:underline}"
)


def svg_of(site: SiteMap) -> str:
    """The map as an SVG file of its own. Titles lead to the pages; all text from the web is escaped."""
    parts, places = [], list[tuple[float, float]]()
    rows = [(depth, branch) for depth, branch in site.rows()][:MOST_ROWS]
    for number, (depth, branch) in enumerate(rows):
        x, y = LEFT + min(depth, 24) * INDENT, TOP + number * ROW
        del places[depth:]
        if places:
            above, upper = places[-1]
            parts.append(f'<path d="M{above:g} {upper + 8:g}V{y:g}H{x - 8:g}"/>')
        places.append((x, y))
        parts.append(_row(branch, x, y))
    height = TOP + len(rows) * ROW
    title = escape(printable(f"{site.site}: {site.topic}", 100))
    about = f"{site.on_topic:,} of {site.pages:,} pages on topic"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{title}"><title>{title}</title><style>{STYLE}</style>'
        f'<text class="title" x="{LEFT}" y="24">{title} <tspan class="few">{about}</tspan></text>'
        f"{''.join(parts)}</svg>\n"
    )


def _row(branch: Branch, x: float, y: float) -> str:
    radius = 5 + 4 * branch.relevance if branch.on_topic else 3
    kind = ' class="hit"' if branch.on_topic else ""
    shown = escape(branch.title or printable(branch.url, 100))
    large = ' class="on"' if branch.on_topic else ""
    words = f'<text{large} x="{x + 14:g}" y="{y + 5:g}">{shown}'
    folded = f' <tspan class="few">+ {branch.folded_words}</tspan>' if branch.folded else ""
    return (
        f'<circle{kind} cx="{x:g}" cy="{y:g}" r="{radius:.1f}"/>'
        f'<a href="{escape(branch.url)}" rel="noopener noreferrer">'
        f"<title>{escape(printable(branch.url, 300))}</title>{words}{folded}</text></a>"
    )
