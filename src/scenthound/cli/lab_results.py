"""`scenthound lab measure`, `report` and `compare`: the results of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.lab_progress import TaskProgress
from scenthound.cli.output import emit, json_option, option, out, say, table
from scenthound.errors import BadUsage
from scenthound.formats import printable

if TYPE_CHECKING:
    from scenthound.lab.run.experiment import Experiment

SHOWN = ("target_recall", "description_precision", "harvest_rate")

jobs_option = option("--jobs", "N", "Processes.", type=click.IntRange(min=1), default=2, show_default=True)


@click.command()
@click.argument("run", required=False, type=click.Path(path_type=Path))
@option("--at", "100,250,…", "Page counts at which values are wanted.  [default: those shown last]")
@option("--metric metrics", "NAME,…", "Only these; `all` shows all.  [default: three, and all with --json]")
@click.option(
    "--topics", is_flag=True, help="Characteristics of the topics, and their correlation with the last values."
)
@option("--trail", "FILE", "Measure the trail of any crawler instead.", type=click.Path(path_type=Path))
@option("--bed", "BED", "With --trail: the bed that was crawled.", type=click.Path(path_type=Path))
@option("--topic", "ID", "With --trail: the topic that was crawled for.")
@jobs_option
@json_option
def measure(
    run: Path | None,
    at: str | None,
    metrics: str | None,
    topics: bool,
    trail: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Print means over topics and their standard errors, for every strategy and metric of RUN.

    With --topics it prints the characteristics of the topics and their rank correlation with target recall and
    precision. With --trail it measures one crawl of any crawler: a file with JSON lines that have a `url`.

    \b
      $ scenthound lab measure runs/first --at 100,250,500,1000
      $ scenthound lab measure runs/first --json
      $ scenthound lab measure runs/first --topics
      $ scenthound lab measure --trail mine.jsonl --bed beds/demo --topic T01
    """
    from scenthound.lab.measure.comparison import measure_if_stale, open_run, split_points
    from scenthound.lab.measure.measure import CORRELATED, summary

    chosen = _metrics(metrics, as_json)
    if (run is None) == (trail is None):
        raise BadUsage("one thing to measure is needed", "name the folder RUN, or --trail FILE --bed BED --topic ID")
    if trail is not None and topics:
        raise BadUsage("one trail has one topic, and nothing to correlate", "leave out --topics, or name a folder RUN")
    if trail is not None:
        _measure_trail(trail, at, chosen, as_json, **options)
        return
    assert run is not None
    jobs = options["jobs"]
    opened = open_run(run)
    points = split_points(numbers(at, "--at"), opened.spec.limits.pages)[0] if at else None
    with TaskProgress("measuring, topics", as_json) as progress:
        if topics:
            points = measure_if_stale(
                opened, points or [opened.spec.limits.pages], show=False, jobs=jobs, progress=progress
            )
        else:
            points = measure_if_stale(opened, points, jobs=jobs, progress=progress)
    if topics:
        _topics(opened, points, chosen if metrics else CORRELATED, as_json)
    elif as_json:
        emit(summary(opened, points, chosen))
    else:
        show_summary(opened, points, chosen)


def _topics(run: Experiment, points: Sequence[int], metrics: Sequence[str] | None, as_json: bool) -> None:
    """Print the characteristics of the topics and their rank correlation (Spearman) with the measures."""
    from scenthound.lab.measure.measure import load_characteristics, topic_correlations
    from scenthound.lab.run.spec import display_name
    from scenthound.lab.topics.characteristics_table import NAMES

    topics = {topic: {name: getattr(row, name) for name in NAMES} for topic, row in load_characteristics(run).items()}
    correlations = topic_correlations(run, points, metrics)
    if as_json:
        emit({"topics": topics, "correlations": correlations})
        return
    heads = [name.replace("_", "\n") for name in NAMES]  # on several lines, so that the table fits a terminal
    right = range(1, len(NAMES) + 2)
    console = out()
    rows = [(topic, *map(_number, values.values())) for topic, values in topics.items()]
    console.print(table(("topic", *heads), rows, numbers=right))
    measured = {metric for values in correlations.values() for metric in values}
    for metric in sorted(measured) if metrics is None else [name for name in metrics if name in measured]:
        for point in points:
            rows = []
            for strategy, values in correlations.items():
                cells = values.get(metric, {}).get(point, {})
                counts = sorted({int(cell["topics"] or 0) for cell in cells.values()})
                if any(counts):
                    rhos = (_number(cells[name]["rho"]) for name in NAMES)
                    rows.append((display_name(strategy, run.spec.given), *rhos, "/".join(map(str, counts))))
            if rows:
                console.print(f"Spearman's rank correlation over topics with {metric} at {point:,} pages:")
                console.print(table(("crawler", *heads, "topics"), rows, numbers=right))


def _measure_trail(
    trail: Path,
    at: str | None,
    chosen: Sequence[str] | None,
    as_json: bool,
    bed: Path | None,
    topic: str | None,
    jobs: int,
) -> None:
    """Print the measures of one trail in the form of an experiment with one crawl."""
    from scenthound.lab.beds.bed import Bed
    from scenthound.lab.beds.prepared import prepare
    from scenthound.lab.measure.measure import measure_trail
    from scenthound.lab.run.spec import choose_topics

    if bed is None or topic is None:
        raise BadUsage("a trail can't be judged alone", "add --bed BED and --topic ID")
    opened = Bed.open(bed)
    bed_topic = choose_topics(opened.topics, [topic])[0]
    with TaskProgress("preparing the bed, pages read", as_json) as progress:
        prepared = prepare(opened, jobs=jobs, progress=progress)
    values = measure_trail(trail, prepared, bed_topic, numbers(at, "--at") if at else None)
    kept = {name: points for name, points in values.items() if chosen is None or name in chosen}
    if as_json:
        document = {
            name: {n: {"mean": v, "se": None, "topics": int(v is not None)} for n, v in points.items()}
            for name, points in kept.items()
        }
        emit({trail.name: document})
        return
    points = list(next(iter(values.values()), {}))
    rows = [(name, *(_number(kept[name][point]) for point in points)) for name in kept]
    out().print(table(("metric", *(f"{point:,} pages" for point in points)), rows, numbers=range(1, len(points) + 1)))


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@option("--at", "100,250,…", "Page counts at which tables show values.  [default: those shown last]")
@jobs_option
@json_option
def report(run: Path, at: str | None, jobs: int, as_json: bool) -> None:
    """Write RUN/report.html, one file that needs nothing else: curves, error bands, tests, tables.

    \b
      $ scenthound lab report runs/first
    """
    from scenthound.lab.measure.comparison import measure_if_stale, open_run, split_points
    from scenthound.lab.report.experiment_report import write_report

    opened = open_run(run)
    points = split_points(numbers(at, "--at"), opened.spec.limits.pages)[0] if at else None
    with TaskProgress("measuring, topics", as_json) as progress:
        points = measure_if_stale(opened, points, jobs=jobs, progress=progress)
    path = write_report(opened, points)
    emit({"report": str(path)}) if as_json else click.echo(path)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("names", nargs=-1, metavar="A B…")
@option("--metric", "NAME", "What to compare.", default="target_recall", show_default=True)
@option("--at", "N,…", "After how many pages.  [default: the last]")
@option("--against", "RUN2", "Take B from another run.", type=click.Path(path_type=Path))
@jobs_option
@json_option
def compare(
    run: Path, names: tuple[str, ...], metric: str, at: str | None, against: Path | None, jobs: int, as_json: bool
) -> None:
    """Is strategy A better than B? A paired one-tailed t test over topics, as a sentence.

    With more than two names the first is tested against each of the others, and with none every pair is tested
    both ways; then p values are adjusted (Holm). Two runs are compared if bed, limits and seeds are the same.

    \b
      $ scenthound lab compare runs/first best-n-first breadth-first --metric target_recall --at 500
      $ scenthound lab compare runs/first best-first best-first --against runs/second
      $ scenthound lab compare runs/first --json
    """
    from scenthound.lab.measure.comparison import as_json as plain
    from scenthound.lab.measure.comparison import (
        compare_across,
        compare_within,
        open_run,
        split_points,
        with_display_names,
    )
    from scenthound.lab.measure.statistics import sentence
    from scenthound.lab.run.spec import FILE

    if against is None and len(names) == 3 and (Path(names[1]) / FILE).exists():  # RUN1 A RUN2 B
        against, names = Path(names[1]), (names[0], names[2])
    opened = open_run(run)
    pages = opened.spec.limits.pages
    points, beyond = split_points(numbers(at, "--at") if at else [pages], pages)
    if beyond:
        raise BadUsage(f"no value at {beyond[0]:,}: the crawls have {pages:,} pages", f"give up to --at {pages}")
    given = dict(opened.spec.given)
    with TaskProgress("measuring, topics", as_json) as progress:
        if against is None:
            comparisons = compare_within(opened, names, metric, points, jobs=jobs, progress=progress)
        elif len(names) != 2:
            raise BadUsage("two runs are compared by one strategy of each", f"name two: {run} A {against} B")
        else:
            pair, other = (names[0], names[1]), open_run(against)
            given |= other.spec.given
            comparisons = compare_across((opened, other), pair, metric, points, jobs=jobs, progress=progress)
    if as_json:
        documents = [plain(comparison, given) for comparison in comparisons]
        emit(documents[0] if len(documents) == 1 else documents)
        return
    for comparison in comparisons:
        click.echo(printable(sentence(with_display_names(comparison, given))))
        if comparison.left_out:
            say(f"Left out, because they have no value: {printable(', '.join(comparison.left_out), 300)}")


def show_summary(experiment: Experiment, points: Sequence[int], metrics: Sequence[str] | None = SHOWN) -> None:
    """Print a table of means ± standard errors for each metric."""
    from scenthound.lab.measure.measure import summary
    from scenthound.lab.run.spec import display_name

    summaries = summary(experiment, points, metrics)
    names = list(dict.fromkeys(name for values in summaries.values() for name in values))
    console = out()
    for name in [*(name for name in SHOWN if name in names), *(name for name in names if name not in SHOWN)]:
        rows = []
        for strategy, values in summaries.items():
            cells = values.get(name, {})
            means = [f"{_number(cell['mean'])} ± {_number(cell['se'])}" for cell in cells.values()]
            topics = {cell["topics"] for cell in cells.values()}
            if any(topics):
                counts = "/".join(map(str, sorted(topics, key=lambda n: n or 0)))
                rows.append((display_name(strategy, experiment.spec.given), *means, counts))
        if rows:
            heads = (name, *(f"{point:,} pages" for point in points), "topics")
            console.print(table(heads, rows, numbers=range(1, len(points) + 2)))
    if experiment.spec.given:
        rows = [(strategy, ", ".join(needs)) for strategy, needs in experiment.spec.given.items()]
        console.print(table(("strategy", "given beyond keywords and seeds"), rows))


def numbers(text: str, what: str) -> list[int]:
    """`0,1,2` as numbers."""

    try:
        values = [int(part.strip().replace("_", "")) for part in text.split(",") if part.strip()]
    except ValueError:
        values = []
    if not values:
        raise BadUsage(f"`{what} {text}` is no list of whole numbers", f"write it as {what} 1,2,3")
    return list(dict.fromkeys(values))


def _metrics(text: str | None, as_json: bool) -> list[str] | None:
    from scenthound.lab.measure.metrics import get_metric

    if text is None:
        return None if as_json else list(SHOWN)
    names = [part.strip() for part in text.split(",") if part.strip()]
    if names == ["all"]:
        return None
    for name in names:
        get_metric(name)
    return names


def _number(value: float | int | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"
