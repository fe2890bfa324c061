"""What `findings.py` works with: beds, crawls of a set-up, values by topic, tests, and tables to print.

Crawls are those of `lab.experiment` (parallel, kept in a folder, skipped when there); values are computed by
`lab.metrics`, tests by `lab.stats`. A set-up that a paper ran with other seeds is the bed's topics with other seeds.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from scenthound.lab.beds.bed import Bed, BedTopic, topic_line
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.web import generate
from scenthound.lab.measure.measure import ANALYSER, judge
from scenthound.lab.measure.metrics import Curve, Judgement
from scenthound.lab.measure.metrics import measure as measure_curve
from scenthound.lab.measure.quality import pool_pageranks
from scenthound.lab.measure.statistics import Comparison, Mean, adjust, average_runs, compare, mean
from scenthound.lab.run.cells import load_seconds, load_trail
from scenthound.lab.run.experiment import Experiment, RunOptions, run
from scenthound.lab.run.run_cell import PROFILES
from scenthound.text.vectors import Counts

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ByTopic = dict[str, float | None]
BREADTH, BEST, BEST_256 = "breadth-first", "best-first", "best-n-first"


@dataclass(frozen=True)
class Settings:
    """What the command line said."""

    work: Path
    quick: bool = False
    topics: int | None = None
    jobs: int = 2

    def pages(self, wanted: int) -> int:
        """A budget; a quick run has a tenth of it."""
        return max(wanted // 10, 50) if self.quick else wanted


@dataclass(frozen=True)
class Place:
    """A bed to repeat a finding on."""

    name: str
    folder: Path
    settings: Settings = field(hash=False)

    @cached_property
    def bed(self) -> Bed:
        return Bed.open(self.folder)

    @cached_property
    def prepared(self) -> PreparedBed:
        """Whole pages: what the judge reads, and where back-links come from."""
        return prepare(self.bed, jobs=self.settings.jobs)

    @property
    def topics(self) -> list[BedTopic]:
        """The bed's topics, those of companies or the others; where fewer are wanted, evenly spaced ones."""
        companies = [topic for topic in self.bed.topics if topic.id.endswith("companies")]
        others = [topic for topic in self.bed.topics if topic not in companies]
        every = companies if self.name.startswith("companies") else others or companies
        number = min(self.settings.topics or len(every), len(every))
        return [every[place * len(every) // number] for place in range(number)]

    @property
    def about(self) -> str:
        return f"{self.name}: {len(self.prepared):,} pages, {len(self.topics):,} topics"

    def back_links(self, url: str, most: int | None = None) -> list[str]:
        return self.prepared.graph.back_links(url, most)


class Finding(NamedTuple):
    name: str
    says: str
    """The finding and when it is accepted, in the words of sheet 00."""
    beds: Sequence[str]
    repeat: Callable[[Place], bool | None]
    """Prints tables; True if the criterion is met, None if this bed can't tell."""


FINDINGS: dict[str, Finding] = {}


def finding(
    name: str, says: str, beds: Sequence[str]
) -> Callable[[Callable[[Place], bool | None]], Callable[[Place], bool | None]]:
    """Decorator: a function that repeats a finding on a bed, prints what came out and says whether it did."""

    def put(repeat: Callable[[Place], bool | None]) -> Callable[[Place], bool | None]:
        FINDINGS[name] = Finding(name, says, beds, repeat)
        return repeat

    return put


def place(name: str, settings: Settings) -> Place | None:
    """The bed of this name (schools, apache, generated, companies) or in this folder; None where it can't be had."""
    if name in ("schools", "apache"):
        folder = SHARED / "data" / name
        return Place(name, folder, settings) if folder.is_dir() else None
    if name in ("generated", "companies"):
        pages = 800 if settings.quick else 25_000
        topics = 3 if settings.quick else 60
        folder = settings.work / "beds" / f"generated-{pages}"
        if not (folder / "bed.toml").exists():
            generate(folder, pages, 1, topics=topics, companies=True)
        few = settings.topics or (3 if settings.quick else None)
        return Place(f"{name}-{pages}", folder, replace(settings, topics=few))
    if name == "two-goals":
        folder = settings.work / "beds" / "two-goals"
        if not (folder / "bed.toml").exists():
            generate(folder, 1_500 if settings.quick else 6_000, 7, topics=40)
        return Place(name, folder, settings)
    return Place(Path(name).name, Path(name), settings)


def crawl(
    at: Place,
    arm: str,
    topics: Sequence[BedTopic],
    strategies: Sequence[str],
    profile: str,
    pages: int,
    *,
    whole: bool = False,
    jobs: int = 0,
) -> Experiment:
    """The crawls of one arm: these strategies on these topics (their seeds as given) under a paper's limits.

    `whole` reads whole pages where the paper's profile cuts them.
    """
    lines = "".join(map(topic_line, topics))
    print_ = hashlib.sha256(f"{lines}{profile}{pages}{whole}".encode()).hexdigest()[:8]
    folder = at.settings.work / "runs" / f"{at.name}-{arm}-{print_}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "asked-topics.jsonl"
    file.write_text(lines, encoding="utf-8")
    chosen = PROFILES[profile]
    return run(
        at.bed,
        strategies,
        folder,
        RunOptions(
            topics_file=file,
            limits=replace(chosen.limits, pages=pages),
            cut=replace(chosen.cut, page_bytes=0) if whole else chosen.cut,
            oracles=False,
        ),
        jobs=jobs or at.settings.jobs,
    )


@dataclass(frozen=True)
class Trail:
    """One crawl as the judge sees it."""

    arm: str
    strategy: str
    urls: Sequence[str]
    seconds: Sequence[float] | None
    ended: str


Measure = Callable[[Trail, Judgement], Curve]


@dataclass
class Values:
    """Values of every measure, by (arm, strategy) and topic, each at several points."""

    points: Mapping[str, Sequence[int]]
    found: dict[str, dict[tuple[str, str], dict[str, Curve]]]
    ended: dict[tuple[str, str], int]
    """How many crawls ended before their budget."""
    crawls: int = 0
    """How many crawls there are."""

    def ended_early(self) -> str:
        """A sentence for under the tables."""
        some = ", ".join(f"{told(crawler)} {count}" for crawler, count in self.ended.items() if count)
        return (
            f"crawls that ended on an empty frontier before their budget: {some or 'none'} (of {self.crawls} in all)\n"
        )

    def at(self, measure: str, strategy: str, point: int, arm: str = "") -> ByTopic:
        place = list(self.points[measure]).index(point)
        return {topic: curve[place] for topic, curve in self.found[measure][(arm, strategy)].items()}

    def mean(self, measure: str, strategy: str, point: int, arm: str = "") -> Mean:
        return mean(list(self.at(measure, strategy, point, arm).values()))

    def grouped(self, group: Callable[[str], str]) -> Values:
        """Topics that are draws of one and the same are averaged first (sheet 60.6)."""
        found: dict[str, dict[tuple[str, str], dict[str, Curve]]] = {}
        for measure, crawlers in self.found.items():
            for crawler, topics in crawlers.items():
                groups: dict[str, list[Curve]] = {}
                for topic, curve in topics.items():
                    groups.setdefault(group(topic), []).append(curve)
                found.setdefault(measure, {})[crawler] = {
                    name: [average_runs({"": column})[""] for column in zip(*curves, strict=True)]
                    for name, curves in groups.items()
                }
        return Values(self.points, found, self.ended, self.crawls)

    def compared(
        self, measure: str, point: int, pairs: Iterable[tuple[Crawler, Crawler]], lower: bool = False
    ) -> list[Comparison]:
        """Paired one-tailed t tests over topics, adjusted together (Holm): is the first of each pair better?"""
        made = [
            compare(
                (told(one), self.at(measure, one[1], point, one[0])),
                (told(other), self.at(measure, other[1], point, other[0])),
                measure,
                point,
                lower,
            )
            for one, other in pairs
        ]
        return adjust(made) if len(made) > 1 else made


Crawler = tuple[str, str]
"""Arm and strategy."""


def told(crawler: Crawler) -> str:
    arm, strategy = crawler
    return f"{strategy} ({arm})" if arm else strategy


def curve_of(metric: str, at: Sequence[int]) -> Measure:
    """A metric of the shelf at these points."""

    def measured(trail: Trail, judgement: Judgement) -> Curve:
        more = {"rank_seconds": trail.seconds} if "cpu_second" in metric else {}
        return measure_curve(metric, list(trail.urls), judgement, at, **more)

    return measured


def judged(
    at: Place,
    arms: Mapping[str, Experiment],
    topics: Sequence[BedTopic],
    measures: Mapping[str, tuple[Measure, Sequence[int]]],
    pooled: bool = True,
) -> Values:
    """Every measure of every crawl, over the pool of all crawls of a topic in all arms.

    `topics` are those of the judge: their targets, and the seeds of no arm, for a target among an arm's seeds would
    change the denominator from arm to arm.
    """
    trails: dict[str, list[Trail]] = {topic.id: [] for topic in topics}
    for arm, experiment in arms.items():
        outcomes = experiment.outcomes()
        asked = {topic.id for topic in topics}
        for cell in experiment.cells:
            if cell.topic in asked:
                outcome = outcomes[cell.key]
                if outcome.error:
                    raise RuntimeError(f"{cell.strategy} on {cell.topic}: {outcome.error}")
                urls = [str(step.url) for step in load_trail(experiment.folder, cell.key)]
                seconds = load_seconds(experiment.folder, cell.key)
                trails[cell.topic].append(Trail(arm, cell.strategy, urls, seconds, outcome.reason))
    ranks: dict[str, float] = {}
    bed = at.prepared
    if pooled:
        crawled = dict.fromkeys(url for some in trails.values() for trail in some for url in trail.urls)
        ranks = pool_pageranks(crawled, {url: bed.links(url) for url in crawled})  # type: ignore[arg-type]
    values = Values({name: points for name, (_, points) in measures.items()}, {name: {} for name in measures}, {})
    for topic in topics:
        judgement = judge(bed, topic, topic.seeds, _pool(bed, trails[topic.id]) if pooled else None, ranks)
        for trail in trails[topic.id]:
            crawler = (trail.arm, trail.strategy)
            values.crawls += 1
            values.ended[crawler] = values.ended.get(crawler, 0) + (trail.ended != "pages")
            for name, (measure, _) in measures.items():
                values.found[name].setdefault(crawler, {})[topic.id] = measure(trail, judgement)
    return values


def _pool(bed: PreparedBed, trails: Iterable[Trail]) -> dict[str, Counts]:
    found: dict[str, Counts] = {}
    for trail in trails:
        for url in trail.urls:
            if url not in found and (counts := bed.counts(url, ANALYSER)) is not None:  # type: ignore[arg-type]
                found[url] = counts
    return found


# ---- what is printed


def plus_minus(one: Mean, digits: int = 3) -> str:
    if one.mean is None:
        return "–"
    return f"{one.mean:.{digits}f} ± {one.error or 0.0:.{digits}f}"


def probability(p: float | None) -> str:
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def means_table(
    values: Values, measure: str, crawlers: Sequence[Crawler], points: Sequence[int], what: str, digits: int = 3
) -> str:
    """Means ± standard errors, a row for each crawler."""
    rows = [
        [told(one), *(plus_minus(values.mean(measure, one[1], point, one[0]), digits) for point in points)]
        for one in crawlers
    ]
    return table([what, *(f"{point:,}" for point in points)], rows)


def tests_table(comparisons: Sequence[Comparison], what: str) -> str:
    """Differences ± standard errors, t, p, Holm's p, topics won and lost."""
    rows = []
    for one in comparisons:
        test, digits = one.paired, 2 if abs(one.means[0].mean or 0.0) > 10 else 4
        t = "–" if test.t is None else f"{test.t:.2f} ({test.freedom:g})"
        rows.append(
            [
                f"{one.first} over {one.second}",
                "–" if test.mean is None else f"{test.mean:+.{digits}f} ± {test.error or 0.0:.{digits}f}",
                t,
                probability(test.p),
                probability(one.adjusted),
                f"{one.signs.wins} : {one.signs.losses}",
            ]
        )
    return table([what, "difference ± se", "t (df)", "p", "Holm p", "won : lost"], rows)


def shown(comparisons: Iterable[Comparison], level: float = 0.05) -> bool:
    """Whether every one of these differences has a p below the level, as sheet 00 asks; Holm's p is printed beside."""
    return all(one.paired.p is not None and one.paired.p < level for one in comparisons)


def is_order(values: Sequence[float | None]) -> bool:
    """Whether these means fall."""
    there = [value for value in values if value is not None]
    return len(there) == len(values) and all(a > b for a, b in pairwise(there))


def crossings(differences: Sequence[float]) -> list[int]:
    """The places at which the sign is another than before; zeros are passed over."""
    found, sign = [], 0
    for place, value in enumerate(differences):
        new = int(math.copysign(1, value)) if value else 0
        if new and sign and new != sign:
            found.append(place)
        sign = new or sign
    return found
