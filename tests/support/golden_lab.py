"""The laboratory's share of the worked examples: sheet 60 (metrics, topic, ttest, augment) and 50.4-5 (pr).

`compute` uses nothing but the inputs and the orders in which two crawlers visit the toy web.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scenthound.graph.link_graph import edge_graph
from scenthound.graph.link_scores import by_name, hits, pagerank, url_ordering_rank
from scenthound.lab.measure.metrics.crawl_pairs import overlap
from scenthound.lab.measure.metrics.harvest import moving_harvest_rate
from scenthound.lab.measure.metrics.page_quality import coverage, linkage_coverage, linkage_mean_rank, mean_rank
from scenthound.lab.measure.metrics.similarity import description_recall, precision
from scenthound.lab.measure.metrics.targets import search_length, target_recall, url_precision
from scenthound.lab.measure.quality import (
    keywords_present,
    pool_pageranks,
    rank_keywords_pagerank,
    ranks,
    similarities,
)
from scenthound.lab.measure.statistics import paired_t, sign_test, standard_error, welch_t
from scenthound.lab.testing import page_of
from scenthound.model import Url
from scenthound.sources.augment import HubRules, augment
from scenthound.text.tokens import Analyser
from support.plain_characteristics import characteristics

ANALYSER = Analyser("small")
TOP = 3  # fixed in all examples: coverage of the top 3

Inputs = Mapping[str, Any]


def compute(inputs: Inputs, orders: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The expected values; `orders` are the whole crawls of `breadth-first` and `hub-seeking` on the toy web."""
    return {
        "metrics": metrics(inputs, orders),
        "topic": topic(inputs),
        "ttest": ttest(inputs),
        "augment": augmented(inputs),
        "pr": pr(inputs),
    }


def toy_pages(inputs: Inputs) -> tuple[dict[str, Mapping[str, int]], dict[str, list[str]]]:
    """Term counts and links (distinct, in document order) of every page of the toy web."""
    counts: dict[str, Mapping[str, int]] = {}
    links: dict[str, list[str]] = {}
    for raw, html in inputs["PAGES"].items():
        url = Url(raw)
        page = page_of(html, url)
        counts[url] = ANALYSER.counts(page.text)
        links[url] = [link.url for link in page.outlinks]
    return counts, links


def metrics(inputs: Inputs, orders: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    counts, links = toy_pages(inputs)
    size = inputs["MT_POOL"]
    trails = {name: list(orders[name][:size]) for name in ("breadth-first", "hub-seeking")}
    pool = {url: counts[url] for url in dict.fromkeys(url for trail in trails.values() for url in trail)}
    keywords = ANALYSER.terms(inputs["QUERY"])
    similarity = similarities(pool, ANALYSER.counts(inputs["DESCRIPTION"]))
    page_ranks = pool_pageranks(pool, links)
    smart, linkage = ranks(similarity), rank_keywords_pagerank(pool, keywords, page_ranks)
    targets, seeds = set(inputs["TARGETS"]), set(inputs["SEEDS"])

    def values(trail: Sequence[str]) -> list[float | None]:
        end = [size]
        return [
            *coverage(trail, smart, end, TOP),
            *linkage_coverage(trail, linkage, end, TOP),
            *mean_rank(trail, smart, [2, 4, size]),
            *linkage_mean_rank(trail, linkage, end),
            *precision(trail, similarity, end),
            *description_recall(trail, similarity, end),
            *target_recall(trail, targets, seeds, at=end),
            *url_precision(trail, targets, at=end),
        ]

    flags = inputs["HR_FLAGS"]
    pages = [f"p{number}" for number in range(len(flags))]
    relevant = {page for page, flag in zip(pages, flags, strict=True) if flag}
    return {
        "sim": similarity,
        "rank": smart,
        "kw": keywords_present(pool, keywords),
        "pr": page_ranks,
        "rank2": linkage,
        "values": {name: values(trail) for name, trail in trails.items()},
        "search_length": {
            str(fraction): search_length(orders["hub-seeking"], targets, seeds, fraction=fraction).pages
            for fraction in (0.5, 1.0)
        },
        "overlap": overlap(trails["breadth-first"], trails["hub-seeking"], [size])[0],
        "window": moving_harvest_rate(pages, relevant, window=5),
    }


def topic(inputs: Inputs) -> dict[str, Any]:
    counts, links = toy_pages(inputs)
    found = characteristics(
        targets=inputs["TARGETS"],
        seeds=inputs["SEEDS"],
        keywords=ANALYSER.terms(inputs["QUERY"]),
        description=ANALYSER.counts(inputs["DESCRIPTION"]),
        snapshot=counts,
        links=links,
    )
    return {
        "link-set size": found.link_set_size,
        "text cohesiveness": found.text_cohesiveness,
        "link cohesiveness": found.link_cohesiveness,
        "seed-target similarity": found.seed_target_similarity,
        "popularity": found.popularity,
    }


def ttest(inputs: Inputs) -> dict[str, Any]:
    a, b = inputs["TT_A"], inputs["TT_B"]
    paired, welch, signs = paired_t(a, b), welch_t(a, b), sign_test(a, b)
    return {
        "paired": {"mean": paired.mean, "se": paired.error, "t": paired.t, "df": paired.freedom, "p": paired.p},
        "welch": {"t": welch.t, "df": welch.freedom, "p": welch.p},
        "sign": list(signs),
        "se": [standard_error(a), standard_error(b)],
    }


def augmented(inputs: Inputs) -> dict[str, Any]:
    back = inputs["SE_BACK"]
    result = augment(
        rules=HubRules(host_of=inputs["SE_HOST"].__getitem__, banned=tuple(inputs["SE_BANNED"])),
        seeds=list(back),
        back_links=back.__getitem__,
        description=ANALYSER.counts(inputs["SE_DESC"]),
        page=lambda url: ANALYSER.counts(inputs["SE_TEXT"][url]),
    )
    fates = {one.url: [str(one.decision), one.seeds, one.cosine] for one in result.candidates}
    return {"kept": list(result.hubs), "fate": fates}


def pr(inputs: Inputs) -> dict[str, Any]:
    graph = edge_graph(inputs["PR_NODES"], [(source, target) for source, target in inputs["PR_EDGES"]])
    found = hits(graph)
    return {
        "pr": by_name(graph, pagerank(graph)),
        "cho": by_name(graph, url_ordering_rank(graph)),
        "hub": by_name(graph, found.hubs),
        "auth": by_name(graph, found.authorities),
    }
