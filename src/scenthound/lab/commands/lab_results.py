"""`scenthound lab measure`, `report` and `compare`: the commands that evaluate an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.output import emit, json_option, option, out, say, table
from scenthound.errors import BadUsage
from scenthound.extras import require
from scenthound.formats import printable
from scenthound.lab.commands.lab_progress import TaskProgress

if TYPE_CHECKING:
    from scenthound.lab.measure.equal_pages import Unit
    from scenthound.lab.run.experiment import Experiment

SHOWN = ("target_recall", "description_precision", "harvest_rate")

group_option = option(
    "--group-by",
    "GROUPING",
    "How to group topics in the statistics: category (same path), topic (no groups), or N (same first N path levels).",
    default="category",
    show_default=True,
)
unit_option = option(
    "--by unit",
    "UNIT",
    "What --at counts: pages, or requests (including dead links).",
    type=click.Choice(["pages", "requests"]),
    default="pages",
    show_default=True,
)
jobs_option = option("--jobs", "N", "Processes to use.", type=click.IntRange(min=1), default=2, show_default=True)


@click.command()
@click.argument("run", required=False, type=click.Path(path_type=Path))
@option("--at", "100,250,…", "Page counts to print values for.  [default: the same as last time]")
@option(
    "--metric metrics",
    "NAME,…",
    "Only these metrics, e.g. coverage:top=10, or all.  [default: target_recall, description_precision, harvest_rate]",
)
@click.option(
    "--topics", is_flag=True, help="Print characteristics of the topics, and their correlation with the final values."
)
@option("--trail", "FILE", "Measure the trail of any crawler instead of RUN.", type=click.Path(path_type=Path))
@option("--bed", "BED", "With --trail: the bed that was crawled.", type=click.Path(path_type=Path))
@option("--topic", "ID", "With --trail: the topic of the crawl.")
@unit_option
@group_option
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
    precision. With --trail it measures one crawl by any crawler: FILE has a JSON line with a `url` for each page.

    \b
      $ scenthound lab measure runs/first --at 100,250,500,1000
      $ scenthound lab measure runs/first --json
      $ scenthound lab measure runs/first --topics
      $ scenthound lab measure --trail mine.jsonl --bed beds/demo --topic T01
    """
    require("lab", "`lab measure`")
    from scenthound.lab.measure.compare_crawlers import measure_if_stale, open_run
    from scenthound.lab.measure.measure import CORRELATED

    unit, group_by = options.pop("unit"), options.pop("group_by")
    chosen = _metrics(metrics, as_json)
    if (run is None) == (trail is None):
        raise BadUsage(
            "give either a run or a trail to measure", "give the folder RUN, or --trail FILE --bed BED --topic ID"
        )
    if trail is not None and topics:
        raise BadUsage(
            "--topics needs several crawls, and a trail is only one", "leave out --topics, or give the folder RUN"
        )
    if trail is not None:
        _measure_trail(trail, at, chosen, as_json, **options)
        return
    assert run is not None
    jobs = options["jobs"]
    opened = open_run(run)
    points = _points(opened, at, unit)
    with TaskProgress("measuring topics", as_json) as progress:
        if topics or unit == "requests":
            points = measure_if_stale(
                opened,
                points or [opened.spec.limits.pages],
                show=False,
                jobs=jobs,
                progress=progress,
                metrics=chosen or (),
            )
        else:
            points = measure_if_stale(opened, points, jobs=jobs, progress=progress, metrics=chosen or ())
    if topics:
        _topics(opened, points, chosen if metrics else CORRELATED, as_json)
    elif as_json:
        emit(_summary_json(opened, points, chosen, unit, group_by))
    else:
        show_summary(opened, points, chosen, unit, group_by)


def _points(run: Experiment, at: str | None, unit: Unit) -> tuple[int, ...] | None:
    """The points of `--at` that the crawls reach. Default: a fixed series of requests; for pages None, as last time."""
    from scenthound.lab.measure.by_cost import default_request_points
    from scenthound.lab.measure.compare_crawlers import split_points

    if unit == "pages":
        return split_points(parse_int_list(at, "--at"), run.spec.limits.pages)[0] if at else None
    last = max((outcome.attempts for outcome in run.outcomes().values()), default=1)
    return split_points(parse_int_list(at, "--at"), last, unit)[0] if at else default_request_points(last)


def _summary_json(
    run: Experiment, points: Sequence[int], metrics: Sequence[str] | None, unit: Unit, group_by: str
) -> dict[str, Any]:
    """The summary as JSON data; `ended` of a value is the number of topics whose crawl had already ended."""
    from scenthound.lab.measure.equal_pages import crawl_lengths, ended_crawls
    from scenthound.lab.measure.measure import summary

    ended = ended_crawls(crawl_lengths(run, unit), points)
    table = summary(run, points, metrics, group_by, unit == "requests")
    for name, values in table.items():
        for cells in values.values():
            for point, cell in cells.items():
                cell["ended"] = ended.get(name, {}).get(point, (0, 0))[0]
    return table


def _topics(run: Experiment, points: Sequence[int], metrics: Sequence[str] | None, as_json: bool) -> None:
    """Print the characteristics of the topics and their rank correlation (Spearman) with the measures."""
    from scenthound.lab.measure.measure import load_characteristics, topic_correlations
    from scenthound.lab.run.spec import display_name
    from scenthound.lab.topics.characteristics import NAMES

    topics = {topic: asdict(row) for topic, row in load_characteristics(run).items()}
    correlations = topic_correlations(run, points, metrics)
    if as_json:
        emit({"topics": topics, "correlations": correlations})
        return
    heads = [name.replace("_", "\n") for name in NAMES]  # on several lines, to fit the table on a terminal
    right = range(1, len(NAMES) + 2)
    console = out()
    rows = [(topic, *map(_format_value, values.values())) for topic, values in topics.items()]
    console.print(table(("topic", *heads), rows, numbers=right))
    measured = {metric for values in correlations.values() for metric in values}
    for metric in sorted(measured) if metrics is None else [name for name in metrics if name in measured]:
        for point in points:
            rows = []
            for strategy, values in correlations.items():
                cells = values.get(metric, {}).get(point, {})
                counts = sorted({int(cell["topics"] or 0) for cell in cells.values()})
                if any(counts):
                    rhos = (_format_value(cells[name]["rho"]) for name in NAMES)
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
        raise BadUsage("a trail can't be measured without its bed and topic", "add --bed BED and --topic ID")
    opened = Bed.open(bed)
    bed_topic = choose_topics(opened.topics, [topic])[0]
    with TaskProgress("preparing the bed: pages read", as_json) as progress:
        prepared = prepare(opened, jobs=jobs, progress=progress)
    values = measure_trail(trail, prepared, bed_topic, parse_int_list(at, "--at") if at else None)
    selected = {name: points for name, points in values.items() if chosen is None or name in chosen}
    if as_json:
        document = {
            name: {n: {"mean": v, "se": None, "topics": int(v is not None)} for n, v in points.items()}
            for name, points in selected.items()
        }
        emit({trail.name: document})
        return
    points = list(next(iter(values.values()), {}))
    rows = [(name, *(_format_value(selected[name][point]) for point in points)) for name in selected]
    out().print(table(("metric", *(f"{point:,} pages" for point in points)), rows, numbers=range(1, len(points) + 1)))


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@option("--at", "100,250,…", "Page counts to show in tables.  [default: the same as last time]")
@click.option(
    "--figures", is_flag=True, help="Also write the plots known from the papers to RUN/figures, as CSV, SVG and LaTeX."
)
@group_option
@jobs_option
@json_option
def report(run: Path, at: str | None, figures: bool, group_by: str, jobs: int, as_json: bool) -> None:
    """Write RUN/report.html, a single self-contained file: curves, error bands, tests, tables.

    --figures adds the plots known from the papers: coverage against n, mean ranks, recall and recall per CPU second
    over time, goals fetched and recognised.

    \b
      $ scenthound lab report runs/first
      $ scenthound lab report runs/first --figures
    """
    require("lab", "`lab report`")
    from scenthound.lab.measure.compare_crawlers import measure_if_stale, open_run, split_points
    from scenthound.lab.report.downloads import figure_metrics, write_figures
    from scenthound.lab.report.experiment_report import write_report

    opened = open_run(run)
    points = split_points(parse_int_list(at, "--at"), opened.spec.limits.pages)[0] if at else None
    with TaskProgress("measuring topics", as_json) as progress:
        extra_metrics = figure_metrics() if figures else ()
        points = measure_if_stale(opened, points, jobs=jobs, progress=progress, metrics=extra_metrics)
    path = write_report(opened, points, group_by)
    files = [str(file) for file in write_figures(opened, group_by)] if figures else []
    if as_json:
        emit({"report": str(path), **({"figures": files} if figures else {})})
        return
    for written in (path, *files):
        click.echo(written)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("names", nargs=-1, metavar="A B…")
@option("--metric", "NAME", "Metric to compare.", default="target_recall", show_default=True)
@option("--at", "N,…", "Compare after N pages.  [default: at the end]")
@option("--against", "RUN2", "Take B from this other run.", type=click.Path(path_type=Path))
@unit_option
@group_option
@jobs_option
@json_option
def compare(
    run: Path,
    names: tuple[str, ...],
    metric: str,
    at: str | None,
    against: Path | None,
    unit: Unit,
    group_by: str,
    jobs: int,
    as_json: bool,
) -> None:
    """Test whether strategy A is better than B (paired one-tailed t test over topics), and print the result.

    With more than two names the first is tested against each of the others, and with none every pair is tested in both
    directions; in these cases p values are Holm-adjusted. Two runs can be compared if bed, limits, seeds and
    targets are equal.

    Topics of one category are not independent: errors are cluster-robust, and the sentence says how many categories
    there are. If one crawl ended early, rates are compared at the length of the shorter crawl; recall keeps its last
    value.

    \b
      $ scenthound lab compare runs/first best-n-first breadth-first --metric target_recall --at 500
      $ scenthound lab compare runs/first hound hound --against runs/second
      $ scenthound lab compare runs/first --json
    """
    require("lab", "`lab compare`")
    from scenthound.lab.measure.compare_crawlers import (
        Question,
        compare_across,
        compare_within,
        open_run,
        split_points,
        with_display_names,
    )
    from scenthound.lab.measure.compare_crawlers import as_json as plain
    from scenthound.lab.measure.statistics import sentence
    from scenthound.lab.run.spec import FILE

    if against is None and len(names) == 3 and (Path(names[1]) / FILE).exists():  # RUN1 A RUN2 B
        against, names = Path(names[1]), (names[0], names[2])
    opened = open_run(run)
    last = opened.spec.limits.pages
    if unit == "requests":
        last = max(outcome.attempts for outcome in opened.outcomes().values())
    points, beyond = split_points(parse_int_list(at, "--at") if at else [last], last, unit)
    if beyond:
        raise BadUsage(
            f"there is no value at {beyond[0]:,}: the crawls end after {last:,} {unit}", f"use at most --at {last}"
        )
    question = Question(metric, points, group_by, unit)
    extra_inputs = dict(opened.spec.given)
    with TaskProgress("measuring topics", as_json) as progress:
        if against is None:
            comparisons = compare_within(opened, names, question, jobs=jobs, progress=progress)
        elif len(names) != 2:
            raise BadUsage("comparing two runs requires one strategy from each", f"give both: {run} A {against} B")
        else:
            pair, other = (names[0], names[1]), open_run(against)
            extra_inputs |= other.spec.given
            comparisons = compare_across((opened, other), pair, question, jobs=jobs, progress=progress)
    if as_json:
        documents = [plain(comparison, extra_inputs) for comparison in comparisons]
        emit(documents[0] if len(documents) == 1 else documents)
        return
    for comparison in comparisons:
        click.echo(printable(sentence(with_display_names(comparison, extra_inputs))))
        if comparison.left_out:
            say(f"Left out, because they have no value: {printable(', '.join(comparison.left_out), 300)}")
    for name in dict.fromkeys(name for comparison in comparisons for name in (comparison.first, comparison.second)):
        if name in extra_inputs:
            say(f"{printable(name)} was given, besides keywords and seeds: {', '.join(extra_inputs[name])}.")


def show_summary(
    experiment: Experiment,
    points: Sequence[int],
    metrics: Sequence[str] | None = SHOWN,
    unit: Unit = "pages",
    group_by: str = "category",
) -> None:
    """Print a table of means ± standard errors for each metric, and which crawls ended early."""
    from scenthound.lab.measure.equal_pages import crawl_lengths, ended_crawls
    from scenthound.lab.measure.measure import summary
    from scenthound.lab.measure.metrics import get_metric
    from scenthound.lab.run.spec import display_name

    summaries = summary(experiment, points, metrics, group_by, unit == "requests")
    ended = ended_crawls(crawl_lengths(experiment, unit), points)
    names = list(dict.fromkeys(name for values in summaries.values() for name in values))
    console = out()
    for name in [*(name for name in SHOWN if name in names), *(name for name in names if name not in SHOWN)]:
        rows = []
        for strategy, values in summaries.items():
            cells = values.get(name, {})
            marks = [
                " †" if get_metric(name).is_rate and ended.get(strategy, {}).get(point, (0, 0))[0] else ""
                for point in cells
            ]
            means = [
                f"{_format_value(cell['mean'])} ± {_format_value(cell['se'])}{mark}"
                for cell, mark in zip(cells.values(), marks, strict=True)
            ]
            counts = [_distinct_counts(cell[key] for cell in cells.values()) for key in ("topics", "groups")]
            if any(cell["topics"] for cell in cells.values()):
                rows.append((display_name(strategy, experiment.spec.given), *means, *counts))
        if rows:
            heads = (name, *(f"{point:,} {unit}" for point in points), "topics", "groups")
            if all(topics == groups for *_, topics, groups in rows):  # every topic is its own group
                heads, rows = heads[:-1], [row[:-1] for row in rows]
            console.print(table(heads, rows, numbers=range(1, len(heads))))
    _show_ended(experiment, ended, points, unit)
    _explain_oracles(summaries)
    if inputs := experiment.spec.inputs:
        rows = [(name, ", ".join(kinds)) for name, kinds in inputs.items()]
        console.print(table(("strategy", "input besides keywords and seeds"), rows))


def _distinct_counts(values: Iterable[float | int | None]) -> str:
    return "/".join(map(str, sorted({int(value or 0) for value in values})))


def _explain_oracles(names: Iterable[str]) -> None:
    from scenthound.lab.run.oracles import EXPLAINED

    for name in names:
        if name in EXPLAINED:
            say(f"{name}: {EXPLAINED[name]}.")


def _show_ended(
    experiment: Experiment, ended: Mapping[str, Mapping[int, tuple[int, int]]], points: Sequence[int], unit: Unit
) -> None:
    """Print how many crawls had ended before each point. (The path oracle ends when it has found all targets.)"""
    rows = [
        (name, *(f"{ended[name][point][0]} of {ended[name][point][1]}" for point in points))
        for name in experiment.spec.strategies
        if name in ended
    ]
    if not rows:
        return
    heads = ("topics whose crawl had ended", *(f"before {point:,}" for point in points))
    out().print(table(heads, rows, numbers=range(1, len(points) + 1)))
    say(
        "A crawl that ended keeps its last value. † marks a rate over fewer pages than its column says, so it can't be "
        f"compared within the column; `lab compare` compares both crawls after the same number of {unit}."
    )


def parse_int_list(text: str, option_name: str) -> list[int]:
    """Parse a list such as `0,1,2`; errors mention `option_name`."""
    try:
        values = [int(part.strip().replace("_", "")) for part in text.split(",") if part.strip()]
    except ValueError:
        values = []
    if not values:
        raise BadUsage(f"`{option_name} {text}` is not a list of whole numbers", f"for example: {option_name} 1,2,3")
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


def _format_value(value: float | int | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"
