"""Measure the finished crawls of an experiment: from trails and known answers to tables.

    metrics.parquet   strategy, topic, seed_number, oracle, metric, at, value      a row for each point of each curve
    costs.parquet     the same columns, for metrics of measured seconds, which differ from run to run
    reach.parquet     strategy, topic, seed_number, oracle, fraction, pages, found, wanted     search length
    pairs.parquet     first, second, topic, seed_number, metric, at, value     overlap of two, robustness of one
    by_time.parquet   strategy, topic, seed_number, oracle, metric, seconds, value     only for polite replays
    by_requests.parquet   the columns of metrics.parquet, where `at` counts requests instead of pages
    topics.parquet    topic and its characteristics     what kind of topic it was (`characteristics`)

All registered metrics whose data exists are measured. Targets and seeds are those of the crawl. The *relevant* pages
are the targets, without the examples, which strategies are given. The similarity σ and both ranks are computed over the
pool of all pages that all crawlers of the topic fetched (sheet 60.3). Oracles are not crawlers: they add nothing to the
pool and have no metrics that need it. An undefined value is null, never 0.
"""

from __future__ import annotations

import signal
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from scenthound.errors import BadConfig, BadUsage, FolderBroken
from scenthound.files import replacing
from scenthound.lab.beds.replay_bed import ReplayBed
from scenthound.lab.measure.by_cost import by_time, pages_after, request_points, time_points
from scenthound.lab.measure.metrics import Curve, KnownAnswers, curves, get_metric, missing
from scenthound.lab.measure.metrics import measure as measure_curve
from scenthound.lab.measure.metrics.crawl_pairs import overlap, overlap_hosts, robustness, robustness_hosts
from scenthound.lab.measure.metrics.targets import search_length
from scenthound.lab.measure.quality import (
    pool_graph,
    pool_pageranks,
    qualities_of,
    rank_keywords_pagerank,
    ranks,
    similarities,
)
from scenthound.lab.measure.statistics import CATEGORY, average_runs, log_points, mean, topic_groups
from scenthound.lab.process_pool import ProcessPool
from scenthound.lab.run.cells import Cell, load_cpu_seconds, load_outcome, load_requests, load_trail, read_trail
from scenthound.lab.run.experiment import Experiment, load_starts, open_experiment, run_seeds
from scenthound.lab.topics.characteristics import COLUMNS as TOPIC_COLUMNS
from scenthound.lab.topics.characteristics import (
    NAMES,
    Characteristics,
    correlations,
    popularities,
    topic_characteristics,
)
from scenthound.model import Step, Url
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts
from scenthound.topic_list import BedTopic

POINTS = (100, 250, 500, 1000)
FRACTIONS = (0.25, 0.5, 0.75, 1.0)
CORRELATED = ("target_recall", "description_precision")
BY_PAGES = ("metrics", "costs")  # tables whose points are numbers of pages
ANALYSER = Analyser()

METRIC_COLUMNS = ("strategy", "topic", "seed_number", "oracle", "metric", "at", "value")
REACH_COLUMNS = ("strategy", "topic", "seed_number", "oracle", "fraction", "pages", "found", "wanted")
TIME_COLUMNS = ("strategy", "topic", "seed_number", "oracle", "metric", "seconds", "value")
PAIR_COLUMNS = ("first", "second", "topic", "seed_number", "metric", "at", "value")
_TYPES = {
    **dict.fromkeys(("strategy", "topic", "metric", "first", "second"), "string"),
    **dict.fromkeys(("seed_number", "at", "pages", "found", "wanted"), "int64"),
    **dict.fromkeys(("specificity", "link_set_size", "popularity"), "int64"),
    **dict.fromkeys(("value", "seconds", "fraction", "text_cohesiveness", "link_cohesiveness", "authority"), "float64"),
    "seed_target_similarity": "float64",
    "oracle": "bool",
}
Rows = list[tuple[Any, ...]]


class Tables(NamedTuple):
    """The rows of the tables."""

    metrics: Rows
    costs: Rows
    reach: Rows
    pairs: Rows
    topics: Rows
    by_time: Rows
    by_requests: Rows


class _TopicTask(NamedTuple):
    """One topic to measure."""

    folder: Path
    topic: BedTopic
    cells: tuple[Cell, ...]
    points: tuple[int, ...]
    at: tuple[int, ...]
    seeds_per_run: int
    popularity: int | None
    seconds: tuple[float, ...] = ()
    """Virtual times of a polite replay at which curves have points."""
    requests: tuple[int, ...] = ()
    """Numbers of requests at which curves have points."""
    starts: Mapping[int, BedTopic] = MappingProxyType({})
    """The topic with the seeds and targets of the crawls, by seed number, if they are not its own."""
    metrics: tuple[str, ...] = ()
    """Metrics with parameters, in addition to all metrics with default parameters."""

    def start_of(self, cell: Cell) -> BedTopic:
        return self.starts.get(cell.seed_number, self.topic)


def measure(
    experiment: Experiment | str | Path,
    at: Sequence[int] | None = None,
    bed: ReplayBed | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
    metrics: Sequence[str] = (),
) -> Experiment:
    """Write the tables of an experiment. Curves have the points `at` and 50 points evenly spaced in the logarithm.

    All metrics with their default parameters are measured, plus `metrics`, such as `coverage:top=10`. Cells that are
    not done are left out. `progress` is called with the number of topics done and their total.
    """
    run = _open(experiment)
    bed = bed or run.bed(jobs)
    at = tuple(at) if at else default_points(run.spec.limits.pages)
    if min(at) < 1:
        raise BadUsage(f"a value after {min(at)} pages", "points are whole numbers, 1 or more")
    points = tuple(sorted({*at, *log_points(run.spec.limits.pages, 50)}))
    done = run.outcomes()
    seconds = time_points([outcome.polite["seconds"] for outcome in done.values() if outcome.polite])
    requests = request_points(at, [outcome.attempts for outcome in done.values()])
    tasks, starts, extra = [], load_starts(run), tuple(metrics)
    for topic, popularity in zip(run.topics, popularities(bed, run.topics, ANALYSER), strict=True):
        cells = tuple(cell for cell in run.cells if cell.topic == topic.id and cell.key in done)
        if cells:
            topic_starts = {number: start for (name, number), start in starts.items() if name == topic.id}
            task = _TopicTask(run.folder, topic, cells, points, at, run.spec.seeds_per_run, popularity)
            tasks.append(task._replace(seconds=seconds, requests=requests, starts=topic_starts, metrics=extra))
    context = _Context(bed, _page_ranks(bed, run.folder, [cell for task in tasks for cell in task.cells]))
    tables = Tables([], [], [], [], [], [], [])
    for count, rows in enumerate(_measure_all(context, tasks, jobs), 1):
        for table, new_rows in zip(tables, rows, strict=True):
            table.extend(new_rows)
        if progress is not None:
            progress(count, len(tasks))
    columns = (
        METRIC_COLUMNS,
        METRIC_COLUMNS,
        REACH_COLUMNS,
        PAIR_COLUMNS,
        TOPIC_COLUMNS,
        TIME_COLUMNS,
        METRIC_COLUMNS,
    )
    for name, header, table in zip(Tables._fields, columns, tables, strict=True):
        if name != "by_time" or run.spec.limits.polite is not None:
            _write(run.folder / f"{name}.parquet", header, table)
    return run


def _open(experiment: Experiment | str | Path) -> Experiment:
    return experiment if isinstance(experiment, Experiment) else open_experiment(experiment)


def default_points(pages: int) -> tuple[int, ...]:
    """The points that tables show by default: those of `POINTS` within the crawl, and the last page.

    >>> default_points(300)
    (100, 250, 300)
    """
    return tuple(sorted({point for point in POINTS if point <= pages} | {pages}))


def summary(
    experiment: Experiment | str | Path,
    at: Sequence[int] | None = None,
    metrics: Sequence[str] | None = None,
    group_by: str = CATEGORY,
    by_requests: bool = False,
) -> dict[str, dict[str, dict[int, dict[str, float | int | None]]]]:
    """`{STRATEGY: {METRIC: {N: {"mean", "se", "topics", "groups"}}}}` over topics, after averaging the runs of each.

    `measure` must have been run with these points. Topics without a value are not counted. `groups` is the number of
    independent groups of topics (`groups.topic_groups`), from which the standard error is computed.
    """
    run = _open(experiment)
    points = tuple(at) if at else default_points(run.spec.limits.pages)
    groups, names = topic_groups(run.topics, group_by), ("by_requests",) if by_requests else BY_PAGES
    table: dict[str, dict[str, dict[int, dict[str, float | int | None]]]] = {}
    for strategy, metric, point, topics in _by_topic(run.folder, points, metrics, names):
        ordered = sorted(topics)
        average = mean([topics[topic] for topic in ordered], [groups[topic] for topic in ordered])
        entry: dict[str, float | int | None] = {
            "mean": average.mean,
            "se": average.error,
            "topics": average.number,
            "groups": average.groups,
        }
        table.setdefault(strategy, {}).setdefault(metric, {})[point] = entry
    return table


def topic_values(experiment: Experiment | str | Path, metric: str, at: int) -> dict[str, dict[str, float | None]]:
    """Each strategy's value per topic at one point, runs averaged: the input of `statistics.compare`."""
    folder = experiment.folder if isinstance(experiment, Experiment) else Path(experiment)
    get_metric(metric)
    values = {strategy: topics for strategy, _, _, topics in _by_topic(folder, (at,), (metric,))}
    if not values:
        raise BadConfig(f"{folder} has no {metric} at {at} pages", f"measure it with --at {at}")
    return values


def load_characteristics(experiment: Experiment | str | Path) -> dict[str, Characteristics]:
    """The characteristics of every measured topic, in the order of the experiment."""
    table = load_table(experiment, "topics")
    rows = zip(*(table[name] for name in NAMES), strict=True)
    return {topic: Characteristics(*row) for topic, row in zip(table["topic"], rows, strict=True)}


def topic_correlations(
    experiment: Experiment | str | Path, at: Sequence[int] | None = None, metrics: Sequence[str] | None = CORRELATED
) -> dict[str, dict[str, dict[int, dict[str, dict[str, float | int | None]]]]]:
    """`{STRATEGY: {METRIC: {N: {CHARACTERISTIC: {"rho", "topics"}}}}}`: Spearman's rank correlation over topics.

    Unless points are given, N is the last page. `measure` must have been run with these points.
    """
    run = _open(experiment)
    topics = load_characteristics(run)
    table: dict[str, dict[str, dict[int, dict[str, dict[str, float | int | None]]]]] = {}
    for strategy, metric, point, values in _by_topic(run.folder, tuple(at or [run.spec.limits.pages]), metrics):
        entry = {name: {"rho": rho, "topics": count} for name, (rho, count) in correlations(topics, values).items()}
        table.setdefault(strategy, {}).setdefault(metric, {})[point] = entry
    return table


def load_table(experiment: Experiment | str | Path, name: str, metric: str | None = None) -> dict[str, list[Any]]:
    """A table as columns: `metrics`, `costs`, `reach`, `pairs`, `topics`, `by_time` or `by_requests`.

    With a metric, only the rows of that metric.
    """
    folder = experiment.folder if isinstance(experiment, Experiment) else Path(experiment)
    path = folder / f"{name}.parquet"
    if not path.exists():
        raise BadConfig(f"{folder} has not been measured: {path.name} is missing", "run `scenthound lab measure` on it")
    table = _read(path)
    columns: dict[str, list[Any]] = (table if metric is None else _rows_of(table, metric)).to_pydict()
    return columns


def _read(path: Path, columns: list[str] | None = None) -> Any:
    """Read a Parquet file. `read_table` and arrays of Python values would import pandas, which takes a second."""
    try:
        with _parquet().ParquetFile(path) as file:
            return file.read(columns)
    except (OSError, ValueError, KeyError) as error:  # pyarrow raises these for a damaged file
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FolderBroken(path, "can't be read", "delete it, then run `scenthound lab measure` again") from error


def _rows_of(table: Any, metric: str) -> Any:
    import pyarrow

    rows = array("q", [row for row, name in enumerate(table["metric"].to_pylist()) if name == metric])
    return table.take(pyarrow.Array.from_buffers(pyarrow.int64(), len(rows), [None, pyarrow.py_buffer(rows)]))


def measured_metrics(experiment: Experiment | str | Path) -> list[str]:
    """The metrics with values by pages in the tables of an experiment."""
    folder = experiment.folder if isinstance(experiment, Experiment) else Path(experiment)
    names: set[str] = set()
    for table in BY_PAGES:
        path = folder / f"{table}.parquet"
        if path.exists():
            names.update(_read(path, ["metric"]).column("metric").unique().to_pylist())
    return sorted(names)


def measure_trail(
    path: str | Path, bed: ReplayBed, topic: BedTopic, at: Sequence[int] | None = None
) -> dict[str, dict[int, float | None]]:
    """`{METRIC: {N: value}}` for the trail of any crawler: JSON lines with a `url`. Its own pages are the pool."""
    steps = list(read_trail(Path(path)))
    points = tuple(at) if at else default_points(max(len(steps), 1))
    pool = _pool(bed, [steps])
    answers = judge(bed, topic, topic.seeds, pool, pool_pageranks(pool, {url: bed.links(Url(url)) for url in pool}))
    return {
        name: dict(zip(points, values, strict=True)) for name, values in _curves(steps, answers, points, {}).items()
    }


def judge(
    bed: ReplayBed,
    topic: BedTopic,
    seeds: Iterable[str],
    pool: Mapping[str, Counts] | None,
    page_ranks: Mapping[str, float],
    relevance: Mapping[str, float] | None = None,
) -> KnownAnswers:
    """Compute the known answers of a topic. Without a pool, the fields that are computed over the pool are None."""
    description, keywords = ANALYSER.counts(topic.description), set(ANALYSER.terms(topic.keywords))
    similarity, qualities = None, None
    if pool is not None:
        similarity = similarities(pool, description)
        graph = pool_graph(pool, {url: bed.links(Url(url)) for url in pool})
        qualities = qualities_of(pool, ANALYSER.counts(topic.keywords), seeds, similarity, graph)
    return KnownAnswers(
        targets=frozenset(topic.targets),
        seeds=frozenset(seeds),
        dead=frozenset(url for url in topic.targets if url not in bed),
        aliases=bed.aliases,
        relevant=frozenset(topic.targets) or None,
        relevance=relevance,
        similarity=similarity,
        ranks=ranks(similarity) if similarity is not None else None,
        linkage_ranks=rank_keywords_pagerank(pool, keywords, page_ranks) if pool is not None else None,
        goals=frozenset(bed.aliases.get(url, url) for url in topic.targets) or None,
        qualities=qualities,
    )


class _Context(NamedTuple):
    """What all tasks of a process share: the open bed, and the PageRank of the crawled pages."""

    bed: ReplayBed
    page_ranks: Mapping[str, float]


def _open_context(reopen: Callable[[], ReplayBed], page_ranks: Mapping[str, float]) -> _Context:
    """Set up a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    return _Context(reopen(), page_ranks)


def _measure_all(context: _Context, tasks: Sequence[_TopicTask], jobs: int) -> Iterator[Tables]:
    if jobs < 2 or len(tasks) < 2:
        yield from (_measure_topic(context, task) for task in tasks)
        return
    with ProcessPool(min(jobs, len(tasks)), _open_context, (context.bed.reopen, context.page_ranks)) as pool:
        for future in [pool.call(_measure_topic, task) for task in tasks]:
            yield future.result()


def _measure_topic(context: _Context, task: _TopicTask) -> Tables:
    bed, topic, tables = context.bed, task.topic, Tables([], [], [], [], [], [], [])
    trails = {cell.key: load_trail(task.folder, cell.key) for cell in task.cells}
    crawled = [trails[cell.key] for cell in task.cells if not cell.oracle and not cell.half]
    pool = _pool(bed, crawled)
    relevance = {str(step.url): step.relevance for steps in trails.values() for step in steps}
    known_answers: dict[tuple[BedTopic, bool], KnownAnswers] = {}
    for cell in task.cells:
        if cell.half:
            continue
        start = task.start_of(cell)
        seeds = run_seeds(start, task.seeds_per_run)
        if (start, cell.oracle) not in known_answers:
            own_pool = None if cell.oracle else pool
            known_answers[start, cell.oracle] = judge(bed, start, seeds, own_pool, context.page_ranks, relevance)
        answers = known_answers[start, cell.oracle]
        key = (cell.strategy, topic.id, cell.seed_number, cell.oracle)
        steps, seconds = trails[cell.key], load_cpu_seconds(task.folder, cell.key)
        requests = load_requests(task.folder, cell.key)
        pages_at = pages_after(requests, task.requests) if requests is not None else []
        data = {"rank_seconds": seconds, "selected": _selected(task.folder, cell.key, steps)}
        for metric, values in _curves(steps, answers, [*task.points, *pages_at], data, task.metrics).items():
            is_timed = get_metric(metric).is_timed
            table = tables.costs if is_timed else tables.metrics
            by_pages = zip(task.points, values, strict=False)
            table.extend((*key, metric, point, value) for point, value in by_pages)
            if pages_at and not is_timed:
                by_requests = zip(task.requests, values[len(task.points) :], strict=True)
                tables.by_requests.extend((*key, metric, point, value) for point, value in by_requests)
        if task.seconds and not cell.oracle:
            for metric, second, value in by_time(steps, answers, task.seconds):
                tables.by_time.append((*key, metric, second, value))
        for fraction in FRACTIONS:
            length = search_length(steps, frozenset(start.targets), seeds, answers.aliases, fraction)
            tables.reach.append((*key, fraction, *length))
    tables.pairs.extend(_pairs(task, trails))
    first = task.start_of(task.cells[0])
    characteristics = topic_characteristics(
        bed, first, run_seeds(first, task.seeds_per_run), pool, task.popularity, ANALYSER
    )
    tables.topics.append((topic.id, *astuple(characteristics)))
    return tables


def _curves(
    steps: Sequence[Step],
    answers: KnownAnswers,
    points: Sequence[int],
    crawl: Mapping[str, object],
    metrics: Sequence[str] = (),
) -> dict[str, Curve]:
    """Every metric whose data exists, at the points. `crawl` has data of the crawl itself; None means unknown."""
    return {
        name: measure_curve(name, steps, answers, points, **crawl)
        for name in (*curves(), *metrics)
        if not missing(name, answers, **crawl)
    }


def _selected(folder: Path, key: str, steps: Sequence[Step]) -> Mapping[str, int]:
    """The pages that a crawler selected, each with the number fetched by then. Most crawlers select all they fetch."""
    outcome = load_outcome(folder, key)
    return (outcome.selected if outcome else {}) or {str(step.url): step.n for step in steps}


def _pairs(task: _TopicTask, trails: Mapping[str, Sequence[Step]]) -> Iterator[tuple[Any, ...]]:
    """Rows for the overlap of two crawlers, and for the robustness of one crawler on two halves of the seeds."""
    crawlers = [cell for cell in task.cells if not cell.oracle and not cell.half]
    same_run = [(a, b) for a, b in combinations(crawlers, 2) if a.seed_number == b.seed_number]
    halves = {(cell.strategy, cell.seed_number, cell.half): cell for cell in task.cells if cell.half}
    both_halves = [(cell, halves[strategy, seed, 2]) for (strategy, seed, half), cell in halves.items()
                   if half == 1 and (strategy, seed, 2) in halves]  # fmt: skip
    for cells, functions in (
        (same_run, {"overlap": overlap, "overlap_hosts": overlap_hosts}),
        (both_halves, {"robustness": robustness, "robustness_hosts": robustness_hosts}),
    ):
        for a, b in cells:
            for metric, function in functions.items():
                values = function(trails[a.key], trails[b.key], task.at)
                key = (a.strategy, b.strategy, task.topic.id, a.seed_number, metric)
                yield from ((*key, point, value) for point, value in zip(task.at, values, strict=True))


def _pool(bed: ReplayBed, trails: Iterable[Sequence[Step]]) -> dict[str, Counts]:
    """All pages of the bed that the crawlers fetched, with their term counts, in order of first visit."""
    pool: dict[str, Counts] = {}
    for steps in trails:
        for step in steps:
            if step.url not in pool and (counts := bed.counts(step.url, ANALYSER)) is not None:
                pool[step.url] = counts
    return pool


def _page_ranks(bed: ReplayBed, folder: Path, cells: Iterable[Cell]) -> dict[str, float]:
    """PageRank in the graph of all pages crawled for all topics (sheet 60.3)."""
    crawled: dict[Url, None] = {}
    for cell in cells:
        if not cell.oracle and not cell.half:
            crawled.update(dict.fromkeys(step.url for step in load_trail(folder, cell.key)))
    return pool_pageranks(crawled, {url: bed.links(url) for url in crawled})


def _by_topic(
    folder: Path, at: Sequence[int], metrics: Sequence[str] | None, tables: Sequence[str] = BY_PAGES
) -> Iterator[tuple[str, str, int, dict[str, float | None]]]:
    """Yield strategy, metric, point and the value of each topic, averaged over its runs, in the order of the tables."""
    runs: dict[tuple[str, str, int], dict[str, list[float | None]]] = {}
    points = set(at)
    for name in tables:
        table = load_table(folder, name)
        rows = zip(*(table[column] for column in ("strategy", "metric", "at", "topic", "value")), strict=True)
        for strategy, metric, point, topic, value in rows:
            if point in points and (metrics is None or metric in metrics):
                runs.setdefault((strategy, metric, point), {}).setdefault(topic, []).append(value)
    for (strategy, metric, point), topics in runs.items():
        yield strategy, metric, point, average_runs(topics)


def _write(path: Path, columns: Sequence[str], rows: Rows) -> None:
    import pyarrow

    schema = pyarrow.schema([(name, _TYPES[name]) for name in columns])
    cells = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    arrays = [pyarrow.array(column, field.type) for column, field in zip(cells, schema, strict=True)]
    with replacing(path) as file:
        _parquet().write_table(pyarrow.table(arrays, schema=schema), file, compression="zstd")


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise BadConfig("measuring needs pyarrow", "install scenthound[lab]") from None
    return parquet
