"""`scenthound lab pool`: turn live crawls into an experiment and measure them together, as the papers did."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from scenthound.cli.output import emit, json_option, option, say


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
