"""S1 and S2 of [CHAP], by sheet 40.1: do spiders that learn and multiply beat naive best-first variants on long crawls,
and how much does their memory help? The frontier of every crawler is limited to 256 URLs, as in the study.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from findings_biz import table_points
from findings_figures import draw, lines_of
from findings_lab import BEST, BEST_256, BREADTH, BenchWeb, Crawler, Values, crawl, curve_of, finding, measure_crawls
from findings_print import Claim, judge_claims, means_table

from scenthound.lab.run.experiment import Experiment

SPIDERS, OLD = "infospiders", "infospiders:memory=0"
NAIVE = (SPIDERS, BEST_256, BEST, BREADTH)
FEW = 12  # topics on the generated web
BOUND = 256
PAGES = {"schools": 1000, "generated": 20_000}


def pages_of(web: BenchWeb) -> int:
    return web.settings.pages(PAGES.get(web.name, 20_000))


@cache
def crawled(web: BenchWeb, strategies: Sequence[str]) -> Experiment:
    topics = web.topics if web.name == "schools" else web.spaced(FEW)
    return crawl(web, "spiders", topics, strategies, "open", pages_of(web), frontier=BOUND)


def measured(web: BenchWeb, strategies: Sequence[str]) -> Values:
    experiment, pages = crawled(web, tuple(strategies)), pages_of(web)
    points = sorted({*table_points(pages), *range(pages // 20, pages + 1, pages // 20)})
    print(f"{len(experiment.topics)} topics, {pages:,} pages per crawl\n")
    measures = {"target_recall": (curve_of("target_recall", points), points)}
    return measure_crawls(web, {"": experiment}, experiment.topics, measures, pooled=False)


@finding(
    "S1",
    "InfoSpiders beat naive best-first variants on some tasks in crawls longer than 10,000 pages; shorter crawls need "
    "not show it. Accepted: at the end a mean larger than that of best-256-first, p < 0.05, on recall.",
    ("generated", "schools"),
)
def s1(web: BenchWeb) -> str:
    pages, values = pages_of(web), measured(web, NAIVE)
    crawlers: list[Crawler] = [("", one) for one in NAIVE]
    print(means_table(values, "target_recall", crawlers, table_points(pages), "target recall") + "\n")
    if not web.settings.quick:
        lines = lines_of(values, "target_recall", {one[1]: one for one in crawlers})
        draw(web, f"S1-{web.name}-recall", f"Target recall, 256 URLs at most ({web.name})", "target recall", lines)
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
def s2(web: BenchWeb) -> str:
    pages, values = pages_of(web), measured(web, (*NAIVE, OLD))
    spiders, best, old = ("", SPIDERS), ("", BEST), ("", OLD)
    print(means_table(values, "target_recall", [spiders, old, best], table_points(pages), "target recall") + "\n")
    print("Not part of the verdict:\n")
    judge_claims([_claim(values, spiders, old, pages)])
    print(values.ended_early())
    return judge_claims([_claim(values, best, old, pages)])


def _claim(values: Values, one: Crawler, other: Crawler, pages: int) -> Claim:
    return Claim(f"{one[1]} above {other[1]}", values.compared("target_recall", pages, [(one, other)])[0])
