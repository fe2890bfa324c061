"""The small chart of the on-topic share. `crawl.js` updates it with the same formula."""

from __future__ import annotations

from collections.abc import Sequence

from scenthound.desk.markup import Markup, element
from scenthound.report.charts import shares


def curve_figure(curve: Sequence[Sequence[float]]) -> Markup:
    """The chart, with its figures as a table for screen readers."""
    title = "On-topic share by number of pages: whole crawl and last 50 pages"
    drawing = Markup(shares(title, curve))
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
