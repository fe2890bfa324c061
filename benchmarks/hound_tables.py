"""The tables of `hound.py` that compare hound with other strategies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

from findings_print import probability, table
from hound_lab import (
    ALL_TOPICS,
    FEW_TOPICS,
    OURS,
    Ask,
    BenchWeb,
    Curves,
    Settings,
    crawl,
    difference_with_error,
    is_below,
    jaccard,
    number,
    size,
    with_error,
)
from hound_live import LiveCrawl, live_crawls

from scenthound.lab.measure.statistics import Comparison, mean

CONTROLS = ("home-pages", "backlink-count", "breadth-first", "random", "pagerank")
"""Strategies that ignore the topic."""
TOPICAL = (
    "best-first",
    "best-n-first",
    "dom",
    "hub-seeking",
    "hub-seeking:entity=url",
    "shark-search",
    "fish-search",
    "alliance",
    "cc-bfs",
    "text-and-graph",
    "intelligent",
    "infospiders",
)
"""Strategies that are given only topic and seeds."""
TAUGHT = ("bayes", "focused-soft", "focused-hard", "context-graph", "reinforcement", "apprentice")
TEXT_LED = ("best-first", "dom", "shark-search")
LINK_LED = ("backlink-count", "pagerank", "alliance")
LIVE = (OURS, "best-first", "best-n-first", "breadth-first", "infospiders")
LIVE_PAGES, LIVE_TOPICS = 400, 4
LIVE_RECALLS = ("plain_recall", "polite_recall", "recall")
BEST_OTHER = "best-n-first"
EXPLORING = ("hound:exploration=0.1",)
BEST_N = ("best-first", *(f"best-n-first:n={n}" for n in (16, 64, 128, 256)))


def recall(web: BenchWeb, settings: Settings) -> str:
    """A table of the means of every strategy, and of hound minus the strategy, paired by topic."""
    others = [*CONTROLS, *TOPICAL]
    curves = crawl(web, Ask([OURS, *others], web.spaced(settings.topics or ALL_TOPICS[web.name])), settings)
    return f"{size(web, curves)}\n\n{_against(curves, others)}\n\n{_verdict(curves, others)}"


def taught(web: BenchWeb, settings: Settings) -> str:
    """A table of oracles, and of strategies that are trained before the crawl."""
    topics = web.spaced(settings.topics or FEW_TOPICS[web.name])
    curves = crawl(web, Ask([OURS, *TAUGHT], topics, oracles=True), settings)
    others = [name for name in curves.found if name != OURS]
    given = [f"{name}: {', '.join(curves.given[name])}" for name in others if name in curves.given]
    shown = [f"{name} {verdict}" for name, verdict in curves.less_or_more(OURS, TAUGHT).items()]
    remarks = (
        f"Compared with hound, Holm p < .05: {'; '.join(shown)}.\n\nGiven beyond topic and seeds: {'; '.join(given)}."
    )
    return f"{size(web, curves)}\n\n{_against(curves, others)}\n\n{remarks}"


def overlap(web: BenchWeb, settings: Settings) -> str:
    """A table of how many of the same targets two crawlers find, and how many they find together."""
    topics = web.spaced(settings.topics or FEW_TOPICS[web.name])
    curves = crawl(web, Ask([OURS, *TEXT_LED, *LINK_LED], topics), settings)
    points = [point for point in (250, 500, 1000) if point in curves.points] or [curves.points[-1]]
    kinds = {
        "text, text": list(combinations(TEXT_LED, 2)),
        "links, links": list(combinations(LINK_LED, 2)),
        "text, links": list(product(TEXT_LED, LINK_LED)),
        "hound, text": [(OURS, name) for name in TEXT_LED],
        "hound, links": [(OURS, name) for name in LINK_LED],
    }
    target_counts = {topic.id: len(set(topic.targets) - set(topic.seeds)) for topic in web.bed.topics}
    rows = []
    for kind, pairs in kinds.items():
        cells = []
        for point in points:
            both = [_union(curves, pair, point, target_counts) for pair in pairs]
            better = [max(curves.mean(name, point).mean or 0.0 for name in pair) for pair in pairs]
            cells.append(f"{with_error(jaccard(curves, pairs, point))}; {_even(both)} ({_even(better)})")
        rows.append([kind, str(len(pairs)), *cells])
    return f"{size(web, curves)}\n\n{table(['crawlers', 'pairs', *(f'{point:,}' for point in points)], rows)}"


def _even(values: Sequence[float]) -> str:
    return number(sum(values) / len(values))


def _union(curves: Curves, pair: Sequence[str], point: int, target_counts: Mapping[str, int]) -> float:
    """Mean recall of two crawlers together, each after `point` pages."""
    shares = []
    for topic in curves.targets[pair[0]]:
        found = {url for name in pair for url, page in curves.targets[name][topic].items() if page <= point}
        shares.append(len(found) / target_counts[topic])
    return sum(shares) / len(shares)


def seeds(web: BenchWeb, settings: Settings) -> str:
    """A table of crawls from fewer seeds, and from each half of the seeds."""
    settings = settings.shorter(web.name)
    topics = web.spaced(settings.topics)
    rows = []
    for label, count in (("1", 1), ("3", 3), ("all", 0)):
        curves = crawl(web, Ask([OURS, BEST_OTHER], topics, seeds=count, halves=not count), settings)
        rows += [[label, name, *curves.row(name)] for name in (OURS, BEST_OTHER)]
    for name in (OURS, BEST_OTHER):
        first, second = f"{name} half 1", f"{name} half 2"
        same = [with_error(jaccard(curves, [(first, second)], point)) for point in curves.points]
        rows += [["one half", name, *curves.row(first)], ["other half", name, *curves.row(second)]]
        rows += [["found from both, of all found", name, *same]]
    return f"{size(web, curves)}\n\n{table(['seeds', 'strategy', *curves.heads], rows)}"


def greed(web: BenchWeb, settings: Settings) -> str:
    """A table of hound with and without exploration, and of best-N-first, on both tasks of [EXP]."""
    settings = settings.shorter(web.name)
    topics = web.spaced(settings.topics)
    sections = []
    for start in ("examples", "neighbours"):
        curves = crawl(web, Ask([OURS, *EXPLORING, *BEST_N], topics, start=start), settings)
        verdicts = {OURS: ""} | curves.less_or_more(OURS, (*EXPLORING, *BEST_N))
        rows = []
        for name, verdict in verdicts.items():
            comparison = curves.difference(name, OURS, curves.points[-1])
            less = "" if name == OURS else f"{number(comparison.paired.mean, True)} ± {number(comparison.paired.error)}"
            rows.append([name, *curves.row(name), less, verdict, f"{curves.cost(name):.2f}"])
        heads = ["strategy", *curves.heads, "minus hound, at the end", "Holm p < .05", "ms per page"]
        sections.append(f"{size(web, curves)[:-1]}, from {start}.\n\n{table(heads, rows)}")
    return "\n\n".join(sections)


def live(web: BenchWeb, settings: Settings) -> str:
    """A table of live crawls of 400 pages, compared with their replays."""
    settings = replace(settings, pages=min(settings.pages, LIVE_PAGES))
    topics = web.spaced(settings.topics or LIVE_TOPICS)
    crawls = live_crawls(web, LIVE, topics, settings)
    rows = []
    for name in LIVE:
        own = [crawl for crawl in crawls if crawl.strategy == name]
        gaps = mean([crawl.recall - crawl.polite_recall for crawl in own])
        rows.append(
            [
                name,
                str(len(own)),
                *(with_error(mean([crawl[LiveCrawl._fields.index(field)] for crawl in own])) for field in LIVE_RECALLS),
                f"{number(gaps.mean, True)} ± {number(gaps.error)}",
                f"{100 * (mean([crawl.same for crawl in own]).mean or 0.0):.0f} %",
                *(f"{sum(times) / len(times):,.0f} s" for times in _times(own)),
            ]
        )
    heads = ["strategy", "crawls", "no delay", "polite replay", "live", "live minus replay", "same pages"]
    heads += ["virtual time", "wall-clock time"]
    return f"**{web.name}**, {settings.pages} pages.\n\n{table(heads, rows)}"


def _times(crawls: Sequence[LiveCrawl]) -> tuple[list[float], list[float]]:
    return [crawl.polite_seconds for crawl in crawls], [crawl.seconds for crawl in crawls]


def _against(curves: Curves, others: Sequence[str]) -> str:
    """A row of means for each strategy, with the difference of hound minus the strategy."""
    rows = [[f"**{OURS}**", str(len(curves.found[OURS])), *curves.row(OURS), f"{curves.cost(OURS):.2f}"]]
    order = sorted(others, key=lambda name: -(curves.mean(name, curves.points[len(curves.points) // 2]).mean or 0.0))
    for name in order:
        cells = []
        for point in curves.points:
            comparison = curves.difference(OURS, name, point)
            cells.append(f"{number(comparison.means[1].mean)} ({difference_with_error(comparison)})")
        cost = f"{curves.cost(name):.2f}" if curves.cost(name) else ""
        rows.append([name, str(len(curves.found[name])), *cells, cost])
    return table(["strategy", "topics", *curves.heads, "ms per page"], rows)


def _verdict(curves: Curves, others: Sequence[str]) -> str:
    """Where hound is below another by more than one standard error, and its tests against the best of the others."""
    below = [
        f"{name} at {point:,}"
        for point in curves.points
        for name in others
        if is_below(curves.difference(OURS, name, point))
    ]
    lines = [f"Below by more than one standard error: {', '.join(below) or 'none'}."]
    tests = curves.tested([(OURS, name) for name in others])
    for point in sorted({test.at or 0 for test in tests}):
        best = max(others, key=lambda name: curves.mean(name, point).mean or 0.0)
        comparison = next(test for test in tests if test.second == best and test.at == point)
        lines.append(f"At {point} pages the best other is {_tested(comparison)}.")
    ended = [f"{name} {count}" for name, count in curves.ended.items() if count]
    lines.append(f"Crawls that ran out of URLs: {', '.join(ended) or 'none'}.")
    return " ".join(lines)


def _tested(comparison: Comparison) -> str:
    """The name of the second strategy, the difference and its test, as text."""
    won = f"{comparison.signs.wins} : {comparison.signs.losses}"
    return (
        f"{comparison.second}: {number(comparison.paired.mean, True)} ± {number(comparison.paired.error)}, "
        f"Holm p {probability(comparison.adjusted)}, won : lost {won}"
    )
