"""`scenthound lab measure`, `report` and `compare`: what an experiment has shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scenthound.cli.lab_progress import Pieces
from scenthound.cli.output import emit, json_option, out, say, table

if TYPE_CHECKING:
    from scenthound.lab.run.experiment import Experiment

SHOWN = ("target_recall", "description_precision", "harvest_rate")

jobs_option = click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Processes.")


@click.command()
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("--at", metavar="100,250,…", help="Pages after which values are wanted.  [default: those shown last]")
@click.option(
    "--metric", "metrics", metavar="NAME,…", help="Only these; `all` shows all.  [default: three, and all with --json]"
)
@click.option(
    "--topics", is_flag=True, help="What kind of topics they are, and whether that goes with the values at the end."
)
@click.option("--trail", type=click.Path(path_type=Path), metavar="FILE", help="Measure any crawler's trail instead.")
@click.option("--bed", type=click.Path(path_type=Path), help="With --trail: the bed that was crawled.")
@click.option("--topic", metavar="ID", help="With --trail: the topic that was crawled for.")
@jobs_option
@json_option
def measure(
    run: Path | None,
    at: str | None,
    metrics: str | None,
    topics: bool,
    trail: Path | None,
    bed: Path | None,
    topic: str | None,
    jobs: int,
    as_json: bool,
) -> None:
    """Print means over topics and their standard errors, for every strategy and metric of RUN.

    With --topics it prints the topics' characteristics and their rank correlation with target recall and precision.
    With --trail it measures one crawl of any crawler: a file with a JSON object a line that has a `url`.

    \b
      $ scenthound lab measure runs/first --at 100,250,500,1000
      $ scenthound lab measure runs/first --json
      $ scenthound lab measure runs/first --topics
      $ scenthound lab measure --trail mine.jsonl --bed beds/demo --topic T01
    """
    from scenthound.errors import BadUsage
    from scenthound.lab.measure.comparison import measure_if_stale, open_run, split_points
    from scenthound.lab.measure.measure import CORRELATED, summary

    chosen = _metrics(metrics, as_json)
    if (run is None) == (trail is None):
        raise BadUsage("one thing to measure is needed", "name the folder RUN, or --trail FILE --bed BED --topic ID")
    if trail is not None and topics:
        raise BadUsage("one trail has one topic, and nothing to correlate", "leave out --topics, or name a folder RUN")
    if run is None:
        _foreign(trail, bed, topic, at, chosen, jobs, as_json)
        return
    opened = open_run(run)
    points = split_points(numbers(at, "--at"), opened.spec.limits.pages)[0] if at else None
    with Pieces("measuring, topics", as_json) as tell:
        if topics:
            points = measure_if_stale(
                opened, points or [opened.spec.limits.pages], show=False, jobs=jobs, progress=tell
            )
        else:
            points = measure_if_stale(opened, points, jobs=jobs, progress=tell)
    if topics:
        _topics(opened, points, chosen if metrics else CORRELATED, as_json)
    elif as_json:
        emit(summary(opened, points, chosen))
    else:
        show_summary(opened, points, chosen)


def _topics(run: Experiment, points: Sequence[int], metrics: Sequence[str] | None, as_json: bool) -> None:
    """What kind of topics they are, and Spearman's rank correlations with what the crawlers reached."""
    from scenthound.lab.measure.measure import load_characteristics, topic_correlations
    from scenthound.lab.run.spec import display_name
    from scenthound.lab.topics.characteristics_table import NAMES

    topics = {topic: {name: getattr(one, name) for name in NAMES} for topic, one in load_characteristics(run).items()}
    found = topic_correlations(run, points, metrics)
    if as_json:
        emit({"topics": topics, "correlations": found})
        return
    heads = [name.replace("_", "\n") for name in NAMES]  # on several lines, so that the table fits a terminal
    right = range(1, len(NAMES) + 2)
    console = out()
    rows = [(topic, *map(_number, one.values())) for topic, one in topics.items()]
    console.print(table(("topic", *heads), rows, numbers=right))
    measured = {metric for values in found.values() for metric in values}
    for metric in sorted(measured) if metrics is None else [one for one in metrics if one in measured]:
        for point in points:
            rows = []
            for strategy, values in found.items():
                one = values.get(metric, {}).get(point, {})
                counted = sorted({int(cell["topics"] or 0) for cell in one.values()})
                if any(counted):
                    told = (_number(one[name]["rho"]) for name in NAMES)
                    rows.append((display_name(strategy, run.spec.given), *told, "/".join(map(str, counted))))
            if rows:
                console.print(f"Spearman's rank correlation over topics with {metric} at {point:,} pages:")
                console.print(table(("crawler", *heads, "topics"), rows, numbers=right))


def _foreign(
    trail: Path | None, bed: Path | None, topic: str | None, at: str | None, chosen: Sequence[str] | None, jobs: int,
    as_json: bool,
) -> None:  # fmt: skip
    """A stranger's trail, told in the form of an experiment of one crawl."""
    from scenthound.errors import BadUsage
    from scenthound.lab.beds.bed import Bed
    from scenthound.lab.beds.prepared import prepare
    from scenthound.lab.measure.measure import measure_trail
    from scenthound.lab.run.spec import choose_topics

    if trail is None or bed is None or topic is None:
        raise BadUsage("a trail can't be judged alone", "add --bed BED and --topic ID")
    opened = Bed.open(bed)
    found = choose_topics(opened.topics, [topic])[0]
    with Pieces("preparing the bed, pages read", as_json) as tell:
        prepared = prepare(opened, jobs=jobs, progress=tell)
    values = measure_trail(trail, prepared, found, numbers(at, "--at") if at else None)
    kept = {name: points for name, points in values.items() if chosen is None or name in chosen}
    if as_json:
        told = {
            name: {n: {"mean": v, "se": None, "topics": int(v is not None)} for n, v in points.items()}
            for name, points in kept.items()
        }
        emit({trail.name: told})
        return
    points = list(next(iter(values.values()), {}))
    rows = [(name, *(_number(kept[name][point]) for point in points)) for name in kept]
    out().print(table(("metric", *(f"{point:,} pages" for point in points)), rows, numbers=range(1, len(points) + 1)))


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--at", metavar="100,250,…", help="Pages after which tables show values.  [default: those shown last]")
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
    with Pieces("measuring, topics", as_json) as tell:
        points = measure_if_stale(opened, points, jobs=jobs, progress=tell)
    path = write_report(opened, points)
    emit({"report": str(path)}) if as_json else click.echo(path)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("names", nargs=-1, metavar="A B…")
@click.option("--metric", default="target_recall", show_default=True, metavar="NAME", help="What to compare.")
@click.option("--at", metavar="N,…", help="After how many pages.  [default: the last]")
@click.option("--against", type=click.Path(path_type=Path), metavar="RUN2", help="Take B from another run.")
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
    from scenthound.errors import BadUsage
    from scenthound.exports.clean import clean
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
    with Pieces("measuring, topics", as_json) as tell:
        if against is None:
            found = compare_within(opened, names, metric, points, jobs=jobs, progress=tell)
        elif len(names) != 2:
            raise BadUsage("two runs are compared by one strategy of each", f"name two: {run} A {against} B")
        else:
            pair, other = (names[0], names[1]), open_run(against)
            given |= other.spec.given
            found = compare_across((opened, other), pair, metric, points, jobs=jobs, progress=tell)
    if as_json:
        told = [plain(one, given) for one in found]
        emit(told[0] if len(told) == 1 else told)
        return
    for one in found:
        click.echo(clean(sentence(with_display_names(one, given))))
        if one.left_out:
            say(f"Left out, for want of a value: {clean(', '.join(one.left_out), 300)}")


def show_summary(experiment: Experiment, points: Sequence[int], metrics: Sequence[str] | None = SHOWN) -> None:
    """Means ± standard errors for people: a table for each metric."""
    from scenthound.lab.measure.measure import summary
    from scenthound.lab.run.spec import display_name

    found = summary(experiment, points, metrics)
    names = list(dict.fromkeys(name for values in found.values() for name in values))
    console = out()
    for name in [one for one in SHOWN if one in names] + [one for one in names if one not in SHOWN]:
        rows = []
        for strategy, values in found.items():
            cells = values.get(name, {})
            told = [f"{_number(cell['mean'])} ± {_number(cell['se'])}" for cell in cells.values()]
            topics = {cell["topics"] for cell in cells.values()}
            if any(topics):
                counted = "/".join(map(str, sorted(topics, key=lambda n: n or 0)))
                rows.append((display_name(strategy, experiment.spec.given), *told, counted))
        if rows:
            heads = (name, *(f"{point:,} pages" for point in points), "topics")
            console.print(table(heads, rows, numbers=range(1, len(points) + 2)))
    if experiment.spec.given:
        rows = [(strategy, ", ".join(needs)) for strategy, needs in experiment.spec.given.items()]
        console.print(table(("strategy", "given beyond keywords and seeds"), rows))


def numbers(text: str, what: str) -> list[int]:
    """`0,1,2` as numbers."""
    from scenthound.errors import BadUsage

    try:
        found = [int(part.strip().replace("_", "")) for part in text.split(",") if part.strip()]
    except ValueError:
        found = []
    if not found:
        raise BadUsage(f"`{what} {text}` is no list of whole numbers", f"write it as {what} 1,2,3")
    return list(dict.fromkeys(found))


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
