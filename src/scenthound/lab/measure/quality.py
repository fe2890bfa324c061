"""The quality of a page according to the measures of sheet 60.3, computed after the crawls with full knowledge.

A pool is all pages that all crawlers of a topic fetched, as term counts by URL. Each kind of measure in [CHAP] is a
function that returns a `Quality`: a function from a page's URL to a number. Higher is better; a page outside the pool
has 0.

| kind in [CHAP]                     | here                                  |
|------------------------------------|---------------------------------------|
| keywords in document               | `keyword_quality`                     |
| similarity to a query              | `query_quality`                       |
| similarity to the seed pages       | `seed_quality`                        |
| classifier score                   | `classifier_quality`                  |
| retrieval system rank              | `retrieval_quality`                   |
| link-based popularity              | `in_degree_quality`, `pagerank_quality`, `authority_quality`, `hub_quality` |

The SMART term weights over a pool (sheet 10.3) [BIZ eq. 2-3]:

`atc`  augmented tf (0.5 + 0.5 tf / largest tf of the page), times ln(pages / df), cosine-normalised
`ltc`  (1 + ln tf), times ln(pages / df), cosine-normalised
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from scenthound.errors import UnknownName
from scenthound.graph.link_graph import LinkGraph, link_graph
from scenthound.graph.link_scores import by_name, hits, pagerank
from scenthound.model import DECIMALS
from scenthound.text.vectors import cosine

Scheme = Literal["atc", "ltc"]
SCHEMES: tuple[Scheme, ...] = ("atc", "ltc")
_BLOCK = 2000  # pages per step: bounds numpy's temporary arrays to about 30 MB, however large the pool

_FloatArray: TypeAlias = npt.NDArray[np.float64]
_IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Block:
    """A batch of pages as columns: the term ids and frequencies of all pages, concatenated, and per page its number of
    distinct terms and its largest frequency."""

    terms: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.int32]
    lengths: _IntArray
    largest: _FloatArray


class Pool:
    """The pages that all crawlers of a topic fetched, as term counts, and the weights of terms among them.

    Only pool pages are counted in df, not a description that is compared with the pool.
    """

    def __init__(self, pages: Sequence[Mapping[str, int]]) -> None:
        self.size = len(pages)
        self._term_ids = _TermIds()
        self._blocks = [self._block(pages[start : start + _BLOCK]) for start in range(0, len(pages), _BLOCK)]
        pages_with = np.zeros(len(self._term_ids), dtype=np.int64)
        for block in self._blocks:
            pages_with += np.bincount(block.terms, minlength=len(pages_with))
        self._df = pages_with
        self._idf: _FloatArray = np.log(self.size / pages_with) if self.size else np.zeros(0)

    def df(self, term: str) -> int:
        """The number of pool pages that contain the term."""
        term_id = self._term_ids.get(term)
        return 0 if term_id is None else int(self._df[term_id])

    def weights(self, counts: Mapping[str, int], scheme: Scheme = "atc") -> dict[str, float]:
        """The weights of the terms of a page or a description, before normalisation.

        Terms that no pool page contains are left out, but are included when the largest frequency is determined.
        """
        _check(scheme)
        largest = max(counts.values(), default=1)
        return {
            term: _tf_weight(scheme, frequency, largest) * float(self._idf[self._term_ids[term]])
            for term, frequency in counts.items()
            if term in self._term_ids
        }

    def similarities(self, description: Mapping[str, int], scheme: Scheme = "atc") -> list[float]:
        """The cosine between the description and every page of the pool, in the pool's order."""
        query = np.zeros(len(self._term_ids))
        for term, weight in self.weights(description, scheme).items():
            query[self._term_ids[term]] = weight
        length = math.sqrt(float(query @ query))
        cosines: list[float] = []
        for block in self._blocks:
            cosines += self._cosines(block, query, length, scheme).tolist()
        return cosines

    def _cosines(self, block: _Block, query: _FloatArray, length: float, scheme: Scheme) -> _FloatArray:
        pages = len(block.lengths)
        rows = np.repeat(np.arange(pages), block.lengths)
        if scheme == "atc":
            tf_weights = 0.5 + 0.5 * block.frequencies / block.largest[rows]
        else:
            tf_weights = 1.0 + np.log(block.frequencies)
        weights = tf_weights * self._idf[block.terms]
        lengths = np.sqrt(np.bincount(rows, weights * weights, minlength=pages)) * length
        products = np.bincount(rows, weights * query[block.terms], minlength=pages)
        cosines = np.divide(products, lengths, out=np.zeros(pages), where=lengths > 0)
        return np.minimum(cosines, 1.0)

    def _block(self, pages: Sequence[Mapping[str, int]]) -> _Block:
        lengths = np.array([len(page) for page in pages], dtype=np.int64)
        total = int(lengths.sum())
        return _Block(
            terms=_column(map(self._term_ids.__getitem__, chain.from_iterable(pages)), total),
            frequencies=_column(chain.from_iterable(page.values() for page in pages), total),
            lengths=lengths,
            largest=np.array([max(page.values(), default=1) for page in pages], dtype=np.float64),
        )


class _TermIds(dict[str, int]):
    """Ids of terms, in order of first occurrence."""

    def __missing__(self, term: str) -> int:
        term_id = self[term] = len(self)
        return term_id


def _tf_weight(scheme: Scheme, frequency: int, largest: int) -> float:
    if scheme == "atc":
        return 0.5 + 0.5 * frequency / largest
    return 1.0 + math.log(frequency)


def _column(numbers: Any, total: int) -> npt.NDArray[np.int32]:
    return np.fromiter(islice(numbers, total), dtype=np.int32, count=total)


def _check(scheme: str) -> None:
    if scheme not in SCHEMES:
        raise UnknownName.among("weighting scheme", scheme, SCHEMES)


WordCounts = Mapping[str, int]
"""How often each term occurs on a page."""
Pages = Mapping[str, WordCounts]
Quality = Callable[[str], float]


def similarities(pool: Pages, description: WordCounts, scheme: Scheme = "atc") -> dict[str, float]:
    """σ: the SMART cosine of every pool page with the description (sheet 10.3)."""
    return dict(zip(pool, Pool(list(pool.values())).similarities(description, scheme), strict=True))


def ranks(scores: Mapping[str, float | Sequence[float]]) -> dict[str, int]:
    """The rank of each URL: 1 for the best score, ties broken by URL. Scores are rounded before comparison (rule 3).

    >>> ranks({"b": 0.5, "c": 0.9, "a": 0.5})
    {'c': 1, 'a': 2, 'b': 3}
    """

    def sort_key(url: str) -> tuple[Any, ...]:
        score = scores[url]
        parts = (score,) if isinstance(score, (int, float)) else score
        return (*(-round(part, DECIMALS) for part in parts), url)

    return {url: rank for rank, url in enumerate(sorted(scores, key=sort_key), start=1)}


def rank_smart(pool: Pages, description: WordCounts, scheme: Scheme = "atc") -> dict[str, int]:
    """rank_SMART: the pool ranked by similarity to the description. [EXP]"""
    return ranks(similarities(pool, description, scheme))


def keywords_present(pool: Pages, keywords: Iterable[str]) -> dict[str, int]:
    """Number of distinct keywords (analysed like the pool) on each page; repetitions do not count. [EXP; D]

    >>> keywords_present({"p": {"solar": 3}}, ["solar", "panel", "solar"])
    {'p': 1}
    """
    distinct = frozenset(keywords)
    return {url: len(distinct & counts.keys()) for url, counts in pool.items()}


def rank_keywords_pagerank(pool: Pages, keywords: Iterable[str], page_ranks: Mapping[str, float]) -> dict[str, int]:
    """rank_KW,PR: the pool ranked by distinct keywords present, then by PageRank, then by URL. [EXP]

    [EXP] takes `page_ranks` from the graph of all pages crawled for all topics (`pool_pageranks`).
    """
    present = keywords_present(pool, keywords)
    return ranks({url: (present[url], page_ranks.get(url, 0.0)) for url in pool})


def pool_graph(pool: Iterable[str], links: Mapping[str, Iterable[str]]) -> LinkGraph:
    """The graph of the pages of a pool and the links among them (sheet 50.4)."""
    return link_graph({url: links.get(url, ()) for url in pool}, closed=True)


def pool_pageranks(pool: Iterable[str], links: Mapping[str, Iterable[str]]) -> dict[str, float]:
    """PageRank in the graph of the pool."""
    graph = pool_graph(pool, links)
    return by_name(graph, pagerank(graph))


def keyword_quality(pool: Pages, keywords: Iterable[str]) -> Quality:
    """The share of the topic's distinct keywords that occur on the page."""
    distinct = frozenset(keywords)
    return _lookup({url: len(distinct & counts.keys()) / max(len(distinct), 1) for url, counts in pool.items()})


def query_quality(pool: Pages, query: WordCounts) -> Quality:
    """Cosine of the page with the query, raw term frequencies (sheet 10.2)."""
    return lambda url: cosine(query, pool[url]) if url in pool else 0.0


def seed_quality(pool: Pages, seeds: Iterable[str]) -> Quality:
    """Cosine of the page with the concatenated seed pages, raw term frequencies; seeds outside the pool are ignored."""
    return query_quality(pool, concatenated(pool, seeds))


def concatenated(pages: Pages, urls: Iterable[str]) -> dict[str, int]:
    """The summed counts of several pages; missing pages are ignored."""
    total: dict[str, int] = {}
    for url in dict.fromkeys(urls):
        for term, count in pages.get(url, {}).items():
            total[term] = total.get(term, 0) + count
    return total


def classifier_quality(pool: Pages, probability: Callable[[WordCounts], float]) -> Quality:
    """The probability of the page under a classifier trained on examples of the topic; it takes term counts."""
    return lambda url: probability(pool[url]) if url in pool else 0.0


def retrieval_quality(pool: Pages, description: WordCounts, scheme: Scheme = "atc") -> Quality:
    """The reciprocal rank of the page when a retrieval system ranks the pool by similarity to the description."""
    return _lookup({url: 1.0 / rank for url, rank in rank_smart(pool, description, scheme).items()})


def in_degree_quality(graph: LinkGraph) -> Quality:
    """Number of other pages that link to the page."""
    return _lookup(dict(zip(graph.names, map(float, graph.in_degree.tolist()), strict=True)))


def pagerank_quality(graph: LinkGraph) -> Quality:
    return _lookup(by_name(graph, pagerank(graph)))


def authority_quality(graph: LinkGraph) -> Quality:
    return _lookup(by_name(graph, hits(graph).authorities))


def hub_quality(graph: LinkGraph) -> Quality:
    return _lookup(by_name(graph, hits(graph).hubs))


def qualities_of(
    pool: Pages, keywords: WordCounts, seeds: Iterable[str], similarity: Mapping[str, float], graph: LinkGraph
) -> dict[str, Quality]:
    """The measures of [CHAP 4.1] that need no classifier, by the name of their metric (`metrics.page_quality`)."""
    return {
        "keywords_present": keyword_quality(pool, keywords),
        "query_similarity": query_quality(pool, keywords),
        "seed_similarity": seed_quality(pool, seeds),
        "retrieval_rank": _lookup({url: 1.0 / rank for url, rank in ranks(similarity).items()}),
        "in_links": in_degree_quality(graph),
        "pagerank": pagerank_quality(graph),
        "authority": authority_quality(graph),
        "hub": hub_quality(graph),
    }


def _lookup(values: Mapping[str, float]) -> Quality:
    return lambda url: values.get(url, 0.0)
