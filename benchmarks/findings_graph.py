"""F8 and F9, [GRAPH]: how far do links alone lead, and what is that worth by the second? And what ranking costs."""

from __future__ import annotations

import gc
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from findings_lab import (
    BEST_256,
    BREADTH,
    Place,
    Values,
    crawl,
    crossings,
    curve_of,
    finding,
    is_order,
    judged,
    means_table,
    table,
    tests_table,
)

from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.measure.metrics import Curve
from scenthound.lab.run.run_cell import ReplayLimits, run_cell
from scenthound.lab.topics.seeds import seeds_at_distance
from scenthound.model import Url
from scenthound.ports import declaration_of
from scenthound.strategies import STRATEGIES

CC = ("cc-bfs:lookahead=fetch", "cc-bfs")
GRAPH = (BEST_256, *CC, BREADTH)
ROUNDS = 3  # CPU seconds are the best of so many


@cache
def graph(at: Place) -> tuple[Values, list[BedTopic]]:
    """4,000 pages from seeds three links before ten of the targets, three times for the clock."""
    pages = at.settings.pages(4000)
    topics = [_graph_topic(at, topic) for topic in at.topics]
    arms = {
        str(number): crawl(at, f"graph-{number}", topics, GRAPH, "graph", pages, jobs=1) for number in range(ROUNDS)
    }
    points = graph_points(pages)
    metrics = ("url_precision", "url_recall", "precision", "description_recall_norm")
    values = judged(at, {"": arms["0"]}, topics, {name: (curve_of(name, points), points) for name in metrics})
    costs = ("recall_per_cpu_second",)
    timed = judged(at, arms, topics, {name: (curve_of(name, points), points) for name in costs}, pooled=False)
    for name in costs:  # the same trails, so the best of three is the fastest
        values.points = {**values.points, name: points}
        values.found[name] = {("", one): _best([timed.found[name][(arm, one)] for arm in arms]) for one in GRAPH}
    return values, topics


def _best(rounds: Sequence[dict[str, Curve]]) -> dict[str, Curve]:
    found: dict[str, Curve] = {}
    for topic in rounds[0]:
        columns = zip(*(one[topic] for one in rounds), strict=True)
        found[topic] = [max((value for value in column if value is not None), default=None) for column in columns]
    return found


def graph_points(pages: int) -> list[int]:
    return sorted({*(pages * share // 40 for share in (1, 2, 4, 6, 8, 10, 12, 15, 20, 30, 40))})


def _graph_topic(at: Place, topic: BedTopic) -> BedTopic:
    """All pages of the category are targets; S0 and what lies before it are drawn at random."""
    targets = tuple(dict.fromkeys((*topic.seeds, *topic.targets))) if at.name == "schools" else topic.targets
    there = [url for url in targets if url in at.prepared]
    seeds, _ = seeds_at_distance(there, at.back_links, random.Random(f"distance {topic.id}"))
    return replace(topic, seeds=tuple(map(Url, seeds)), targets=targets)


@finding(
    "F8",
    "precision: best-256 > CC-BFS > breadth-first; recall: best-256 slightly > CC-BFS, both well above breadth-first. "
    "Accepted: order of means at 4000 pages (CC-BFS with lookahead=fetch, as the sheet asks; `known` beside it).",
    ("schools", "generated"),
)
def f8(at: Place) -> bool:
    values, _ = graph(at)
    pages = at.settings.pages(4000)
    points = [point for point in graph_points(pages) if point * 10 % pages == 0]
    orders: dict[str, bool] = {}
    for name in ("url_precision", "url_recall", "precision", "description_recall_norm"):
        print(means_table(values, name, [("", one) for one in GRAPH], points, name, 4) + "\n")
        pairs = [
            (("", a), ("", b)) for a, b in ((BEST_256, CC[0]), (CC[0], BREADTH), (BEST_256, CC[1]), (CC[1], BREADTH))
        ]
        print(tests_table(values.compared(name, pages, pairs), f"{name} after {pages:,} pages") + "\n")
        for look in CC:
            means = [values.mean(name, one, pages).mean for one in (BEST_256, look, BREADTH)]
            orders[look] = orders.get(look, True) and is_order(means)
    print("order of means: " + "; ".join(f"{look} {'yes' if kept else 'no'}" for look, kept in orders.items()))
    print(values.ended_early())
    return orders[CC[0]]


@finding(
    "F9",
    "recall per CPU second: breadth-first leads at first, CC-BFS passes it near 1000 pages and stays ahead of both. "
    "Accepted: a crossing exists and CC-BFS leads at the end. CPU seconds of ranking "
    "(rule 14), best of three, one process.",
    ("schools", "generated"),
)
def f9(at: Place) -> bool:
    values, _ = graph(at)
    points, name = graph_points(at.settings.pages(4000)), "recall_per_cpu_second"
    print(means_table(values, name, [("", one) for one in GRAPH], points, "recall per CPU second", 2) + "\n")
    pairs = [(("", look), ("", other)) for look in CC for other in (BREADTH, BEST_256)]
    print(tests_table(values.compared(name, points[-1], pairs), f"after {points[-1]:,} pages") + "\n")
    met = False
    for look in CC:
        gaps = [
            (values.mean(name, look, point).mean or 0.0) - (values.mean(name, BREADTH, point).mean or 0.0)
            for point in points
        ]
        turns = [points[turn] for turn in crossings(gaps)]
        means = [values.mean(name, one, points[-1]).mean or 0.0 for one in (look, BREADTH, BEST_256)]
        leads = means[0] == max(means)
        print(
            f"{look}: crosses breadth-first at {turns or 'no point'}; "
            f"{'leads' if leads else 'does not lead'} at the end"
        )
        met |= look == CC[0] and bool(turns) and gaps[0] < 0 and leads
    print()
    return met


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
        for label, parameters in [(name, {}), *([(CC[0], {"lookahead": "fetch"})] if name == "cc-bfs" else [])]:
            rows.append([label, *_cost(bed, topics, name, parameters, limits, quarter)])
    heads = ["strategy", "ms a page", "first quarter", "last quarter", "links scored a page", "pages"]
    print(table(heads, rows) + "\n")


def _cost(
    bed: PreparedBed,
    topics: Sequence[BedTopic],
    name: str,
    parameters: dict[str, str],
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
