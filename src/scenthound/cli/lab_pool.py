"""`scenthound lab pool`: measure live crawls together, as the papers did."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from scenthound.cli.output import emit, json_option, option, say


@click.command()
@click.argument("crawls", nargs=-1, required=True, type=click.Path(path_type=Path))
@option("--out", "DIR", "The folder of the new experiment.", required=True, type=click.Path(path_type=Path))
@option(
    "--topics",
    "FILE",
    "Targets: a topics.jsonl.  [default: what the judges of the crawls called relevant]",
    type=click.Path(path_type=Path),
)
@option("--jobs", "N", "Processes that read the pages.", type=click.IntRange(min=1), default=2, show_default=True)
@json_option
def pool(crawls: tuple[Path, ...], out: Path, topics: Path | None, jobs: int, as_json: bool) -> None:
    """Make an experiment of live CRAWLS: their pages are pooled, and their trails measured together.

    Crawls of one topic must have started at the same seeds. Further crawls of one strategy count as its next runs.

    \b
      $ scenthound lab pool crawls/best crawls/breadth --out runs/live
      $ scenthound lab measure runs/live --metric coverage:top=10
      $ scenthound lab report runs/live
    """
    from scenthound.lab.run.pooled import pool_crawls

    made = pool_crawls(crawls, out, topics, jobs)
    if as_json:
        spec = made.spec
        strategies, names = list(spec.strategies), list(spec.topics)
        emit({"run": str(out), "crawls": len(made.cells), "strategies": strategies, "topics": names})
        return
    click.echo(out)
    say(f"{len(made.cells):,} crawls of {len(made.spec.topics):,} topics by {len(made.spec.strategies):,} strategies")
    say(f"Measure them with: scenthound lab measure {shlex.quote(str(out))}")
