"""The page-importance measures of the survey [CHAP 4.1] as curves: the mean over the first t pages; and metrics on the
ranks of pages in the pool of all crawlers of a topic (sheet 60.3) [EXP].

Similarity to the description is `precision`; other metrics of the rank in the pool are `coverage` and `mean_rank`. A
page outside the pool has quality 0. `qualities` has the functions of `lab.measure.quality` by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from scenthound.lab.measure.metrics import Curve, KnownAnswers, Points, Trail, measure, metric
from scenthound.lab.measure.metrics.trails import moving_means, pages, running_means, running_sums, sampled, undefined

Qualities = Mapping[str, Callable[[str], float]]
__all__ = ["KnownAnswers", "measure", "moving_average_relevance"]  # the first two are for the examples in docstrings


def _register_mean(name: str, summary: str) -> None:
    """Register `average_NAME`, the mean of one quality over the crawl, with `summary` as its docstring."""

    def curve(trail: Trail, qualities: Qualities, at: Points = None) -> Curve:
        quality = qualities[name]
        return sampled(running_means(quality(url) for url in pages(trail)), at)

    example = (
        f">>> measure('average_{name}', ['a', 'b'], KnownAnswers(qualities={{'{name}': {{'a': 1.0, 'b': 0.5}}.get}}))"
    )
    curve.__doc__ = f"{summary}\n\n    {example}\n    [1.0, 0.75]\n    "
    curve.__name__ = curve.__qualname__ = f"average_{name}"
    metric(f"average_{name}", is_rate=True)(curve)


_register_mean("keywords_present", "Mean share of the topic's distinct keywords that occur on the page. [CHAP 4.1]")
_register_mean("query_similarity", "Mean cosine of the page and the keywords, raw term frequencies. [CHAP 4.1]")
_register_mean("seed_similarity", "Mean cosine of the page and the concatenated seed pages. [CHAP 4.1]")
_register_mean("retrieval_rank", "Mean of 1/rank of the page by similarity to the description in the pool. [CHAP 4.1]")
_register_mean("in_links", "Mean number of links to the page from pages of the pool. [CHAP 4.1]")
_register_mean("pagerank", "Mean PageRank in the graph of the pool. [CHAP 4.1]")
_register_mean("authority", "Mean HITS authority in the graph of the pool. [CHAP 4.1]")
_register_mean("hub", "Mean HITS hub value in the graph of the pool. [CHAP 4.1]")


@metric("moving_average_relevance", is_rate=True)
def moving_average_relevance(
    trail: Trail, relevance: Mapping[str, float], at: Points = None, window: int = 50
) -> Curve:
    """The mean graded relevance of the last `window` pages. [CHAP]

    >>> moving_average_relevance("a b c".split(), {"a": 0.5, "c": 1.0}, window=2)
    [0.5, 0.25, 0.5]
    """
    return sampled(moving_means([relevance.get(url, 0.0) for url in pages(trail)], window), at)


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
