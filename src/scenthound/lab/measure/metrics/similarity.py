"""Metrics on the similarity σ of pages to the topic's description (sheet 10.3).

σ is known for every page of the topic's pool; for a page outside it (in another crawler's trail) it is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenthound.lab.measure.metrics import Curve, Points, Trail, metric
from scenthound.lab.measure.metrics.targets import per_second
from scenthound.lab.measure.metrics.trails import pages, running_means, running_sums, sampled, undefined


@metric("precision", is_rate=True)
def precision(trail: Trail, similarity: Mapping[str, float], at: Points = None) -> Curve:
    """Precision@N: (1/N) Σ_{i≤N} σ(p_i); a crawl that ended before N is divided by its own length. [BIZ eq. 1]

    >>> precision("a b".split(), {"a": 1.0, "b": 0.5}, at=[1, 2, 100])
    [1.0, 0.75, 0.75]
    """
    return sampled(running_means(_similarities(trail, similarity)), at)


@metric("description_precision", is_rate=True)
def description_precision(trail: Trail, similarity: Mapping[str, float], at: Points = None) -> Curve:
    """P_DES: Σσ over C_t / #C_t, the same number as precision@N. [GRAPH eq. 3]

    >>> description_precision("a b".split(), {"a": 1.0, "b": 0.5})
    [1.0, 0.75]
    """
    return precision(trail, similarity, at)


@metric("description_recall")
def description_recall(trail: Trail, similarity: Mapping[str, float], at: Points = None) -> Curve:
    """R_DES: Σσ over C_t, a plain sum and so unbounded. [GRAPH eq. 4]

    >>> description_recall("a b".split(), {"a": 1.0, "b": 0.5})
    [1.0, 1.5]
    """
    return sampled(running_sums(_similarities(trail, similarity)), at)


@metric("description_recall_norm")
def description_recall_norm(trail: Trail, similarity: Mapping[str, float], at: Points = None) -> Curve:
    """R_DES_norm: Σσ over C_t / Σσ over the topic's whole pool; undefined if no page of the pool is similar. [D]

    >>> description_recall_norm("a b".split(), {"a": 1.0, "b": 0.5, "c": 0.5})
    [0.5, 0.75]
    """
    values, total = _similarities(trail, similarity), sum(similarity.values())
    if not total:
        return undefined(values, at)
    return sampled([partial / total for partial in running_sums(values)], at)


@metric("description_recall_per_cpu_second", is_timed=True, is_rate=True)
def description_recall_per_cpu_second(
    trail: Trail, similarity: Mapping[str, float], rank_seconds: Sequence[float], at: Points = None
) -> Curve:
    """R_DES divided by the ranking seconds spent so far (rule 14); undefined before the first millisecond. [GRAPH]

    >>> description_recall_per_cpu_second("a b".split(), {"a": 1.0, "b": 0.5}, [0.0, 0.5])
    [None, 3.0]
    """
    return per_second(description_recall(trail, similarity), rank_seconds, at)


@metric("average_relevance", is_rate=True)
def average_relevance(trail: Trail, relevance: Mapping[str, float], at: Points = None) -> Curve:
    """Harvest rate with graded relevance: the mean relevance of the first t pages. [CHAP]

    >>> average_relevance("a b".split(), {"a": 0.25})
    [0.25, 0.125]
    """
    return sampled(running_means(_similarities(trail, relevance)), at)


def _similarities(trail: Trail, similarity: Mapping[str, float]) -> list[float]:
    return [similarity.get(url, 0.0) for url in pages(trail)]
