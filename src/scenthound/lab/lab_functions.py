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

    `web` is `simple`, which is for trying things, or `realistic`, which is for experiments.
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
    """Replay strategies on a bed for each of its topics, and return the experiment. What is done is not done again.

    `strategies` are names, as `"hound,breadth-first"`, each with parameters if wanted (`"best-n-first:n=64"`).
    `topics` are the first N, or those of these ids; all by default. With `jobs` above 1 that many processes work,
    which in a script of yours needs `if __name__ == "__main__":`.
    """
    options = RunOptions(topics=topics, pages=pages, seed_numbers=seed_numbers)
    return run(bed if isinstance(bed, Bed) else str(bed), strategies, str(out), options, jobs=jobs)


def measure(
    experiment: Experiment | StrPath,
    metrics: Sequence[str] | None = None,
    at: Sequence[int] | None = None,
    jobs: int = 1,
) -> Summary:
    """Means over topics with their standard errors, for every strategy and metric at these page counts."""
    opened = _opened(experiment)
    return summary(opened, measure_if_stale(opened, at, jobs=jobs), metrics)


def compare(
    experiment: Experiment | StrPath,
    first: str,
    second: str,
    metric: str = "target_recall",
    at: int | None = None,
    jobs: int = 1,
) -> Comparison:
    """Two strategies of an experiment on the same topics: means, paired tests, effect. `str()` of it is a sentence.

    `at` is a number of pages; by default the whole crawl.
    """
    opened = _opened(experiment)
    pages = opened.spec.limits.pages if at is None else at
    return compare_within(opened, [first, second], Question(metric, (pages,)), jobs=jobs)[0]


def _opened(experiment: Experiment | StrPath) -> Experiment:
    return experiment if isinstance(experiment, Experiment) else open_run(str(experiment))
