"""Metrics on relevant pages: harvest rate, hosts of relevant pages, goal pages, and the pages that the crawl's own
judge called relevant: its flags, not the lab's answers [CHAP].

The metrics on flags are `average_relevance` and `moving_average_relevance` with the judge's yes or no instead of its
graded relevance. A trail of bare URLs has no flags: its values are None.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from scenthound.lab.measure.metrics import NO_ALIASES, Curve, Points, Trail, metric
from scenthound.lab.measure.metrics.trails import (
    marks,
    moving_means,
    pages,
    redirects,
    running_means,
    running_sums,
    sampled,
    undefined,
)
from scenthound.model import Step
from scenthound.url import host


@metric("harvest_rate", is_rate=True)
def harvest_rate(trail: Trail, relevant: Set[str], aliases: Mapping[str, str] = NO_ALIASES, at: Points = None) -> Curve:
    """Relevant pages among the first t, divided by t. Misses cost nothing. [CHAP]

    >>> harvest_rate("a b c d".split(), relevant={"a", "c"})
    [1.0, 0.5, 0.6666666666666666, 0.5]
    """
    return sampled(running_means(marks(pages(trail), relevant, redirects(trail, aliases))), at)


@metric("moving_harvest_rate", is_rate=True)
def moving_harvest_rate(
    trail: Trail, relevant: Set[str], aliases: Mapping[str, str] = NO_ALIASES, at: Points = None, window: int = 50
) -> Curve:
    """The share of relevant pages among the last `window` pages. [CHAP; 100 in Chakrabarti's focused crawler]

    >>> moving_harvest_rate("a b c d".split(), relevant={"a", "c"}, window=2)
    [1.0, 0.5, 0.5, 0.5]
    """
    return sampled(moving_means(marks(pages(trail), relevant, redirects(trail, aliases)), window), at)


@metric("hosts_found")
def hosts_found(trail: Trail, relevant: Set[str], aliases: Mapping[str, str] = NO_ALIASES, at: Points = None) -> Curve:
    """Number of distinct hosts of the relevant pages among the first t. [sheet 70]

    >>> hosts_found(["http://x.test/a", "http://x.test/b"], relevant={"http://x.test/a", "http://x.test/b"})
    [1, 1]
    """
    crawled = pages(trail)
    seen: set[str] = set()
    counts: list[float | None] = []
    for url, mark in zip(crawled, marks(crawled, relevant, redirects(trail, aliases)), strict=True):
        if mark:
            seen.add(host(url))
        counts.append(len(seen))
    return sampled(counts, at)


@metric("fetched_goals")
def fetched_goals(trail: Trail, goals: Set[str], at: Points = None) -> Curve:
    """Number of goal pages among the first t pages fetched, selected or not. [ECON; sheet 30.2]

    >>> fetched_goals("a g b h".split(), goals={"g", "h"})
    [0, 1, 1, 2]
    """
    return sampled(running_sums(marks(pages(trail), goals, NO_ALIASES)), at)


@metric("recognised_goals")
def recognised_goals(trail: Trail, goals: Set[str], selected: Mapping[str, int], at: Points = None) -> Curve:
    """Number of goal pages that the crawler itself selected by the time t pages were fetched. [ECON; sheet 30.2]

    `selected` maps a page to the number of pages fetched when it was chosen for expansion.

    >>> recognised_goals("a g b h".split(), goals={"g", "h"}, selected={"a": 1, "g": 3})
    [0, 0, 1, 1]
    """
    length = len(pages(trail))
    new_goals = [0] * length
    for goal in goals:
        fetched = selected.get(goal)
        if fetched is not None and length:
            new_goals[min(max(fetched, 1), length) - 1] += 1
    return sampled(running_sums(new_goals), at)


@metric("judged_harvest_rate", is_rate=True)
def judged_harvest_rate(trail: Trail, at: Points = None) -> Curve:
    """Pages among the first t that the judge called relevant when they were fetched, divided by t. [CHAP]

    >>> judged_harvest_rate(["http://a.test/"])
    [None]
    """
    flags = _flags(trail)
    return undefined(trail, at) if flags is None else sampled(running_means(flags), at)


@metric("moving_judged_harvest_rate", is_rate=True)
def moving_judged_harvest_rate(trail: Trail, at: Points = None, window: int = 50) -> Curve:
    """The share of pages that the judge called relevant among the last `window` pages. [CHAP]

    >>> moving_judged_harvest_rate(["http://a.test/"], at=[1, 5])
    [None, None]
    """
    flags = _flags(trail)
    return undefined(trail, at) if flags is None else sampled(moving_means(flags, window), at)


def _flags(trail: Trail) -> list[float] | None:
    """The flag of each distinct page at its first visit; None if the trail has none."""
    flags: dict[str, float] = {}
    for step in trail:
        if not isinstance(step, Step):
            return None
        flags.setdefault(step.url, float(step.relevant))
    return list(flags.values())
