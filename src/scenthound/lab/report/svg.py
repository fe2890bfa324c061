"""Draw curves with error bands and labels, and scatter plots, as SVG; a style sheet sets the colours.

Each crawler has its own colour and dashes, and its name is at the end of its line. Callers must escape all text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scenthound.report.axes import WIDTH, Axes, Margins
from scenthound.report.report_layout import round_step

LEFT, TOP, BOTTOM = 46, 30, 44
LETTER = 6.7  # mean width of a letter in labels, in pixels, rounded up
LABEL_APART = 17.0
COLOURS, DASHES = 8, 5
"""Number of colours and dash patterns in the style sheet: `c0` … and `d0` …."""


class CurvePoint(NamedTuple):
    """A mean and its standard error (0 for one topic) after `at` pages or seconds; `tooltip` is shown on hover."""

    at: float
    mean: float
    error: float
    tooltip: str = ""


class Series(NamedTuple):
    """The curve of one crawler. `marked` are the points that tables show."""

    name: str
    style: str
    points: Sequence[CurvePoint]
    marked: frozenset[float] = frozenset()


def style_of(index: int, oracle: bool = False) -> str:
    """CSS classes of a crawler by its index: each of the first forty has its own colour and dashes.

    >>> style_of(0), style_of(9), style_of(1, oracle=True)
    ('c0 d0', 'c1 d0', 'oracle d2')
    """
    if oracle:
        return f"oracle d{1 + index % (DASHES - 1)}"
    return f"c{index % COLOURS} d{(index + index // COLOURS) % DASHES}"


class _Curves(Axes):
    """Axes with pages across, linear or logarithmic, and room for the crawlers' names at the right."""

    def __init__(self, last: int, up: float, names: Sequence[str], logarithmic: bool = False) -> None:
        first = (10 if last > 100 else 1) if logarithmic and last > 10 else 0
        right = min(240.0, 30.0 + LETTER * max((len(name) for name in names), default=0))
        height = max(380.0, TOP + BOTTOM + LABEL_APART * (len(names) + 1))
        super().__init__(height, Margins(LEFT, right, TOP, BOTTOM), max(last, first + 1), up, lines=5, first=first)

    def grid(self, value_name: str, across: str) -> str:
        """Grid lines, ticks and the names of the axes."""
        parts, floor = [self.grid_lines("{:.4g}")], self.floor
        for at in self._ticks():
            x = self.x(at)
            parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{floor:.1f}" y2="{floor + 5:.1f}"/>')
            parts.append(f'<text class="tick mid" x="{x:.1f}" y="{floor + 19:.1f}">{at:,g}</text>')
        scale, middle = ", logarithmic" if self.first else "", (LEFT + self.end) / 2
        parts.append(f'<text class="axis mid" x="{middle:.1f}" y="{self.height - 6:.1f}">{across}{scale}</text>')
        parts.append(f'<text class="axis" x="{LEFT - 38}" y="{TOP - 16}">{value_name}</text>')
        return "".join(parts)

    def band(self, series: Series) -> str:
        above = [(point.at, point.mean + point.error) for point in series.points]
        below = [(point.at, point.mean - point.error) for point in reversed(series.points)]
        return self.area([*above, *below], f"band {series.style}")

    def curve(self, series: Series) -> str:
        dots = "".join(
            f'<circle class="dot {series.style}" cx="{self.x(point.at):.1f}" cy="{self.y(point.mean):.1f}" r="3">'
            f"<title>{point.tooltip}</title></circle>"
            for point in series.points
            if point.at in series.marked and point.at >= self.first
        )
        return self.line([(point.at, point.mean) for point in series.points], f"curve {series.style}") + dots

    def labels(self, drawn: Sequence[Series]) -> str:
        """The names at the ends of the lines, moved so that they do not overlap."""
        ends = sorted((series for series in drawn if series.points), key=lambda series: self.y(series.points[-1].mean))
        heights = apart([self.y(series.points[-1].mean) for series in ends], LABEL_APART, TOP, self.floor)
        parts = []
        for series, height in zip(ends, heights, strict=True):
            y = self.y(series.points[-1].mean)
            path = f"M{self.x(series.points[-1].at):.1f},{y:.1f} L{self.end + 16:.1f},{height:.1f}"
            parts.append(f'<path class="leader {series.style}" d="{path}"/>')
            parts.append(f'<text class="label" x="{self.end + 20:.1f}" y="{height + 4:.1f}">{series.name}</text>')
        return "".join(parts)

    def _ticks(self) -> list[float]:
        if not self.first:
            step = max(round_step(self.across, 6), 1.0)
            return [index * step for index in range(int(self.across / step + 1e-9) + 1)]
        powers = range(int(math.log10(self.across)) + 1)
        ticks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        return [at for at in ticks if self.first <= at <= self.across]


def curves(
    title: str,
    value_name: str,
    drawn: Sequence[Series],
    last: int,
    logarithmic: bool = False,
    across: str = "pages crawled",
) -> str:
    """The curves of all crawlers in one chart."""
    highest = max((point.mean + point.error for series in drawn for point in series.points), default=1.0)
    axes = _Curves(last, highest, [series.name for series in drawn], logarithmic)
    return axes.svg(
        title,
        axes.grid(value_name, across),
        *(axes.band(series) for series in drawn if len(series.points) > 1),
        *(axes.curve(series) for series in reversed(drawn)),  # the first strategies are on top
        axes.labels(drawn),
    )


def interval(size: float, low: float, high: float, reach: float) -> str:
    """An effect size with its confidence interval, on an axis from -reach to reach with 0 marked."""
    width, height = 120.0, 16.0

    def x(value: float) -> float:
        return width / 2 + max(-1.0, min(1.0, value / (reach or 1.0))) * (width / 2 - 6)

    middle = height / 2
    return (
        f'<svg class="interval" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'aria-hidden="true"><line class="zero" x1="{width / 2}" x2="{width / 2}" y1="0" y2="{height:.0f}"/>'
        f'<line class="whisker" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{middle}" y2="{middle}"/>'
        f'<circle class="size" cx="{x(size):.1f}" cy="{middle}" r="4"/></svg>'
    )


def key(style: str) -> str:
    """A short sample of a crawler's line, shown beside its name in a table."""
    return (
        f'<svg class="key" viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">'
        f'<line class="curve {style}" x1="1" x2="25" y1="5" y2="5"/></svg>'
    )


def apart(positions: Sequence[float], distance: float, least: float, most: float) -> list[float]:
    """Move sorted positions as little as needed to be `distance` apart, within bounds if there is room.

    >>> apart([10, 12, 50], 10, 0, 100)
    [6.0, 16.0, 50.0]
    """
    groups: list[tuple[float, int]] = []  # middle and size of labels that touch each other
    for position in positions:
        middle, size = float(position), 1
        while groups:
            previous, count = groups[-1]
            if previous + distance * count / 2 <= middle - distance * size / 2:
                break
            groups.pop()
            middle = (previous * count + middle * size) / (count + size)
            size += count
            half = distance * (size - 1) / 2
            middle = max(min(middle, most - half), least + half)
        groups.append((middle, size))
    moved = [middle + distance * (index - (size - 1) / 2) for middle, size in groups for index in range(size)]
    return [max(least, position) for position in moved]


class TopicPoint(NamedTuple):
    """A topic with the values of two crawlers."""

    name: str
    first: float
    second: float


def scatter(title: str, first: str, second: str, topics: Sequence[TopicPoint]) -> str:
    """Topics as points, one crawler across and the other up; the largest differences are listed beside them."""
    most = max((max(topic.first, topic.second) for topic in topics), default=1.0) or 1.0
    axes = Axes(460.0, Margins(66.0, WIDTH - 66.0 - 386.0, TOP, BOTTOM), most, most, lines=5)
    axes.across = axes.up  # the same scale in both directions
    parts = [axes.grid_lines("{:.4g}")]
    for index in range(round(axes.up / axes.step) + 1):
        x = axes.x(index * axes.step)
        parts.append(f'<text class="tick mid" x="{x:.1f}" y="{axes.floor + 19:.1f}">{index * axes.step:.4g}</text>')
    parts.append(
        f'<line class="same" x1="{axes.x(0):.1f}" y1="{axes.y(0):.1f}" x2="{axes.x(axes.up):.1f}" '
        f'y2="{axes.y(axes.up):.1f}"/>'
    )
    parts += [
        f'<circle class="topic" cx="{axes.x(topic.first):.1f}" cy="{axes.y(topic.second):.1f}" r="5">'
        f"<title>{topic.name}: {topic.first:.3f}, {topic.second:.3f}</title></circle>"
        for topic in topics
    ]
    parts.append(f'<text class="axis mid" x="{(66 + axes.end) / 2:.1f}" y="{axes.height - 6:.1f}">{first}</text>')
    parts.append(f'<text class="axis" x="28" y="{TOP - 16}">{second}</text>')
    parts.append(_largest_differences(axes, topics))
    return axes.svg(title, *parts)


def _largest_differences(axes: Axes, topics: Sequence[TopicPoint]) -> str:
    ordered = sorted(topics, key=lambda topic: -abs(topic.first - topic.second))[:12]
    left, lines = axes.end + 40, [f'<text class="label" x="{axes.end + 40:g}" y="{TOP + 4}">Largest differences</text>']
    for row, topic in enumerate(topic for topic in ordered if topic.first != topic.second):
        y = TOP + 28 + 22 * row
        better = "▼" if topic.first > topic.second else "▲"
        lines.append(f'<text x="{left:g}" y="{y}">{better} {topic.name}: {topic.first:.3f}, {topic.second:.3f}</text>')
    return "".join(lines)
