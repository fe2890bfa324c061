"""Characteristics of a topic: numbers that may explain why crawlers differ on it (sheet 60.5).

The SMP framework of Srinivasan, Menczer and Pant 2005 names popularity, cohesiveness and authority of the targets, and
similarity of seeds and targets; the formulas are ours [D]. A value is None if it is undefined.

    topics.parquet    topic, specificity, link_set_size, popularity, text_cohesiveness, link_cohesiveness,
                      authority, seed_target_similarity     one row for each topic

They are computed from the prepared bed and the crawls of an experiment. Redirects of the bed are followed: a link to a
URL that redirects to a page is a link to that page, and targets that redirect to the same page count as one text. Only
`authority` depends on the crawlers of the experiment: its pool is the pages that they fetched.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from scenthound.graph.link_graph import LinkGraph, numbered_graph
from scenthound.graph.link_scores import by_name, hits
from scenthound.lab.beds.replay_bed import ReplayBed
from scenthound.lab.measure.metrics.trails import forms
from scenthound.lab.measure.quality import WordCounts, concatenated
from scenthound.lab.measure.statistics import spearman
from scenthound.model import DECIMALS, Url
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import cosine
from scenthound.topic_list import BedTopic


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


NAMES = Characteristics.__slots__
COLUMNS = ("topic", *NAMES)
MAX_TARGETS = 1000  # used per topic; if there are more, a sample evenly spaced in URL order
CHUNK = 1 << 22  # terms read at a time: 16 MB of a table that may have gigabytes

Rows = npt.NDArray[np.int64]


def topic_characteristics(
    bed: ReplayBed,
    topic: BedTopic,
    seeds: Iterable[str],
    pool: Iterable[str],
    popularity: int | None,
    analyser: Analyser,
) -> Characteristics:
    """All characteristics of a topic. `pool`: the pages that crawlers fetched; `popularity`: from `popularities`."""
    targets = _evenly_spaced(sorted({_after_redirects(url, bed.aliases) for url in topic.targets}))
    seed_urls = sorted({_after_redirects(url, bed.aliases) for url in seeds})
    texts = {url: counts for url in {*targets, *seed_urls} if (counts := bed.counts(Url(url), analyser)) is not None}
    links = {url: [_after_redirects(link, bed.aliases) for link in bed.links(Url(url))] for url in targets}
    return Characteristics(
        specificity=len(topic.path) or None,
        link_set_size=len(set(topic.targets)),
        popularity=popularity,
        text_cohesiveness=text_cohesiveness(texts[url] for url in targets if url in texts),
        link_cohesiveness=link_cohesiveness(targets, links),
        authority=authority(targets, links_among(bed, pool)),
        seed_target_similarity=cosine(concatenated(texts, seed_urls), analyser.counts(topic.description)),
    )


def popularities(bed: ReplayBed, topics: Sequence[BedTopic], analyser: Analyser) -> list[int | None]:
    """For each topic, the number of pages of the bed that contain all its keywords; None for a topic without keywords.

    The term table is read once for all topics. A web generated on the fly has no such table, so all values are None.
    """
    if not bed.has_terms:
        return [None] * len(topics)
    keywords = [frozenset(analyser.terms(topic.keywords)) for topic in topics]
    rows = _rows_with(bed, frozenset().union(*keywords), analyser)
    no_rows = np.zeros(0, dtype=np.int64)
    return [
        len(reduce(_intersection, (rows.get(term, no_rows) for term in sorted(words)))) if words else None
        for words in keywords
    ]


def links_among(bed: ReplayBed, pages: Iterable[str]) -> LinkGraph:
    """The bed's links between some of its pages, after redirects; URLs that are not pages of the bed are left out."""
    numbers = dict.fromkeys(number for url in pages if (number := bed.number(url)) is not None)
    names = [bed.pages[number] for number in numbers]
    indices = {number: index for index, number in enumerate(numbers)}
    sources, targets = list[int](), list[int]()
    for index, name in enumerate(names):
        linked = [indices[number] for url in bed.links(name) if (number := bed.number(url)) in indices]
        sources += [index] * len(linked)
        targets += linked
    return numbered_graph(names, sources, targets)


def _rows_with(bed: ReplayBed, words: frozenset[str], analyser: Analyser) -> dict[str, Rows]:
    """The rows of the pages that contain each of the words, ascending; words without pages are left out."""
    terms = bed.terms(analyser)
    numbers = [number for number, term in enumerate(terms.vocabulary) if term in words]
    is_word = np.zeros(len(terms.vocabulary), dtype=bool)
    is_word[numbers] = True
    chunks = [
        np.flatnonzero(is_word[terms.ids[begin : begin + CHUNK]]) + begin for begin in range(0, len(terms.ids), CHUNK)
    ]
    offsets = np.concatenate(chunks) if chunks else np.zeros(0, dtype=np.int64)
    rows = np.searchsorted(terms.starts, offsets, side="right") - 1
    is_page = np.zeros(len(terms.starts) - 1, dtype=bool)  # of two records of a URL only one is a page of the bed
    is_page[bed.page_rows] = True
    kept = is_page[rows]
    ids, rows = terms.ids[offsets[kept]], rows[kept]
    order = np.argsort(ids, kind="stable")
    ends = np.searchsorted(ids[order], numbers, side="right").tolist()
    parts = zip(numbers, [0, *ends], ends, strict=False)
    return {terms.vocabulary[number]: rows[order[begin:end]] for number, begin, end in parts}


def _intersection(first: Rows, second: Rows) -> Rows:
    return np.intersect1d(first, second, assume_unique=True)


def _evenly_spaced(urls: list[str]) -> list[str]:
    if len(urls) <= MAX_TARGETS:
        return urls
    return [urls[index * len(urls) // MAX_TARGETS] for index in range(MAX_TARGETS)]


def _after_redirects(url: str, aliases: Mapping[str, str]) -> str:
    *_, last = forms(url, aliases)
    return last
