"""Metrics of what the crawl's own judge called relevant: its flags, not the laboratory's answers. [CHAP]

Graded: `average_relevance` and `moving_average_relevance`. These two are the same with the judge's flag. A trail of
URLs alone has no flags: its values are None.
"""

from __future__ import annotations

from scenthound.lab.measure.metrics import Curve, Points, Trail, metric
from scenthound.lab.measure.metrics.trails import sampled, shares, sums, undefined
from scenthound.model import Step


@metric("judged_harvest_rate")
def judged_harvest_rate(trail: Trail, at: Points = None) -> Curve:
    """Pages that the judge called relevant when they were fetched, among the first t / t. [CHAP]

    >>> judged_harvest_rate(["http://a.test/"])
    [None]
    """
    flags = _flags(trail)
    return undefined(trail, at) if flags is None else sampled(shares(flags), at)


@metric("moving_judged_harvest_rate")
def moving_judged_harvest_rate(trail: Trail, at: Points = None, window: int = 50) -> Curve:
    """The same among the last `window` pages; the first windows are as short as the crawl. [CHAP]

    >>> moving_judged_harvest_rate(["http://a.test/"], at=[1, 5])
    [None, None]
    """
    if window < 1:
        raise ValueError(f"a window holds at least one page, not {window}")
    if (flags := _flags(trail)) is None:
        return undefined(trail, at)
    totals = [0.0, *sums(flags)]
    rates = [(totals[t] - totals[max(t - window, 0)]) / min(t, window) for t in range(1, len(totals))]
    return sampled(rates, at)


def _flags(trail: Trail) -> list[float] | None:
    """The flag of each distinct page at its first visit; None if the trail has none."""
    found: dict[str, float] = {}
    for step in trail:
        if not isinstance(step, Step):
            return None
        found.setdefault(step.url, float(step.relevant))
    return list(found.values())
