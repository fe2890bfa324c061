"""Figures of the findings, in the style of reports: means with bands of one standard error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from findings_lab import BenchWeb, Crawler, Values

from scenthound.lab.report.downloads import figure_style
from scenthound.report.charts import CurvePoint, Series, curves, style_of


def draw(
    web: BenchWeb,
    name: str,
    title: str,
    value_name: str,
    lines: Mapping[str, Sequence[tuple[float, float, float]]],
    across: str = "pages crawled",
) -> None:
    """Write a figure next to the tables. A line is a list of (point, mean, standard error)."""
    series = [
        Series(label, style_of(index), [CurvePoint(*point) for point in points])
        for index, (label, points) in enumerate(lines.items())
    ]
    last = int(max(point[0] for points in lines.values() for point in points))
    file = web.settings.tables / f"{name}.svg"
    file.parent.mkdir(parents=True, exist_ok=True)
    title, value_name = title.replace("_", " "), value_name.replace("_", " ")
    chart = curves(title, value_name, series, last, across == "n", across, figure_style())
    file.write_text(chart, encoding="utf-8")
    print(f"![{title}]({file.name})\n")


def lines_of(
    values: Values, measure: str, crawlers: Mapping[str, Crawler], points: Sequence[int] | None = None
) -> dict[str, list[tuple[float, float, float]]]:
    """The curves of these crawlers, by label."""
    curves_by_label: dict[str, list[tuple[float, float, float]]] = {}
    for label, (arm, strategy) in crawlers.items():
        means = [(point, values.mean(measure, strategy, point, arm)) for point in points or values.points[measure]]
        curves_by_label[label] = [
            (point, mean.mean, mean.error or 0.0) for point, mean in means if mean.mean is not None
        ]
    return curves_by_label
