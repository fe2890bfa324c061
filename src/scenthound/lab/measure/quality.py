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
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from scenthound.graph.hits import hits
from scenthound.graph.link_graph import LinkGraph, link_graph
from scenthound.graph.pagerank import by_name, pagerank
from scenthound.model import DECIMALS
from scenthound.text.smart_weights import Pool, Scheme
from scenthound.text.vectors import cosine

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
