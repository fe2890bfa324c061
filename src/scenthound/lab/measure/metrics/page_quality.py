"""The page-importance measures of the survey [CHAP 4.1] as curves: the mean over the first t pages.

Similarity to the description is `precision`; other metrics of the rank in the pool are `coverage` and `mean_rank`. A
page outside the pool has quality 0. `qualities` has the functions of `lab.measure.quality` by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scenthound.lab.measure.metrics import Curve, Judgement, Points, Trail, measure, metric
from scenthound.lab.measure.metrics.trails import moving_means, pages, running_means, sampled

Qualities = Mapping[str, Callable[[str], float]]
__all__ = ["Judgement", "measure", "moving_average_relevance"]  # the first two are for the examples in docstrings


def _register_mean(name: str, summary: str) -> None:
    """Register `average_NAME`, the mean of one quality over the crawl, with `summary` as its docstring."""

    def curve(trail: Trail, qualities: Qualities, at: Points = None) -> Curve:
        quality = qualities[name]
        return sampled(running_means(quality(url) for url in pages(trail)), at)

    example = (
        f">>> measure('average_{name}', ['a', 'b'], Judgement(qualities={{'{name}': {{'a': 1.0, 'b': 0.5}}.get}}))"
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
