"""The small chart of the on-topic share. `crawl.js` updates it with the same formula."""

from __future__ import annotations

from collections.abc import Sequence

from scenthound.desk.markup import Markup, element

WIDTH, HEIGHT, MARGIN = 480, 96, 4


def points(curve: Sequence[Sequence[float]], column: int) -> str:
    """The SVG points of a line: pages on the x axis, share on the y axis."""
    last = curve[-1][0] if curve else 1
    height = HEIGHT - 2 * MARGIN
    return " ".join(f"{WIDTH * row[0] / last:.1f},{HEIGHT - MARGIN - height * row[column]:.1f}" for row in curve)


def curve_figure(curve: Sequence[Sequence[float]]) -> Markup:
    """The chart, with its figures as a table for screen readers."""
    lines = [element("line", x1=0, y1=y, x2=WIDTH, y2=y, class_="grid") for y in (MARGIN, HEIGHT // 2, HEIGHT - MARGIN)]
    drawing = element(
        "svg",
        *lines,
        element("polyline", points=points(curve, 1), class_="all", id="curve-all"),
        element("polyline", points=points(curve, 2), class_="recent", id="curve-recent"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label="On-topic share by number of pages: whole crawl and last 50 pages",
        class_="curve",
    )
    rows = [
        element("tr", element("td", f"{int(n):,}"), element("td", f"{share:.0%}"), element("td", f"{recent:.0%}"))
        for n, share, recent in _thinned(curve)
    ]
    head = element("tr", *(element("th", label, scope="col") for label in ("pages", "all", "last 50")))
    table = element("table", element("thead", head), element("tbody", *rows, id="curve-table"))
    legend = element(
        "figcaption",
        element("span", "whole crawl", class_="key-all"),
        element("span", "last 50 pages", class_="key-recent"),
        element("span", "0 to 100%", class_="quiet-text"),
    )
    return element("figure", drawing, legend, element("details", element("summary", "Show as table"), table))


def _thinned(curve: Sequence[Sequence[float]], most: int = 12) -> list[Sequence[float]]:
    step = max(1, len(curve) // most)
    return list(curve[::step])
