"""Commands that look at a crawl folder: `status`, `trail`, `explain`, `report`, `export`. A crawl may be running."""

from __future__ import annotations

import contextlib
import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from scenthound.cli.output import emit, json_option, out, say, table
from scenthound.cli.shell_words import exporters_named

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from scenthound.loop.folder import CrawlFolder
    from scenthound.model import Event, Lost, Step
    from scenthound.report.explain import Explanation
    from scenthound.report.facts import Facts

folder_argument = click.argument("folder", type=click.Path(path_type=Path, readable=False), metavar="DIR")


@click.command()
@folder_argument
@json_option
def status(folder: Path, as_json: bool) -> None:
    """Say how a crawl stands: pages, harvest, failures, best pages, why it ended.

    \b
      $ scenthound status balloons
      $ scenthound status balloons --json
    """
    from scenthound.loop.folder import CrawlFolder
    from scenthound.report.causes import why_nothing
    from scenthound.report.facts import FINAL, gather

    with CrawlFolder.look(folder) as opened:
        facts = gather(opened)
    if as_json:
        emit({"folder": str(folder), **facts.as_plain()})
        return
    show(facts)
    if not facts.pages and facts.ended in FINAL:
        say("\nhint: ".join(why_nothing(facts)))


def show(facts: Facts) -> None:
    """The figures of a crawl, for people."""
    from rich.text import Text

    from scenthound.exports.clean import clean
    from scenthound.report.crawl_report import duration, size

    console = out()
    waited = f"waited {duration(facts.waited)} for better hosts"
    rows = [
        ("topic", facts.asked.topic.keywords),
        ("strategy", facts.asked.strategy),
        ("ended", facts.why + (f" (process {facts.process})" if facts.process else "")),
        ("pages", f"{facts.pages:,} of {facts.budget:,}, {facts.rate:.1f}/s for {duration(facts.busy)}"),
        ("harvest", f"{facts.harvest:.1%} ({facts.relevant:,} relevant); last 100: {facts.harvest_recent:.1%}"),
        ("frontier", f"{facts.waiting:,} waiting; {facts.hosts_with_pages:,} hosts; {size(facts.bytes)} received"),
        ("order", f"{facts.out_of_order:,} requests before better ones whose hosts rested; {waited}"),
        ("failed", _listed(facts.misses) or "nothing"),
        ("not followed", _listed(facts.refused) or "nothing"),
    ]
    if facts.failures:
        rows.append(("no reply", _listed({reason: times for reason, (times, _) in facts.failures.items()})))
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
@click.option("--events", is_flag=True, help="Instead: what the strategy told of itself, as births of agents.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="Only the first N lines.")
@json_option
def trail(folder: Path, misses: bool, events: bool, limit: int | None, as_json: bool) -> None:
    """Print what was fetched, in order, as JSON lines (with or without --json).

    Each line has n, url, parent, anchor, score, parts, similarity, depth, status, bytes and time. A seed's
    score is infinite, which JSON has no number for: it is the text "inf".

    \b
      $ scenthound trail balloons --limit 10
      $ scenthound trail balloons --misses | grep '"reason"'
      $ scenthound trail balloons --events
    """
    from scenthound.errors import BadUsage
    from scenthound.exports.trail_lines import as_line, event_line, miss_line, trail_line
    from scenthound.loop.folder import CrawlFolder
    from scenthound.model import Event, Step

    if misses and events:
        raise BadUsage("--misses and --events ask for different things", "leave one of them out")
    with CrawlFolder.look(folder) as opened:
        history = opened.history
        lines: Iterator[Step | Lost | Event]
        lines = history.strategy_events() if events else history.events() if misses else history.trail()
        with contextlib.closing(cast("Generator[Step | Lost | Event]", lines)):  # half read it outlives its database
            for line in itertools.islice(lines, limit):
                if isinstance(line, Event):
                    click.echo(as_line(event_line(line)))
                else:
                    click.echo(as_line(trail_line(line) if isinstance(line, Step) else miss_line(line)))


@click.command()
@folder_argument
@click.argument("url")
@json_option
def explain(folder: Path, url: str, as_json: bool) -> None:
    """Say why a page was fetched, or why it was not: the path from a seed to it, with anchors and scores.

    \b
      $ scenthound explain balloons https://example.org/envelopes.html
    """
    from scenthound.errors import BadUsage, NotAUrl
    from scenthound.loop.folder import CrawlFolder
    from scenthound.report.explain import explain as explained

    with CrawlFolder.look(folder) as opened:
        try:
            found = explained(opened, url)
        except NotAUrl as error:
            raise BadUsage(error.message, "write the URL whole, as https://example.org/page") from None
    if as_json:
        emit(found.as_plain())
    else:
        _tell(found)


def _tell(found: Explanation) -> None:
    from scenthound.exports.clean import clean
    from scenthound.exports.trail_lines import plain_number

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
    for title, events in (("the strategy told of it:", found.told), ("its agents, and their forebears:", found.family)):
        if events:
            click.echo("\n" + "\n".join([title, *map(_event, events)]))
    for request in found.requests:
        click.echo(f"  request: {clean(request.reason)} {clean(request.detail, 120)}".rstrip())
    if found.state in ("refused", "not-kept", "unknown"):
        if found.linked_from:
            click.echo("linked from: " + ", ".join(clean(source, 100) for source in found.linked_from))
        if found.counts:
            click.echo("not followed on its host: " + _listed(found.counts))
        if found.near:
            click.echo("did you mean: " + " or ".join(clean(near, 120) for near in found.near))


def _event(event: Event) -> str:
    from scenthound.exports.clean import clean

    facts = (f"{clean(str(name), 40)} {_fact(value)}" for name, value in event.facts.items())
    return "  " + clean(f"{event.kind} (page {event.n}): {', '.join(facts)}", 400)


def _fact(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return " ".join(map(_fact, value)) if isinstance(value, list | tuple) else "none" if value is None else str(value)


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
    from scenthound.loop.folder import CrawlFolder
    from scenthound.report.crawl_report import write_report

    with CrawlFolder.look(folder) as opened:
        path = write_report(opened)
        _index(opened)
    emit({"report": str(path)}) if as_json else click.echo(path)


@click.command()
@folder_argument
@click.option(
    "--to",
    "name",
    required=True,
    metavar="FORMAT",
    help="jsonl, csv, parquet, wacz or gexf.",
    shell_complete=exporters_named,
)
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
    from scenthound.errors import BadUsage
    from scenthound.exports import SHELF
    from scenthound.files import replacing
    from scenthound.loop.folder import CrawlFolder

    writer = SHELF.get(name)
    with CrawlFolder.look(folder) as opened:
        if output == Path("-"):
            if as_json:
                raise BadUsage("--json and --output - both want stdout", "leave one of them out")
            writer(opened, sys.stdout.buffer)
            for sentence in opened.recovered:
                say(f"note: {sentence}")
            return
        path = output or folder / f"{folder.resolve().name}.{name}"
        _check_target(path, force)
        with replacing(path) as file:
            pages = writer(opened, file)
        _index(opened)
        notes = list(opened.recovered)
    size = path.stat().st_size
    if as_json:
        emit({"file": str(path), "format": name, "pages": pages, "bytes": size, "notes": notes})
        return
    click.echo(path)
    say(f"{pages:,} pages, {size:,} bytes")
    for sentence in notes:
        say(f"note: {sentence}")


def _check_target(path: Path, force: bool) -> None:
    """An export overwrites nothing unasked, and what belongs to a crawl not even when asked."""
    from scenthound.errors import BadUsage
    from scenthound.loop.folder_files import is_part_of_a_crawl

    if is_part_of_a_crawl(path):
        raise BadUsage(f"{path} belongs to the crawl itself", "name another file with --output")
    if path.is_dir():
        raise BadUsage(f"{path} is a folder", "name a file with --output")
    if path.exists() and not force:
        raise BadUsage(f"{path} exists", "name another file with --output, or overwrite it with --force")


def _index(opened: CrawlFolder) -> None:
    """Bring the CDXJ index of the pages up to date; where that can't be written, nobody is the worse for it."""
    from scenthound.errors import OurFault
    from scenthound.store.cdxj import refresh

    with contextlib.suppress(OSError, OurFault):
        refresh(opened.path / "pages")
