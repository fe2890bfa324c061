"""Measures an experiment: from trails and known answers to tables, when all crawls are over.

    metrics.parquet   strategy, topic, seed_number, oracle, metric, at, value      a row for each point of each curve
    costs.parquet     the same columns, for what contains measured seconds and so never repeats
    reach.parquet     strategy, topic, seed_number, oracle, fraction, pages, found, wanted     search length
    pairs.parquet     first, second, topic, seed_number, metric, at, value     overlap of two, robustness of one
    topics.parquet    topic and its characteristics     what kind of topic it was (`topic_table`)

What is measured is whatever is on the shelf of `lab.metrics` and can be had: targets and seeds are the topic's;
*relevant* are its targets and examples; the similarity σ and both ranks are computed over the pool of all pages that
all crawlers of the topic brought home (sheet 60.3). Reference lines are no crawlers: they add nothing to the pool,
and what needs the pool is not said of them. A value that is undefined is null, never 0.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from scenthound.errors import BadConfig, BadUsage
from scenthound.files import replacing
from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.measure.metrics import Curve, Judgement, curves, get_metric, missing
from scenthound.lab.measure.metrics import measure as measure_curve
from scenthound.lab.measure.metrics.crawl_pairs import overlap, overlap_hosts, robustness, robustness_hosts
from scenthound.lab.measure.metrics.targets import search_length
from scenthound.lab.measure.quality import pool_pageranks, rank_keywords_pagerank, ranks, similarities
from scenthound.lab.measure.statistics import average_runs, log_points, mean
from scenthound.lab.run.cells import Cell, load_outcome, load_seconds, load_trail, read_trail
from scenthound.lab.run.experiment import Experiment, open_experiment, run_seeds
from scenthound.lab.topics.characteristics import Characteristics, correlations
from scenthound.lab.topics.characteristics_table import COLUMNS as TOPIC_COLUMNS
from scenthound.lab.topics.characteristics_table import NAMES, popularities, topic_characteristics
from scenthound.model import Step, Url
from scenthound.processes import ProcessPool
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts

POINTS = (100, 250, 500, 1000)
FRACTIONS = (0.25, 0.5, 0.75, 1.0)
CORRELATED = ("target_recall", "description_precision")
TIMED = "cpu_second"  # in the name of every metric that divides by measured seconds
ANALYSER = Analyser()

METRIC_COLUMNS = ("strategy", "topic", "seed_number", "oracle", "metric", "at", "value")
REACH_COLUMNS = ("strategy", "topic", "seed_number", "oracle", "fraction", "pages", "found", "wanted")
PAIR_COLUMNS = ("first", "second", "topic", "seed_number", "metric", "at", "value")
_TYPES = {
    **dict.fromkeys(("strategy", "topic", "metric", "first", "second"), "string"),
    **dict.fromkeys(("seed_number", "at", "pages", "found", "wanted"), "int64"),
    **dict.fromkeys(("specificity", "link_set_size", "popularity"), "int64"),
    **dict.fromkeys(("value", "fraction", "text_cohesiveness", "link_cohesiveness", "authority"), "float64"),
    "seed_target_similarity": "float64",
    "oracle": "bool_",
}
Rows = list[tuple[Any, ...]]


class Tables(NamedTuple):
    """The rows of the five tables."""

    metrics: Rows
    costs: Rows
    reach: Rows
    pairs: Rows
    topics: Rows


class _Judged(NamedTuple):
    """What one process needs to measure one topic."""

    folder: Path
    topic: BedTopic
    cells: tuple[Cell, ...]
    points: tuple[int, ...]
    at: tuple[int, ...]
    seeds_per_run: int
    popularity: int | None


def measure(
    experiment: Experiment | str | Path,
    at: Sequence[int] | None = None,
    bed: PreparedBed | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Experiment:
    """Write the tables of an experiment. Curves are kept at `at` and at 50 points evenly spaced in the logarithm.

    `progress` hears how many topics are done and how many there are. Cells that are not done are left out.
    """
    found = experiment if isinstance(experiment, Experiment) else open_experiment(experiment)
    bed = bed or found.bed(jobs)
    at = tuple(at) if at else default_points(found.spec.limits.pages)
    if min(at) < 1:
        raise BadUsage(f"a value after {min(at)} pages", "points are whole numbers, 1 or more")
    points = tuple(sorted({*at, *log_points(found.spec.limits.pages, 50)}))
    done = {cell.key for cell in found.cells if load_outcome(found.folder, cell.key) is not None}
    tasks = []
    for topic, popularity in zip(found.topics, popularities(bed, found.topics, ANALYSER), strict=True):
        cells = tuple(cell for cell in found.cells if cell.topic == topic.id and cell.key in done)
        if cells:
            tasks.append(_Judged(found.folder, topic, cells, points, at, found.spec.seeds_per_run, popularity))
    page_ranks = _page_ranks(bed, found.folder, [cell for task in tasks for cell in task.cells])
    tables = Tables([], [], [], [], [])
    for number, rows in enumerate(_judged(bed, page_ranks, tasks, jobs), 1):
        for table, more in zip(tables, rows, strict=True):
            table.extend(more)
        if progress is not None:
            progress(number, len(tasks))
    _write(found.folder / "metrics.parquet", METRIC_COLUMNS, tables.metrics)
    _write(found.folder / "costs.parquet", METRIC_COLUMNS, tables.costs)
    _write(found.folder / "reach.parquet", REACH_COLUMNS, tables.reach)
    _write(found.folder / "pairs.parquet", PAIR_COLUMNS, tables.pairs)
    _write(found.folder / "topics.parquet", TOPIC_COLUMNS, tables.topics)
    return found


def default_points(pages: int) -> tuple[int, ...]:
    """The points that tables show unless others are asked for, and the last page.

    >>> default_points(300)
    (100, 250, 300)
    """
    return tuple(sorted({point for point in POINTS if point <= pages} | {pages}))


def summary(
    experiment: Experiment | str | Path, at: Sequence[int] | None = None, metrics: Sequence[str] | None = None
) -> dict[str, dict[str, dict[int, dict[str, float | int | None]]]]:
    """`{STRATEGY: {METRIC: {N: {"mean", "se", "topics"}}}}` over topics, runs of one topic averaged first.

    Needs `measure` to have been run with these points. Topics without a value are not counted.
    """
    found = experiment if isinstance(experiment, Experiment) else open_experiment(experiment)
    wanted = tuple(at) if at else default_points(found.spec.limits.pages)
    told: dict[str, dict[str, dict[int, dict[str, float | int | None]]]] = {}
    for strategy, metric, point, topics in _by_topic(found.folder, wanted, metrics):
        over = mean([value for _, value in sorted(topics.items())])
        entry: dict[str, float | int | None] = {"mean": over.mean, "se": over.error, "topics": over.number}
        told.setdefault(strategy, {}).setdefault(metric, {})[point] = entry
    return told


def topic_values(experiment: Experiment | str | Path, metric: str, at: int) -> dict[str, dict[str, float | None]]:
    """Each strategy's value per topic at one point, runs averaged: what `stats.compare` takes."""
    folder = experiment.folder if isinstance(experiment, Experiment) else Path(experiment)
    get_metric(metric)
    found = {strategy: topics for strategy, _, _, topics in _by_topic(folder, (at,), (metric,))}
    if not found:
        raise BadConfig(f"{folder} has no {metric} at {at} pages", f"measure it with --at {at}")
    return found


def load_characteristics(experiment: Experiment | str | Path) -> dict[str, Characteristics]:
    """The characteristics of every topic that was measured, in the order of the experiment."""
    table = load_table(experiment, "topics")
    rows = zip(*(table[name] for name in NAMES), strict=True)
    return {topic: Characteristics(*row) for topic, row in zip(table["topic"], rows, strict=True)}


def topic_correlations(
    experiment: Experiment | str | Path, at: Sequence[int] | None = None, metrics: Sequence[str] | None = CORRELATED
) -> dict[str, dict[str, dict[int, dict[str, dict[str, float | int | None]]]]]:
    """`{STRATEGY: {METRIC: {N: {CHARACTERISTIC: {"rho", "topics"}}}}}`: Spearman's rank correlation over topics.

    Unless points are given, N is the last page. Needs `measure` to have been run with these points.
    """
    found = experiment if isinstance(experiment, Experiment) else open_experiment(experiment)
    topics = load_characteristics(found)
    told: dict[str, dict[str, dict[int, dict[str, dict[str, float | int | None]]]]] = {}
    for strategy, metric, point, values in _by_topic(found.folder, tuple(at or [found.spec.limits.pages]), metrics):
        entry = {name: {"rho": rho, "topics": number} for name, (rho, number) in correlations(topics, values).items()}
        told.setdefault(strategy, {}).setdefault(metric, {})[point] = entry
    return told


def load_table(experiment: Experiment | str | Path, name: str) -> dict[str, list[Any]]:
    """A table as columns: `metrics`, `costs`, `reach`, `pairs` or `topics`."""
    folder = experiment.folder if isinstance(experiment, Experiment) else Path(experiment)
    path = folder / f"{name}.parquet"
    if not path.exists():
        raise BadConfig(f"{folder} has not been measured: {path.name} is missing", "run `scenthound lab measure` on it")
    columns: dict[str, list[Any]] = _parquet().read_table(path).to_pydict()
    return columns


def measure_trail(
    path: str | Path, bed: PreparedBed, topic: BedTopic, at: Sequence[int] | None = None
) -> dict[str, dict[int, float | None]]:
    """`{METRIC: {N: value}}` for any crawler's trail: JSON lines with a `url` each. Its own pages are the pool."""
    steps = list(read_trail(Path(path)))
    points = tuple(at) if at else default_points(max(len(steps), 1))
    pool = _pool(bed, [steps])
    judgement = judge(bed, topic, topic.seeds, pool, pool_pageranks(pool, {url: bed.links(Url(url)) for url in pool}))
    return {
        name: dict(zip(points, values, strict=True)) for name, values in _curves(steps, judgement, points, None).items()
    }


def judge(
    bed: PreparedBed,
    topic: BedTopic,
    seeds: Iterable[str],
    pool: Mapping[str, Counts] | None,
    page_ranks: Mapping[str, float],
    relevance: Mapping[str, float] | None = None,
) -> Judgement:
    """Everything the judge of a topic knows. Without a pool, what is computed over it is left out."""
    description, keywords = ANALYSER.counts(topic.description), set(ANALYSER.terms(topic.keywords))
    similarity = similarities(pool, description) if pool is not None else None
    return Judgement(
        targets=frozenset(topic.targets),
        seeds=frozenset(seeds),
        dead=frozenset(url for url in topic.targets if url not in bed),
        aliases=bed.aliases,
        relevant=frozenset((*topic.targets, *topic.examples)),
        relevance=relevance,
        similarity=similarity,
        ranks=ranks(similarity) if similarity is not None else None,
        linkage_ranks=rank_keywords_pagerank(pool, keywords, page_ranks) if pool is not None else None,
    )


def _judged(bed: PreparedBed, page_ranks: Mapping[str, float], tasks: Sequence[_Judged], jobs: int) -> Iterator[Tables]:
    if jobs < 2 or len(tasks) < 2:
        for task in tasks:
            yield _measure_topic(bed, page_ranks, task)
        return
    workers = min(jobs, len(tasks))
    with ProcessPool(workers, _begin, (bed.folder, page_ranks)) as pool:
        yield from pool.map(_measure_here, tasks)


_here: tuple[PreparedBed, Mapping[str, float]] | None = None


def _begin(folder: Path, page_ranks: Mapping[str, float]) -> None:
    global _here
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    _here = PreparedBed(folder), page_ranks


def _measure_here(task: _Judged) -> Tables:
    assert _here is not None
    return _measure_topic(*_here, task)


def _measure_topic(bed: PreparedBed, page_ranks: Mapping[str, float], task: _Judged) -> Tables:
    topic, tables = task.topic, Tables([], [], [], [], [])
    trails = {cell.key: load_trail(task.folder, cell.key) for cell in task.cells}
    crawled = [trails[cell.key] for cell in task.cells if not cell.oracle and not cell.half]
    pool = _pool(bed, crawled)
    relevance = {str(step.url): step.similarity for steps in trails.values() for step in steps}
    seeds = run_seeds(topic, task.seeds_per_run)
    whole = judge(bed, topic, seeds, pool, page_ranks, relevance)
    plain = judge(bed, topic, seeds, None, {}, relevance)
    for cell in task.cells:
        if cell.half:
            continue
        name = (cell.strategy, topic.id, cell.seed_number, cell.oracle)
        steps, seconds = trails[cell.key], load_seconds(task.folder, cell.key)
        for metric, values in _curves(steps, plain if cell.oracle else whole, task.points, seconds).items():
            table = tables.costs if TIMED in metric else tables.metrics
            table.extend((*name, metric, point, value) for point, value in zip(task.points, values, strict=True))
        for fraction in FRACTIONS:
            length = search_length(steps, frozenset(topic.targets), seeds, whole.aliases, fraction)
            tables.reach.append((*name, fraction, *length))
    tables.pairs.extend(_pairs(task, trails))
    kind = topic_characteristics(bed, topic, seeds, pool, task.popularity, ANALYSER)
    tables.topics.append((topic.id, *(getattr(kind, name) for name in NAMES)))
    return tables


def _curves(
    steps: Sequence[Step], judgement: Judgement, points: Sequence[int], seconds: Sequence[float] | None
) -> dict[str, Curve]:
    """Every metric that can be had, at the points."""
    crawl: dict[str, object] = {} if seconds is None else {"rank_seconds": seconds}
    return {
        name: measure_curve(name, steps, judgement, points, **crawl)
        for name in curves()
        if not missing(name, judgement, **crawl)
    }


def _pairs(task: _Judged, trails: Mapping[str, Sequence[Step]]) -> Iterator[tuple[Any, ...]]:
    crawlers = [cell for cell in task.cells if not cell.oracle and not cell.half]
    for one, other in combinations(crawlers, 2):
        if one.seed_number == other.seed_number:
            names = (one.strategy, other.strategy, task.topic.id, one.seed_number)
            for metric, function in (("overlap", overlap), ("overlap_hosts", overlap_hosts)):
                values = function(trails[one.key], trails[other.key], task.at)
                yield from ((*names, metric, point, value) for point, value in zip(task.at, values, strict=True))
    halves = {(cell.strategy, cell.seed_number, cell.half): cell.key for cell in task.cells if cell.half}
    for (strategy, number, half), key in halves.items():
        other_key = halves.get((strategy, number, 2))
        if half == 1 and other_key is not None:
            names = (strategy, strategy, task.topic.id, number)
            for metric, function in (("robustness", robustness), ("robustness_hosts", robustness_hosts)):
                values = function(trails[key], trails[other_key], task.at)
                yield from ((*names, metric, point, value) for point, value in zip(task.at, values, strict=True))


def _pool(bed: PreparedBed, trails: Iterable[Sequence[Step]]) -> dict[str, Counts]:
    """All pages that the crawlers brought home and the bed has, with their terms, in order of first visit."""
    pool: dict[str, Counts] = {}
    for steps in trails:
        for step in steps:
            if step.url not in pool and (counts := bed.counts(step.url, ANALYSER)) is not None:
                pool[step.url] = counts
    return pool


def _page_ranks(bed: PreparedBed, folder: Path, cells: Iterable[Cell]) -> dict[str, float]:
    """PageRank in the graph of all pages crawled for all topics (sheet 60.3)."""
    crawled: dict[Url, None] = {}
    for cell in cells:
        if not cell.oracle and not cell.half:
            crawled.update(dict.fromkeys(step.url for step in load_trail(folder, cell.key)))
    return pool_pageranks(crawled, {url: bed.links(url) for url in crawled})


def _by_topic(
    folder: Path, at: Sequence[int], metrics: Sequence[str] | None
) -> Iterator[tuple[str, str, int, dict[str, float | None]]]:
    """Strategy, metric, point and the value of each topic, averaged over its runs; in the order of the tables."""
    runs: dict[tuple[str, str, int], dict[str, list[float | None]]] = {}
    points = set(at)
    for name in ("metrics", "costs"):
        table = load_table(folder, name)
        rows = zip(*(table[column] for column in ("strategy", "metric", "at", "topic", "value")), strict=True)
        for strategy, metric, point, topic, value in rows:
            if point in points and (metrics is None or metric in metrics):
                runs.setdefault((strategy, metric, point), {}).setdefault(topic, []).append(value)
    for (strategy, metric, point), topics in runs.items():
        yield strategy, metric, point, average_runs(topics)


def _write(path: Path, columns: Sequence[str], rows: Rows) -> None:
    import pyarrow

    schema = pyarrow.schema([(name, getattr(pyarrow, _TYPES[name])()) for name in columns])
    cells = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    arrays = [pyarrow.array(column, one.type) for column, one in zip(cells, schema, strict=True)]
    with replacing(path) as file:
        _parquet().write_table(pyarrow.table(arrays, schema=schema), file, compression="zstd")


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise BadConfig("measuring needs pyarrow", "install scenthound[lab]") from None
    return parquet
