"""Axes of an SVG chart: scales, grid lines and the frame. A style sheet sets the colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scenthound.report.report_layout import round_step

WIDTH = 960
XY = tuple[float, float]


class Margins(NamedTuple):
    """Pixels around the plot area."""

    left: float
    right: float
    top: float
    bottom: float


class Axes:
    """An x axis, linear from 0 or logarithmic from `first`, and a linear y axis from 0 to a round number."""

    def __init__(
        self, height: float, margins: Margins, across: float, up: float, lines: int, first: float = 0.0
    ) -> None:
        """`across` and `up` are the largest values, `lines` the approximate number of grid lines. A `first` above 0
        makes the x axis logarithmic."""
        self.height, self.margins = height, margins
        self.first, self.across = first, across or 1.0
        self.step = round_step(up or 1.0, lines)
        self.up = self.step * math.ceil((up or 1.0) / self.step - 1e-9)

    @property
    def end(self) -> float:
        """The right end of the plot area."""
        return WIDTH - self.margins.right

    @property
    def floor(self) -> float:
        """The lower end of the plot area."""
        return self.height - self.margins.bottom

    def x(self, value: float) -> float:
        if self.first:
            share = math.log(max(value, self.first) / self.first) / math.log(self.across / self.first)
        else:
            share = value / self.across
        return self.margins.left + share * (self.end - self.margins.left)

    def y(self, value: float) -> float:
        return self.floor - min(max(value, 0.0), self.up) / self.up * (self.floor - self.margins.top)

    def points(self, points: Sequence[XY]) -> str:
        """Points as an SVG attribute; points left of a logarithmic axis are omitted."""
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points if x >= self.first)

    def line(self, points: Sequence[XY], name: str) -> str:
        return f'<polyline class="{name}" points="{self.points(points)}"/>'

    def area(self, points: Sequence[XY], name: str) -> str:
        return f'<polygon class="{name}" points="{self.points(points)}"/>'

    def grid_lines(self, label: str) -> str:
        """Horizontal lines, each with its value."""
        left, parts = self.margins.left, []
        for index in range(round(self.up / self.step) + 1):
            value = index * self.step
            y = self.y(value)
            parts.append(f'<line class="grid" x1="{left:g}" x2="{self.end:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text class="tick end" x="{left - 8:g}" y="{y + 4:.1f}">{label.format(value)}</text>')
        return "".join(parts)

    def svg(self, title: str, *parts: str, name: str = "figure") -> str:
        """The whole chart."""
        return (
            f'<svg class="{name}" viewBox="0 0 {WIDTH} {self.height:.0f}" role="img" aria-label="{title}">'
            f"<title>{title}</title>{''.join(parts)}</svg>"
        )
