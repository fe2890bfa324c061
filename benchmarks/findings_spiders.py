"""S1 and S2, [CHAP] by sheet 40.1: do spiders that learn and multiply beat naive best-first variants on long crawls,
and what does their memory do for them?
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from findings_biz import METRICS, long_crawl, told_points
from findings_lab import (
    BEST,
    BEST_256,
    BREADTH,
    Crawler,
    Place,
    Values,
    crawl,
    curve_of,
    finding,
    judged,
    means_table,
    probability,
    shown,
    tests_table,
)

from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.run.experiment import Experiment

SPIDERS = "infospiders"
OLD, ECOLOGICAL = "infospiders:memory=0", "infospiders:cost=0.05:death=true"
GREEDY = "infospiders:greed=100"  # not the sheet's: tells what the soft choice costs where similarities are small
NAIVE, VARIANTS = (SPIDERS, BEST_256, BEST, BREADTH), (OLD, ECOLOGICAL, GREEDY)
FEW = 12  # topics: a spider's crawl takes three times as long as one of best-first


def topics_of(at: Place) -> list[BedTopic]:
    every = at.topics
    return [every[place * len(every) // FEW] for place in range(FEW)] if len(every) > FEW else every


@cache
def crawled(at: Place, arm: str, strategies: Sequence[str]) -> Experiment:
    return crawl(at, arm, topics_of(at), strategies, "open", long_crawl(at))


def measured(at: Place, arms: dict[str, Experiment]) -> Values:
    topics, points = topics_of(at), told_points(long_crawl(at))
    print(f"{len(topics)} topics, {long_crawl(at):,} pages a crawl\n")
    return judged(at, arms, topics, {name: (curve_of(name, points), points) for name in METRICS})


@finding(
    "S1",
    "InfoSpiders beat naive best-first variants on some tasks in crawls longer than 10,000 pages; shorter crawls need "
    "not show it. Accepted: at the end a mean larger than that of best-256-first, p < 0.05, on recall or precision.",
    ("generated", "schools"),
)
def s1(at: Place) -> bool:
    pages = long_crawl(at)
    values = measured(at, {"": crawled(at, "spiders", NAIVE)})
    crawlers: list[Crawler] = [("", one) for one in NAIVE]
    met = False
    for name in METRICS:
        print(means_table(values, name, crawlers, told_points(pages), name) + "\n")
        tests = values.compared(name, pages, [(crawlers[0], other) for other in crawlers[1:]])
        print(tests_table(tests, f"{name} after {pages:,} pages") + "\n")
        ps = [values.compared(name, point, [(crawlers[1], crawlers[0])])[0].paired.p for point in told_points(pages)]
        print(
            f"best-256-first over infospiders at these points: p = {', '.join(map(probability, ps))} (not adjusted)\n"
        )
        met |= shown(tests[:1])
    print(values.ended_early())
    return met


@finding(
    "S2",
    "InfoSpiders that could follow links of the current page only lost to best-first. Accepted: both means smaller at "
    "the end, p < 0.05. Beside it what memory, energy and greed do for the spiders.",
    ("generated", "schools"),
)
def s2(at: Place) -> bool:
    pages = long_crawl(at)
    values = measured(at, {"": crawled(at, "spiders", NAIVE), "variant": crawled(at, "variants", VARIANTS)})
    spiders, best = ("", SPIDERS), ("", BEST)
    old, ecological, greedy = (("variant", one) for one in VARIANTS)
    met = True
    for name in METRICS:
        print(means_table(values, name, [spiders, old, ecological, greedy, best], told_points(pages), name) + "\n")
        pairs = [(best, old), (spiders, old), (spiders, ecological), (greedy, spiders)]
        tests = values.compared(name, pages, pairs)
        print(tests_table(tests, f"{name} after {pages:,} pages") + "\n")
        met &= shown(tests[:1])
    print(values.ended_early())
    return met
