"""Curves drawn by hand, as SVG that a style sheet colours. Nothing here comes from the web but numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scenthound.report.facts import Point
from scenthound.report.page import round_step

WIDTH, HEIGHT = 960, 300
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 12, 34
DIGIT = 11  # the width of a digit of a tick's label where they are largest: on a small screen


class Frame:
    """Axes from 0 to `across` and from 0 to `up`, with round numbers at their ticks."""

    def __init__(self, across: float, up: float, height: int = HEIGHT) -> None:
        self.height = height
        self.across = across or 1.0
        self.step = round_step(up or 1.0, 4)
        self.up = self.step * math.ceil((up or 1.0) / self.step - 1e-9)

    def x(self, value: float) -> float:
        return LEFT + value / self.across * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return self.height - BOTTOM - min(value, self.up) / self.up * (self.height - TOP - BOTTOM)

    def line(self, points: Sequence[tuple[float, float]], name: str) -> str:
        return f'<polyline class="{name}" points="{self._points(points)}"/>'

    def area(self, points: Sequence[tuple[float, float]], name: str) -> str:
        return f'<polygon class="{name}" points="{self._points(points)}"/>'

    def grid(self, across_name: str, up_label: str = "{:g}", across_unit: float = 1.0) -> str:
        """Lines, ticks and labels."""
        parts = []
        for number in range(round(self.up / self.step) + 1):
            value = number * self.step
            y = self.y(value)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text class="tick end" x="{LEFT - 8}" y="{y + 4:.1f}">{up_label.format(value)}</text>')
        step = round_step(self.across / across_unit, 6)
        last = f"{short(self.across / across_unit)} {across_name}"
        room = WIDTH - RIGHT - (len(last) + 3) * DIGIT
        for number in range(int(self.across / across_unit / step) + 1):
            value = number * step
            x = self.x(value * across_unit)
            if x < room or number == 0:
                parts.append(f'<text class="tick mid" x="{x:.1f}" y="{self.height - 12}">{short(value)}</text>')
        parts.append(f'<text class="tick end" x="{WIDTH - RIGHT}" y="{self.height - 12}">{last}</text>')
        return "".join(parts)

    def whole(self, title: str, *parts: str) -> str:
        return (
            f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{title}">'
            f"<title>{title}</title>{''.join(parts)}</svg>"
        )

    def _points(self, points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)


def harvest_curve(curve: Sequence[Point]) -> str:
    """The harvest rate overall and over the last hundred pages, each with one standard error up and down."""
    errors = [(standard_error(p.harvest, p.n), standard_error(p.recent, p.window)) for p in curve]
    highest = max(max(p.harvest + e[0], p.recent + e[1]) for p, e in zip(curve, errors, strict=True))
    frame = Frame(curve[-1].n, min(1.0, max(0.05, highest)))
    overall = [(p.n, p.harvest) for p in curve]
    recent = [(p.n, p.recent) for p in curve]
    return frame.whole(
        "Harvest rate by pages fetched",
        frame.grid("pages", "{:.0%}" if frame.step >= 0.01 else "{:.1%}"),
        frame.area(_band(recent, [e[1] for e in errors]), "band recent"),
        frame.area(_band(overall, [e[0] for e in errors]), "band overall"),
        frame.line(recent, "curve recent"),
        frame.line(overall, "curve overall"),
    )


def speed_curve(speed: Sequence[tuple[float, float]]) -> str:
    """Pages a second, as bars over the time that was spent crawling."""
    width = speed[0][0] * 2
    total = width * len(speed)
    unit, name = next(((u, n) for u, n in ((3600.0, "hours"), (60.0, "minutes")) if total > 3 * u), (1.0, "seconds"))
    frame = Frame(total, max(rate for _, rate in speed), 180)
    bars = []
    for middle, rate in speed:
        x, y = frame.x(middle - width / 2), frame.y(rate)
        wide, high = max(1.0, frame.x(width) - frame.x(0) - 1.5), frame.y(0) - y
        bars.append(f'<rect class="bar" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="1.5"/>')
    return frame.whole("Pages a second over time", frame.grid(name, across_unit=unit), *bars)


def short(value: float) -> str:
    """A number as a tick says it.

    >>> short(12500.0), short(12.3456), short(0.0)
    ('12,500', '12.3', '0')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def standard_error(share: float, count: int) -> float:
    """Of a share of `count` pages, each relevant or not.

    >>> round(standard_error(0.5, 100), 3)
    0.05
    """
    return math.sqrt(max(0.0, share * (1 - share)) / count) if count else 0.0


def _band(points: Sequence[tuple[float, float]], errors: Sequence[float]) -> list[tuple[float, float]]:
    above = [(x, min(1.0, y + e)) for (x, y), e in zip(points, errors, strict=True)]
    below = [(x, max(0.0, y - e)) for (x, y), e in zip(points, errors, strict=True)]
    return [*above, *reversed(below)]
