"""S1 and S2, [CHAP] by sheet 40.1: do spiders that learn and multiply beat naive best-first variants on long crawls,
and what does their memory do for them? Every crawler is bounded at 256 URLs, as in the study.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from findings_biz import told_points
from findings_figures import draw, lines_of
from findings_lab import BEST, BEST_256, BREADTH, Crawler, Place, Values, crawl, curve_of, finding, judged
from findings_print import Claim, judge_claims, means_table

from scenthound.lab.run.experiment import Experiment

SPIDERS, OLD = "infospiders", "infospiders:memory=0"
NAIVE = (SPIDERS, BEST_256, BEST, BREADTH)
FEW = 12  # topics on the generated web
BOUND = 256
PAGES = {"schools": 1000, "generated": 20_000}


def pages_of(at: Place) -> int:
    return at.settings.pages(PAGES.get(at.name, 20_000))


@cache
def crawled(at: Place, strategies: Sequence[str]) -> Experiment:
    topics = at.topics if at.name == "schools" else at.spaced(FEW)
    return crawl(at, "spiders", topics, strategies, "open", pages_of(at), frontier=BOUND)


def measured(at: Place, strategies: Sequence[str]) -> Values:
    experiment, pages = crawled(at, tuple(strategies)), pages_of(at)
    points = sorted({*told_points(pages), *range(pages // 20, pages + 1, pages // 20)})
    print(f"{len(experiment.topics)} topics, {pages:,} pages a crawl\n")
    measures = {"target_recall": (curve_of("target_recall", points), points)}
    return judged(at, {"": experiment}, experiment.topics, measures, pooled=False)


@finding(
    "S1",
    "InfoSpiders beat naive best-first variants on some tasks in crawls longer than 10,000 pages; shorter crawls need "
    "not show it. Accepted: at the end a mean larger than that of best-256-first, p < 0.05, on recall.",
    ("generated", "schools"),
)
def s1(at: Place) -> str:
    pages, values = pages_of(at), measured(at, NAIVE)
    crawlers: list[Crawler] = [("", one) for one in NAIVE]
    print(means_table(values, "target_recall", crawlers, told_points(pages), "target recall") + "\n")
    if not at.settings.quick:
        lines = lines_of(values, "target_recall", {one[1]: one for one in crawlers})
        draw(at, f"S1-{at.name}-recall", f"Target recall, 256 URLs at most ({at.name})", "target recall", lines)
    print("Not part of the verdict:\n")
    judge_claims([_claim(values, crawlers[0], other, pages) for other in crawlers[2:]])
    print(values.ended_early())
    return judge_claims([_claim(values, crawlers[0], crawlers[1], pages)])


@finding(
    "S2",
    "InfoSpiders that could follow links of the current page only lost to best-first. Accepted: recall smaller at the "
    "end, p < 0.05.",
    ("generated", "schools"),
)
def s2(at: Place) -> str:
    pages, values = pages_of(at), measured(at, (*NAIVE, OLD))
    spiders, best, old = ("", SPIDERS), ("", BEST), ("", OLD)
    print(means_table(values, "target_recall", [spiders, old, best], told_points(pages), "target recall") + "\n")
    print("Not part of the verdict:\n")
    judge_claims([_claim(values, spiders, old, pages)])
    print(values.ended_early())
    return judge_claims([_claim(values, best, old, pages)])


def _claim(values: Values, one: Crawler, other: Crawler, pages: int) -> Claim:
    return Claim(f"{one[1]} above {other[1]}", values.compared("target_recall", pages, [(one, other)])[0])
