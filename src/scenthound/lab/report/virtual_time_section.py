"""The section on a polite replay: recall by virtual time, how long crawls took, and the cost of letting hosts rest."""

from __future__ import annotations

import math

from scenthound.lab.measure.by_time import curve_by_time, times
from scenthound.lab.measure.measure import load_table
from scenthound.lab.report.curves import crawler_name, style
from scenthound.lab.report.experiment_facts import RECALL, ExperimentFacts
from scenthound.lab.report.formatting import number, plain
from scenthound.report.charts import CurvePoint, Series, curves
from scenthound.report.report_layout import section, table

TITLE = "By virtual time"


def by_virtual_time(facts: ExperimentFacts) -> str:
    """The section with target recall by seconds and a row for each crawler; empty if the replay was not polite."""
    polite = facts.run.spec.limits.polite
    if polite is None:
        return ""
    note = (
        f"Replayed on a virtual clock: a host rests {polite.delay:g} s after each request, a reply takes "
        f"{polite.latency:g} s (median, log-normal with σ = {polite.sigma:g}), at most {polite.concurrency:,} requests "
        f"are in flight, and robots.txt is fetched first. The fetch order is <em>{polite.order}</em>."
    )
    return section(TITLE, note, _drawn(facts), _table(facts))


def _drawn(facts: ExperimentFacts) -> str:
    columns = load_table(facts.run, "by_time")
    series = []
    for name in facts.strategies:
        label = plain(name, 30)
        points = [
            CurvePoint(second, average.mean, average.error or 0.0, f"{label}, {second:,.0f} s: {number(average.mean)}")
            for second, average in curve_by_time(columns, RECALL, name)
            if average.mean is not None
        ]
        if points:
            marked = frozenset(point.at for point in points[9::10])
            series.append(Series(label, style(facts, name), points, marked))
    if not series:
        return "<p>No topic of this experiment has a value.</p>"
    last = math.ceil(max(point.at for curve in series for point in curve.points))
    title = "Target recall by virtual seconds, means over topics"
    return f'<div class="chart">{curves(title, RECALL, series, last, across="virtual seconds")}</div>'


def _table(facts: ExperimentFacts) -> str:
    columns = ("seconds", "pages_per_second", "out_of_order", "waited")
    rows = [
        [crawler_name(facts, name), *(number(values[column], 2) for column in columns)]
        for name, values in times(facts.run).items()
        if name in facts.strategies
    ]
    heads = (
        "crawler",
        "virtual seconds",
        "pages per second",
        "requests sent before better ones",
        "seconds waited for better hosts",
    )
    return table(heads, rows, range(1, len(heads)))
