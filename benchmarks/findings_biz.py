"""F5 of [CHAP], F6 and F7 of [BIZ]: how much do page text, text around links, and hubs help?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise

from findings_figures import draw, lines_of
from findings_lab import BEST, BREADTH, BenchWeb, Crawler, Values, crawl, curve_of, finding, measure_crawls
from findings_print import Claim, is_falling, judge_claims, means_table

from scenthound.lab.measure.measure import ANALYSER
from scenthound.lab.run.experiment import Experiment
from scenthound.model import Url
from scenthound.sources.augment import augment
from scenthound.topic_list import BedTopic

LONG = {
    "schools": 1000,
    "apache": 2000,
    "companies": 2500,
    "generated": 5000,
}  # used for the 10,000 pages of the papers
FEW = 24  # topics for F5 on the generated web
METRICS = ("target_recall", "precision")
BIZ = ("hub-seeking", "dom", BEST, BREADTH)
SEEDS, HUBS = "seeds", "and hubs"


def long_crawl(web: BenchWeb) -> int:
    return web.settings.pages(LONG.get(web.name, 10_000))


def table_points(pages: int) -> list[int]:
    return [point for point in (100, 250, 500, 1000, 2000, 5000, 10_000) if point < pages] + [pages]


def twentieths(pages: int) -> list[int]:
    return sorted({*table_points(pages), *range(pages // 20, pages + 1, pages // 20)})


def biz_strategies(web: BenchWeb, counted: str = "") -> list[str]:
    """The strategies of [BIZ]. On a bed with a single host, hub-seeking counts seeds and not their hosts."""
    entity = ":entity=url" if web.name == "schools" else ""
    return [f"hub-seeking{counted}{entity}", *BIZ[1:]]


def by_category(web: BenchWeb, values: Values) -> Values:
    """On apache, average the three draws of seeds of each category: these are ten topics, not thirty."""
    return values.grouped(lambda topic: topic.rpartition("-")[0]) if web.name == "apache" else values


def is_testable(experiment: Experiment, values: Values, recall: float | None) -> bool:
    """Whether most crawls reached their page budget and best-first left targets to find."""
    print(values.ended_early())
    reasons = [outcome.reason for outcome in experiment.outcomes().values()]
    return reasons.count("pages") > len(reasons) / 2 and (recall or 0.0) < 0.9


def measured(web: BenchWeb, arms: dict[str, Experiment], topics: Sequence[BedTopic], pages: int) -> Values:
    points = twentieths(pages)
    measures = {name: (curve_of(name, points), points) for name in METRICS}
    return by_category(web, measure_crawls(web, arms, topics, measures))


@cache
def biz(web: BenchWeb) -> tuple[Experiment, Values]:
    """The crawls for F6, started from the seeds of the topics."""
    pages = long_crawl(web)
    experiment = crawl(web, "biz", web.topics, biz_strategies(web), "biz", pages)
    return experiment, measured(web, {"": experiment}, web.topics, pages)


@finding(
    "F5",
    "naive best-first beats breadth-first at the end of 10,000 pages on precision and target recall. Accepted: "
    "p < 0.01 on enough topics.",
    ("schools", "generated", "companies"),
)
def f5(web: BenchWeb) -> str:
    pages, topics = long_crawl(web), web.spaced(FEW) if web.name == "generated" else web.topics
    if web.name == "companies":
        experiment, values = biz(web)
    else:
        experiment = crawl(web, "chap", topics, [BEST, BREADTH], "open", pages)
        values = measured(web, {"": experiment}, topics, pages)
    claims = []
    for name in METRICS:
        print(means_table(values, name, [("", BEST), ("", BREADTH)], table_points(pages), name) + "\n")
        test = values.compared(name, pages, [(("", BEST), ("", BREADTH))])[0]
        claims.append(Claim(f"{name}: best-first above breadth-first", test, 0.01))
        if not web.settings.quick:
            lines = lines_of(values, name, {"best-first": ("", BEST), "breadth-first": ("", BREADTH)})
            draw(web, f"F5-{web.name}-{name}", f"{name} ({web.name}, {len(topics)} topics)", name, lines)
    verdict = judge_claims(claims)
    return verdict if is_testable(experiment, values, 0.0) else "not testable here: most crawls ran out of links"


@finding(
    "F6",
    "hub-seeking > DOM > naive best-first > breadth-first on target recall and precision through most of the crawl; "
    "hub-seeking over naive significant on recall (paper: p = 0.004), weaker on precision (p = 0.105). Accepted: order "
    "of means; p < 0.05 on recall. Hubs and DOM are judged apart.",
    ("schools", "companies"),
)
def f6(web: BenchWeb) -> str:
    pages, strategies = long_crawl(web), biz_strategies(web)
    experiment, values = biz(web)
    crawlers: list[Crawler] = [("", one) for one in strategies]
    hubs, dom, best, blind = crawlers
    for name in METRICS:
        print(means_table(values, name, crawlers, table_points(pages), name) + "\n")
        kept = {
            f"{one[1]} > {other[1]}": sum(
                is_falling([values.mean(name, each[1], point).mean for each in (one, other)])
                for point in twentieths(pages)
            )
            for one, other in pairwise(crawlers)
        }
        counts = "; ".join(f"{pair} at {count}" for pair, count in kept.items())
        print(f"{name}, order of means at {len(twentieths(pages))} points: {counts}\n")
        if not web.settings.quick:
            lines = lines_of(values, name, {one[1]: one for one in crawlers})
            draw(web, f"F6-{web.name}-{name}", f"{name} ({web.name})", name, lines)

    def claim(one: Crawler, other: Crawler, metric: str = "target_recall") -> Claim:
        words = f"{metric}: {one[1]} above {other[1]}"
        return Claim(words, values.compared(metric, pages, [(one, other)])[0])

    verdicts = [
        f"hubs: {judge_claims([claim(hubs, dom), claim(hubs, best)])}",
        f"DOM: {judge_claims([claim(dom, best)])}",
        f"best-first over breadth-first: {judge_claims([claim(best, blind)])}",
    ]
    print("Precision, not part of the verdict:\n")
    judge_claims([claim(one, other, "precision") for one, other in ((hubs, best), *pairwise(crawlers))])
    if not is_testable(experiment, values, values.mean("target_recall", best[1], pages).mean):
        verdicts.append("not testable here: no room, or crawls ran out of links")
    return "; ".join(verdicts)


@finding(
    "F7",
    "adding hub seeds lifts target recall of all four crawlers (paper: each at 0.015 or better) and keeps their order; "
    "precision falls faster towards the end except for breadth-first. Accepted: p < 0.05 for each crawler.",
    ("schools", "companies"),
)
def f7(web: BenchWeb) -> str:
    pages, strategies, lifted = long_crawl(web), biz_strategies(web), biz_strategies(web, ":counted=examples")
    plain, with_hubs = augmented(web)
    if not plain:
        return "not testable here: no topic has a hub"
    hubs = [len(two.seeds) - len(one.seeds) for one, two in zip(plain, with_hubs, strict=True)]
    print(f"{len(plain)} of {len(web.topics)} topics have hubs, {sum(hubs) / len(hubs):.1f} each\n")
    arms = {SEEDS: biz(web)[0], HUBS: crawl(web, "biz-hubs", with_hubs, lifted, "biz", pages)}
    values = measured(web, arms, plain, pages)
    crawlers = [(SEEDS, one) for one in strategies], [(HUBS, one) for one in lifted]
    for name in METRICS:
        print(means_table(values, name, [*crawlers[0], *crawlers[1]], table_points(pages), name) + "\n")
        if not web.settings.quick:
            lines = lines_of(values, name, {f"{one[1].partition(':')[0]}, hubs": one for one in crawlers[1]})
            draw(web, f"F7-{web.name}-{name}", f"{name} with hubs among the seeds ({web.name})", name, lines)

    def claim(words: str, one: Crawler, other: Crawler) -> Claim:
        return Claim(words, values.compared("target_recall", pages, [(one, other)])[0])

    lift = [claim(f"{one[1]}: lifted by hubs", two, one) for one, two in zip(*crawlers, strict=True)]
    seeking, dom, best, _ = crawlers[1]
    return "; ".join(
        [
            f"lift: {judge_claims(lift)}",
            f"hubs: {judge_claims([claim('with hubs, hub-seeking above best-first', seeking, best)])}",
            f"DOM: {judge_claims([claim('with hubs, DOM above best-first', dom, best)])}",
        ]
    )


@cache
def augmented(web: BenchWeb) -> tuple[list[BedTopic], list[BedTopic]]:
    """Topics that have hubs (sheet 60.2): with the seeds alone, and with the hubs added.

    A target that serves as a hub is removed from the targets, so that both arms have the same ones.
    """
    bed = web.prepared
    plain, more = [], []
    for topic in web.topics:
        description = ANALYSER.counts(topic.description)
        found = augment(
            topic.seeds, partial(web.back_links, most=10), description, lambda url: bed.counts(Url(url), ANALYSER)
        )
        if found.hubs:
            targets = tuple(url for url in topic.targets if url not in found.hubs)
            one = replace(topic, targets=targets, examples=topic.seeds)
            plain.append(one)
            more.append(replace(one, seeds=tuple(map(Url, found.all_seeds))))
    return plain, more
