"""Metrics on the pages that the crawl's own judge called relevant: its flags, not the lab's answers. [CHAP]

They are `average_relevance` and `moving_average_relevance` with the judge's yes or no instead of its graded relevance.
A trail of bare URLs has no flags: its values are None.
"""

from __future__ import annotations

from scenthound.lab.measure.metrics import Curve, Points, Trail, metric
from scenthound.lab.measure.metrics.trails import moving_means, running_means, sampled, undefined
from scenthound.model import Step


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
