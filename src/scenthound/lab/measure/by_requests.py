"""Metrics by requests: what a crawl has found after r requests, including those that returned no page.

    value(r) = value after n(r) pages,  n(r) = number of pages fetched by the first r requests

Pages are what a crawl gains; requests are what it costs. On a web with dead links the two differ: on the apache bed a
crawl makes 5.6 to 11 requests per page. Before the first page a value is undefined. Ours: a redirect is a request.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from scenthound.lab.measure.statistics import log_points

POINTS = (100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000)


def default_request_points(last: int) -> tuple[int, ...]:
    """The points that tables show by default: those of `POINTS` up to the last request of the longest crawl.

    >>> default_request_points(600), default_request_points(40)
    ((100, 250, 500), (40,))
    """
    return tuple(point for point in POINTS if point <= last) or (max(last, 1),)


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
