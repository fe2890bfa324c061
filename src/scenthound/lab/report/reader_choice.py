"""The numbers of the report for a reader's choice of metric, crawlers and topics of a measured experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from scenthound.errors import BadUsage, UnknownName
from scenthound.lab.measure.compare_crawlers import as_json, crawlers, every_pair, non_oracles, points_shown
from scenthound.lab.measure.equal_pages import Measured, Values, crawl_lengths
from scenthound.lab.measure.measure import BY_PAGES, load_table
from scenthound.lab.measure.statistics import CATEGORY, Comparison, Mean, average_runs, topic_groups
from scenthound.lab.report.experiment_facts import DRAWN, mean_over
from scenthound.lab.run.experiment import Experiment


@dataclass(frozen=True)
class ReaderChoice:
    """A metric at a point, for some crawlers and topics. With all strategies and topics it has the report's numbers."""

    run: Experiment
    metric: str
    names: tuple[str, ...]
    topics: tuple[str, ...]
    at: int
    group_by: str = CATEGORY
    shown: tuple[int, ...] = ()
    """The points of the tables."""
    values: Mapping[int, Values] = field(default_factory=dict)
    """Values by point, crawler and topic, averaged over the runs of a topic."""
    across: str = "pages"
    """The unit of the points."""

    @cached_property
    def groups(self) -> dict[str, str]:
        return topic_groups(self.run.topics, self.group_by)

    @cached_property
    def strategies(self) -> list[str]:
        """The chosen crawlers that are tested: all but reference lines."""
        return non_oracles(self.names, self.run.spec.given)

    def mean(self, name: str, at: int) -> Mean:
        return mean_over(self.values.get(at, {}).get(name, {}), self.groups)

    def curve(self, name: str) -> list[tuple[int, Mean]]:
        """The mean at every point that has one."""
        means = ((at, self.mean(name, at)) for at in sorted(self.values))
        return [(at, average) for at, average in means if average.mean is not None]

    @cached_property
    def tests(self) -> list[Comparison]:
        """Comparisons of every pair of the chosen strategies, larger differences first."""
        lengths = crawl_lengths(self.run)
        measured = Measured(self.metric, self.at, self.values.get(self.at, {}), self.values, lengths, self.groups)
        comparisons = every_pair(measured, self.strategies)
        return sorted(comparisons, key=lambda test: (-(test.paired.mean or 0.0), test.first, test.second))

    def by_topic(self) -> dict[str, dict[str, float | None]]:
        """The value of each topic for each crawler, in the order of the experiment."""
        values = self.values.get(self.at, {})
        return {topic: {name: values.get(name, {}).get(topic) for name in self.names} for topic in self.topics}

    def as_plain(self) -> dict[str, Any]:
        """The numbers as JSON data."""
        curves = {
            name: [
                {
                    "at": at,
                    "mean": average.mean,
                    "se": average.error,
                    "topics": average.number,
                    "groups": average.groups,
                }
                for at, average in self.curve(name)
            ]
            for name in self.names
        }
        return {
            "metric": self.metric,
            "at": self.at,
            "strategies": list(self.names),
            "topics": list(self.topics),
            "curves": curves,
            "tests": [as_json(test, self.run.spec.given) for test in self.tests],
            "by_topic": self.by_topic(),
        }


def choose(
    run: Experiment,
    metrics: Sequence[str],
    metric: str = "",
    names: Sequence[str] = (),
    topics: Sequence[str] = (),
    at: int | None = None,
    group_by: str = CATEGORY,
) -> ReaderChoice:
    """Load a reader's choice, with the report's defaults for what is not given. `metrics` are the measured metrics.

    Raises `UnknownName` and `BadUsage` for names and points that the experiment does not have.
    """
    shown, _ = points_shown(run)
    all_names = crawlers(run)
    all_topics = [topic.id for topic in run.topics]
    for kind, choice, existing in (("crawler", names, all_names), ("topic", topics, all_topics)):
        if unknown := [name for name in choice if name not in existing]:
            raise UnknownName.among(f"{kind} in {run.folder.name}", unknown[0], existing)
    metric = metric or next((name for name in DRAWN if name in metrics), metrics[0] if metrics else "")
    if metric not in metrics:
        raise UnknownName.among(f"metric in {run.folder.name}", metric, metrics)
    chosen_names = tuple(name for name in all_names if name in names) or tuple(non_oracles(all_names, run.spec.given))
    chosen_topics = tuple(topic for topic in all_topics if topic in topics) or tuple(all_topics)
    values = _values(run, metric, chosen_names, chosen_topics)
    point = shown[-1] if at is None else at
    if point not in values:
        raise BadUsage(f"no {metric} after {point} pages", f"there are values after {', '.join(map(str, shown))}")
    return ReaderChoice(run, metric, chosen_names, chosen_topics, point, group_by, shown, values)


def _values(run: Experiment, metric: str, names: Sequence[str], topics: Sequence[str]) -> dict[int, Values]:
    runs: dict[int, dict[str, dict[str, list[float | None]]]] = {}
    for name in BY_PAGES:
        table = load_table(run, name, metric)
        rows = zip(*(table[column] for column in ("strategy", "at", "topic", "value")), strict=True)
        for strategy, at, topic, value in rows:
            if strategy in names and topic in topics:
                runs.setdefault(at, {}).setdefault(strategy, {}).setdefault(topic, []).append(value)
    return {
        at: {strategy: average_runs(by_topic) for strategy, by_topic in strategies.items()}
        for at, strategies in runs.items()
    }
