"""Metrics on the ranks of pages in the pool of all crawlers of a topic (sheet 60.3). [EXP]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from scenthound.lab.measure.metrics import Curve, Points, Trail, metric
from scenthound.lab.measure.metrics.trails import pages, running_sums, sampled, undefined


@metric("coverage")
def coverage(trail: Trail, ranks: Mapping[str, int], at: Points = None, top: int = 100) -> Curve:
    """Static coverage: #(C ∩ top_n) / #top_n, top_n = pool pages with rank ≤ n, after each t. [EXP, table 2]

    >>> coverage("a b c".split(), {"b": 1, "x": 2, "a": 3, "c": 4}, top=2)
    [0.0, 0.5, 0.5]
    """
    crawled = pages(trail)
    size = sum(1 for rank in ranks.values() if rank <= top)
    if not size:
        return undefined(crawled, at)
    hits = running_sums(1 if (rank := ranks.get(url)) is not None and rank <= top else 0 for url in crawled)
    return sampled([total / size for total in hits], at)


@metric("linkage_coverage")
def linkage_coverage(trail: Trail, linkage_ranks: Mapping[str, int], at: Points = None, top: int = 100) -> Curve:
    """Static coverage with rank_KW,PR. [EXP]

    >>> linkage_coverage("a b".split(), {"b": 1, "x": 2}, top=2)
    [0.0, 0.5]
    """
    return coverage(trail, linkage_ranks, at, top)


def coverage_by_depth(trail: Trail, ranks: Mapping[str, int], tops: Sequence[int]) -> Curve:
    """Static coverage of the whole crawl for each n of `tops`: a row of table 2 of [EXP], as fractions.

    >>> coverage_by_depth("a b".split(), {"b": 1, "x": 2, "a": 3}, tops=[1, 2, 3, 10])
    [1.0, 0.5, 0.6666666666666666, 0.6666666666666666]
    """
    crawled = set(pages(trail))
    if not crawled or not ranks:
        return [None] * len(tops)
    deepest = max(ranks.values())
    size, hits = [0] * (deepest + 1), [0] * (deepest + 1)
    for url, rank in ranks.items():
        size[rank] += 1
        hits[rank] += url in crawled
    sizes, counts = list(accumulate(size)), list(accumulate(hits))
    clipped = [min(max(top, 0), deepest) for top in tops]
    return [counts[top] / sizes[top] if sizes[top] else None for top in clipped]


@metric("mean_rank", lower_is_better=True, is_rate=True)
def mean_rank(trail: Trail, ranks: Mapping[str, int], at: Points = None) -> Curve:
    """Dynamic mean rank: Σ_{p∈C_t} rank(p) / #C_t; lower is better. Pages outside the pool are not counted. [EXP]

    >>> mean_rank("a b c".split(), {"a": 3, "b": 1, "c": 2})
    [3.0, 2.0, 2.0]
    """
    ranked = [ranks.get(url) for url in pages(trail)]
    totals = accumulate(0 if rank is None else rank for rank in ranked)
    counts = accumulate(0 if rank is None else 1 for rank in ranked)
    means = [total / count if count else None for total, count in zip(totals, counts, strict=True)]
    return sampled(means, at)


@metric("linkage_mean_rank", lower_is_better=True, is_rate=True)
def linkage_mean_rank(trail: Trail, linkage_ranks: Mapping[str, int], at: Points = None) -> Curve:
    """Dynamic mean of rank_KW,PR; lower is better. [EXP]

    >>> linkage_mean_rank("a b".split(), {"a": 3, "b": 1})
    [3.0, 2.0]
    """
    return mean_rank(trail, linkage_ranks, at)
