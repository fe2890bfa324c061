"""All data of an experiment's report, read once from the experiment's folder."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

from scenthound.errors import ScenthoundError
from scenthound.lab.beds.bed import Bed, topic_line
from scenthound.lab.measure.compare_crawlers import crawlers, every_pair, non_oracles
from scenthound.lab.measure.equal_pages import Measured, crawl_lengths, rows
from scenthound.lab.measure.measure import load_characteristics
from scenthound.lab.measure.metrics import METRICS, get_metric
from scenthound.lab.measure.statistics import CATEGORY, Comparison, Mean, average_runs, ended_early, mean, topic_groups
from scenthound.lab.run.cells import load_seconds
from scenthound.lab.run.experiment import Experiment
from scenthound.lab.run.oracles import BOUND, ORACLES
from scenthound.lab.run.polite_replay import PoliteLimits
from scenthound.lab.run.run_cell import PROFILES
from scenthound.lab.topics.characteristics import Characteristics, correlations
from scenthound.lab.topics.crawl_starts import Start

RECALL, PRECISION, HARVEST = "target_recall", "description_precision", "harvest_rate"
DRAWN = (RECALL, PRECISION, HARVEST)

ByTopic = dict[str, float | None]
Table = dict[str, dict[int, dict[str, ByTopic]]]
"""Values by metric, point, crawler and topic."""
Correlation = tuple[float | None, int]
"""Spearman's ρ and the number of topics."""


class Crawls(NamedTuple):
    """Counts and mean costs of one crawler's crawls."""

    number: int
    missing: int
    """Crawls that are planned but not done yet."""
    failed: int
    early: list[int]
    """For each point, the number of crawls that had ended before it."""
    reasons: Mapping[str, int]
    """Number of crawls by the reason why they ended."""
    ranking_ms: Mean
    """CPU milliseconds of ranking, per page."""
    links_scored: Mean
    """Links scored per page."""
    misses: Mean
    """Misses per page."""


@dataclass(frozen=True)
class ExperimentFacts:
    """An experiment with its tables. `points` are the points that tables show; curves have more."""

    run: Experiment
    points: tuple[int, ...]
    group_by: str = CATEGORY

    @property
    def last(self) -> int:
        return self.points[-1]

    @cached_property
    def groups(self) -> dict[str, str]:
        """The group of each topic; topics of one group are not independent."""
        return topic_groups(self.run.topics, self.group_by)

    @property
    def topics_text(self) -> str:
        """The number of topics, with the number of their categories if some share one."""
        topics, groups = len(self.run.topics), len(set(self.groups.values()))
        return f"{topics:,} topics" if groups == topics else f"{topics:,} topics in {groups:,} categories"

    @cached_property
    def lengths(self) -> dict[str, dict[str, int]]:
        """For each crawler and topic, the pages of its shortest run."""
        return crawl_lengths(self.run)

    @cached_property
    def strategies(self) -> tuple[str, ...]:
        """The strategies that are compared. Strategies in an oracle mode are drawn with the reference lines instead."""
        return tuple(non_oracles(self.run.spec.strategies, self.run.spec.given))

    @property
    def has_given(self) -> bool:
        """Whether any strategy was given more than keywords and seeds."""
        return any(name in self.run.spec.given for name in self.strategies)

    @cached_property
    def oracles(self) -> tuple[str, ...]:
        return tuple(name for name in crawlers(self.run) if name not in self.strategies)

    @cached_property
    def bounds(self) -> tuple[str, ...]:
        """The reference lines that are drawn: not the content oracle, which would look like an upper bound."""
        return tuple(name for name in self.oracles if name not in ORACLES or name == BOUND)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return (*self.strategies, *self.oracles)

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """The content of bed.toml; empty if the bed is missing."""
        return {} if self._bed is None else self._bed.about

    @cached_property
    def values(self) -> Table:
        """Every metric at the points of tables, drawn metrics and rates at all points; runs of a topic are averaged."""
        rates = {metric for metric in METRICS.names() if get_metric(metric).is_rate}
        at_all_points = {*DRAWN, *(rates if self._any_ended else ())}
        runs: dict[tuple[str, int, str], dict[str, list[float | None]]] = {}
        for table in ("metrics", "costs"):
            for name, metric, at, topic, value in rows(self.run, table, "strategy", "metric", "at", "topic", "value"):
                if (at in self.points or metric in at_all_points) and name in self.names:
                    runs.setdefault((metric, at, name), {}).setdefault(topic, []).append(value)
        averaged: Table = {}
        for (metric, at, name), topics in runs.items():
            averaged.setdefault(metric, {}).setdefault(at, {})[name] = average_runs(topics)
        return averaged

    @cached_property
    def main(self) -> str:
        """The metric that is compared: target recall, or precision if no topic has targets."""
        defined = [metric for metric in DRAWN if any(self.mean(metric, name).number for name in self.strategies)]
        return defined[0] if defined else RECALL

    def mean(self, metric: str, name: str, at: int | None = None) -> Mean:
        return self.average(self.values.get(metric, {}).get(at or self.last, {}).get(name, {}))

    def average(self, topics: Mapping[str, float | None]) -> Mean:
        """The mean over topics, with a standard error that takes account of groups."""
        return mean_over(topics, self.groups)

    def curve(self, metric: str, name: str) -> list[tuple[int, Mean]]:
        """The mean at every point; points without a value are left out."""
        means = ((at, self.mean(metric, name, at)) for at in sorted(self.values.get(metric, {})))
        return [(at, average) for at, average in means if average.mean is not None]

    def comparisons(self, metric: str, at: int) -> list[Comparison]:
        """Comparisons of every pair of strategies, without reference lines."""
        points = self.values.get(metric, {})
        return every_pair(Measured(metric, at, points.get(at, {}), points, self.lengths, self.groups), self.strategies)

    @property
    def _any_ended(self) -> bool:
        shortest = (length for name in self.strategies for length in self.lengths.get(name, {}).values())
        return min(shortest, default=self.last) < self.last

    def has_ended(self, name: str, at: int) -> bool:
        """Whether any of a crawler's crawls had ended before a point."""
        return min(self.lengths.get(name, {}).values(), default=at) < at

    @cached_property
    def crawls(self) -> dict[str, Crawls]:
        done = self.run.outcomes()
        result: dict[str, Crawls] = {}
        for name in self.names:
            cells = [cell for cell in self.run.cells if cell.strategy == name and not cell.half]
            finished = [(cell, done[cell.key]) for cell in cells if cell.key in done]
            cost: dict[str, list[float | None]] = {}
            for cell, outcome in finished:
                seconds = load_seconds(self.run.folder, cell.key)
                if seconds and outcome.pages:
                    cost.setdefault(cell.topic, []).append(1000.0 * seconds[-1] / outcome.pages)
            fetched = [(outcome, outcome.pages) for _, outcome in finished if outcome.pages]
            result[name] = Crawls(
                len(finished),
                len(cells) - len(finished),
                sum(1 for _, outcome in finished if outcome.error),
                ended_early([outcome.pages for _, outcome in finished], self.points),
                Counter(outcome.reason for _, outcome in finished),
                mean(list(average_runs(cost).values())),
                mean([outcome.links_scored / pages for outcome, pages in fetched]),
                mean([sum(outcome.misses.values()) / pages for outcome, pages in fetched]),
            )
        return result

    @cached_property
    def reach(self) -> dict[str, dict[float, list[int | None]]]:
        """Search lengths by crawler and share of the targets: the pages that each crawl took; None: not reached."""
        lengths: dict[str, dict[float, list[int | None]]] = {}
        for name, fraction, pages, wanted in rows(self.run, "reach", "strategy", "fraction", "pages", "wanted"):
            if wanted:
                lengths.setdefault(name, {}).setdefault(fraction, []).append(pages)
        return lengths

    @cached_property
    def pairs(self) -> dict[str, dict[tuple[str, str], Mean]]:
        """Overlap and robustness at the last point, as means over topics, by metric and the names of two crawlers."""
        runs: dict[tuple[str, str, str], dict[str, list[float | None]]] = {}
        columns = ("metric", "first", "second", "at", "topic", "value")
        for metric, first, second, at, topic, value in rows(self.run, "pairs", *columns):
            if at == self.last:
                runs.setdefault((metric, first, second), {}).setdefault(topic, []).append(value)
        means: dict[str, dict[tuple[str, str], Mean]] = {}
        for (metric, first, second), topics in runs.items():
            means.setdefault(metric, {})[first, second] = mean(list(average_runs(topics).values()))
        return means

    @cached_property
    def characteristics(self) -> dict[str, Characteristics]:
        """The characteristics of each topic."""
        return load_characteristics(self.run)

    def correlations(self, metric: str, name: str) -> dict[str, Correlation]:
        """The correlation of each characteristic with a crawler's final values, for a drawn metric."""
        last = self.run.spec.limits.pages
        return correlations(self.characteristics, self.values.get(metric, {}).get(last, {}).get(name, {}))

    @cached_property
    def command(self) -> str:
        """The command line that repeats this experiment."""
        spec = self.run.spec
        arguments = ["scenthound", "lab", "run", spec.bed, "--strategies", ",".join(spec.strategies), *self._topics()]
        profile = next((name for name, profile in PROFILES.items() if profile.cut == spec.cut), "open")
        if profile != "open":
            arguments += ["--profile", profile]
        arguments += ["--pages", str(spec.limits.pages)]
        arguments += _differences(asdict(spec.cut), asdict(PROFILES[profile].cut))
        arguments += _differences({**asdict(spec.limits), "polite": None}, asdict(PROFILES[profile].limits))
        if spec.limits.polite is not None:
            arguments += ["--polite", *_polite_flags(spec.limits.polite)]
        if spec.seeds_per_run:
            arguments += ["--seeds-per-run", str(spec.seeds_per_run)]
        if spec.start != str(Start()):
            arguments += ["--start", spec.start]
        if spec.seed_numbers != (0,):
            arguments += ["--seed-numbers", ",".join(map(str, spec.seed_numbers))]
        arguments += ["--robustness"] * spec.robustness + ["--no-oracles"] * (not spec.oracles)
        arguments += ["--at", ",".join(map(str, self.points)), "--out", str(self.run.folder)]
        return shlex.join(arguments)

    @cached_property
    def _bed(self) -> Bed | None:
        try:
            return Bed.open(self.run.spec.bed)
        except ScenthoundError:
            return None

    def _topics(self) -> list[str]:
        bed_topics = [topic_line(topic) for topic in self._bed.topics] if self._bed is not None else []
        topics = [topic_line(topic) for topic in self.run.topics]
        if topics == bed_topics:
            return []
        if topics == bed_topics[: len(topics)]:
            return ["--topics", str(len(topics))]
        if set(topics) <= set(bed_topics) and not any("," in topic.id for topic in self.run.topics):
            return ["--topics", ",".join(topic.id for topic in self.run.topics)]
        return ["--topics-file", str(self.run.folder / "topics.jsonl")]


def mean_over(topics: Mapping[str, float | None], groups: Mapping[str, str]) -> Mean:
    """The mean over topics, with a standard error that takes account of groups."""
    ordered = sorted(topics)
    return mean([topics[topic] for topic in ordered], [groups[topic] for topic in ordered])


def median(pages: Sequence[int | None]) -> float | None:
    """The median, with None counted as larger than every number.

    >>> median([10, None, 30]), median([10, None]), median([10, 20])
    (30, None, 15.0)
    """
    ordered = sorted(pages, key=lambda value: (value is None, value))
    if not ordered:
        return None
    upper, lower = ordered[len(ordered) // 2], ordered[(len(ordered) - 1) // 2]
    if upper is None or lower is None:
        return None
    return upper if len(ordered) % 2 else (upper + lower) / 2


def _differences(spec: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterable[str]:
    """Options for the values that are not at their defaults."""
    for key, value in spec.items():
        if key != "pages" and value != defaults[key]:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield from ("--in-flight", text) if key == "in_flight" else ("--set", f"{key}={text}")


def _polite_flags(polite: PoliteLimits) -> Iterable[str]:
    defaults = asdict(PoliteLimits())
    for key, value in asdict(polite).items():
        if value != defaults[key]:
            yield from (f"--{'time' if key == 'seconds' else key}", f"{value:g}" if key != "order" else str(value))
