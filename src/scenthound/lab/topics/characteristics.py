"""Characteristics of a topic: numbers that may explain why crawlers differ on it (sheet 60.5).

The SMP framework of Srinivasan, Menczer and Pant 2005 names popularity, cohesiveness and authority of the targets, and
similarity of seeds and targets; the formulas are ours [D]. A value is None if it is undefined.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from scenthound.graph.link_graph import LinkGraph
from scenthound.graph.link_scores import by_name, hits
from scenthound.lab.measure.quality import WordCounts
from scenthound.lab.measure.statistics import spearman
from scenthound.model import DECIMALS


@dataclass(frozen=True, slots=True)
class Characteristics:
    """The characteristics of one topic."""

    specificity: int | None
    """Depth of the topic's root in its directory."""
    link_set_size: int
    popularity: int | None
    text_cohesiveness: float | None
    link_cohesiveness: float | None
    authority: float | None
    seed_target_similarity: float


def text_cohesiveness(pages: Iterable[WordCounts]) -> float | None:
    """Mean pairwise cosine of term frequencies; undefined for fewer than two pages.

    The sum over all pairs is half of |Σu|² − Σ|u|² for the pages' unit vectors u: linear in the number of pages.

    >>> text_cohesiveness([{"a": 1}, {"a": 2}, {"b": 1}])
    0.3333333333333333
    """
    total: dict[str, float] = {}
    page_count, not_empty = 0, 0
    for counts in pages:
        page_count += 1
        length = math.sqrt(sum(count * count for count in counts.values()))
        if length:
            not_empty += 1
            for term, count in counts.items():
                total[term] = total.get(term, 0.0) + count / length
    if page_count < 2:
        return None
    pairs = math.fsum(weight * weight for weight in total.values()) - not_empty
    return min(1.0, max(0.0, pairs / (page_count * (page_count - 1))))


def link_cohesiveness(targets: Iterable[str], links: Mapping[str, Iterable[str]]) -> float | None:
    """Share of the targets that link to another target; undefined without targets.

    >>> link_cohesiveness(["a", "b"], {"a": ["b", "x"], "b": ["b"]})
    0.5
    """
    distinct = set(targets)
    if not distinct:
        return None
    linking = (any(url != target and url in distinct for url in links.get(target, ())) for target in distinct)
    return sum(linking) / len(distinct)


def authority(targets: Iterable[str], pool: LinkGraph) -> float | None:
    """Mean authority (HITS on the pool) of the targets in the pool, relative to the pool's mean."""
    scores = by_name(pool, hits(pool).authorities)
    target_scores = [scores[url] for url in sorted(set(targets)) if url in scores]
    mean = math.fsum(scores.values()) / len(scores) if scores else 0.0
    return math.fsum(target_scores) / len(target_scores) / mean if target_scores and mean else None


def correlations(
    topics: Mapping[str, Characteristics], results: Mapping[str, float | None]
) -> dict[str, tuple[float | None, int]]:
    """Spearman's rank correlation of each characteristic with a crawler's final results, and its number of topics.

    Topics where either value is undefined are left out; None if a value is the same for all topics. Values are rounded
    before they are compared (rule 3), so that values that differ only by rounding errors are ties.
    """
    result: dict[str, tuple[float | None, int]] = {}
    rows = {topic: asdict(characteristic) for topic, characteristic in topics.items()}
    for name in Characteristics.__slots__:
        pairs = [
            (round(float(row[name]), DECIMALS), round(float(value), DECIMALS))
            for topic, row in rows.items()
            if row[name] is not None and (value := results.get(topic)) is not None
        ]
        result[name] = spearman([x for x, _ in pairs], [y for _, y in pairs]), len(pairs)
    return result
