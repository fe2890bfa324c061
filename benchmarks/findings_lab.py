"""Shared by the findings: beds, crawls under a paper's set-up, values by topic, and statistical tests.

Crawls are run by `lab.run` (in parallel, kept in a folder, not repeated); values and tests are those of `lab.measure`.
Where a paper started from other seeds, the bed's topics are given other seeds.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from scenthound.lab.beds.bed import Bed, topic_line
from scenthound.lab.beds.prepare_bed import Cut
from scenthound.lab.beds.prepared import PreparedBed, prepare
from scenthound.lab.generate.web_kinds import REALISTIC, WebOrder, write_web
from scenthound.lab.measure.measure import ANALYSER
from scenthound.lab.measure.metrics import Curve, KnownAnswers
from scenthound.lab.measure.metrics import measure as measure_curve
from scenthound.lab.measure.quality import pool_pageranks, rank_keywords_pagerank, ranks, similarities
from scenthound.lab.measure.statistics import Comparison, Mean, adjust, average_runs, compare, mean
from scenthound.lab.run.cells import load_cpu_seconds, load_trail
from scenthound.lab.run.experiment import Experiment, RunOptions, run
from scenthound.lab.run.run_cell import PROFILES
from scenthound.lab.topics.crawl_starts import from_distinct_hosts
from scenthound.model import Url
from scenthound.text.vectors import Counts
from scenthound.topic_list import BedTopic

SHARED = Path(os.environ.get("SCENTHOUND_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ByTopic = dict[str, float | None]
BREADTH, BEST, BEST_256 = "breadth-first", "best-first", "best-n-first"
SEED = 501  # random seed of the generated web and of every draw
HABITS = {"subjects": 36, "companies": 0.16, "trades": 1.0, "mentions": 0.4}
GENERATED = WebOrder(REALISTIC, 60_000, SEED, topics=36, companies=True, habits=HABITS)
FEW_SUBJECTS = {"subjects": 3, "communities": 10, "focus": 0.1, "joined": 0.25, "near_misses": 0.12, "misled": 0.15}
BOARDS = {"companies": 0.1, "trades": 1.0, "boards": 0.25}
ECONOMY = WebOrder(REALISTIC, 120_000, 502, topics=3, habits={**FEW_SUBJECTS, **BOARDS})
"""For the tasks of [ECON]: few large subjects of many small communities, and boards of directors."""
SMALL = WebOrder(REALISTIC, 3_000, 1, topics=3, companies=True, habits={"companies": 0.3, "boards": 0.5})


@dataclass(frozen=True)
class Settings:
    """Options of the command line."""

    work: Path
    quick: bool = False
    topics: int | None = None
    jobs: int = 2
    tables: Path = Path("docs/findings")
    """Folder for tables and figures."""

    def pages(self, pages: int) -> int:
        """The page budget; a quick run uses a tenth of it."""
        return max(pages // 10, 50) if self.quick else pages


@dataclass(frozen=True)
class BenchWeb:
    """A bed to repeat findings on, with the settings of this run."""

    name: str
    folder: Path
    settings: Settings = field(hash=False)

    @cached_property
    def bed(self) -> Bed:
        return Bed.open(self.folder)

    @cached_property
    def prepared(self) -> PreparedBed:
        """The bed with whole pages, for the judge and for back-links."""
        return prepare(self.bed, jobs=self.settings.jobs)

    @property
    def topics(self) -> list[BedTopic]:
        """The bed's topics: those about companies on the bed `companies`, else the others; evenly spaced if limited."""
        companies = [topic for topic in self.bed.topics if topic.id.endswith("companies")]
        others = [topic for topic in self.bed.topics if topic not in companies]
        all_topics = companies if self.name == "companies" else others or companies
        count = min(self.settings.topics or len(all_topics), len(all_topics))
        return [all_topics[index * len(all_topics) // count] for index in range(count)]

    def spaced(self, count: int) -> list[BedTopic]:
        """At most `count` of the topics, evenly spaced."""
        all_topics = self.topics
        return (
            [all_topics[index * len(all_topics) // count] for index in range(count)]
            if len(all_topics) > count
            else all_topics
        )

    def examples(self, topic: BedTopic, count: int = 10) -> tuple[Url, ...]:
        """`count` pages on the topic, from different hosts if there are enough."""
        on_topic = [Url(url) for url in (*topic.targets, *topic.seeds) if url in self.prepared]
        return tuple(from_distinct_hosts(on_topic, random.Random(f"{SEED} {topic.id}"), count))

    @property
    def reads_whole(self) -> bool:
        """Whether pages are read whole. Only those of schools are cut as in the papers: generated pages are short, and
        pages of apache have hardly a link in their first 10 KB, so that all crawls would run out of links."""
        return self.name != "schools"

    @property
    def about(self) -> str:
        return f"{self.name}: {len(self.prepared):,} pages, {len(self.topics):,} topics"

    def back_links(self, url: str, most: int | None = None) -> list[str]:
        return self.prepared.graph.back_links(url, most)


class Finding(NamedTuple):
    name: str
    says: str
    """The finding and its criterion, in the words of sheet 00."""
    beds: Sequence[str]
    repeat: Callable[[BenchWeb], str]
    """Prints its tables and returns the verdict."""


FINDINGS: dict[str, Finding] = {}


def finding(
    name: str, says: str, beds: Sequence[str]
) -> Callable[[Callable[[BenchWeb], str]], Callable[[BenchWeb], str]]:
    """Register a function that repeats a finding on a bed, prints its tables and returns the verdict."""

    def register(repeat: Callable[[BenchWeb], str]) -> Callable[[BenchWeb], str]:
        FINDINGS[name] = Finding(name, says, beds, repeat)
        return repeat

    return register


def open_web(name: str, settings: Settings) -> BenchWeb | None:
    """Open the bed with this name (see `findings.py`) or in this folder; None if a recorded bed is missing."""
    if name in ("schools", "apache"):
        folder = SHARED / "data" / name
        return BenchWeb(name, folder, settings) if folder.is_dir() else None
    if name in ("generated", "generated-half", "companies", "economy"):
        order = SMALL if settings.quick else ECONOMY if name == "economy" else GENERATED
        folder = settings.work / "beds" / f"realistic-{order.pages}-{order.seed}"
        if not (folder / "bed.toml").exists():
            write_web(folder, order)
        return BenchWeb(name, folder, settings)
    return BenchWeb(Path(name).name, Path(name), settings)


def crawl(
    web: BenchWeb,
    arm: str,
    topics: Sequence[BedTopic],
    strategies: Sequence[str],
    profile: str,
    pages: int,
    *,
    frontier: int = 0,
    jobs: int = 0,
) -> Experiment:
    """Run the crawls of one arm: these strategies on these topics, with their seeds, under a paper's limits.

    `frontier` overrides the bound of the profile.
    """
    chosen = PROFILES[profile]
    limits = replace(chosen.limits, pages=pages, frontier=frontier or chosen.limits.frontier)
    cut = Cut() if web.reads_whole else chosen.cut
    lines = "".join(map(topic_line, topics))
    fingerprint = hashlib.sha256(f"{lines}{limits}{cut}".encode()).hexdigest()[:8]
    folder = web.settings.work / "runs" / f"{web.folder.name}-{arm}-{fingerprint}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "asked-topics.jsonl"
    file.write_text(lines, encoding="utf-8")
    options = RunOptions(topics_file=file, limits=limits, cut=cut, oracles=False)
    return run(web.bed, strategies, folder, options, jobs=jobs or web.settings.jobs)


@dataclass(frozen=True)
class Trail:
    """One crawl, as the measures see it."""

    arm: str
    strategy: str
    urls: Sequence[str]
    seconds: Sequence[float] | None
    ended: str


Measure = Callable[[Trail, KnownAnswers], Curve]


@dataclass
class Values:
    """Values of every measure, by (arm, strategy) and topic, each at several points."""

    points: Mapping[str, Sequence[int]]
    found: dict[str, dict[tuple[str, str], dict[str, Curve]]]
    ended: dict[tuple[str, str], int]
    """Number of crawls that ended before their budget, by crawler."""
    crawls: int = 0
    """Total number of crawls."""

    def ended_early(self) -> str:
        """A sentence to print below the tables."""
        counts = ", ".join(f"{crawler_label(crawler)} {count}" for crawler, count in self.ended.items() if count)
        total = f"(of {self.crawls} in all)"
        return f"crawls that ended on an empty frontier before their budget: {counts or 'none'} {total}\n"

    def values_by_topic(self, measure: str, strategy: str, point: int, arm: str = "") -> ByTopic:
        index = list(self.points[measure]).index(point)
        return {topic: curve[index] for topic, curve in self.found[measure][(arm, strategy)].items()}

    def mean(self, measure: str, strategy: str, point: int, arm: str = "") -> Mean:
        return mean(list(self.values_by_topic(measure, strategy, point, arm).values()))

    def grouped(self, group: Callable[[str], str]) -> Values:
        """Average topics that are draws of one category (sheet 60.6)."""
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
        comparisons = [
            compare(
                (crawler_label(first), self.values_by_topic(measure, first[1], point, first[0])),
                (crawler_label(second), self.values_by_topic(measure, second[1], point, second[0])),
                measure,
                point,
                lower,
            )
            for first, second in pairs
        ]
        return adjust(comparisons) if len(comparisons) > 1 else comparisons


Crawler = tuple[str, str]
"""Arm and strategy."""


def crawler_label(crawler: Crawler) -> str:
    arm, strategy = crawler
    return f"{strategy} ({arm})" if arm else strategy


def curve_of(metric: str, points: Sequence[int]) -> Measure:
    """A registered metric, evaluated at these points."""

    def measured(trail: Trail, answers: KnownAnswers) -> Curve:
        extra = {"rank_seconds": trail.seconds} if "cpu_second" in metric else {}
        return measure_curve(metric, list(trail.urls), answers, points, **extra)

    return measured


def measure_crawls(
    web: BenchWeb,
    arms: Mapping[str, Experiment],
    topics: Sequence[BedTopic],
    measures: Mapping[str, tuple[Measure, Sequence[int]]],
    pooled: bool = True,
) -> Values:
    """Every measure of every crawl, over the pool of all crawls of a topic in all arms.

    `topics` give the targets for all arms. They must not contain the seeds of a single arm: a target among its seeds
    would change the denominator from arm to arm.
    """
    trails: dict[str, list[Trail]] = {topic.id: [] for topic in topics}
    for arm, experiment in arms.items():
        outcomes = experiment.outcomes()
        topic_ids = {topic.id for topic in topics}
        for cell in experiment.cells:
            if cell.topic in topic_ids:
                outcome = outcomes[cell.key]
                if outcome.error:
                    raise RuntimeError(f"{cell.strategy} on {cell.topic}: {outcome.error}")
                urls = [str(step.url) for step in load_trail(experiment.folder, cell.key)]
                seconds = load_cpu_seconds(experiment.folder, cell.key)
                trails[cell.topic].append(Trail(arm, cell.strategy, urls, seconds, outcome.reason))
    bed, page_ranks = web.prepared, dict[str, float]()
    if pooled:
        crawled = dict.fromkeys(
            Url(url) for topic_trails in trails.values() for trail in topic_trails for url in trail.urls
        )
        page_ranks = pool_pageranks(crawled, {url: bed.links(url) for url in crawled})
    values = Values({name: points for name, (_, points) in measures.items()}, {name: {} for name in measures}, {})
    for topic in topics:
        answers = _judgement(bed, topic, _pool(bed, trails[topic.id]) if pooled else None, page_ranks)
        for trail in trails[topic.id]:
            crawler = (trail.arm, trail.strategy)
            values.crawls += 1
            values.ended[crawler] = values.ended.get(crawler, 0) + (trail.ended != "pages")
            for name, (measure, _) in measures.items():
                values.found[name].setdefault(crawler, {})[topic.id] = measure(trail, answers)
    return values


def _judgement(
    bed: PreparedBed, topic: BedTopic, pool: Mapping[str, Counts] | None, page_ranks: Mapping[str, float]
) -> KnownAnswers:
    """The answers that the metrics of the findings need; `measure.judge` computes more and takes longer."""
    answers = KnownAnswers(targets=frozenset(topic.targets), seeds=frozenset(topic.seeds), aliases=bed.aliases)
    if pool is None:
        return answers
    similarity = similarities(pool, ANALYSER.counts(topic.description))
    linkage = rank_keywords_pagerank(pool, set(ANALYSER.terms(topic.keywords)), page_ranks)
    return replace(answers, similarity=similarity, ranks=ranks(similarity), linkage_ranks=linkage)


def _pool(bed: PreparedBed, trails: Iterable[Trail]) -> dict[str, Counts]:
    counts_by_url: dict[str, Counts] = {}
    for trail in trails:
        for url in trail.urls:
            if url not in counts_by_url and (counts := bed.counts(Url(url), ANALYSER)) is not None:
                counts_by_url[url] = counts
    return counts_by_url
