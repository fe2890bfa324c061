"""F8 and F9 of [GRAPH]: how good is a crawler that uses links alone, also per CPU second? And the cost of ranking."""

from __future__ import annotations

import gc
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from findings_figures import draw, lines_of
from findings_lab import BEST_256, BREADTH, SEED, BenchWeb, Crawler, Values, crawl, curve_of, finding, measure_crawls
from findings_print import Claim, crossings, judge_claims, means_table, table

from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.run.handover import visible_topic
from scenthound.lab.run.run_cell import ReplayLimits, run_cell, run_strategy
from scenthound.lab.topics.crawl_starts import seeds_at_distance
from scenthound.model import Url
from scenthound.papers.cc_bfs import CcBfs, Level
from scenthound.ports import declaration_of
from scenthound.strategies import STRATEGIES
from scenthound.topic_list import BedTopic

KNOWN, FETCH, LEVELS = "cc-bfs:step=1", "cc-bfs:lookahead=fetch:step=1", "cc-bfs"
BEST_IDF = f"{BEST_256}:idf=running"
GRAPH = (BEST_IDF, KNOWN, FETCH, LEVELS, BREADTH)
PAGES = {"schools": 1000, "generated": 2000}
ROUNDS = 3  # of `cost`, which takes the lowest CPU seconds
JUDGED = 5  # topics for which the decisions of CC-BFS are counted


def pages_of(web: BenchWeb) -> int:
    return web.settings.pages(PAGES.get(web.name, 4000))


@cache
def graph(web: BenchWeb) -> tuple[Values, list[BedTopic]]:
    """Crawls from seeds that are three links before ten of the targets; one process at a time, for exact timing."""
    pages = pages_of(web)
    topics = [_graph_topic(web, topic) for topic in web.topics]
    experiment, points = crawl(web, "graph", topics, GRAPH, "graph", pages, jobs=1), graph_points(pages)
    metrics = ("url_precision", "url_recall", "recall_per_cpu_second")
    measures = {name: (curve_of(name, points), points) for name in metrics}
    return measure_crawls(web, {"": experiment}, topics, measures, pooled=False), topics


def graph_points(pages: int) -> list[int]:
    return sorted({*(pages * share // 40 for share in (1, 2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40))})


def _graph_topic(web: BenchWeb, topic: BedTopic) -> BedTopic:
    """The topic with all pages of its category as targets; S0 and the pages before it are drawn at random."""
    targets = tuple(dict.fromkeys((*topic.seeds, *topic.targets)))
    recorded = [url for url in targets if url in web.prepared]
    seeds, _ = seeds_at_distance(recorded, web.back_links, random.Random(f"distance {SEED} {topic.id}"))
    return replace(topic, seeds=tuple(map(Url, seeds)), targets=targets, examples=())


def share_rejected(web: BenchWeb, topics: Sequence[BedTopic], pages: int, lookahead: str) -> float:
    """The share of judged pages that CC-BFS rejects, on a sample of the topics."""
    judged_pages = accepted = 0

    def count(level: Level) -> None:
        nonlocal judged_pages, accepted
        judged_pages, accepted = judged_pages + len(level.verdicts), accepted + len(level.accepted)

    sample = [topics[index * len(topics) // JUDGED] for index in range(JUDGED)] if len(topics) > JUDGED else topics
    for topic in sample:
        strategy = CcBfs(step=1, lookahead=lookahead)
        strategy.on_level_ = count
        run_strategy(
            web.prepared, visible_topic(topic, web.prepared.aliases), strategy, topic.seeds, ReplayLimits(pages)
        )
    return 1.0 - accepted / max(judged_pages, 1)


@finding(
    "F8",
    "precision: best-256 > CC-BFS > breadth-first; recall: best-256 slightly > CC-BFS, both well above breadth-first. "
    "Accepted: order of means at 4000 pages, each step with p < 0.05 (CC-BFS judges the top URL in each step).",
    ("schools", "generated"),
)
def f8(web: BenchWeb) -> str:
    (values, topics), pages = graph(web), pages_of(web)
    points = [point for point in graph_points(pages) if point * 20 % pages == 0]
    crawlers = [("", one) for one in GRAPH]
    best, known, fetch, levels, blind = crawlers
    for name in ("url_precision", "url_recall"):
        print(means_table(values, name, crawlers, points, name, 4) + "\n")
        if not web.settings.quick:
            names = {"best-256": best, "CC-BFS": known, "CC-BFS, fetch": fetch, "breadth-first": blind}
            draw(web, f"F8-{web.name}-{name}", f"{name} ({web.name})", name, lines_of(values, name, names))
    print("Whole levels, not part of the verdict:\n")
    judge_claims([_claim(values, name, levels, blind, pages) for name in ("url_precision", "url_recall")])
    print(values.ended_early())
    verdicts = []
    for lookahead, crawler in (("known", known), ("fetch", fetch)):
        share = share_rejected(web, topics, pages, lookahead)
        print(f"With lookahead={lookahead} CC-BFS throws away {share:.1%} of the pages that it judges\n")
        pairs = ((best, crawler), (crawler, blind))
        verdict = judge_claims(
            [_claim(values, name, *pair, pages) for name in ("url_precision", "url_recall") for pair in pairs]
        )
        verdicts.append(
            f"{lookahead}: {verdict if share >= 0.05 else 'not testable here, nearly every page is accepted'}"
        )
    return "; ".join(verdicts)


@finding(
    "F9",
    "recall per CPU second: breadth-first leads at first, CC-BFS passes it near 1000 pages and stays ahead of both. "
    "Accepted: a crossing exists and CC-BFS leads at the end. CPU seconds of ranking and of the words that are asked "
    "for (rule 14), timed once, one process.",
    ("schools", "generated"),
)
def f9(web: BenchWeb) -> str:
    (values, _), points, name = graph(web), graph_points(pages_of(web)), "recall_per_cpu_second"
    crawlers, verdicts = [("", one) for one in GRAPH], []
    best, known, fetch, _, blind = crawlers
    print(means_table(values, name, crawlers, points[::2], "recall per CPU second", 2) + "\n")
    if not web.settings.quick:
        names = {"best-256": best, "CC-BFS": known, "CC-BFS, fetch": fetch, "breadth-first": blind}
        draw(web, f"F9-{web.name}", f"Recall per CPU second ({web.name})", "recall / s", lines_of(values, name, names))
    for lookahead, crawler in (("known", known), ("fetch", fetch)):
        gaps = [
            (values.mean(name, crawler[1], point).mean or 0.0) - (values.mean(name, BREADTH, point).mean or 0.0)
            for point in points
        ]
        turns = ", ".join(f"{points[turn]:,}" for turn in crossings(gaps)) or "no point"
        print(f"CC-BFS ({lookahead}) and breadth-first cross at {turns}\n")
        claims = [_claim(values, name, crawler, other, points[-1]) for other in (blind, best)]
        claims.append(_claim(values, name, blind, crawler, points[0]))
        verdicts.append(f"{lookahead}: {judge_claims(claims)}")
    return "; ".join(verdicts)


def _claim(values: Values, name: str, one: Crawler, other: Crawler, point: int) -> Claim:
    words = f"{name}, {point:,} pages: {one[1]} above {other[1]}"
    return Claim(words, values.compared(name, point, [(one, other)])[0])


# ---- the cost of ranking


def cost(web: BenchWeb) -> None:
    """Print the CPU milliseconds per page that each strategy needs for ranking (best of three), and their growth."""
    bed = web.prepared
    gc.freeze()  # as in the processes of an experiment
    gc.set_threshold(50_000, 20, 100)
    pages = web.settings.pages(2000)
    limits, topics, quarter = ReplayLimits(pages), web.topics[:2], pages // 4
    rows = []
    for name, kind in STRATEGIES.items():
        if declaration_of(kind()).training == "required":
            rows.append([name, "needs training first", "", "", "", ""])
            continue
        for label, parameters in [(name, {}), *([(KNOWN, {"step": 1})] if name == "cc-bfs" else [])]:
            rows.append([label, *_cost(bed, topics, name, parameters, limits, quarter)])
    heads = ["strategy", "ms per page", "first quarter", "last quarter", "links scored per page", "pages"]
    print(table(heads, rows) + "\n")


def _cost(
    bed: PreparedBed,
    topics: Sequence[BedTopic],
    name: str,
    parameters: dict[str, int],
    limits: ReplayLimits,
    quarter: int,
) -> list[str]:
    whole, first, last, links, pages = 0.0, 0.0, 0.0, 0, 0
    counted = 0
    for topic in topics:
        runs = [run_cell(bed, topic, name, parameters, limits) for _ in range(ROUNDS)]
        best = min(runs, key=lambda result: result.rank_seconds[-1])
        if best.error:
            return [best.error, "", "", "", ""]
        seconds = best.rank_seconds
        whole, links, pages = whole + seconds[-1], links + best.links_scored, pages + len(seconds)
        if len(seconds) >= 4 * quarter:
            first, last, counted = (
                first + seconds[quarter - 1],
                last + seconds[-1] - seconds[-quarter - 1],
                counted + quarter,
            )
    ends = [f"{1000 * seconds_spent / counted:.3f}" if counted else "–" for seconds_spent in (first, last)]
    return [f"{1000 * whole / pages:.3f}", *ends, f"{links / pages:.0f}", f"{pages:,}"]
