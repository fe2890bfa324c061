"""Every chart as SVG: Python computes where things are, `templates/charts.svg` draws them, style sheets set colours.

The template escapes all text. Each crawler of an experiment has its own colour and dashes, and its name is at the end
of its line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from scenthound.templates import Markup, environment

WIDTH = 960
LEFT, TOP, BOTTOM = 46, 30, 44
LETTER = 6.7  # mean width of a letter in labels, in pixels, rounded up
DIGIT = 11  # largest width of a digit in tick labels, in pixels: on a small screen
LABEL_APART = 17.0
COLOURS, DASHES = 8, 5
"""Number of colours and dash patterns in the style sheets: `c0` … and `d0` …."""
SHARES_WIDTH, SHARES_HEIGHT, SHARES_MARGIN = 480, 96, 4

_draw: Any = environment("scenthound.report").get_template("charts.svg").module


class Margins(NamedTuple):
    """Pixels around the plot area."""

    left: float
    right: float
    top: float
    bottom: float


SMALL = Margins(left=46, right=12, top=12, bottom=34)


class CurvePoint(NamedTuple):
    """A mean and its standard error (0 for one topic) after `at` pages or seconds; `tooltip` is shown on hover."""

    at: float
    mean: float
    error: float = 0.0
    tooltip: str = ""


class Series(NamedTuple):
    """One curve. `style` are its CSS classes; `marked` are the points with a dot: those that tables show."""

    name: str
    style: str
    points: Sequence[CurvePoint]
    marked: frozenset[float] = frozenset()

    @property
    def has_band(self) -> bool:
        return len(self.points) > 1

    @property
    def edges(self) -> list[tuple[float, float]]:
        """The outline of the band of one standard error up and down."""
        above = [(point.at, point.mean + point.error) for point in self.points]
        return [*above, *((point.at, point.mean - point.error) for point in reversed(self.points))]


class TopicPoint(NamedTuple):
    """A topic with the values of two crawlers."""

    name: str
    first: float
    second: float

    @property
    def text(self) -> str:
        return f"{self.name}: {self.first:.3f}, {self.second:.3f}"


class Axes:
    """An x axis, linear from 0 or logarithmic from `first`, and a linear y axis from 0 to a round number."""

    def __init__(
        self, height: float, margins: Margins, across: float, up: float, lines: int, first: float = 0.0
    ) -> None:
        """`across` and `up` are the largest values, `lines` the approximate number of grid lines. A `first` above 0
        makes the x axis logarithmic."""
        self.height, self.left, self.top = height, margins.left, margins.top
        self.end, self.floor = WIDTH - margins.right, height - margins.bottom
        self.first, self.across = first, across or 1.0
        self.step = round_step(up or 1.0, lines)
        self.up = self.step * math.ceil((up or 1.0) / self.step - 1e-9)

    def x(self, value: float) -> float:
        if self.first:
            share = math.log(max(value, self.first) / self.first) / math.log(self.across / self.first)
        else:
            share = value / self.across
        return self.left + share * (self.end - self.left)

    def y(self, value: float) -> float:
        return self.floor - min(max(value, 0.0), self.up) / self.up * (self.floor - self.top)

    def points(self, points: Sequence[tuple[float, ...]]) -> str:
        """Points as an SVG attribute; points left of a logarithmic axis are omitted."""
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y, *_ in points if x >= self.first)

    @property
    def levels(self) -> list[tuple[float, float]]:
        """The values of the horizontal grid lines, with their pixels."""
        return [(index * self.step, self.y(index * self.step)) for index in range(round(self.up / self.step) + 1)]


# ---- charts of a crawl


def small_curves(
    title: str,
    series: Sequence[Series],
    most: float,
    form: str = "",
    bands: bool = False,
    height: float = 300,
    lines: int = 4,
) -> Markup:
    """Curves by pages fetched, up to `most`. `form` is the format of the y axis, a percentage by default."""
    axes = Axes(height, SMALL, max(line.points[-1].at for line in series), most, lines)
    form = form or (".0%" if axes.step >= 0.01 else ".1%")
    return Markup(_draw.small_curves(title, axes, form, *_ticks(axes, "pages"), series, bands))


def speed_curve(speed: Sequence[tuple[float, float]]) -> Markup:
    """Pages per second, as bars over the time spent crawling."""
    width = speed[0][0] * 2
    total = width * len(speed)
    unit, name = next(((u, n) for u, n in ((3600.0, "hours"), (60.0, "minutes")) if total > 3 * u), (1.0, "seconds"))
    axes = Axes(180, SMALL, total, max(rate for _, rate in speed), lines=4)
    bar_width = max(1.0, axes.x(width) - axes.x(0) - 1.5)
    bars = [(axes.x(middle - width / 2), axes.y(rate), bar_width, axes.y(0) - axes.y(rate)) for middle, rate in speed]
    return Markup(_draw.bars("Pages per second over time", axes, *_ticks(axes, name, unit), bars))


def _ticks(axes: Axes, name: str, unit: float = 1.0) -> tuple[list[tuple[float, str]], str]:
    """Round numbers along the x axis with their pixels, and the last value with its unit for the end."""
    step = round_step(axes.across / unit, 6)
    last = f"{short(axes.across / unit)} {name}"
    space = axes.end - (len(last) + 3) * DIGIT
    values = [index * step for index in range(int(axes.across / unit / step) + 1)]
    return [(x, short(value)) for value in values if (x := axes.x(value * unit)) < space or not value], last


def short(value: float) -> str:
    """A number for a tick label.

    >>> short(12500.0), short(12.3456), short(0.0)
    ('12,500', '12.3', '0')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def shares(title: str, curve: Sequence[Sequence[float]]) -> Markup:
    """The small chart of the desk, whose `crawl.js` updates it: rows of (pages, share, recent share)."""
    last = curve[-1][0] if curve else 1
    height = SHARES_HEIGHT - 2 * SHARES_MARGIN

    def points(column: int) -> str:
        return " ".join(
            f"{SHARES_WIDTH * row[0] / last:.1f},{SHARES_HEIGHT - SHARES_MARGIN - height * row[column]:.1f}"
            for row in curve
        )

    return Markup(_draw.shares(title, points(1), points(2)))


# ---- charts of an experiment


def style_of(index: int, oracle: bool = False) -> str:
    """CSS classes of a crawler by its index: each of the first forty has its own colour and dashes.

    >>> style_of(0), style_of(9), style_of(1, oracle=True)
    ('c0 d0', 'c1 d0', 'oracle d2')
    """
    if oracle:
        return f"oracle d{1 + index % (DASHES - 1)}"
    return f"c{index % COLOURS} d{(index + index // COLOURS) % DASHES}"


def curves(
    title: str,
    value_name: str,
    drawn: Sequence[Series],
    last: float,
    logarithmic: bool = False,
    across: str = "pages crawled",
    style: str = "",
) -> Markup:
    """The curves of all crawlers, with error bands and names. With `style` (CSS) it can be a file of its own."""
    highest = max((point.mean + point.error for series in drawn for point in series.points), default=1.0)
    first = (10 if last > 100 else 1) if logarithmic and last > 10 else 0
    right = min(240.0, 30.0 + LETTER * max((len(series.name) for series in drawn), default=0))
    height = max(380.0, TOP + BOTTOM + LABEL_APART * (len(drawn) + 1))
    axes = Axes(height, Margins(LEFT, right, TOP, BOTTOM), max(last, first + 1), highest, lines=5, first=first)
    across += ", logarithmic" if first else ""
    places = [(axes.x(at), at) for at in _round_numbers(axes)]
    # the first strategies are on top
    return Markup(_draw.curves(title, axes, value_name, across, places, drawn, _labels(axes, drawn), style))


def _labels(axes: Axes, drawn: Sequence[Series]) -> list[tuple[Series, float, float]]:
    """The curves with the heights of their ends and of their names, which are moved so that they do not overlap."""
    ends = sorted((axes.y(line.points[-1].mean), index) for index, line in enumerate(drawn) if line.points)
    heights = apart([y for y, _ in ends], LABEL_APART, TOP, axes.floor)
    return [(drawn[index], y, height) for (y, index), height in zip(ends, heights, strict=True)]


def _round_numbers(axes: Axes) -> list[float]:
    if not axes.first:
        step = max(round_step(axes.across, 6), 1.0)
        return [index * step for index in range(int(axes.across / step + 1e-9) + 1)]
    powers = range(int(math.log10(axes.across)) + 1)
    numbers = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    return [at for at in numbers if axes.first <= at <= axes.across]


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


def scatter(title: str, first: str, second: str, topics: Sequence[TopicPoint], style: str = "") -> Markup:
    """Topics as points, one crawler across and the other up; the largest differences are listed beside them."""
    most = max((max(topic.first, topic.second) for topic in topics), default=1.0) or 1.0
    axes = Axes(460.0, Margins(66.0, WIDTH - 66.0 - 386.0, TOP, BOTTOM), most, most, lines=5)
    axes.across = axes.up  # the same scale in both directions
    ordered = sorted(topics, key=lambda topic: -abs(topic.first - topic.second))[:12]
    different = [topic for topic in ordered if topic.first != topic.second]
    return Markup(_draw.scatter(title, axes, first, second, topics, different, style))


def interval(size: float, low: float, high: float, reach: float) -> Markup:
    """An effect size with its confidence interval, on an axis from -reach to reach with 0 marked."""
    return Markup(
        _draw.interval(*(60 + max(-1.0, min(1.0, value / (reach or 1.0))) * 54 for value in (size, low, high)))
    )


def key(style: str) -> Markup:
    """A short sample of a crawler's line, shown beside its name in a table."""
    return Markup(_draw.key(style))


def round_step(span: float, ticks: int) -> float:
    """A step of 1, 2, 2.5 or 5 times a power of ten that gives at most about `ticks` ticks.

    >>> round_step(1.0, 4), round_step(1.0, 5), round_step(600, 6), round_step(1000, 6), round_step(0.07, 4)
    (0.25, 0.2, 100.0, 200.0, 0.02)
    """
    raw = span / ticks
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
    return round(step, 12)
