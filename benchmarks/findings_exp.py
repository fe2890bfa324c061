"""F1 to F4 of [EXP]: how much exploration? Best-N-first under the limits of that paper, and with larger buffers.

Five crawlers start from examples; the greediest, the least greedy and breadth-first start from neighbours, as in the
paper. Each task and buffer has its own pool. On schools, pages, buffer, N and the largest n are a quarter of the
paper's; on the bed `generated-half` they are half.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from findings_figures import draw, lines_of
from findings_lab import (
    BEST,
    BEST_256,
    BREADTH,
    SEED,
    BenchWeb,
    Crawler,
    Trail,
    Values,
    crawl,
    curve_of,
    finding,
    measure_crawls,
)
from findings_print import Claim, crossings, judge_claims, means_table, overall, plus_minus, table

from scenthound.lab.measure.metrics import Curve, KnownAnswers
from scenthound.lab.measure.metrics.page_quality import coverage_by_depth
from scenthound.lab.topics.crawl_starts import neighbours
from scenthound.model import Url
from scenthound.topic_list import BedTopic

RANKED = (("SMART", "coverage", "mean_rank"), ("KW,PR", "linkage_coverage", "linkage_mean_rank"))
TASKS = ("examples", "neighbours")
UNBOUND = 1_000_000


class Scale(NamedTuple):
    """The sizes of the set-up on a bed."""

    pages: int
    buffer: int
    n: tuple[int, ...]
    tops: tuple[int, ...]
    larger: tuple[int, ...] = ()
    """Larger buffers, which the paper left to future work."""

    @property
    def most(self) -> int:
        return self.n[-1]


PAPER = Scale(2000, 256, (1, 16, 64, 128, 256), (10, 30, 100, 300, 1000), (1024, UNBOUND))
HALF = Scale(1000, 128, (1, 8, 32, 64, 128), (10, 30, 100, 500), (512, UNBOUND))
QUARTER = Scale(500, 64, (1, 4, 16, 32, 64), (10, 30, 100, 250))
QUICK = Scale(100, 16, (1, 4, 8, 12, 16), (10, 30))


def scale_of(web: BenchWeb) -> Scale:
    return QUICK if web.settings.quick else {"schools": QUARTER, "generated-half": HALF}.get(web.name, PAPER)


def best_n(n: int) -> str:
    return BEST if n == 1 else BEST_256 if n == 256 else f"{BEST_256}:n={n}"


def crawlers_of(scale: Scale, task: str, buffer: int) -> list[str]:
    if buffer != scale.buffer:
        return [best_n(n) for n in (1, scale.most, 4 * scale.most)]
    return [best_n(n) for n in scale.n] if task == TASKS[0] else [best_n(scale.most), BEST, BREADTH]


@cache
def exp(web: BenchWeb, task: str, buffer: int = 0) -> Values:
    """The measured crawls of one task with one buffer."""
    scale = scale_of(web)
    buffer = buffer or scale.buffer
    topics = [topic for topic in (_exp_topic(web, topic, task) for topic in web.topics) if topic.seeds]
    points = exp_points(scale)

    def covered(trail: Trail, answers: KnownAnswers) -> Curve:
        return coverage_by_depth(list(trail.urls), answers.ranks or {}, scale.tops)

    def covered_linkage(trail: Trail, answers: KnownAnswers) -> Curve:
        return coverage_by_depth(list(trail.urls), answers.linkage_ranks or {}, scale.tops)

    measures = {
        "target_recall": (curve_of("target_recall", points), points),
        "mean_rank": (curve_of("mean_rank", points), points),
        "linkage_mean_rank": (curve_of("linkage_mean_rank", points), points),
        "coverage": (covered, scale.tops),
        "linkage_coverage": (covered_linkage, scale.tops),
    }
    arm = f"exp-{task}-{buffer}"
    strategies = crawlers_of(scale, task, buffer)
    return measure_crawls(
        web, {task: crawl(web, arm, topics, strategies, "exp", scale.pages, frontier=buffer)}, topics, measures
    )


def exp_points(scale: Scale) -> list[int]:
    """The points of measurement: a fortieth of the pages, then every twentieth."""
    return [scale.pages // 40, *range(scale.pages // 20, scale.pages + 1, scale.pages // 20)]


def _exp_topic(web: BenchWeb, topic: BedTopic, task: str) -> BedTopic:
    examples = web.examples(topic)
    if task == TASKS[0]:
        return replace(topic, seeds=examples, targets=topic.targets, examples=())
    seeds = neighbours(examples, web.back_links, random.Random(f"neighbours {SEED} {topic.id}"))
    return replace(topic, seeds=tuple(map(Url, seeds)), targets=examples, examples=())


def pair_of(web: BenchWeb, task: str) -> tuple[Crawler, Crawler]:
    """The crawler that explores most, and the greedy one."""
    return (task, best_n(scale_of(web).most)), (task, BEST)


@finding(
    "F1",
    "best-256-first covers more of the top pages than best-1-first, for both quality measures and both tasks; the gap "
    "widens as fewer top pages are asked for. Accepted: one-tailed p < 0.05 at the smallest n; gap at smallest n ≥ gap "
    "at largest n.",
    ("schools", "generated"),
)
def f1(web: BenchWeb) -> str:
    scale, claims, wide = scale_of(web), [], 0
    for task in TASKS:
        values, (ours, theirs) = exp(web, task), pair_of(web, task)
        for label, coverage, _ in RANKED:
            print(means_table(values, coverage, [ours, theirs], scale.tops, f"coverage of the top n, {label}") + "\n")
            tests = [values.compared(coverage, top, [(ours, theirs)])[0] for top in scale.tops]
            gaps = [test.paired.mean or 0.0 for test in tests]
            wide += gaps[0] >= gaps[-1]
            if (tests[0].means[1].mean or 0.0) < 0.9:
                claims.append(Claim(f"top 10, {label}, {task}: N = {scale.most} above 1", tests[0]))
            else:
                print(f"{label}, {task}: N = 1 has more than 0.9 of the top 10, so there is no room\n")
            if not web.settings.quick:
                names = {f"N = {scale.most}": ours, "N = 1": theirs}
                lines = lines_of(values, coverage, names)
                title = f"Coverage by {label}, from {task} ({web.name})"
                draw(web, f"F1-{web.name}-{task}-{coverage}", title, "coverage of the top n", lines, across="n")
        print(values.ended_early())
    print(f"By the letter, the gap at the smallest n is at least that at the largest: {wide} of 4\n")
    return judge_claims(claims) if claims else "not testable here"


@finding(
    "X1",
    "future work of [EXP]: what remains of F1 where a larger buffer, or none, does not force choices. Accepted: as F1.",
    ("generated",),
)
def x1(web: BenchWeb) -> str:
    scale, verdicts = scale_of(web), []
    for buffer in scale.larger:
        claims = []
        for task in TASKS:
            values = exp(web, task, buffer)
            for label, coverage, _ in RANKED:
                for n in (scale.most, 4 * scale.most):
                    test = values.compared(coverage, scale.tops[0], [((task, best_n(n)), (task, BEST))])[0]
                    claims.append(Claim(f"top 10, {label}, {task}: N = {n} above 1", test))
        bound = "no bound" if buffer == UNBOUND else f"buffer {buffer:,}"
        print(f"With {bound}:\n")
        verdicts.append(f"{bound}: {judge_claims(claims)}")
    return "; ".join(verdicts) or "not testable here"


@finding(
    "F2",
    "in time, N = 256 is worse at first (clear on the linkage measure) and better later. Accepted: the sign of the "
    "mean-rank difference changes once, early. Here: 256 worse at a twentieth of the pages, better at the end.",
    ("schools", "generated"),
)
def f2(web: BenchWeb) -> str:
    scale, early, late = scale_of(web), [], []
    points = exp_points(scale)
    for task in TASKS:
        values, (ours, theirs) = exp(web, task), pair_of(web, task)
        for label, _, rank in RANKED:
            rows, worse = [], []
            for point in points:
                test = values.compared(rank, point, [(theirs, ours)], lower=True)[0].paired
                worse.append(test.mean or 0.0)
                means = [plus_minus(values.mean(rank, one[1], point, task), 1) for one in (ours, theirs)]
                rows.append([f"{point:,}", *means, f"{test.mean or 0.0:+.1f} ± {test.error or 0.0:.1f}"])
            shown = [row for index, row in enumerate(rows) if index in (0, 1, 2, 3, 5, 10, 15, 20)]
            heads = [
                f"pages ({label}, {task})",
                f"mean rank, N = {scale.most}",
                "N = 1",
                "difference (+: N = 1 better)",
            ]
            print(table(heads, shown) + "\n")
            turns = ", ".join(f"{points[turn]:,}" for turn in crossings(worse)) or "no point"
            print(f"the sign changes at {turns}\n")
            if task != TASKS[0] or label != RANKED[0][0]:
                test = values.compared(rank, points[1], [(theirs, ours)], lower=True)[0]
                early.append(Claim(f"{points[1]} pages, {label}, {task}: N = 1 above {scale.most}", test))
            test = values.compared(rank, points[-1], [(ours, theirs)], lower=True)[0]
            late.append(Claim(f"{points[-1]:,} pages, {label}, {task}: N = {scale.most} above 1", test))
            if not web.settings.quick:
                lines = lines_of(values, rank, {f"N = {scale.most}": ours, "N = 1": theirs})
                draw(
                    web,
                    f"F2-{web.name}-{task}-{rank}",
                    f"Mean rank by {label}, from {task} ({web.name})",
                    "rank",
                    lines,
                )
    return f"worse at first: {judge_claims(early)}; better later: {judge_claims(late)}"


@finding(
    "F3",
    "N = 16, 64, 128 lie between. Accepted: means between those of 1 and 256 within one standard error (of the paired "
    "difference), from examples, where 1 and 256 differ at all.",
    ("schools", "generated"),
)
def f3(web: BenchWeb) -> str:
    scale, task, is_between = scale_of(web), TASKS[0], []
    values = exp(web, task)
    for label, coverage, _ in RANKED:
        crawlers = [(task, best_n(n)) for n in scale.n]
        print(means_table(values, coverage, crawlers, scale.tops, f"coverage of the top n, {label}") + "\n")
        greedy, most = crawlers[0], crawlers[-1]
        if Claim("", values.compared(coverage, scale.tops[0], [(most, greedy)])[0]).outcome != "shown":
            print(f"{label}: N = {scale.most} is not above 1, so there is no range to lie in\n")
            continue
        for middle in crawlers[1:-1]:
            for upper, lower in ((most, middle), (middle, greedy)):
                test = values.compared(coverage, scale.tops[0], [(upper, lower)])[0].paired
                is_inside = (test.mean or 0.0) >= -(test.error or 0.0)
                is_between.append(is_inside)
                if not is_inside:
                    print(f"{label}: {lower[1]} lies above {upper[1]} by {-(test.mean or 0.0):.4f}\n")
    return overall(["shown" if is_inside else "opposite" for is_inside in is_between])


@finding(
    "F4",
    "from neighbours, breadth-first is the worst on everything; recall of examples 256 > 1 > breadth-first. Accepted: "
    "order of means, p < 0.05 against breadth-first.",
    ("schools", "generated"),
)
def f4(web: BenchWeb) -> str:
    scale, task = scale_of(web), TASKS[1]
    values, (ours, theirs), blind = exp(web, task), pair_of(web, task), (task, BREADTH)
    crawlers, names = [ours, theirs, blind], {ours: f"N = {scale.most}", theirs: "N = 1"}
    points = exp_points(scale)
    print(means_table(values, "target_recall", crawlers, points[1::4], "recall of the examples") + "\n")
    if not web.settings.quick:
        lines = lines_of(values, "target_recall", {**{names[one]: one for one in names}, "breadth-first": blind})
        draw(web, f"F4-{web.name}-recall", f"Recall of the examples, from neighbours ({web.name})", "recall", lines)
    claims = []
    for one in (ours, theirs):
        pair = [(one, blind)]
        claims.append(
            Claim(f"recall: {names[one]} above breadth-first", values.compared("target_recall", scale.pages, pair)[0])
        )
        for label, coverage, rank in RANKED:
            top = values.compared(coverage, scale.tops[0], pair)[0]
            claims.append(Claim(f"top 10, {label}: {names[one]} above breadth-first", top))
            mean = values.compared(rank, scale.pages, pair, lower=True)[0]
            claims.append(Claim(f"mean rank, {label}: {names[one]} above breadth-first", mean))
    order = values.compared("target_recall", scale.pages, [(ours, theirs)])[0]
    claims.append(Claim(f"recall: N = {scale.most} above 1", order))
    return judge_claims(claims)
