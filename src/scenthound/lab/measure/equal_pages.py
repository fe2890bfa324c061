"""Compare crawls of different length fairly: rates are compared at a point where both crawls were still running.

A crawl may end before a point of a table, because no link is left or a rule stops it. A metric that counts what was
found, such as recall, keeps its last value: the crawl had its chance. A mean over pages, such as harvest rate, can't,
because the first pages of a crawl are its best: after 50 pages a crawl would beat itself after 1,000. Such a rate
(`Metric.is_rate`) is taken, topic by topic, at the last measured point that both crawls reached. Curves have 50 points
evenly spaced in the logarithm, so this loses at most 13% of the pages of a crawl of 1,000.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from scenthound.errors import BadConfig
from scenthound.lab.measure.measure import load_table
from scenthound.lab.measure.metrics import get_metric
from scenthound.lab.measure.statistics import CATEGORY, Comparison, average_runs, compare, topic_groups
from scenthound.lab.run.experiment import Experiment

Unit = Literal["pages", "requests"]
Values = Mapping[str, Mapping[str, float | None]]
"""Each crawler's value per topic."""
Lengths = Mapping[str, Mapping[str, int]]
"""For each crawler and topic, the pages (or requests) of its shortest run."""


@dataclass(frozen=True)
class Measured:
    """One metric at one point, with the data needed to compare crawls of different length."""

    metric: str
    at: int | None
    values: Values
    earlier: Mapping[int, Values] = field(default_factory=dict)
    """Values at earlier points, for rates."""
    lengths: Lengths = field(default_factory=dict)
    groups: Mapping[str, str] | None = None
    unit: Unit = "pages"

    def ended(self, name: str, topic: str) -> bool:
        """Whether a crawl had ended before the point."""
        return self.at is not None and self._length(name, topic) < self.at

    def compare(self, first: str, second: str) -> Comparison:
        """Test whether the first crawler is better; rates are taken where both crawls were still running."""
        metric = get_metric(self.metric)
        pairs = {topic: self._pair(first, second, topic) for topic in self._topics(first, second)}
        ours, theirs = ({topic: pair[index] for topic, pair in pairs.items()} for index in (0, 1))
        result = compare((first, ours), (second, theirs), self.metric, self.at, metric.lower_is_better, self.groups)
        counted = [topic for topic in pairs if topic not in result.left_out]
        ended = tuple(sum(self.ended(name, topic) for topic in counted) for name in (first, second))
        return replace(result, ended=(ended[0], ended[1]), is_rate=metric.is_rate, unit=self.unit)

    def _topics(self, first: str, second: str) -> list[str]:
        return sorted({*self.values.get(first, {}), *self.values.get(second, {})})

    def _pair(self, first: str, second: str, topic: str) -> tuple[float | None, float | None]:
        values: Values | None = self.values
        if get_metric(self.metric).is_rate and (self.ended(first, topic) or self.ended(second, topic)):
            shortest = min(self._length(first, topic), self._length(second, topic))
            reached = max((point for point in self.earlier if point <= shortest), default=None)
            values = None if reached is None else self.earlier[reached]
        if values is None:
            return None, None
        return values.get(first, {}).get(topic), values.get(second, {}).get(topic)

    def _length(self, name: str, topic: str) -> float:
        return self.lengths.get(name, {}).get(topic, float("inf"))

    def joined(self, name: str, other: Measured, theirs: str, labels: tuple[str, str]) -> Measured:
        """Join a crawler of this run and one of another run, under these labels, as if both belonged to one run."""

        def both(ours: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
            return {labels[0]: ours.get(name, {}), labels[1]: others.get(theirs, {})}

        common = self.earlier.keys() & other.earlier.keys()
        earlier = {point: both(self.earlier[point], other.earlier[point]) for point in common}
        groups = None if self.groups is None or other.groups is None else {**other.groups, **self.groups}
        return replace(
            self,
            values=both(self.values, other.values),
            earlier=earlier,
            lengths=both(self.lengths, other.lengths),
            groups=groups,
        )


def load_measured(
    run: Experiment, metric: str, at: Sequence[int], group_by: str = CATEGORY, unit: Unit = "pages"
) -> dict[int, Measured]:
    """A metric of a measured experiment at some points. Raises `BadConfig` if the tables lack one of them."""
    is_rate = get_metric(metric).is_rate
    runs: dict[int, dict[str, dict[str, list[float | None]]]] = {}
    for name in ("metrics", "costs") if unit == "pages" else ("by_requests",):
        for strategy, row_metric, point, topic, value in rows(run, name, "strategy", "metric", "at", "topic", "value"):
            if row_metric == metric and (is_rate or point in at):
                runs.setdefault(point, {}).setdefault(strategy, {}).setdefault(topic, []).append(value)
    values = {
        point: {strategy: average_runs(topics) for strategy, topics in strategies.items()}
        for point, strategies in runs.items()
    }
    if missing := [point for point in at if point not in values]:
        raise BadConfig(f"{run.folder} has no {metric} at {missing[0]} {unit}", f"measure it with --at {missing[0]}")
    lengths, groups = crawl_lengths(run, unit), topic_groups(run.topics, group_by)
    return {
        point: Measured(metric, point, values[point], values if is_rate else {}, lengths, groups, unit) for point in at
    }


def crawl_lengths(run: Experiment, unit: Unit = "pages") -> dict[str, dict[str, int]]:
    """For each crawler and topic, the pages (or requests) of its shortest finished run."""
    lengths: dict[str, dict[str, int]] = {}
    done = run.outcomes()
    for cell in run.cells:
        if cell.key in done and not cell.half:
            outcome = done[cell.key]
            length = outcome.pages if unit == "pages" else outcome.attempts
            topics = lengths.setdefault(cell.strategy, {})
            topics[cell.topic] = min(topics.get(cell.topic, length), length)
    return lengths


def ended_crawls(lengths: Lengths, at: Sequence[int]) -> dict[str, dict[int, tuple[int, int]]]:
    """For each crawler that ended early and each point: the number of topics on which it had ended, and of all topics.

    >>> ended_crawls({"a": {"x": 10, "y": 90}, "b": {"x": 90, "y": 90}}, [50, 90])
    {'a': {50: (1, 2), 90: (1, 2)}}
    """
    counts = {
        name: {point: (sum(length < point for length in topics.values()), len(topics)) for point in at}
        for name, topics in lengths.items()
    }
    return {name: points for name, points in counts.items() if any(count for count, _ in points.values())}


def rows(run: Experiment, name: str, *columns: str) -> Iterable[tuple[Any, ...]]:
    """Some columns of a table, row by row."""
    table = load_table(run, name)
    return zip(*(table[column] for column in columns), strict=True)
