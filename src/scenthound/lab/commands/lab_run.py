"""`scenthound lab run`: run every combination of strategy, topic and random seed on a bed, under the same limits; and
`scenthound lab pool`: turn live crawls into an experiment and measure them together, as the papers did.
"""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.output import emit, json_option, key_value, option, out, repeatable, say, table
from scenthound.cli.root_command import INTERRUPTED
from scenthound.errors import BadConfig, BadUsage, UnknownName
from scenthound.extras import require
from scenthound.formats import printable
from scenthound.lab.commands.lab_progress import TaskProgress
from scenthound.lab.commands.lab_results import parse_int_list, show_summary
from scenthound.parameters import values_of

if TYPE_CHECKING:
    from scenthound.lab.beds.prepare_bed import Cut
    from scenthound.lab.run.cells import Cell, Outcome
    from scenthound.lab.run.experiment import Experiment
    from scenthound.lab.run.polite_replay import PoliteLimits
    from scenthound.lab.run.run_cell import ReplayLimits
    from scenthound.lab.run.spec import StrategySpec


POLITE = ("delay", "latency", "sigma", "concurrency", "order", "seconds")
FAILURES_SHOWN = 5  # on the terminal; failures.jsonl and the report list all of them


@click.command()
@click.argument("bed", type=click.Path(path_type=Path))
@option("--strategies", "A,B:n=64", "Strategies, each with its parameters after colons.", required=True)
@option("--topics", "N|ID,…", "The first N topics, or the topics with these ids.  [default: all]")
@option("--topics-file", "FILE", "Use the topics of FILE instead of the bed's own.", type=click.Path(path_type=Path))
@option("--pages", "N", "Pages per crawl.  [default: the profile's; open: 1000]", type=click.IntRange(min=1))
@option("--requests", "N", "Requests per crawl, including dead links.  [default: no limit]", type=click.IntRange(min=1))
@option(
    "--seeds-per-run",
    "N",
    "Use only the first N seeds of each topic.  [default: all]",
    type=click.IntRange(min=0),
    default=0,
)
@option(
    "--start",
    "WHERE",
    "Where crawls start: seeds, examples, neighbours, distance=N or augmented.",
    default="seeds",
    show_default=True,
)
@option("--seed-numbers", "0,1", "Random seeds; one crawl for each, averaged by topic.", default="0", show_default=True)
@option("--jobs", "N", "Crawls to run at the same time.", type=click.IntRange(min=1), default=2, show_default=True)
@option("--at", "100,250,…", "Page counts to show values for.  [default: 100,250,500,1000 and the last]")
@option(
    "--profile",
    "NAME",
    "Preset limits: open, or those of a paper (exp, biz, graph, econ; see docs/papers.md).",
    default="open",
    show_default=True,
)
@option("--judge", "NAME", "Judge that decides which pages are relevant, e.g. `topic`.  [default: keywords]")
@option("--in-flight", "N", "Simulate N threads.  [default: the profile's]", type=click.IntRange(min=1))
@repeatable("--set pairs", "KEY=VALUE", "Any other limit: frontier, spread, static, redirects, page_bytes, url_length.")
@click.option(
    "--polite",
    is_flag=True,
    help="Simulate delays and latency on a virtual clock, to get the fetch order of a live crawl.",
)
@option("--delay", "S", "With --polite: seconds between two requests to a host.  [default: 1]", type=float)
@option("--latency", "S", "With --polite: median seconds to a reply.  [default: 0.2]", type=float)
@option("--sigma", "X", "With --polite: standard deviation of the latency's logarithm.  [default: 0.5]", type=float)
@option("--concurrency", "N", "With --polite: requests in flight.  [default: 32]", type=int)
@option("--order", "NAME", "With --polite: auto, quality or speed.  [default: auto]")
@option("--time seconds", "S", "With --polite: stop after this many virtual seconds.", type=float)
@click.option("--robustness", is_flag=True, help="Also crawl from each half of the seeds, and compare the two.")
@click.option("--no-oracles", is_flag=True, help="Leave out the oracles that are added for reference.")
@option("--out folder", "RUN", "Folder of the experiment.", required=True, type=click.Path(path_type=Path))
@json_option
def run(bed: Path, strategies: str, folder: Path, jobs: int, at: str | None, as_json: bool, **options: Any) -> int:
    """Replay strategies on BED, one crawl for each topic and seed number, and measure them.

    Finished crawls are kept: after Ctrl-C, run the same command again to continue. You can add strategies, topics and
    seed numbers to a folder later, as long as bed and limits stay the same. Two oracles are added for reference: the
    path oracle knows the answers; the content oracle can read pages before they are fetched, and is not an upper bound.

    With --polite, delays between requests to a host and the latency of replies are simulated on a virtual clock;
    results are shown by page and by second.

    \b
      $ scenthound lab run beds/demo --strategies breadth-first,best-n-first:n=64 --pages 500 --out runs/first
      $ scenthound lab run beds/demo --strategies hound --pages 500 --polite --out runs/polite
      $ scenthound lab report runs/first
    """
    require("lab", "`lab run`")
    from scenthound.lab.measure.compare_crawlers import measure_if_stale
    from scenthound.lab.run.experiment import RunOptions
    from scenthound.lab.run.experiment import run as run_experiment

    flags = {name: options.pop(name) for name in ("pages", "requests", "in_flight", "judge")}
    if flags["pages"] is None:
        flags["pages"] = flags["requests"]  # no crawl has more pages than requests
    overrides = dict(map(key_value, options.pop("pairs")))
    profile = options.pop("profile")
    limits, cut = _limits(profile, flags, overrides)
    chosen = _strategies(strategies, profile)
    limits = replace(limits, polite=_polite(options.pop("polite"), {name: options.pop(name) for name in POLITE}))
    if "spread" in overrides:
        _check_spread(chosen, limits.spread)
    points = _points(at, limits.pages)
    options["oracles"] = not options.pop("no_oracles")
    options["seed_numbers"] = parse_int_list(options["seed_numbers"], "--seed-numbers")
    try:
        with TaskProgress("preparing the bed: pages read", as_json) as progress, _warn_on_interrupt(progress):

            def cell_done(count: int, total: int, cell: Cell, outcome: Outcome) -> None:
                progress.begin("crawls")
                progress(count, total, f"{cell.strategy} on {cell.topic}")

            run_options = RunOptions(limits=limits, cut=cut, **options)
            experiment = run_experiment(
                bed, chosen, folder, run_options, jobs=jobs, progress=cell_done, preparing=progress
            )
            progress.begin("measuring topics")
            shown = measure_if_stale(experiment, points, jobs=jobs, progress=progress)
    except KeyboardInterrupt:
        return _interrupted(folder, as_json)
    _print_results(experiment, shown, as_json)
    return 0


def _limits(profile: str, flags: Mapping[str, int | None], overrides: Mapping[str, str]) -> tuple[ReplayLimits, Cut]:
    """The limits of the profile, overridden by the options."""
    from scenthound.lab.beds.prepare_bed import Cut
    from scenthound.lab.run.run_cell import PROFILES, ReplayLimits
    from scenthound.loop.settings import read

    if profile not in PROFILES:
        raise UnknownName.among("profile", profile, PROFILES)
    chosen = PROFILES[profile]
    cuts = {field.name for field in fields(Cut)}
    names = [*(field.name for field in fields(ReplayLimits) if field.name != "polite"), *cuts]
    for key in overrides:
        if key not in names:
            raise UnknownName.among("limit", key, names)
    changes: dict[str, Any] = {**overrides, **{key: value for key, value in flags.items() if value is not None}}
    limits = values_of(read(ReplayLimits, {key: value for key, value in changes.items() if key not in cuts}, "limit"))
    cut = values_of(read(Cut, {key: value for key, value in changes.items() if key in cuts}, "limit"))
    return (
        replace(chosen.limits, **{key: limits[key] for key in changes if key not in cuts}),
        replace(chosen.cut, **{key: cut[key] for key in changes if key in cuts}),
    )


def _strategies(text: str, profile: str) -> list[StrategySpec]:
    """Parse the strategies; missing parameters default to those of the profile's paper."""
    from scenthound.lab.run.run_cell import PROFILES
    from scenthound.lab.run.spec import parse_strategies

    published = PROFILES[profile].parameters
    specs = parse_strategies(text)
    return [replace(spec, parameters={**published.get(spec.name, {}), **spec.parameters}) for spec in specs]


def _polite(is_polite: bool, flags: Mapping[str, Any]) -> PoliteLimits | None:
    from scenthound.lab.run.polite_replay import PoliteLimits

    values = {key: value for key, value in flags.items() if value is not None}
    if values and not is_polite:
        flag = next(iter(values)).replace("seconds", "time")
        raise BadUsage(f"--{flag} needs --polite", "add --polite")
    return PoliteLimits(**values) if is_polite else None


def _check_spread(strategies: Sequence[StrategySpec], spread: int) -> None:
    """Refuse `--set spread` for a strategy that ignores it. If a profile sets it, only the report says so."""
    from scenthound.wiring.parts_from_settings import check_spread, make_strategy

    for spec in strategies:
        check_spread(make_strategy(spec.name, spec.parameters), spec.label, spread)


def _points(at: str | None, pages: int) -> Sequence[int] | None:
    from scenthound.lab.measure.compare_crawlers import split_points

    if at is None:
        return None
    within, beyond = split_points(parse_int_list(at, "--at"), pages)
    if beyond:
        say(f"note: there is no value at {', '.join(map(str, beyond))}, since the crawls end after {pages:,} pages")
    return within


@contextmanager
def _warn_on_interrupt(progress: TaskProgress) -> Iterator[None]:
    """On the first Ctrl-C, print what happens next and interrupt; Python handles the second as usual."""

    def warn(signal_number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        progress.stop()
        say("Finishing the running crawls. Press Ctrl-C again to stop now; finished crawls are kept.")
        raise KeyboardInterrupt

    try:
        previous = signal.signal(signal.SIGINT, warn)
    except ValueError:  # only the main thread can set signal handlers
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _interrupted(folder: Path, as_json: bool) -> int:
    from scenthound.lab.run.experiment import open_experiment

    try:
        experiment = open_experiment(folder)
        done, cells = len(experiment.outcomes()), len(experiment.cells)
    except BadConfig:  # interrupted while the bed was being prepared
        done = cells = 0
    if as_json:
        emit({"out": str(folder), "interrupted": True, "done": done, "cells": cells})
    else:
        say(f"Interrupted: {done:,} of {cells:,} crawls are finished and kept. Run the same command again to continue.")
    return INTERRUPTED


def _show_times(experiment: Experiment) -> None:
    """Print the times of a polite replay: duration, pages per second, and the cost of delays."""
    from scenthound.lab.measure.by_cost import times

    if experiment.spec.limits.polite is None:
        return
    rows = [
        (name, f"{mean['seconds']:,.0f}", f"{mean['pages_per_second']:.2f}", f"{mean['out_of_order']:,.0f}",
         f"{mean['waited']:,.0f}")
        for name, mean in times(experiment).items()
    ]  # fmt: skip
    heads = ("means over crawls", "virtual seconds", "pages per second", "fetched out of order", "seconds waited")
    out().print(table(heads, rows, numbers=range(1, len(heads))))


def _print_results(experiment: Experiment, points: Sequence[int], as_json: bool) -> None:
    from scenthound.lab.measure.by_cost import times
    from scenthound.lab.measure.measure import summary

    failed = experiment.failures()
    if as_json:
        emit(
            {
                "out": str(experiment.folder),
                "bed": experiment.spec.name,
                "digest": experiment.spec.digest,
                "cells": len(experiment.cells),
                "failures": [{**cell.about, "error": outcome.error} for cell, outcome in failed],
                "troubles": [problem._asdict() for problem in experiment.problems],
                "given": {name: list(kinds) for name, kinds in experiment.spec.inputs.items()},
                "summary": summary(experiment, points),
                **({"virtual_time": times(experiment)} if experiment.spec.limits.polite is not None else {}),
            }
        )
        return
    show_summary(experiment, points)
    _show_times(experiment)
    for problem in experiment.problems:
        count = f": {len(problem.urls)} of {problem.of}" if problem.urls else ""
        say(f"topic {printable(problem.topic)}: {problem.what}{count}")
    for cell, outcome in failed[:FAILURES_SHOWN]:
        say(f"failed: {printable(cell.strategy)} on {printable(cell.topic)}: {printable(outcome.error, 200)}")
    if failed:
        say(f"{len(failed):,} crawls failed; all are listed in {experiment.folder}/failures.jsonl")
    say(f"Plot the results with: scenthound lab report {shlex.quote(str(experiment.folder))}")


@click.command()
@click.argument("crawls", nargs=-1, required=True, type=click.Path(path_type=Path))
@option("--out", "DIR", "Folder of the new experiment.", required=True, type=click.Path(path_type=Path))
@option(
    "--topics",
    "FILE",
    "A topics.jsonl with the targets.  [default: the pages that the crawls' judges found relevant]",
    type=click.Path(path_type=Path),
)
@option(
    "--jobs", "N", "Processes to use for reading the pages.", type=click.IntRange(min=1), default=2, show_default=True
)
@json_option
def pool(crawls: tuple[Path, ...], out: Path, topics: Path | None, jobs: int, as_json: bool) -> None:
    """Turn live CRAWLS into an experiment: their pages are pooled, and their trails measured together.

    Crawls of one topic must have started from the same seeds. Several crawls with the same strategy count as its runs.

    \b
      $ scenthound lab pool crawls/best crawls/breadth --out runs/live
      $ scenthound lab measure runs/live --metric coverage:top=10
      $ scenthound lab report runs/live
    """
    from scenthound.lab.run.pooled import pool_crawls

    experiment = pool_crawls(crawls, out, topics, jobs)
    spec = experiment.spec
    if as_json:
        strategies, names = list(spec.strategies), list(spec.topics)
        emit({"run": str(out), "crawls": len(experiment.cells), "strategies": strategies, "topics": names})
        return
    click.echo(out)
    say(f"{len(experiment.cells):,} crawls: {len(spec.topics):,} topics, {len(spec.strategies):,} strategies")
    say(f"Measure them with: scenthound lab measure {shlex.quote(str(out))}")
