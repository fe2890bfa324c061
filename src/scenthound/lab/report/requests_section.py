"""The section on requests: results by number of requests, including dead links and redirects."""

from __future__ import annotations

from scenthound.lab.measure.equal_pages import crawl_lengths, rows
from scenthound.lab.measure.statistics import Mean, average_runs, mean
from scenthound.lab.report.curves import crawler_name, style
from scenthound.lab.report.experiment_facts import ExperimentFacts
from scenthound.lab.report.formatting import number, plain, text
from scenthound.report.charts import CurvePoint, Series, curves
from scenthound.report.report_layout import section, table

NOTE = (
    "A request that brings no page costs a live crawl as much as one that does. Here crawlers are compared after the "
    "same number of requests: pages, dead links, redirects and robots.txt together."
)


def by_requests(facts: ExperimentFacts) -> str:
    """The section with the main metric by requests, and the number of requests per page."""
    means = request_means(facts)
    series = [_series(facts, name, points) for name, points in means.items()]
    if not series:
        return section("By requests", f"{NOTE} These crawls were made before requests were recorded.")
    last = max(int(point.at) for curve in series for point in curve.points)
    title = f"{facts.main} by requests, means over topics"
    drawn = f'<div class="chart">{curves(title, facts.main, series, last, across="requests made")}</div>'
    return section("By requests", NOTE, drawn, _table(facts, means))


def request_means(facts: ExperimentFacts) -> dict[str, list[tuple[int, Mean]]]:
    """For each crawler, the mean of the main metric at each number of requests."""
    runs: dict[str, dict[int, dict[str, list[float | None]]]] = {}
    columns = ("strategy", "metric", "at", "topic", "value")
    for name, metric, at, topic, value in rows(facts.run, "by_requests", *columns):
        if metric == facts.main and name in (*facts.strategies, *facts.bounds):
            runs.setdefault(name, {}).setdefault(at, {}).setdefault(topic, []).append(value)
    ordered = {name: runs[name] for name in facts.names if name in runs}
    means = {
        name: [(at, facts.average(average_runs(topics))) for at, topics in sorted(points.items())]
        for name, points in ordered.items()
    }
    return {name: points for name, points in means.items() if any(average.number for _, average in points)}


def _series(facts: ExperimentFacts, name: str, means: list[tuple[int, Mean]]) -> Series:
    label = plain(name, 30)
    points = [
        CurvePoint(at, average.mean, average.error or 0.0, f"{label}, {at:,} requests: {number(average.mean)}")
        for at, average in means
        if average.mean is not None
    ]
    return Series(label, style(facts, name), points, frozenset(point.at for point in points[4::10]))


def _table(facts: ExperimentFacts, means: dict[str, list[tuple[int, Mean]]]) -> str:
    pages, requests = crawl_lengths(facts.run), crawl_lengths(facts.run, "requests")
    lines = []
    for name in means:
        ratios = [requests[name][topic] / count for topic, count in pages[name].items() if count]
        at_end = means[name][-1][1]
        lines.append(
            [crawler_name(facts, name), number(mean(ratios).mean, 2), number(at_end.mean), number(at_end.error)]
        )
    heads = ("crawler", "requests per page", f"{text(facts.main)} at the end", "± standard error")
    return table(heads, lines, range(1, len(heads)))
