"""`scenthound lab run`: strategies x topics x seed numbers on a bed, each a crawl, all under the same limits."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.app import INTERRUPTED
from scenthound.cli.lab_beds import pair
from scenthound.cli.lab_progress import Pieces
from scenthound.cli.lab_results import numbers, show_summary
from scenthound.cli.output import emit, json_option, out, say, table

if TYPE_CHECKING:
    from scenthound.lab.beds.prepare_pages import Cut
    from scenthound.lab.run.cells import Cell, Outcome
    from scenthound.lab.run.experiment import Experiment
    from scenthound.lab.run.polite_replay import PoliteLimits
    from scenthound.lab.run.run_cell import ReplayLimits

FAILURES = 5  # shown on the terminal; the folder and the report have them all


@click.command()
@click.argument("bed", type=click.Path(path_type=Path))
@click.option(
    "--strategies", required=True, metavar="A,B:n=64", help="Strategies, each with its parameters after colons."
)
@click.option("--topics", metavar="N|ID,…", help="The first N topics, or those with these ids.  [default: all]")
@click.option("--topics-file", type=click.Path(path_type=Path), metavar="FILE", help="Topics other than the bed's own.")
@click.option("--pages", type=click.IntRange(min=1), help="Pages of each crawl.  [default: the profile's; open: 1000]")
@click.option(
    "--seeds-per-run",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Only a topic's first N seeds.  [default: all]",
)
@click.option(
    "--seed-numbers", default="0", show_default=True, metavar="0,1", help="A crawl for each; averaged by topic."
)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Crawls at a time.")
@click.option(
    "--at", metavar="100,250,…", help="Pages after which values are shown.  [default: 100,250,500,1000 and the last]"
)
@click.option("--profile", default="open", show_default=True, help="Limits of a paper: open, exp, biz or graph.")
@click.option(
    "--in-flight", type=click.IntRange(min=1), metavar="N", help="Imitate N threads.  [default: the profile's]"
)
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE",
              help="Another limit: frontier, spread, static, redirects, page_bytes, url_length.")  # fmt: skip
@click.option("--polite", is_flag=True, help="Let hosts rest, on a virtual clock: the order of a live crawl.")
@click.option("--delay", type=float, metavar="S", help="With --polite: seconds that a host rests.  [default: 1]")
@click.option("--latency", type=float, metavar="S", help="With --polite: median seconds to a reply.  [default: 0.2]")
@click.option("--sigma", type=float, metavar="X", help="With --polite: spread of the latency's log.  [default: 0.5]")
@click.option("--concurrency", type=int, metavar="N", help="With --polite: requests in flight.  [default: 32]")
@click.option("--order", metavar="NAME", help="With --polite: auto, quality or speed.  [default: auto]")
@click.option("--time", "seconds", type=float, metavar="S", help="With --polite: end after so many virtual seconds.")
@click.option("--robustness", is_flag=True, help="Also crawl from two halves of the seeds, and see how alike both are.")
@click.option("--no-oracles", is_flag=True, help="Leave out the reference lines.")
@click.option(
    "--out", "folder", required=True, type=click.Path(path_type=Path), metavar="RUN", help="The experiment's folder."
)
@json_option
def run(
    bed: Path,
    strategies: str,
    topics: str | None,
    topics_file: Path | None,
    pages: int | None,
    seeds_per_run: int,
    seed_numbers: str,
    jobs: int,
    at: str | None,
    profile: str,
    in_flight: int | None,
    pairs: tuple[str, ...],
    polite: bool,
    delay: float | None,
    latency: float | None,
    sigma: float | None,
    concurrency: int | None,
    order: str | None,
    seconds: float | None,
    robustness: bool,
    no_oracles: bool,
    folder: Path,
    as_json: bool,
) -> int:
    """Replay strategies on BED, one crawl for each topic and seed number, and measure them.

    What is done is kept: after Ctrl-C run the same command again to go on. A folder takes in more strategies,
    topics and seed numbers later, as long as bed and limits stay the same. Two reference lines are drawn beside:
    the path oracle knows the answers, the content oracle may read pages before they are fetched.

    With --polite hosts rest and replies take time, on a virtual clock; values by page and by second are shown.

    \b
      $ scenthound lab run beds/demo --strategies breadth-first,best-n-first:n=64 --pages 500 --out runs/first
      $ scenthound lab run beds/demo --strategies best-first --pages 500 --polite --out runs/polite
      $ scenthound lab report runs/first
    """
    from scenthound.lab.measure.comparison import measure_if_stale, split_points
    from scenthound.lab.run.experiment import RunOptions
    from scenthound.lab.run.experiment import run as run_experiment

    limits, cut = _limits(profile, {"pages": pages, "in_flight": in_flight}, dict(map(pair, pairs)))
    _check_spread(strategies, limits, pairs)
    asked = {"delay": delay, "latency": latency, "sigma": sigma, "concurrency": concurrency, "order": order,
             "seconds": seconds}  # fmt: skip
    limits = replace(limits, polite=_polite(polite, asked))
    points = _points(at, limits.pages, split_points)
    try:
        with Pieces("preparing the bed, pages read", as_json) as tell, _one_warning(tell):

            def heard(number: int, total: int, cell: Cell, outcome: Outcome) -> None:
                tell.begin("crawls")
                tell(number, total, f"{cell.strategy} on {cell.topic}")

            done = run_experiment(
                bed,
                strategies,
                folder,
                RunOptions(
                    topics=topics,
                    topics_file=topics_file,
                    limits=limits,
                    cut=cut,
                    seed_numbers=numbers(seed_numbers, "--seed-numbers"),
                    seeds_per_run=seeds_per_run,
                    robustness=robustness,
                    oracles=not no_oracles,
                ),
                jobs=jobs,
                progress=heard,
                preparing=tell,
            )
            tell.begin("measuring, topics")
            shown = measure_if_stale(done, points, jobs=jobs, progress=tell)
    except KeyboardInterrupt:
        return _interrupted(folder, as_json)
    _tell(done, shown, as_json)
    return 0


def _limits(profile: str, flags: Mapping[str, int | None], given: Mapping[str, str]) -> tuple[ReplayLimits, Cut]:
    """The profile's limits, with what was said otherwise."""
    from scenthound.errors import UnknownName
    from scenthound.lab.beds.prepare_pages import Cut
    from scenthound.lab.run.run_cell import PROFILES, ReplayLimits
    from scenthound.loop.settings import read

    if profile not in PROFILES:
        raise UnknownName.among("profile", profile, PROFILES)
    chosen = PROFILES[profile]
    cuts = {field.name for field in fields(Cut)}
    known = [*(field.name for field in fields(ReplayLimits) if field.name != "polite"), *cuts]
    for key in given:
        if key not in known:
            raise UnknownName.among("limit", key, known)
    said: dict[str, Any] = {**given, **{key: value for key, value in flags.items() if value is not None}}
    limits = read(ReplayLimits, {key: value for key, value in said.items() if key not in cuts}, "limit")
    cut = read(Cut, {key: value for key, value in said.items() if key in cuts}, "limit")
    return (
        replace(chosen.limits, **{key: getattr(limits, key) for key in said if key not in cuts}),
        replace(chosen.cut, **{key: getattr(cut, key) for key in said if key in cuts}),
    )


def _polite(is_polite: bool, flags: Mapping[str, Any]) -> PoliteLimits | None:
    from scenthound.errors import BadUsage
    from scenthound.lab.run.polite_replay import PoliteLimits

    given = {key: value for key, value in flags.items() if value is not None}
    if given and not is_polite:
        flag = "time" if "seconds" in given else next(iter(given))
        raise BadUsage(f"--{flag} is for polite replays", "add --polite")
    return PoliteLimits(**given) if is_polite else None


def _check_spread(strategies: str, limits: ReplayLimits, pairs: Sequence[str]) -> None:
    """Refuse a spread that was asked for and would be ignored. That of a profile is told of in the report."""
    from scenthound.lab.run.spec import parse_strategies
    from scenthound.wiring import make_strategy
    from scenthound.wiring.build import check_spread

    if any(text.partition("=")[0].strip() == "spread" for text in pairs):
        for spec in parse_strategies(strategies):
            check_spread(make_strategy(spec.name, spec.parameters), spec.label, limits.spread)


def _points(at: str | None, pages: int, checked: Any) -> Sequence[int] | None:
    if at is None:
        return None
    within, beyond = checked(numbers(at, "--at"), pages)
    if beyond:
        say(f"no value at {', '.join(map(str, beyond))}: the crawls have {pages:,} pages")
    found: Sequence[int] = within
    return found


@contextmanager
def _one_warning(tell: Pieces) -> Iterator[None]:
    """The first Ctrl-C says what happens and interrupts; the second is Python's own."""

    def warn(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        tell.stop()
        say("Finishing the crawls under way. Press Ctrl-C again to stop now; what is done is kept.")
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGINT, warn)
    except ValueError:  # not the main thread: somebody else hears the signal
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupted(folder: Path, as_json: bool) -> int:
    from scenthound.errors import BadConfig
    from scenthound.lab.run.experiment import open_experiment

    try:
        there = open_experiment(folder)
        done, cells = len(there.outcomes()), len(there.cells)
    except BadConfig:  # while the bed was still being prepared
        done = cells = 0
    if as_json:
        emit({"out": str(folder), "interrupted": True, "done": done, "cells": cells})
    else:
        say(f"Interrupted: {done:,} of {cells:,} crawls are done and kept. Run the same command again to go on.")
    return INTERRUPTED


def _show_times(done: Experiment) -> None:
    """Of a polite replay: how long it took, what was found each second, and what the hosts' rest cost."""
    from scenthound.lab.measure.by_time import times

    if done.spec.limits.polite is None:
        return
    rows = [
        (name, f"{one['seconds']:,.0f}", f"{one['pages_per_second']:.2f}", f"{one['out_of_order']:,.0f}",
         f"{one['waited']:,.0f}")
        for name, one in times(done).items()
    ]  # fmt: skip
    heads = ("means over crawls", "virtual seconds", "pages a second", "before better ones", "seconds waited")
    out().print(table(heads, rows, numbers=range(1, len(heads))))


def _tell(done: Experiment, points: Sequence[int], as_json: bool) -> None:
    from scenthound.exports.clean import clean
    from scenthound.lab.measure.by_time import times
    from scenthound.lab.measure.measure import summary

    failed = done.failures()
    if as_json:
        emit(
            {
                "out": str(done.folder),
                "bed": done.spec.name,
                "digest": done.spec.digest,
                "cells": len(done.cells),
                "failures": [{**cell.about, "error": outcome.error} for cell, outcome in failed],
                "troubles": [trouble._asdict() for trouble in done.problems],
                "given": {label: list(needs) for label, needs in done.spec.given.items()},
                "summary": summary(done, points),
                **({"virtual_time": times(done)} if done.spec.limits.polite is not None else {}),
            }
        )
        return
    show_summary(done, points)
    _show_times(done)
    for trouble in done.problems:
        some = f": {len(trouble.urls)} of {trouble.of}" if trouble.urls else ""
        say(f"topic {clean(trouble.topic)}: {trouble.what}{some}")
    for cell, outcome in failed[:FAILURES]:
        say(f"failed: {clean(cell.strategy)} on {clean(cell.topic)}: {clean(outcome.error, 200)}")
    if failed:
        say(f"{len(failed):,} crawls failed; all are in {done.folder}/failures.jsonl")
    say(f"Draw it with: scenthound lab report {done.folder}")
