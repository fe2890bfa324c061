"""F5, [CHAP], and F6 and F7, [BIZ]: does the text of pages help, that around links, and do hubs?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise

from findings_lab import (
    BEST,
    BREADTH,
    Crawler,
    Place,
    Values,
    crawl,
    curve_of,
    finding,
    is_order,
    judged,
    means_table,
    probability,
    shown,
    tests_table,
)

from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.measure.measure import ANALYSER
from scenthound.lab.run.experiment import Experiment
from scenthound.lab.topics.augment import augment
from scenthound.model import Url

LONG = {"schools": 1000, "apache": 2000, "companies-25000": 2500}  # what stands for 10,000 pages on a small bed

METRICS = ("target_recall", "precision")
BIZ = ("hub-seeking", "dom", BEST, BREADTH)


def long_crawl(at: Place) -> int:
    return at.settings.pages(LONG.get(at.name, 10_000))


def told_points(pages: int) -> list[int]:
    return [point for point in (100, 250, 500, 1000, 2000, 5000, 10_000) if point < pages] + [pages]


def biz_strategies(at: Place, counted: str = "seeds") -> list[str]:
    """On a bed of one host the seeds themselves are counted, not their hosts."""
    entity = ":entity=url" if at.name == "schools" else ""
    hubs = f"hub-seeking:counted={counted}{entity}" if counted != "seeds" else f"hub-seeking{entity}"
    return [hubs, *BIZ[1:]]


def by_category(at: Place, values: Values) -> Values:
    """The apache bed has three draws of seeds a category: ten topics, not thirty."""
    return values.grouped(lambda topic: topic.rpartition("-")[0]) if at.name == "apache" else values


def is_testable(experiment: Experiment) -> bool:
    """Whether most crawls reached their budget: where all is fetched that links lead to, the order says nothing."""
    reasons = [outcome.reason for outcome in experiment.outcomes().values()]
    return reasons.count("pages") > len(reasons) / 2


def first_testable(at: Place, repeat: Callable[[Place, bool], bool | None]) -> bool | None:
    """[BIZ] read the first 10 KB of a page. Real pages of today hold hardly a link there, so if most crawls run dry
    under that limit the finding is asked again with whole pages."""
    print("With the first 10 KB of every page, as in the paper:\n")
    met = repeat(at, False)
    if met is None:
        print("Most crawls ran dry, so nothing can be told. With whole pages, all else as in the paper:\n")
        met = repeat(at, True)
    return met


@finding(
    "F5",
    "naive best-first beats breadth-first at the end of 10,000 pages on precision and target recall. Accepted: "
    "p < 0.01 on enough topics.",
    ("schools", "generated"),
)
def f5(at: Place) -> bool:
    pages = long_crawl(at)
    points = told_points(pages)
    experiment = crawl(at, "chap", at.topics, [BEST, BREADTH], "open", pages)
    values = judged(at, {"": experiment}, at.topics, {name: (curve_of(name, points), points) for name in METRICS})
    tests = []
    for name in METRICS:
        print(means_table(values, name, [("", BEST), ("", BREADTH)], points, name) + "\n")
        tests += values.compared(name, pages, [(("", BEST), ("", BREADTH))])
    print(tests_table(tests, f"after {pages:,} pages: recall, then precision") + "\n")
    print(values.ended_early())
    return shown(tests, 0.01)


@finding(
    "F6",
    "hub-seeking > DOM > naive best-first > breadth-first on target recall and precision through most of the crawl; "
    "hub-seeking over naive significant on recall (paper: p = 0.004), weaker on precision (p = 0.105). Accepted: order "
    "of means; p < 0.05 on recall.",
    ("schools", "apache", "companies"),
)
def f6(at: Place) -> bool | None:
    return first_testable(at, _f6)


def _f6(at: Place, whole: bool) -> bool | None:
    pages, strategies = long_crawl(at), biz_strategies(at)
    points = sorted({*told_points(pages), *range(pages // 20, pages + 1, pages // 20)})
    experiment = crawl(at, "biz", at.topics, strategies, "biz", pages, whole=whole)
    measures = {name: (curve_of(name, points), points) for name in METRICS}
    values = by_category(at, judged(at, {"": experiment}, at.topics, measures))
    crawlers: list[Crawler] = [("", one) for one in strategies]
    met = True
    for name in METRICS:
        print(means_table(values, name, crawlers, told_points(pages), name) + "\n")
        tests = values.compared(name, pages, [(crawlers[0], crawlers[2]), *pairwise(crawlers)])
        print(tests_table(tests, f"{name} after {pages:,} pages") + "\n")
        kept = [is_order([values.mean(name, one, point).mean for one in strategies]) for point in points]
        ps = [values.compared(name, point, [(crawlers[0], crawlers[2])])[0].paired.p for point in told_points(pages)]
        print(f"hub-seeking over best-first at these points: p = {', '.join(map(probability, ps))} (not adjusted)\n")
        end = "" if kept[-1] else "not "
        print(f"the whole order holds at {sum(kept)} of {len(kept)} points, and {end}at the end\n")
        met &= sum(kept) > len(kept) / 2 and (name != "target_recall" or shown(tests[:1]))
    print(values.ended_early())
    return met if is_testable(experiment) else None


@finding(
    "F7",
    "adding hub seeds lifts target recall of all four crawlers (paper: each at 0.015 or better) and keeps their order; "
    "precision falls faster towards the end except for breadth-first. Accepted: p < 0.05 for each crawler.",
    ("schools", "apache", "companies"),
)
def f7(at: Place) -> bool | None:
    return first_testable(at, _f7)


def _f7(at: Place, whole: bool) -> bool | None:
    pages, strategies = long_crawl(at), biz_strategies(at, "examples")
    plain, with_hubs = augmented(at)
    if not plain:
        print("no topic has a hub\n")
        return None
    points = told_points(pages)
    hubs = [len(two.seeds) - len(one.seeds) for one, two in zip(plain, with_hubs, strict=True)]
    print(f"{len(plain)} of {len(at.topics)} topics have hubs, {sum(hubs) / len(hubs):.1f} each\n")
    arms = {
        "seeds": crawl(at, "biz-plain", plain, strategies, "biz", pages, whole=whole),
        "and hubs": crawl(at, "biz-hubs", with_hubs, strategies, "biz", pages, whole=whole),
    }
    measures = {name: (curve_of(name, points), points) for name in METRICS}
    values = by_category(at, judged(at, arms, plain, measures))
    for name in METRICS:
        crawlers = [(arm, one) for one in strategies for arm in arms]
        print(means_table(values, name, crawlers, points, name) + "\n")
    tests = values.compared("target_recall", pages, [(("and hubs", one), ("seeds", one)) for one in strategies])
    print(tests_table(tests, f"target recall after {pages:,} pages") + "\n")
    order = is_order([values.mean("target_recall", one, pages, "and hubs").mean for one in strategies])
    print(f"the order hub-seeking, DOM, best-first, breadth-first is {'' if order else 'not '}kept with hubs")
    half = points[-2]
    falls = []
    for one in strategies:
        fall = [
            (values.mean("precision", one, half, arm).mean or 0.0)
            - (values.mean("precision", one, pages, arm).mean or 0.0)
            for arm in arms
        ]
        falls.append(f"{one} {fall[0]:+.4f} and {fall[1]:+.4f}")
    print(f"fall of precision from {half:,} to {pages:,} pages, without and with hubs: {'; '.join(falls)}\n")
    print(values.ended_early())
    return shown(tests) if is_testable(arms["seeds"]) else None


@cache
def augmented(at: Place) -> tuple[list[BedTopic], list[BedTopic]]:
    """Topics that have hubs (sheet 60.2): with the seeds alone, and with the hubs added.

    A target that serves as a hub is nobody's target any more, so that both arms are asked for the same pages.
    """
    bed = at.prepared
    plain, more = [], []
    for topic in at.topics:
        description = ANALYSER.counts(topic.description)
        found = augment(
            topic.seeds, partial(at.back_links, most=10), description, lambda url: bed.counts(Url(url), ANALYSER)
        )
        if found.hubs:
            targets = tuple(url for url in topic.targets if url not in found.hubs)
            one = replace(topic, targets=targets, examples=topic.seeds)
            plain.append(one)
            more.append(replace(one, seeds=tuple(map(Url, found.all_seeds))))
    return plain, more
