"""S1, [CHAP]: do spiders that learn and multiply beat naive best-first variants on long crawls (sheet 40.1)?"""

from __future__ import annotations

from findings_biz import METRICS, long_crawl, told_points
from findings_lab import (
    BEST,
    BEST_256,
    BREADTH,
    Crawler,
    Place,
    crawl,
    curve_of,
    finding,
    judged,
    means_table,
    probability,
    shown,
    tests_table,
)

SPIDERS = "infospiders"
OLD, ECOLOGICAL = "infospiders:memory=0", "infospiders:cost=0.05:death=true"
GREEDY = "infospiders:greed=100"  # not the sheet's: tells what the soft choice costs where similarities are small
FEW = 12  # topics: a spider's crawl takes three times as long as one of best-first


@finding(
    "S1",
    "InfoSpiders beat naive best-first variants on some tasks in crawls longer than 10,000 pages; shorter crawls need "
    "not show it. Accepted: at the end a mean larger than that of best-256-first, p < 0.05, on recall or precision.",
    ("generated", "schools"),
)
def s1(at: Place) -> bool:
    pages, every = long_crawl(at), at.topics
    topics = [every[place * len(every) // FEW] for place in range(FEW)] if len(every) > FEW else every
    points = told_points(pages)
    strategies = [SPIDERS, GREEDY, OLD, ECOLOGICAL, BEST_256, BEST, BREADTH]
    experiment = crawl(at, "spiders", topics, strategies, "open", pages)
    values = judged(at, {"": experiment}, topics, {name: (curve_of(name, points), points) for name in METRICS})
    crawlers: list[Crawler] = [("", one) for one in strategies]
    spiders, greedy, old, ecological, best_256, *_ = crawlers
    print(f"{len(topics)} topics, {pages:,} pages a crawl\n")
    met = False
    for name in METRICS:
        print(means_table(values, name, crawlers, points, name) + "\n")
        pairs = [(spiders, best_256), (spiders, crawlers[-1]), (spiders, old), (spiders, ecological), (greedy, spiders)]
        tests = values.compared(name, pages, pairs)
        print(tests_table(tests, f"{name} after {pages:,} pages") + "\n")
        ps = [values.compared(name, point, [(best_256, spiders)])[0].paired.p for point in points]
        print(
            f"best-256-first over infospiders at these points: p = {', '.join(map(probability, ps))} (not adjusted)\n"
        )
        met |= shown(tests[:1])
    print(values.ended_early())
    return met
