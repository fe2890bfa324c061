"""The laboratory for scripts and notebooks: make a bed, run an experiment, measure it, compare two strategies."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from scenthound.lab.beds.bed import Bed
from scenthound.lab.generate.web_kinds import WebOrder, write_web
from scenthound.lab.measure.compare_crawlers import Question, compare_within, measure_if_stale, open_run
from scenthound.lab.measure.measure import summary
from scenthound.lab.measure.statistics import Comparison
from scenthound.lab.run.experiment import Experiment, RunOptions, run

StrPath = str | PathLike[str]
Summary = dict[str, dict[str, dict[int, dict[str, float | int | None]]]]
"""`{STRATEGY: {METRIC: {PAGES: {"mean", "se", "topics"}}}}`"""


def make_bed(out: StrPath, pages: int = 3000, seed: int = 1, topics: int = 12, web: str = "simple") -> Bed:
    """Write a generated web with known answers, and return it. The same seed gives the same web.

    `web` is `simple`, for trying things out, or `realistic`, for experiments.
    """
    return write_web(str(out), WebOrder(web, pages, seed, topics))


def run_experiment(
    bed: Bed | StrPath,
    strategies: str | Sequence[str],
    out: StrPath,
    *,
    pages: int = 1000,
    topics: int | Sequence[str] | None = None,
    seed_numbers: Sequence[int] = (0,),
    jobs: int = 1,
) -> Experiment:
    """Replay strategies on a bed for each of its topics, and return the experiment. Finished crawls are not repeated.

    `strategies` are names, such as `"hound,breadth-first"`, optionally with parameters (`"best-n-first:n=64"`).
    `topics` is a number (the first N) or a list of ids; by default all. With `jobs` above 1, that many processes work;
    a script then needs `if __name__ == "__main__":`.
    """
    options = RunOptions(topics=topics, pages=pages, seed_numbers=seed_numbers)
    return run(bed if isinstance(bed, Bed) else str(bed), strategies, str(out), options, jobs=jobs)


def measure(
    experiment: Experiment | StrPath,
    metrics: Sequence[str] | None = None,
    at: Sequence[int] | None = None,
    jobs: int = 1,
) -> Summary:
    """Means over topics and their standard errors, for every strategy and metric, at the page counts `at`."""
    opened = _open(experiment)
    return summary(opened, measure_if_stale(opened, at, jobs=jobs), metrics)


def compare(
    experiment: Experiment | StrPath,
    first: str,
    second: str,
    metric: str = "target_recall",
    at: int | None = None,
    jobs: int = 1,
) -> Comparison:
    """Compare two strategies of an experiment on the same topics: means, paired tests, effect size.

    `at` is a number of pages; by default the whole crawl. `str()` of the result is a sentence.
    """
    opened = _open(experiment)
    pages = opened.spec.limits.pages if at is None else at
    return compare_within(opened, [first, second], Question(metric, (pages,)), jobs=jobs)[0]


def _open(experiment: Experiment | StrPath) -> Experiment:
    return experiment if isinstance(experiment, Experiment) else open_run(str(experiment))
