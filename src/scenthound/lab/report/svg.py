"""Curves with error bands and direct labels, drawn by hand as SVG that a style sheet colours.

A crawler is told from the others by its colour and by its dashes, and named at the end of its line. Texts given to
these functions must have been escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from scenthound.report.page import round_step

WIDTH = 960
LEFT, TOP, BOTTOM = 46, 30, 44
LETTER = 6.7  # pixels of a letter of the labels, on average and rounded up
LABEL_APART = 17.0
COLOURS, DASHES = 8, 5
"""How many of each the style sheet knows: `c0` … and `d0` …."""


class Point(NamedTuple):
    """A mean and its standard error (0 for one topic), after so many pages; `told` is what pointing at it says."""

    at: int
    mean: float
    error: float
    told: str = ""


class Series(NamedTuple):
    """The curve of one crawler. `marked` are the points that tables show."""

    name: str
    style: str
    points: Sequence[Point]
    marked: frozenset[int] = frozenset()


def style_of(place: int, oracle: bool = False) -> str:
    """Classes for the crawler at this place: each of the first forty has its own colour and dashes.

    >>> style_of(0), style_of(9), style_of(1, oracle=True)
    ('c0 d0', 'c1 d0', 'oracle d2')
    """
    if oracle:
        return f"oracle d{1 + place % (DASHES - 1)}"
    return f"c{place % COLOURS} d{(place + place // COLOURS) % DASHES}"


class Frame:
    """Pages across, linear or logarithmic; values from 0 up to a round number."""

    def __init__(self, last: int, up: float, names: Sequence[str], logarithmic: bool = False) -> None:
        self.logarithmic = logarithmic and last > 10
        self.first = (10 if last > 100 else 1) if self.logarithmic else 0
        self.last = max(last, self.first + 1)
        self.right = min(240.0, 30.0 + LETTER * max((len(name) for name in names), default=0))
        self.height = max(380.0, TOP + BOTTOM + LABEL_APART * (len(names) + 1))
        self.step = round_step(up or 1.0, 5)
        self.up = self.step * math.ceil((up or 1.0) / self.step - 1e-9)

    def x(self, at: float) -> float:
        share = (
            math.log(max(at, self.first) / self.first) / math.log(self.last / self.first)
            if self.logarithmic
            else at / self.last
        )
        return LEFT + share * (WIDTH - LEFT - self.right)

    def y(self, value: float) -> float:
        return self.height - BOTTOM - min(max(value, 0.0), self.up) / self.up * (self.height - TOP - BOTTOM)

    def grid(self, value_name: str) -> str:
        """Lines, ticks and what the axes are called."""
        parts = []
        end, floor = WIDTH - self.right, self.height - BOTTOM
        for number in range(round(self.up / self.step) + 1):
            value = number * self.step
            y = self.y(value)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{end:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text class="tick end" x="{LEFT - 8}" y="{y + 4:.1f}">{value:.4g}</text>')
        for at in self._ticks():
            x = self.x(at)
            parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{floor:.1f}" y2="{floor + 5:.1f}"/>')
            parts.append(f'<text class="tick mid" x="{x:.1f}" y="{floor + 19:.1f}">{at:,g}</text>')
        scale = ", logarithmic" if self.logarithmic else ""
        middle = (LEFT + end) / 2
        parts.append(f'<text class="axis mid" x="{middle:.1f}" y="{self.height - 6:.1f}">pages crawled{scale}</text>')
        parts.append(f'<text class="axis" x="{LEFT - 38}" y="{TOP - 16}">{value_name}</text>')
        return "".join(parts)

    def band(self, series: Series) -> str:
        above = [(point.at, point.mean + point.error) for point in series.points]
        below = [(point.at, point.mean - point.error) for point in reversed(series.points)]
        return f'<polygon class="band {series.style}" points="{self._points([*above, *below])}"/>'

    def line(self, series: Series) -> str:
        points = self._points([(point.at, point.mean) for point in series.points])
        dots = "".join(
            f'<circle class="dot {series.style}" cx="{self.x(point.at):.1f}" cy="{self.y(point.mean):.1f}" r="3">'
            f"<title>{point.told}</title></circle>"
            for point in series.points
            if point.at in series.marked and point.at >= self.first
        )
        return f'<polyline class="curve {series.style}" points="{points}"/>{dots}'

    def labels(self, every: Sequence[Series]) -> str:
        """The names at the ends of the lines, moved apart where they would cover each other."""
        there = sorted((one for one in every if one.points), key=lambda one: self.y(one.points[-1].mean))
        places = apart([self.y(one.points[-1].mean) for one in there], LABEL_APART, TOP, self.height - BOTTOM)
        x = WIDTH - self.right
        parts = []
        for one, place in zip(there, places, strict=True):
            y = self.y(one.points[-1].mean)
            path = f"M{self.x(one.points[-1].at):.1f},{y:.1f} L{x + 16:.1f},{place:.1f}"
            parts.append(f'<path class="leader {one.style}" d="{path}"/>')
            parts.append(f'<text class="label" x="{x + 20:.1f}" y="{place + 4:.1f}">{one.name}</text>')
        return "".join(parts)

    def _ticks(self) -> list[float]:
        if not self.logarithmic:
            step = max(round_step(self.last, 6), 1.0)
            return [number * step for number in range(int(self.last / step + 1e-9) + 1)]
        powers = range(int(math.log10(self.last)) + 1)
        found = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        return [at for at in found if self.first <= at <= self.last]

    def _points(self, points: Sequence[tuple[float, float]]) -> str:
        kept = [(at, value) for at, value in points if at >= self.first]
        return " ".join(f"{self.x(at):.1f},{self.y(value):.1f}" for at, value in kept)


def curves(title: str, value_name: str, every: Sequence[Series], last: int, logarithmic: bool = False) -> str:
    """The curves of all crawlers in one drawing."""
    highest = max((point.mean + point.error for one in every for point in one.points), default=1.0)
    frame = Frame(last, highest, [one.name for one in every], logarithmic)
    parts = [
        frame.grid(value_name),
        *(frame.band(one) for one in every if len(one.points) > 1),
        *(frame.line(one) for one in reversed(every)),  # the first strategies lie on top
        frame.labels(every),
    ]
    return (
        f'<svg class="figure" viewBox="0 0 {WIDTH} {frame.height:.0f}" role="img" aria-label="{title}">'
        f"<title>{title}</title>{''.join(parts)}</svg>"
    )


def interval(size: float, low: float, high: float, reach: float) -> str:
    """An effect size with its confidence interval, on an axis from -reach to reach with 0 marked."""
    wide, high_px = 120.0, 16.0

    def x(value: float) -> float:
        return wide / 2 + max(-1.0, min(1.0, value / (reach or 1.0))) * (wide / 2 - 6)

    middle = high_px / 2
    return (
        f'<svg class="interval" viewBox="0 0 {wide:.0f} {high_px:.0f}" width="{wide:.0f}" height="{high_px:.0f}" '
        f'aria-hidden="true"><line class="zero" x1="{wide / 2}" x2="{wide / 2}" y1="0" y2="{high_px:.0f}"/>'
        f'<line class="whisker" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{middle}" y2="{middle}"/>'
        f'<circle class="size" cx="{x(size):.1f}" cy="{middle}" r="4"/></svg>'
    )


def key(style: str) -> str:
    """A short piece of a crawler's line, to stand beside its name in a table."""
    return (
        f'<svg class="key" viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">'
        f'<line class="curve {style}" x1="1" x2="25" y1="5" y2="5"/></svg>'
    )


def apart(places: Sequence[float], distance: float, least: float, most: float) -> list[float]:
    """Sorted places moved as little as needed to lie `distance` apart, within bounds if there is room.

    >>> apart([10, 12, 50], 10, 0, 100)
    [6.0, 16.0, 50.0]
    """
    groups: list[tuple[float, int]] = []  # middle and size of labels that touch each other
    for place in places:
        middle, size = float(place), 1
        while groups:
            before, count = groups[-1]
            if before + distance * count / 2 <= middle - distance * size / 2:
                break
            groups.pop()
            middle = (before * count + middle * size) / (count + size)
            size += count
            half = distance * (size - 1) / 2
            middle = max(min(middle, most - half), least + half)
        groups.append((middle, size))
    moved = [middle + distance * (number - (size - 1) / 2) for middle, size in groups for number in range(size)]
    return [max(least, place) for place in moved]
