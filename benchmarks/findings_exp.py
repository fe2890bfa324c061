"""F1 to F4, [EXP]: how much exploration? Best-N-first with N from 1 to 256 under the limits of that paper."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import pairwise

from findings_lab import (
    BEST,
    BEST_256,
    BREADTH,
    Place,
    Trail,
    Values,
    crawl,
    crossings,
    curve_of,
    finding,
    is_order,
    judged,
    means_table,
    plus_minus,
    shown,
    table,
    tests_table,
)

from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.measure.metrics import Curve, Judgement
from scenthound.lab.measure.metrics.pool_ranks import coverage_by_depth
from scenthound.lab.measure.statistics import adjust, log_points
from scenthound.lab.topics.seeds import neighbours
from scenthound.model import Url

EXP_N = (1, 16, 64, 128, 256)
TOPS = (10, 30, 100, 300, 1000)
RANKED = (("SMART", "coverage", "mean_rank"), ("KW,PR", "linkage_coverage", "linkage_mean_rank"))
TASKS = ("examples", "neighbours")


def best_n(n: int) -> str:
    return BEST if n == 1 else BEST_256 if n == 256 else f"{BEST_256}:n={n}"


@cache
def exp(at: Place) -> Values:
    """Both tasks: from the examples, and from ten neighbours two links before them. A pool for each task."""
    pages = at.settings.pages(2000)
    strategies = [BREADTH, *map(best_n, EXP_N)]
    points = sorted({*range(100, pages + 1, 100), *log_points(pages, 30)} - set(range(10)))
    measures = {
        "target_recall": (curve_of("target_recall", [pages]), [pages]),
        "mean_rank": (curve_of("mean_rank", points), points),
        "linkage_mean_rank": (curve_of("linkage_mean_rank", points), points),
        "coverage": (_covered, TOPS),
        "linkage_coverage": (_covered_linkage, TOPS),
    }
    both = Values({name: points for name, (_, points) in measures.items()}, {name: {} for name in measures}, {})
    for task in TASKS:
        topics = [topic for topic in (_exp_topic(at, topic, task) for topic in at.topics) if topic.seeds]
        arms = {task: crawl(at, f"exp-{task}", topics, strategies, "exp", pages)}
        values = judged(at, arms, topics, measures)
        both.ended.update(values.ended)
        for name, crawlers in values.found.items():
            both.found[name].update(crawlers)
    return both


def _exp_topic(at: Place, topic: BedTopic, task: str) -> BedTopic:
    """Ten pages that the directory lists are the examples: on schools its ten seeds, elsewhere the first targets."""
    examples = tuple((topic.seeds if at.name == "schools" else topic.targets)[:10])
    if task == "examples":
        return replace(topic, seeds=examples, examples=())
    seeds = neighbours(examples, at.back_links, random.Random(f"neighbours {topic.id}"))
    return replace(topic, seeds=tuple(map(Url, seeds)), targets=examples, examples=())


def _covered(trail: Trail, judgement: Judgement) -> Curve:
    return coverage_by_depth(list(trail.urls), judgement.ranks or {}, TOPS)


def _covered_linkage(trail: Trail, judgement: Judgement) -> Curve:
    return coverage_by_depth(list(trail.urls), judgement.linkage_ranks or {}, TOPS)


@finding(
    "F1",
    "best-256-first covers more of the top pages than best-1-first, for both quality measures and both tasks; the gap "
    "widens as fewer top pages are asked for. Accepted: one-tailed p < 0.05 at the smallest n; gap at smallest n ≥ gap "
    "at largest n.",
    ("schools", "generated"),
)
def f1(at: Place) -> bool:
    values, met, smallest = exp(at), True, []
    for task in TASKS:
        for label, coverage, _ in RANKED:
            ours, theirs = (task, BEST_256), (task, BEST)
            print(means_table(values, coverage, [ours, theirs], TOPS, f"coverage of the top n, {label}"))
            tests = [values.compared(coverage, top, [(ours, theirs)])[0] for top in TOPS]
            gaps = [test.paired.mean or 0.0 for test in tests]
            told = ", ".join(
                f"{gap:+.3f} ± {test.paired.error or 0:.3f}" for gap, test in zip(gaps, tests, strict=True)
            )
            wide = gaps[0] >= gaps[-1]
            print(f"\ngap: {told}; {'' if wide else 'not '}wider at the smallest n\n")
            smallest.append(replace(tests[0], first=f"256, {label}, {task}:", second="1"))
            met &= wide
    print(tests_table(adjust(smallest), f"coverage of the top {TOPS[0]}") + "\n")
    return met and shown(smallest)


@finding(
    "F2",
    "in time, N = 256 is worse at first (clear on the linkage measure) and better later. Accepted: the sign of the "
    "mean-rank difference changes once, early. Read at 100, 200, … pages as in sheet 60.6; early is the first half.",
    ("schools", "generated"),
)
def f2(at: Place) -> bool:
    values, met = exp(at), True
    pages = at.settings.pages(2000)
    steps = list(range(100, pages + 1, 100))
    told = {*(point for point in values.points["mean_rank"] if point < 100), *steps[:3], *steps[4::5]}
    for task in TASKS:
        for label, _, rank in RANKED:
            rows, differences = [], []
            for point in values.points[rank]:
                test = values.compared(rank, point, [((task, BEST_256), (task, BEST))], lower=True)[0].paired
                worse = -(test.mean or 0.0)
                if point in steps:
                    differences.append(worse)
                if point in told:
                    means = [plus_minus(values.mean(rank, one, point, task), 1) for one in (BEST_256, BEST)]
                    rows.append([f"{point:,}", *means, f"{worse:+.1f} ± {test.error or 0.0:.1f}"])
            print(table([f"pages ({label}, {task})", "mean rank, N = 256", "N = 1", "difference (+: 256 worse)"], rows))
            turns = crossings(differences)
            turned = ", ".join(f"{steps[turn]:,}" for turn in turns) or "no point"
            print(f"\nfrom 100 pages on the sign changes at {turned}\n")
            met &= len(turns) == 1 and differences[0] > 0 and turns[0] <= len(differences) // 2
    return met


@finding(
    "F3",
    "N = 16, 64, 128 lie between. Accepted: monotone means within one standard error (of the paired difference).",
    ("schools", "generated"),
)
def f3(at: Place) -> bool:
    values, met = exp(at), True
    for task in TASKS:
        for label, coverage, _ in RANKED:
            crawlers = [(task, best_n(n)) for n in EXP_N]
            print(means_table(values, coverage, crawlers, TOPS, f"coverage of the top n, {label}") + "\n")
            for top in TOPS:
                for lower, upper in pairwise(crawlers):
                    test = values.compared(coverage, top, [(upper, lower)])[0].paired
                    if (test.mean or 0.0) < -(test.error or 0.0):
                        down = f"{test.mean:.4f} ± {test.error:.4f}"
                        print(f"top {top:,}: {upper[1]} lies more than a standard error below {lower[1]}: {down}\n")
                        met = False
    return met


@finding(
    "F4",
    "from neighbours, breadth-first is the worst on everything; recall of examples 256 > 1 > breadth-first. Accepted: "
    "order of means, p < 0.05 against breadth-first.",
    ("schools", "generated"),
)
def f4(at: Place) -> bool:
    values, task, pages = exp(at), "neighbours", at.settings.pages(2000)
    crawlers = [(task, one) for one in (BEST_256, BEST, BREADTH)]
    blind = crawlers[-1]
    print(means_table(values, "target_recall", crawlers, [pages], "recall of the examples") + "\n")
    tests = values.compared("target_recall", pages, [(one, blind) for one in crawlers[:2]])
    met = is_order([values.mean("target_recall", one[1], pages, task).mean for one in crawlers])
    for label, coverage, rank in RANKED:
        print(means_table(values, coverage, crawlers, TOPS, f"coverage of the top n, {label}") + "\n")
        print(means_table(values, rank, crawlers, [pages], f"mean rank, {label}", 1) + "\n")
        tests += values.compared(coverage, TOPS[0], [(one, blind) for one in crawlers[:2]])
        tests += values.compared(rank, pages, [(one, blind) for one in crawlers[:2]], lower=True)
    what = f"recall of examples; coverage of the top {TOPS[0]} and mean rank by SMART; the same by KW,PR"
    print(tests_table(adjust(tests), what) + "\n")
    return met and shown(tests)
