"""The tables of `hound.py` that set hound beside other strategies."""

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
    Curves,
    Place,
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
"""Strategies that know no topic."""
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
"""Strategies that are given topic and seeds, and nothing else."""
TAUGHT = ("bayes", "focused-soft", "focused-hard", "context-graph", "reinforcement", "apprentice")
TEXT_LED = ("best-first", "dom", "shark-search")
LINK_LED = ("backlink-count", "pagerank", "alliance")
LIVE = (OURS, "best-first", "best-n-first", "breadth-first", "infospiders")
LIVE_PAGES, LIVE_TOPICS = 400, 4
LIVE_RECALLS = ("plain_recall", "polite_recall", "recall")
BEST_OTHER = "best-n-first"
EXPLORING = ("hound:exploration=0.1",)
BEST_N = ("best-first", *(f"best-n-first:n={n}" for n in (16, 64, 128, 256)))


def recall(at: Place, settings: Settings) -> str:
    """Means of every strategy, and hound less it, paired by topic."""
    others = [*CONTROLS, *TOPICAL]
    curves = crawl(at, Ask([OURS, *others], at.spaced(settings.topics or ALL_TOPICS[at.name])), settings)
    return f"{size(at, curves)}\n\n{_against(curves, others)}\n\n{_verdict(curves, others)}"


def taught(at: Place, settings: Settings) -> str:
    """Oracles, and strategies that are trained before the crawl."""
    topics = at.spaced(settings.topics or FEW_TOPICS[at.name])
    curves = crawl(at, Ask([OURS, *TAUGHT], topics, oracles=True), settings)
    others = [name for name in curves.found if name != OURS]
    given = [f"{name}: {', '.join(curves.given[name])}" for name in others if name in curves.given]
    shown = [f"{name} {verdict}" for name, verdict in curves.less_or_more(OURS, TAUGHT).items()]
    said = f"Beside hound, Holm p < .05: {'; '.join(shown)}.\n\nGiven beyond topic and seeds: {'; '.join(given)}."
    return f"{size(at, curves)}\n\n{_against(curves, others)}\n\n{said}"


def overlap(at: Place, settings: Settings) -> str:
    """What two crawlers find of the same targets, and what they find together."""
    topics = at.spaced(settings.topics or FEW_TOPICS[at.name])
    curves = crawl(at, Ask([OURS, *TEXT_LED, *LINK_LED], topics), settings)
    points = [point for point in (250, 500, 1000) if point in curves.at] or [curves.at[-1]]
    kinds = {
        "text, text": list(combinations(TEXT_LED, 2)),
        "links, links": list(combinations(LINK_LED, 2)),
        "text, links": list(product(TEXT_LED, LINK_LED)),
        "hound, text": [(OURS, name) for name in TEXT_LED],
        "hound, links": [(OURS, name) for name in LINK_LED],
    }
    wanted = {topic.id: len(set(topic.targets) - set(topic.seeds)) for topic in at.bed.topics}
    rows = []
    for kind, pairs in kinds.items():
        cells = []
        for point in points:
            both = [_union(curves, pair, point, wanted) for pair in pairs]
            better = [max(curves.mean(name, point).mean or 0.0 for name in pair) for pair in pairs]
            cells.append(f"{with_error(jaccard(curves, pairs, point))}; {_even(both)} ({_even(better)})")
        rows.append([kind, str(len(pairs)), *cells])
    return f"{size(at, curves)}\n\n{table(['crawlers', 'pairs', *(f'{point:,}' for point in points)], rows)}"


def _even(values: Sequence[float]) -> str:
    return number(sum(values) / len(values))


def _union(curves: Curves, pair: Sequence[str], point: int, wanted: Mapping[str, int]) -> float:
    """Mean recall of what two crawlers found together, each with so many pages."""
    shares = []
    for topic in curves.targets[pair[0]]:
        found = {url for name in pair for url, page in curves.targets[name][topic].items() if page <= point}
        shares.append(len(found) / wanted[topic])
    return sum(shares) / len(shares)


def seeds(at: Place, settings: Settings) -> str:
    """Fewer seeds, and two halves of them."""
    settings = settings.shorter(at.name)
    topics = at.spaced(settings.topics)
    rows = []
    for told, some in (("1", 1), ("3", 3), ("all", 0)):
        curves = crawl(at, Ask([OURS, BEST_OTHER], topics, seeds=some, halves=not some), settings)
        rows += [[told, name, *curves.row(name)] for name in (OURS, BEST_OTHER)]
    for name in (OURS, BEST_OTHER):
        first, second = f"{name} half 1", f"{name} half 2"
        same = [with_error(jaccard(curves, [(first, second)], point)) for point in curves.at]
        rows += [["one half", name, *curves.row(first)], ["other half", name, *curves.row(second)]]
        rows += [["found from both, of all found", name, *same]]
    return f"{size(at, curves)}\n\n{table(['seeds', 'strategy', *curves.heads], rows)}"


def greed(at: Place, settings: Settings) -> str:
    """Both tasks of [EXP]: hound with and without exploration, and best-N-first."""
    settings = settings.shorter(at.name)
    topics = at.spaced(settings.topics)
    said = []
    for start in ("examples", "neighbours"):
        curves = crawl(at, Ask([OURS, *EXPLORING, *BEST_N], topics, start=start), settings)
        told_apart = {OURS: ""} | curves.less_or_more(OURS, (*EXPLORING, *BEST_N))
        rows = []
        for name, verdict in told_apart.items():
            one = curves.difference(name, OURS, curves.at[-1])
            less = "" if name == OURS else f"{number(one.paired.mean, True)} ± {number(one.paired.error)}"
            rows.append([name, *curves.row(name), less, verdict, f"{curves.cost(name):.2f}"])
        heads = ["strategy", *curves.heads, "less hound, at the end", "Holm p < .05", "ms a page"]
        said.append(f"{size(at, curves)[:-1]}, from {start}.\n\n{table(heads, rows)}")
    return "\n\n".join(said)


def live(at: Place, settings: Settings) -> str:
    """Live crawls of 400 pages, beside their replays."""
    settings = replace(settings, pages=min(settings.pages, LIVE_PAGES))
    topics = at.spaced(settings.topics or LIVE_TOPICS)
    crawls = live_crawls(at, LIVE, topics, settings)
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
    heads = ["strategy", "crawls", "no delay", "polite replay", "live", "live less replay", "same pages"]
    heads += ["virtual time", "wall-clock time"]
    return f"**{at.name}**, {settings.pages} pages.\n\n{table(heads, rows)}"


def _times(crawls: Sequence[LiveCrawl]) -> tuple[list[float], list[float]]:
    return [crawl.polite_seconds for crawl in crawls], [crawl.seconds for crawl in crawls]


def _against(curves: Curves, others: Sequence[str]) -> str:
    """A row of means for each strategy, with hound less it."""
    rows = [[f"**{OURS}**", str(len(curves.found[OURS])), *curves.row(OURS), f"{curves.cost(OURS):.2f}"]]
    order = sorted(others, key=lambda name: -(curves.mean(name, curves.at[len(curves.at) // 2]).mean or 0.0))
    for name in order:
        cells = []
        for point in curves.at:
            one = curves.difference(OURS, name, point)
            cells.append(f"{number(one.means[1].mean)} ({difference_with_error(one)})")
        cost = f"{curves.cost(name):.2f}" if curves.cost(name) else ""
        rows.append([name, str(len(curves.found[name])), *cells, cost])
    return table(["strategy", "topics", *curves.heads, "ms a page"], rows)


def _verdict(curves: Curves, others: Sequence[str]) -> str:
    """Whether hound is never below any by more than one standard error, and the tests against the best."""
    below = [
        f"{name} at {point:,}"
        for point in curves.at
        for name in others
        if is_below(curves.difference(OURS, name, point))
    ]
    lines = [f"Below by more than one standard error: {', '.join(below) or 'none'}."]
    tests = curves.tested([(OURS, name) for name in others])
    for point in sorted({test.at or 0 for test in tests}):
        best = max(others, key=lambda name: curves.mean(name, point).mean or 0.0)
        one = next(test for test in tests if test.second == best and test.at == point)
        lines.append(f"At {point} pages the best other is {_tested(one)}.")
    ended = [f"{name} {count}" for name, count in curves.ended.items() if count]
    lines.append(f"Crawls that ran out of URLs: {', '.join(ended) or 'none'}.")
    return " ".join(lines)


def _tested(one: Comparison) -> str:
    """The second, the difference and its test."""
    won = f"{one.signs.wins} : {one.signs.losses}"
    return (
        f"{one.second}: {number(one.paired.mean, True)} ± {number(one.paired.error)}, "
        f"Holm p {probability(one.adjusted)}, won : lost {won}"
    )
