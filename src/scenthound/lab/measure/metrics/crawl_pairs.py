"""Metrics on two crawls: do they find the same pages?

#(A_t ∩ B_t) / min(#A_t, #B_t), on pages or on hosts. Between two crawlers this is called overlap; between two crawls of
one crawler from disjoint halves of the seeds, robustness.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import zip_longest

from scenthound.lab.measure.metrics import Curve, Points, Trail, metric
from scenthound.lab.measure.metrics.trails import pages, sampled
from scenthound.url import host


@metric("overlap")
def overlap(first: Trail, second: Trail, at: Points = None) -> Curve:
    """The share of the smaller set of pages that the other crawl has also found, after t pages of each. [D]

    >>> overlap("a b c".split(), "b a x".split())
    [0.0, 1.0, 0.6666666666666666]
    """
    return _agreement(pages(first), pages(second), at)


@metric("overlap_hosts")
def overlap_hosts(first: Trail, second: Trail, at: Points = None) -> Curve:
    """The overlap of the hosts of the pages. [D]

    >>> overlap_hosts(["http://x.test/a"], ["http://x.test/b"])
    [1.0]
    """
    return _agreement([host(url) for url in pages(first)], [host(url) for url in pages(second)], at)


@metric("robustness")
def robustness(first: Trail, second: Trail, at: Points = None) -> Curve:
    """The overlap of two crawls that one crawler made from disjoint halves of the seeds. [CHAP; denominator D]

    >>> robustness("s1 a b".split(), "s2 a c".split())
    [0.0, 0.5, 0.3333333333333333]
    """
    return overlap(first, second, at)


@metric("robustness_hosts")
def robustness_hosts(first: Trail, second: Trail, at: Points = None) -> Curve:
    """Robustness on the hosts of the pages. [CHAP; denominator D]

    >>> robustness_hosts(["http://x.test/a"], ["http://y.test/"])
    [0.0]
    """
    return overlap_hosts(first, second, at)


def seed_halves(seeds: Sequence[str], rng: random.Random) -> tuple[list[str], list[str]]:
    """Two random disjoint halves of the distinct seeds, each in the original order. Raises ValueError for one seed."""
    distinct = list(dict.fromkeys(seeds))
    if len(distinct) < 2:
        raise ValueError("robustness needs at least two seeds")
    drawn = set(rng.sample(distinct, (len(distinct) + 1) // 2))
    return [seed for seed in distinct if seed in drawn], [seed for seed in distinct if seed not in drawn]


def _agreement(first: Sequence[str], second: Sequence[str], at: Points) -> Curve:
    ours: set[str] = set()
    theirs: set[str] = set()
    common = 0
    values: list[float | None] = []
    for url, other_url in zip_longest(first, second):
        if url is not None and url not in ours:
            ours.add(url)
            common += url in theirs
        if other_url is not None and other_url not in theirs:
            theirs.add(other_url)
            common += other_url in ours
        smaller = min(len(ours), len(theirs))
        values.append(common / smaller if smaller else None)
    return sampled(values, at)
