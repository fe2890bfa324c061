"""F8 and F9, [GRAPH]: how far do links alone lead, and what is that worth by the second? And what ranking costs."""

from __future__ import annotations

import gc
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from findings_figures import draw, lines_of
from findings_lab import BEST_256, BREADTH, SEED, Crawler, Place, Values, crawl, curve_of, finding, judged
from findings_print import Claim, crossings, judge_claims, means_table, table

from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.run.handover import visible_topic
from scenthound.lab.run.run_cell import ReplayLimits, run_cell, run_strategy
from scenthound.lab.topics.seeds import seeds_at_distance
from scenthound.model import Url
from scenthound.ports import declaration_of
from scenthound.strategies import STRATEGIES
from scenthound.strategies.cc_bfs import CcBfs, Level

KNOWN, FETCH, LEVELS = "cc-bfs:step=1", "cc-bfs:lookahead=fetch:step=1", "cc-bfs"
BEST_IDF = f"{BEST_256}:idf=running"
GRAPH = (BEST_IDF, KNOWN, FETCH, LEVELS, BREADTH)
PAGES = {"schools": 1000, "generated": 2000}
ROUNDS = 3  # of `cost`: CPU seconds are the best of so many
JUDGED = 5  # topics on which the decisions of CC-BFS are counted


def pages_of(at: Place) -> int:
    return at.settings.pages(PAGES.get(at.name, 4000))


@cache
def graph(at: Place) -> tuple[Values, list[BedTopic]]:
    """From seeds three links before ten of the targets, one process at a time for the clock."""
    pages = pages_of(at)
    topics = [_graph_topic(at, topic) for topic in at.topics]
    experiment, points = crawl(at, "graph", topics, GRAPH, "graph", pages, jobs=1), graph_points(pages)
    metrics = ("url_precision", "url_recall", "recall_per_cpu_second")
    measures = {name: (curve_of(name, points), points) for name in metrics}
    return judged(at, {"": experiment}, topics, measures, pooled=False), topics


def graph_points(pages: int) -> list[int]:
    return sorted({*(pages * share // 40 for share in (1, 2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40))})


def _graph_topic(at: Place, topic: BedTopic) -> BedTopic:
    """All pages of the category are targets; S0 and what lies before it are drawn at random."""
    targets = tuple(dict.fromkeys((*topic.seeds, *topic.targets)))
    there = [url for url in targets if url in at.prepared]
    seeds, _ = seeds_at_distance(there, at.back_links, random.Random(f"distance {SEED} {topic.id}"))
    return replace(topic, seeds=tuple(map(Url, seeds)), targets=targets, examples=())


def thrown_away(at: Place, topics: Sequence[BedTopic], pages: int, lookahead: str) -> float:
    """The share of judged pages that CC-BFS rejects, on some of the topics."""
    judged_pages = accepted = 0

    def count(level: Level) -> None:
        nonlocal judged_pages, accepted
        judged_pages, accepted = judged_pages + len(level.verdicts), accepted + len(level.accepted)

    some = [topics[place * len(topics) // JUDGED] for place in range(JUDGED)] if len(topics) > JUDGED else topics
    for topic in some:
        strategy = CcBfs(step=1, lookahead=lookahead)
        strategy.on_level_ = count
        run_strategy(at.prepared, visible_topic(topic, at.prepared.aliases), strategy, topic.seeds, ReplayLimits(pages))
    return 1.0 - accepted / max(judged_pages, 1)


@finding(
    "F8",
    "precision: best-256 > CC-BFS > breadth-first; recall: best-256 slightly > CC-BFS, both well above breadth-first. "
    "Accepted: order of means at 4000 pages, each step with p < 0.05 (CC-BFS judges the top URL in each step).",
    ("schools", "generated"),
)
def f8(at: Place) -> str:
    (values, topics), pages = graph(at), pages_of(at)
    points = [point for point in graph_points(pages) if point * 20 % pages == 0]
    crawlers = [("", one) for one in GRAPH]
    best, known, fetch, levels, blind = crawlers
    for name in ("url_precision", "url_recall"):
        print(means_table(values, name, crawlers, points, name, 4) + "\n")
        if not at.settings.quick:
            names = {"best-256": best, "CC-BFS": known, "CC-BFS, fetch": fetch, "breadth-first": blind}
            draw(at, f"F8-{at.name}-{name}", f"{name} ({at.name})", name, lines_of(values, name, names))
    print("Whole levels, not part of the verdict:\n")
    judge_claims([_claim(values, name, levels, blind, pages) for name in ("url_precision", "url_recall")])
    print(values.ended_early())
    said = []
    for lookahead, crawler in (("known", known), ("fetch", fetch)):
        share = thrown_away(at, topics, pages, lookahead)
        print(f"With lookahead={lookahead} CC-BFS throws away {share:.1%} of the pages that it judges\n")
        pairs = ((best, crawler), (crawler, blind))
        verdict = judge_claims(
            [_claim(values, name, *pair, pages) for name in ("url_precision", "url_recall") for pair in pairs]
        )
        said.append(f"{lookahead}: {verdict if share >= 0.05 else 'not testable here, nearly every page is accepted'}")
    return "; ".join(said)


@finding(
    "F9",
    "recall per CPU second: breadth-first leads at first, CC-BFS passes it near 1000 pages and stays ahead of both. "
    "Accepted: a crossing exists and CC-BFS leads at the end. CPU seconds of ranking and of the words that are asked "
    "for (rule 14), timed once, one process.",
    ("schools", "generated"),
)
def f9(at: Place) -> str:
    (values, _), points, name = graph(at), graph_points(pages_of(at)), "recall_per_cpu_second"
    crawlers, said = [("", one) for one in GRAPH], []
    best, known, fetch, _, blind = crawlers
    print(means_table(values, name, crawlers, points[::2], "recall per CPU second", 2) + "\n")
    if not at.settings.quick:
        names = {"best-256": best, "CC-BFS": known, "CC-BFS, fetch": fetch, "breadth-first": blind}
        draw(at, f"F9-{at.name}", f"Recall per CPU second ({at.name})", "recall / s", lines_of(values, name, names))
    for lookahead, crawler in (("known", known), ("fetch", fetch)):
        gaps = [
            (values.mean(name, crawler[1], point).mean or 0.0) - (values.mean(name, BREADTH, point).mean or 0.0)
            for point in points
        ]
        turns = ", ".join(f"{points[turn]:,}" for turn in crossings(gaps)) or "no point"
        print(f"CC-BFS ({lookahead}) and breadth-first cross at {turns}\n")
        claims = [_claim(values, name, crawler, other, points[-1]) for other in (blind, best)]
        claims.append(_claim(values, name, blind, crawler, points[0]))
        said.append(f"{lookahead}: {judge_claims(claims)}")
    return "; ".join(said)


def _claim(values: Values, name: str, one: Crawler, other: Crawler, point: int) -> Claim:
    words = f"{name}, {point:,} pages: {one[1]} above {other[1]}"
    return Claim(words, values.compared(name, point, [(one, other)])[0])


# ---- what ranking costs


def cost(at: Place) -> None:
    """CPU milliseconds of ranking a page, of every registered strategy, best of three; and whether it grows."""
    bed = at.prepared
    gc.freeze()  # as in the processes of an experiment
    gc.set_threshold(50_000, 20, 100)
    pages = at.settings.pages(2000)
    limits, topics, quarter = ReplayLimits(pages), at.topics[:2], pages // 4
    rows = []
    for name, kind in STRATEGIES.items():
        if declaration_of(kind()).training == "required":
            rows.append([name, "needs to be trained first", "", "", "", ""])
            continue
        for label, parameters in [(name, {}), *([(KNOWN, {"step": 1})] if name == "cc-bfs" else [])]:
            rows.append([label, *_cost(bed, topics, name, parameters, limits, quarter)])
    heads = ["strategy", "ms a page", "first quarter", "last quarter", "links scored a page", "pages"]
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
        best = min(runs, key=lambda one: one.rank_seconds[-1])
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
    ends = [f"{1000 * some / counted:.3f}" if counted else "–" for some in (first, last)]
    return [f"{1000 * whole / pages:.3f}", *ends, f"{links / pages:.0f}", f"{pages:,}"]
