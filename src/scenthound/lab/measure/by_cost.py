"""Metrics by cost instead of by pages: what a crawl has found after r requests, and after t virtual seconds.

    value(r) = value after n(r) pages,  n(r) = number of pages fetched by the first r requests
    value(t) = value after n(t) pages,  n(t) = number of pages recorded by virtual time t (polite replays only)

Pages are what a crawl gains; requests are what it costs. On a web with dead links the two differ: on the apache bed a
crawl makes 5.6 to 11 requests per page. Before the first page a value is undefined, except target recall by time, which
is 0, since the time has passed. Ours: a redirect is a request.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from scenthound.lab.measure.metrics import KnownAnswers, measure, missing
from scenthound.lab.measure.statistics import Mean, average_runs, log_points, mean
from scenthound.lab.run.experiment import Experiment
from scenthound.model import Step

REQUESTS = (100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000)


def default_request_points(last: int) -> tuple[int, ...]:
    """The points that tables show by default: those of `REQUESTS` up to the last request of the longest crawl.

    >>> default_request_points(600), default_request_points(40)
    ((100, 250, 500), (40,))
    """
    return tuple(point for point in REQUESTS if point <= last) or (max(last, 1),)


def request_points(at: Iterable[int], ends: Iterable[int]) -> tuple[int, ...]:
    """Points of curves by requests: `at`, the points of tables, and 50 points evenly spaced in the logarithm."""
    last = max(ends, default=0)
    return tuple(sorted({*at, *default_request_points(last), *log_points(last, 50)})) if last else ()


def pages_after(requests: Sequence[int], points: Sequence[int]) -> list[int]:
    """Number of pages after each number of requests; `requests[t - 1]` is the number that the first t pages took.

    >>> pages_after([1, 4, 5], [1, 3, 4, 9])
    [1, 1, 2, 3]
    """
    return [bisect_right(requests, point) for point in points]


BY_TIME = ("target_recall", "harvest_rate")
PAGES = "pages"
"""Not a metric but the number of pages, which shows the speed of each crawler."""
TIMES = 40


def time_points(ends: Iterable[float]) -> tuple[float, ...]:
    """Evenly spaced times up to the end of the longest crawl.

    >>> time_points([4.0, 80.0])[:3], time_points([4.0, 80.0])[-1]
    ((2.0, 4.0, 6.0), 80.0)
    """
    last = max(ends, default=0.0)
    return tuple(last * index / TIMES for index in range(1, TIMES + 1)) if last else ()


def by_time(
    steps: Sequence[Step], answers: KnownAnswers, seconds: Sequence[float]
) -> Iterator[tuple[str, float, float | None]]:
    """Yield metric, second and value for each metric of `BY_TIME`, and for the number of pages."""
    times = [step.time for step in steps]
    page_counts = [bisect_right(times, second) for second in seconds]
    yield from ((PAGES, second, float(pages)) for second, pages in zip(seconds, page_counts, strict=True))
    for name in BY_TIME:
        if missing(name, answers):
            continue
        values = measure(name, steps, answers, [max(pages, 1) for pages in page_counts])
        for second, pages, value in zip(seconds, page_counts, values, strict=True):
            before_first = 0.0 if name == "target_recall" and value is not None else None
            yield name, second, value if pages else before_first


def curve_by_time(table: dict[str, list[object]], metric: str, strategy: str) -> list[tuple[float, Mean]]:
    """The mean over topics at each point, from the columns of `by_time.parquet`. Runs of a topic are averaged first."""
    points: dict[float, dict[str, list[float | None]]] = {}
    names = ("strategy", "metric", "topic", "seconds", "value")
    for row_strategy, row_metric, topic, second, value in zip(*(table[name] for name in names), strict=True):
        if row_strategy == strategy and row_metric == metric:
            topic_runs = points.setdefault(float(second), {})
            topic_runs.setdefault(str(topic), []).append(value)
    return [
        (second, mean([value for _, value in sorted(average_runs(topics).items())]))
        for second, topics in points.items()
    ]


def times(experiment: Experiment) -> dict[str, dict[str, float]]:
    """For each strategy, means over its crawls: virtual seconds, pages per second, and the cost of letting hosts
    rest."""
    done, table = experiment.outcomes(), {}
    for name in experiment.spec.strategies:
        cells = [cell for cell in experiment.cells if cell.strategy == name and cell.key in done and not cell.half]
        outcomes = [done[cell.key] for cell in cells if done[cell.key].polite]
        if outcomes:
            keys = ("seconds", "out_of_order", "waited")
            sums = {key: sum(outcome.polite[key] for outcome in outcomes) for key in keys}
            rate = sum(outcome.pages for outcome in outcomes) / max(sums["seconds"], 1e-9)
            table[name] = {key: total / len(outcomes) for key, total in sums.items()} | {"pages_per_second": rate}
    return table
