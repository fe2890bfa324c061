"""The charts of a crawl report as SVG. They show only numbers, never text from the web."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from scenthound.report.axes import Axes, Margins
from scenthound.report.crawl_facts import HarvestPoint
from scenthound.report.report_layout import round_step

MARGINS = Margins(left=46, right=12, top=12, bottom=34)
DIGIT = 11  # largest width of a digit in tick labels, in pixels: on a small screen


def harvest_curve(curve: Sequence[HarvestPoint]) -> str:
    """The harvest rate overall and over the last hundred pages, each with one standard error up and down."""
    errors = [(standard_error(p.harvest, p.n), standard_error(p.recent, p.window)) for p in curve]
    highest = max(max(p.harvest + e[0], p.recent + e[1]) for p, e in zip(curve, errors, strict=True))
    axes = Axes(300, MARGINS, curve[-1].n, min(1.0, max(0.05, highest)), lines=4)
    overall = [(p.n, p.harvest) for p in curve]
    recent = [(p.n, p.recent) for p in curve]
    return axes.svg(
        "Harvest rate by pages fetched",
        axes.grid_lines("{:.0%}" if axes.step >= 0.01 else "{:.1%}"),
        page_ticks(axes),
        axes.area(_band(recent, [e[1] for e in errors]), "band recent"),
        axes.area(_band(overall, [e[0] for e in errors]), "band overall"),
        axes.line(recent, "curve recent"),
        axes.line(overall, "curve overall"),
    )


def speed_curve(speed: Sequence[tuple[float, float]]) -> str:
    """Pages per second, as bars over the time spent crawling."""
    width = speed[0][0] * 2
    total = width * len(speed)
    unit, name = next(((u, n) for u, n in ((3600.0, "hours"), (60.0, "minutes")) if total > 3 * u), (1.0, "seconds"))
    axes = Axes(180, MARGINS, total, max(rate for _, rate in speed), lines=4)
    bars = []
    for middle, rate in speed:
        x, y = axes.x(middle - width / 2), axes.y(rate)
        bar_width, height = max(1.0, axes.x(width) - axes.x(0) - 1.5), axes.y(0) - y
        bars.append(
            f'<rect class="bar" x="{x:.1f}" y="{y:.1f}" width="{bar_width:.1f}" height="{height:.1f}" rx="1.5"/>'
        )
    return axes.svg("Pages per second over time", axes.grid_lines("{:g}"), _ticks(axes, name, unit), *bars)


def exploration_curve(rates: Sequence[tuple[int, float]]) -> str:
    """The exploration rate by pages fetched; a rate holds until the next ranking."""
    steps = [point for (n, rate), (later, _) in pairwise(rates) for point in ((n, rate), (later, rate))]
    axes = Axes(140, MARGINS, rates[-1][0], max(0.01, *(rate for _, rate in rates)), lines=3)
    return axes.svg(
        "Exploration rate by pages fetched",
        axes.grid_lines("{:.0%}" if axes.step >= 0.01 else "{:.1%}"),
        page_ticks(axes),
        axes.line([*steps, rates[-1]], "curve overall"),
    )


def page_ticks(axes: Axes) -> str:
    """Round numbers of pages along the x axis."""
    return _ticks(axes, "pages")


def _ticks(axes: Axes, name: str, unit: float = 1.0) -> str:
    """Round numbers along the x axis, and the last value with its unit at the end."""
    step, y = round_step(axes.across / unit, 6), axes.height - 12
    last = f"{short(axes.across / unit)} {name}"
    space = axes.end - (len(last) + 3) * DIGIT
    parts = []
    for index in range(int(axes.across / unit / step) + 1):
        x = axes.x(index * step * unit)
        if x < space or index == 0:
            parts.append(f'<text class="tick mid" x="{x:.1f}" y="{y:g}">{short(index * step)}</text>')
    return "".join([*parts, f'<text class="tick end" x="{axes.end:g}" y="{y:g}">{last}</text>'])


def short(value: float) -> str:
    """A number for a tick label.

    >>> short(12500.0), short(12.3456), short(0.0)
    ('12,500', '12.3', '0')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def standard_error(share: float, count: int) -> float:
    """The standard error of the share of relevant pages among `count` pages.

    >>> round(standard_error(0.5, 100), 3)
    0.05
    """
    return math.sqrt(max(0.0, share * (1 - share)) / count) if count else 0.0


def _band(points: Sequence[tuple[float, float]], errors: Sequence[float]) -> list[tuple[float, float]]:
    above = [(x, min(1.0, y + e)) for (x, y), e in zip(points, errors, strict=True)]
    below = [(x, max(0.0, y - e)) for (x, y), e in zip(points, errors, strict=True)]
    return [*above, *reversed(below)]
