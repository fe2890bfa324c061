"""Commands that look at a crawl folder: `status`, `trail`, `explain`, `report`, `export`. A crawl may be running."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from scenthound.cli.talk import emit, json_option, out, say, table

if TYPE_CHECKING:
    from collections.abc import Generator

    from scenthound.crawl.folder import CrawlFolder
    from scenthound.exports import Exporter
    from scenthound.exports.explain import Explanation
    from scenthound.exports.facts import Facts
    from scenthound.model import Step
    from scenthound.store.memory import Lost

folder_argument = click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")


@click.command()
@folder_argument
@json_option
def status(folder: Path, as_json: bool) -> None:
    """Say how a crawl stands: pages, harvest, failures, best pages, why it ended.

    \b
      $ scenthound status balloons
      $ scenthound status balloons --json
    """
    from scenthound.crawl.folder import CrawlFolder
    from scenthound.exports.facts import gather

    with CrawlFolder.look(folder) as opened:
        facts = gather(opened)
    if as_json:
        emit({"folder": str(folder), **facts.as_plain()})
    else:
        show(facts)


def show(facts: Facts) -> None:
    """The figures of a crawl, for people."""
    from rich.text import Text

    from scenthound.exports.clean import clean
    from scenthound.exports.report import duration, size

    console = out()
    rows = [
        ("topic", facts.asked.topic.keywords),
        ("strategy", facts.asked.strategy),
        ("ended", facts.why + (f" (process {facts.process})" if facts.process else "")),
        ("pages", f"{facts.pages:,} of {facts.asked.settings.pages:,}, {facts.rate:.1f}/s for {duration(facts.busy)}"),
        ("harvest", f"{facts.harvest:.1%} ({facts.relevant:,} relevant); last 100: {facts.harvest_recent:.1%}"),
        ("frontier", f"{facts.waiting:,} waiting; {len(facts.hosts):,} hosts; {size(facts.bytes)} received"),
        ("failed", _listed(facts.misses) or "nothing"),
        ("not followed", _listed(facts.refused) or "nothing"),
    ]
    for name, value in rows:
        console.print(Text(f"{name:>12}  ", style="bold") + Text(clean(value)), soft_wrap=True)
    if facts.best:
        best = [(f"{s.similarity:.3f}", clean(s.title, 46) or "(no title)", clean(s.url, 60)) for s in facts.best[:5]]
        console.print(table(("similarity", "best pages", "url"), best, numbers=[0]))


def _listed(counts: dict[str, int], most: int = 8) -> str:
    parts = [f"{reason} {times:,}" for reason, times in list(counts.items())[:most]]
    return ", ".join(parts) + (f" and {len(counts) - most} more reasons" if len(counts) > most else "")


@click.command()
@folder_argument
@click.option("--misses", is_flag=True, help="Also requests that brought no page, with their reason.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="Only the first N lines.")
@json_option
def trail(folder: Path, misses: bool, limit: int | None, as_json: bool) -> None:
    """Print what was fetched, in order, as JSON lines (with or without --json).

    Each line has n, url, parent, anchor, score, parts, similarity, depth, status, bytes and time. A seed's
    score is infinite, which JSON has no number for: it is the text "inf".

    \b
      $ scenthound trail balloons --limit 10
      $ scenthound trail balloons --misses | grep '"reason"'
    """
    from scenthound.crawl.folder import CrawlFolder
    from scenthound.exports.lines import as_line, miss_line, trail_line
    from scenthound.model import Step

    with CrawlFolder.look(folder) as opened:
        events = opened.history.events() if misses else opened.history.trail()
        with contextlib.closing(cast("Generator[Step | Lost]", events)):  # a query left half read outlives its database
            for event in itertools.islice(events, limit):
                click.echo(as_line(trail_line(event) if isinstance(event, Step) else miss_line(event)))


@click.command()
@folder_argument
@click.argument("url")
@json_option
def explain(folder: Path, url: str, as_json: bool) -> None:
    """Say why a page was fetched, or why it was not: the path from a seed to it, with anchors and scores.

    \b
      $ scenthound explain balloons https://example.org/envelopes.html
    """
    from scenthound.crawl.folder import CrawlFolder
    from scenthound.exports.explain import explain as explained

    with CrawlFolder.look(folder) as opened:
        found = explained(opened, url)
    if as_json:
        emit(found.as_plain())
    else:
        _tell(found)


def _tell(found: Explanation) -> None:
    from scenthound.exports.clean import clean
    from scenthound.exports.lines import plain_number

    click.echo(f"{clean(found.url)}\n{clean(found.why)}")
    if found.path:
        click.echo(
            "\nthe path from a seed:" if found.state == "crawled" else "\nthe page that offered it, from a seed:"
        )
        for place, step in enumerate(found.path):
            click.echo(_hop(place, step))
    if found.candidate is not None:
        waiting = found.candidate
        parts = ", ".join(f"{clean(name)} {value:.4g}" for name, value in waiting.parts.items())
        score = f"{plain_number(waiting.score)} ({parts})" if parts else plain_number(waiting.score)
        click.echo(f"\noffered by “{clean(waiting.anchor, 80)}” with score {score}")
    for request in found.requests:
        click.echo(f"  request: {clean(request.reason)} {clean(request.detail, 120)}".rstrip())
    if found.state in ("refused", "not-kept", "unknown"):
        if found.linked_from:
            click.echo("linked from: " + ", ".join(clean(source, 100) for source in found.linked_from))
        if found.counts:
            click.echo("not followed on its host: " + _listed(found.counts))
        if found.near:
            click.echo("did you mean: " + " or ".join(clean(near, 120) for near in found.near))


def _hop(place: int, step: Step) -> str:
    from scenthound.exports.clean import clean

    anchor = f"by “{clean(step.anchor, 80)}”, " if step.anchor else ""
    parts = ", ".join(f"{clean(name)} {value:.4g}" for name, value in step.parts.items())
    score = "a seed" if step.parent is None else f"{anchor}score {step.score:.4g}" + (f" ({parts})" if parts else "")
    title = f"  {clean(step.title, 80)}\n{'':6}" if step.title else "  "
    facts = f"page {step.n}, rank {step.rank}, {score}, similarity {step.similarity:.4f}"
    return f"{place:>4}{title}{clean(step.url, 160)}\n{'':6}{facts}"


@click.command()
@folder_argument
@json_option
def report(folder: Path, as_json: bool) -> None:
    """Write report.html anew: harvest curve, best pages, hosts, errors, why it ended.

    \b
      $ scenthound report balloons
    """
    from scenthound.crawl.folder import CrawlFolder
    from scenthound.exports.report import write_report

    with CrawlFolder.look(folder) as opened:
        path = write_report(opened)
    emit({"report": str(path)}) if as_json else click.echo(path)


@click.command()
@folder_argument
@click.option("--to", "name", required=True, metavar="FORMAT", help="jsonl, csv, parquet, wacz or gexf.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Where to; - is stdout.  [default: DIR/NAME.FORMAT]",
)
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@json_option
def export(folder: Path, name: str, output: Path | None, force: bool, as_json: bool) -> None:
    """Write a crawl as JSONL, CSV, Parquet, WACZ or GEXF, and print where.

    \b
      $ scenthound export balloons --to wacz
      $ scenthound export balloons --to csv --output balloons.csv
      $ scenthound export balloons --to jsonl --output - | head
    """
    from scenthound.crawl.folder import CrawlFolder
    from scenthound.errors import BadUsage
    from scenthound.exports import SHELF

    writer = SHELF.get(name)
    with CrawlFolder.look(folder) as opened:
        if output == Path("-"):
            if as_json:
                raise BadUsage("--json and --output - both want stdout", "leave one of them out")
            writer(opened, sys.stdout.buffer)
            return
        path = output or folder / f"{folder.resolve().name}.{name}"
        if output is not None and path.exists() and not force:
            raise BadUsage(f"{path} exists", "name another file, or add --force")
        pages = _write(path, writer, opened)
    size = path.stat().st_size
    if as_json:
        emit({"file": str(path), "format": name, "pages": pages, "bytes": size})
    else:
        click.echo(path)
        say(f"{pages:,} pages, {size:,} bytes")


def _write(path: Path, writer: Exporter, opened: CrawlFolder) -> int:
    """Whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            stream: BinaryIO = file
            pages = writer(opened, stream)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return pages
