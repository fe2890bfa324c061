"""Metrics on relevant pages: harvest rate, hosts of relevant pages, goal pages."""

from __future__ import annotations

from collections.abc import Mapping, Set

from scenthound.lab.measure.metrics import NO_ALIASES, Curve, Points, Trail, metric
from scenthound.lab.measure.metrics.trails import marks, pages, redirects, sampled, shares, sums
from scenthound.url import host


@metric("harvest_rate", is_rate=True)
def harvest_rate(trail: Trail, relevant: Set[str], aliases: Mapping[str, str] = NO_ALIASES, at: Points = None) -> Curve:
    """Relevant among the first t pages / t. Misses cost nothing. [CHAP]

    >>> harvest_rate("a b c d".split(), relevant={"a", "c"})
    [1.0, 0.5, 0.6666666666666666, 0.5]
    """
    return sampled(shares(marks(pages(trail), relevant, redirects(trail, aliases))), at)


@metric("moving_harvest_rate", is_rate=True)
def moving_harvest_rate(
    trail: Trail, relevant: Set[str], aliases: Mapping[str, str] = NO_ALIASES, at: Points = None, window: int = 50
) -> Curve:
    """Relevant among the last `window` pages / their number. [CHAP; 100 in Chakrabarti's focused crawler]

    >>> moving_harvest_rate("a b c d".split(), relevant={"a", "c"}, window=2)
    [1.0, 0.5, 0.5, 0.5]
    """
    if window < 1:
        raise ValueError(f"a window holds at least one page, not {window}")
    totals = [0.0, *sums(marks(pages(trail), relevant, redirects(trail, aliases)))]
    rates = [
        (totals[t] - totals[max(t - window, 0)]) / min(t, window)  # the first windows are as short as the crawl
        for t in range(1, len(totals))
    ]
    return sampled(rates, at)


@metric("hosts_found")
def hosts_found(trail: Trail, relevant: Set[str], aliases: Mapping[str, str] = NO_ALIASES, at: Points = None) -> Curve:
    """Distinct hosts among the relevant pages of the first t. [sheet 70]

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
    """Goal pages among the first t pages fetched, selected or not: a count. [ECON; sheet 30.2]

    >>> fetched_goals("a g b h".split(), goals={"g", "h"})
    [0, 1, 1, 2]
    """
    return sampled(sums(marks(pages(trail), goals, NO_ALIASES)), at)


@metric("recognised_goals")
def recognised_goals(trail: Trail, goals: Set[str], selected: Mapping[str, int], at: Points = None) -> Curve:
    """Goal pages that the crawler itself selected by the time t pages were fetched: a count. [ECON; sheet 30.2]

    `selected` maps a page to how many pages had been fetched when it was chosen for expansion.

    >>> recognised_goals("a g b h".split(), goals={"g", "h"}, selected={"a": 1, "g": 3})
    [0, 0, 1, 1]
    """
    length = len(pages(trail))
    at_page = [0] * length
    for goal in goals:
        when = selected.get(goal)
        if when is not None and length:
            at_page[min(max(when, 1), length) - 1] += 1
    return sampled(sums(at_page), at)
