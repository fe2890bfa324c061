"""Metrics on known targets: did the crawl find them, how soon, and at what cost?

T is the set of targets, C_t the set of the first t pages. Seeds are crawled pages and count in C, but a target that is
a seed is never in T for recall. A redirected target is reached when any of its URLs has been crawled. A topic without
targets has no value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from scenthound.lab.measure.metrics import NO_ALIASES, Curve, Points, Trail, metric
from scenthound.lab.measure.metrics.trails import (
    arrivals,
    counted_targets,
    marks,
    pages,
    redirects,
    running_means,
    running_sums,
    sampled,
    undefined,
)

SHORTEST_TIME = 0.001  # seconds; below that, a ratio to CPU time mostly measures the clock (sheet 60.4)


@metric("target_recall")
def target_recall(
    trail: Trail,
    targets: Set[str],
    seeds: Iterable[str] = (),
    aliases: Mapping[str, str] = NO_ALIASES,
    at: Points = None,
) -> Curve:
    """Target recall@N: #(T ∩ C_N) / #T. Dead targets stay in T. [BIZ eq. 4; CHAP]

    >>> target_recall("s a t b u".split(), targets={"t", "u", "s"}, seeds={"s"})
    [0.0, 0.0, 0.5, 0.5, 1.0]
    """
    crawled, aliases = pages(trail), redirects(trail, aliases)
    counted = counted_targets(targets, seeds, aliases)
    if not counted:
        return undefined(crawled, at)
    reached = running_sums(arrivals(crawled, counted, aliases))
    return sampled([total / len(counted) for total in reached], at)


@metric("target_recall_alive")
def target_recall_alive(
    trail: Trail,
    targets: Set[str],
    dead: Set[str],
    seeds: Iterable[str] = (),
    aliases: Mapping[str, str] = NO_ALIASES,
    at: Points = None,
) -> Curve:
    """Target recall@N on the targets that the recorded web has: #(T ∩ C_N) / #(T − dead). [sheet 60.1, D]

    >>> target_recall_alive("a t".split(), targets={"t", "gone"}, dead={"gone"})
    [0.0, 1.0]
    """
    return target_recall(trail, targets - dead, seeds, aliases, at)


@metric("url_recall")
def url_recall(
    trail: Trail,
    targets: Set[str],
    seeds: Iterable[str] = (),
    aliases: Mapping[str, str] = NO_ALIASES,
    at: Points = None,
) -> Curve:
    """R_URL: #(C_t ∩ T) / #T, the same number as target recall. [GRAPH eq. 2]

    >>> url_recall("a t b".split(), targets={"t", "u"})
    [0.0, 0.5, 0.5]
    """
    return target_recall(trail, targets, seeds, aliases, at)


@metric("url_precision", is_rate=True)
def url_precision(trail: Trail, targets: Set[str], aliases: Mapping[str, str] = NO_ALIASES, at: Points = None) -> Curve:
    """P_URL: #(C_t ∩ T) / #C_t. Counts pages: two targets that redirect to one page count once. [GRAPH eq. 1]

    >>> url_precision("a t b u".split(), targets={"t", "u"})
    [0.0, 0.5, 0.3333333333333333, 0.5]
    """
    crawled = pages(trail)
    if not targets:
        return undefined(crawled, at)
    return sampled(running_means(marks(crawled, targets, redirects(trail, aliases))), at)


@metric("recall_per_cpu_second", is_timed=True, is_rate=True)
def recall_per_cpu_second(
    trail: Trail,
    targets: Set[str],
    rank_seconds: Sequence[float],
    seeds: Iterable[str] = (),
    aliases: Mapping[str, str] = NO_ALIASES,
    at: Points = None,
) -> Curve:
    """R_URL divided by the CPU seconds spent so far on ranking and on the text it needs (rule 14). [GRAPH]

    `rank_seconds[t - 1]` is the total after t pages. Undefined before the first millisecond.

    >>> recall_per_cpu_second("a t".split(), {"t"}, rank_seconds=[0.0, 0.5])
    [None, 2.0]
    """
    return per_second(target_recall(trail, targets, seeds, aliases), rank_seconds, at)


def per_second(values: Curve, rank_seconds: Sequence[float], at: Points) -> Curve:
    """Each value divided by the seconds spent so far; undefined below a millisecond."""
    if len(rank_seconds) < len(values):
        raise ValueError(f"seconds for {len(rank_seconds)} of {len(values)} pages")
    rates = [
        None if value is None or seconds < SHORTEST_TIME else value / seconds
        for value, seconds in zip(values, rank_seconds, strict=False)
    ]
    return sampled(rates, at)


class SearchLength(NamedTuple):
    """The number of pages that a crawl needed to reach its targets; if it did not, `pages` is None, not the limit."""

    pages: int | None
    """None: not reached."""
    found: int
    """Number of targets that the whole crawl found."""
    wanted: int
    """Number of targets."""

    def __str__(self) -> str:
        return str(self.pages) if self.pages is not None else f"not reached ({self.found} of {self.wanted})"


@metric("search_length")
def search_length(
    trail: Trail,
    targets: Set[str],
    seeds: Iterable[str] = (),
    aliases: Mapping[str, str] = NO_ALIASES,
    fraction: float = 0.5,
) -> SearchLength:
    """Number of pages crawled until a fraction of the targets is found. [CHAP]

    >>> search_length("a t b u".split(), {"t", "u"}, fraction=1.0).pages
    4
    >>> print(search_length("a t b".split(), {"t", "u"}, fraction=1.0))
    not reached (1 of 2)
    """
    if not 0.0 < fraction <= 1.0:
        raise ValueError(f"a fraction must be above 0 and at most 1, not {fraction}")
    crawled, aliases = pages(trail), redirects(trail, aliases)
    counted = counted_targets(targets, seeds, aliases)
    reached = running_sums(arrivals(crawled, counted, aliases))
    total = int(reached[-1]) if reached else 0
    needed = math.ceil(round(fraction * len(counted), 9))  # 0.1 · 30 is 3, not the 3.0000000000000004 of floats
    if not counted or total < needed:
        return SearchLength(None, total, len(counted))
    return SearchLength(next(n for n, count in enumerate(reached, start=1) if count >= needed), total, len(counted))
