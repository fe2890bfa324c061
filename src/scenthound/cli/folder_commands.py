"""Commands that read a crawl folder, even while the crawl runs: `status`, `trail`, `explain`, `report`, `export`."""

from __future__ import annotations

import contextlib
import itertools
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import click

from scenthound.cli.output import emit, json_option, option, out, print_facts, say, table
from scenthound.cli.shell_words import complete_exporters
from scenthound.errors import BadUsage, ExporterFailed, NotAUrl, OurFault, ScenthoundError
from scenthound.formats import event_line, json_line, miss_line, printable, trail_line
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Event, Lost, Step

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from scenthound.exports import Exporter
    from scenthound.loop.page_rows import Selection
    from scenthound.report.crawl_facts import CrawlFacts
    from scenthound.report.explain import Explanation
    from scenthound.report.wording import Wording

REASONS_SHOWN = 2
folder_argument = click.argument("folder", type=click.Path(path_type=Path, readable=False), metavar="DIR")


@click.command()
@folder_argument
@json_option
def status(folder: Path, as_json: bool) -> None:
    """Show the state of a crawl: pages, harvest, failures, best pages, why it ended.

    \b
      $ scenthound status balloons
      $ scenthound status balloons --json
    """
    from scenthound.report.causes import why_nothing
    from scenthound.report.crawl_facts import FINAL, gather

    with CrawlFolder.look(folder) as opened:
        facts = gather(opened)
    if as_json:
        emit({"folder": str(folder), **facts.as_plain()})
        return
    show(facts)
    if not facts.figures.pages and facts.ended in FINAL:
        say("\nhint: ".join(why_nothing(facts)))


SUSPENSIONS_SHOWN = 10  # suspended patterns and hosts


def show(facts: CrawlFacts) -> None:
    """Print the figures of a crawl."""
    from scenthound.formats import duration, size
    from scenthound.report.crawl_facts import how_to_fetch_suspended
    from scenthound.report.wording import Wording, balance_in_words

    figures = facts.figures
    hosts = "1 host" if facts.hosts_with_pages == 1 else f"{facts.hosts_with_pages:,} hosts"
    waited = f"waited {duration(figures.waited)} for better hosts"
    rows = [
        ("topic", facts.request.topic.keywords),
        ("looking for", _looking_for(facts)),
        ("strategy", facts.request.strategy),
        (
            "state" if facts.process else "ended",
            facts.in_place(facts.why) + (f" (process {facts.process})" if facts.process else ""),
        ),
        ("pages", f"{figures.pages:,} of {facts.budget:,}, {facts.rate:.1f}/s for {duration(facts.busy)}"),
        (
            "harvest",
            f"{figures.harvest:.1%} ({figures.relevant:,} relevant); last 100: {figures.harvest_recent:.1%}",
        ),
        ("expected", facts.outlook),
        (
            "judge",
            f"{facts.request.settings.judge}; {facts.relevant_in_the_end:,} relevant according to its latest verdicts",
        ),
        ("frontier", f"{facts.waiting_in_words}; {hosts}; {size(facts.bytes)} received"),
        ("order", f"{figures.out_of_order:,} requests ahead of better ones on resting hosts; {waited}"),
        ("failed", _counts_text(facts.failed) or "nothing"),
        ("links", balance_in_words(facts.links)),
        ("not followed", _reasons_text(facts.links.not_followed) or "nothing"),
    ]
    when = "shortly" if facts.process else "when the crawl is resumed"
    rows += [("pending", f"{printable(order, 200)}: takes effect {when}") for order in facts.pending]
    if facts.failures:
        rows.append(("no reply", _counts_text({reason: times for reason, (times, _) in facts.failures.items()})))
    rows += [("suspended", printable(line, 200)) for line in facts.suspended[:SUSPENSIONS_SHOWN]]
    if len(facts.suspended) > SUSPENSIONS_SHOWN:
        rows.append(("", f"and {len(facts.suspended) - SUSPENSIONS_SHOWN:,} more; see status --json"))
    if facts.suspended_urls and not facts.process and facts.folder is not None:
        rows.append(("left", printable(how_to_fetch_suspended(facts.suspended_urls, facts.folder), 400)))
    rows += [("doubt", printable(doubt, 400)) for doubt in facts.doubts]
    print_facts(rows)
    if facts.best:
        wording = Wording(facts.request)
        titles = [printable(step.title, 46) or "(no title)" for step in facts.best[:5]]
        best = [
            (f"{step.relevance:.3f}", title, printable(step.url, 60))
            for step, title in zip(facts.best[:5], titles, strict=True)
        ]
        out().print(table(("relevance", "best pages", "url"), best, numbers=[0]))
        why = [(title, _why(step, wording)) for step, title in zip(facts.best[:5], titles, strict=True)]
        out().print(table(("best pages", "why each was chosen"), why))


def _looking_for(facts: CrawlFacts) -> str:
    from scenthound.looking_for import CONTROL, how_to_change

    topic = facts.request.topic
    hint = how_to_change(topic, facts.request.parsed_seeds(), CONTROL)
    return facts.in_place(f"{topic.looking_for}. {hint}")


def _why(step: Step, wording: Wording) -> str:
    return "a seed" if step.parent is None else "; ".join(wording.reasons(step)[:REASONS_SHOWN])


def _reasons_text(counts: Mapping[str, int], most: int = 8) -> str:
    """Counts with the meaning of each reason."""
    from scenthound.report.wording import in_words

    return _counts_text({f"{reason} ({in_words(reason)})": times for reason, times in counts.items()}, most)


def _counts_text(counts: dict[str, int], most: int = 8) -> str:
    parts = [f"{reason} {times:,}" for reason, times in list(counts.items())[:most]]
    return ", ".join(parts) + (f" and {len(counts) - most} more reasons" if len(counts) > most else "")


@click.command()
@folder_argument
@click.option("--misses", is_flag=True, help="Also print requests that failed, with the reason.")
@click.option("--events", is_flag=True, help="Print events of the strategy instead, such as births of agents.")
@click.option("--why", is_flag=True, help="Add `why`: the parts of the score, in words.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="Print only the first N lines.")
@json_option
def trail(folder: Path, misses: bool, events: bool, why: bool, limit: int | None, as_json: bool) -> None:
    """Print what was fetched, in order, as JSON lines (with or without --json).

    Each line has n, url, parent, anchor, score, parts, similarity, relevance, relevant, depth, status, bytes and
    time. Relevance is the judge's verdict when the page was fetched. A seed's score is infinite, which JSON can't
    express: it is printed as null.

    \b
      $ scenthound trail balloons --limit 10
      $ scenthound trail balloons --why | jq .why
      $ scenthound trail balloons --misses | grep '"reason"'
      $ scenthound trail balloons --events
    """
    from scenthound.report.wording import Wording

    if misses and events:
        raise BadUsage("--misses and --events can't be combined", "leave one of them out")
    with CrawlFolder.look(folder) as opened:
        history, wording = opened.history, Wording(opened.request) if why else None
        lines: Iterator[Step | Lost | Event]
        lines = history.strategy_events() if events else history.events() if misses else history.trail()
        with contextlib.closing(
            cast("Generator[Step | Lost | Event]", lines)
        ):  # otherwise a half-read query would outlive its database
            for line in itertools.islice(lines, limit):
                if isinstance(line, Event):
                    click.echo(json_line(event_line(line)))
                else:
                    data = trail_line(line) if isinstance(line, Step) else miss_line(line)
                    if wording is not None and isinstance(line, Step):
                        data["why"] = wording.reasons(line)
                    click.echo(json_line(data))


@click.command()
@folder_argument
@click.argument("url")
@json_option
def explain(folder: Path, url: str, as_json: bool) -> None:
    """Explain why a page was fetched or not: the path from a seed to it, with anchors and scores.

    \b
      $ scenthound explain balloons https://example.org/envelopes.html
    """
    from scenthound.report.explain import explain as explain_url

    with CrawlFolder.look(folder) as opened:
        try:
            explanation = explain_url(opened, url)
        except NotAUrl as error:
            raise BadUsage(error.message, "write the full URL, e.g. https://example.org/page") from None
    if explanation.state == "unknown" and not explanation.counts:
        near = " or ".join(shlex.quote(printable(similar, 200)) for similar in explanation.near)
        hint = f"did you mean {near}?" if near else f"scenthound trail {shlex.quote(str(folder))} lists the pages"
        raise BadUsage(f"{printable(url, 200)} is not known to this crawl", hint)
    if as_json:
        emit(explanation.as_plain())
    else:
        _print_explanation(explanation)


def _print_explanation(explanation: Explanation) -> None:
    click.echo(f"{printable(explanation.url)}\n{printable(explanation.why)}")
    if explanation.path:
        crawled = explanation.state == "crawled"
        click.echo("\npath from a seed:" if crawled else "\npath from a seed to the page that links to it:")
        for depth, step in enumerate(explanation.path):
            click.echo(_hop(depth, step, explanation.reasons(step)))
    if explanation.candidate is not None:
        candidate = explanation.candidate
        score = f"{candidate.score}{_because(explanation.reasons(candidate))}"
        click.echo(f"\nlinked as “{printable(candidate.anchor, 80)}”, score {score}")
    agents = "agents involved, and their ancestors:"
    for title, events in (("events of the strategy:", explanation.events), (agents, explanation.family)):
        if events:
            click.echo("\n" + "\n".join([title, *map(_event, events)]))
    for request in explanation.requests:
        click.echo(f"  request: {printable(request.reason)} {printable(request.detail, 120)}".rstrip())
    if explanation.state in ("refused", "not-kept", "unknown"):
        if explanation.linked_from:
            click.echo("linked from: " + ", ".join(printable(source, 100) for source in explanation.linked_from))
        if explanation.counts:
            click.echo("not followed on its host: " + _counts_text(explanation.counts))
        if explanation.near:
            click.echo("did you mean: " + " or ".join(printable(url, 120) for url in explanation.near))


def _because(reasons: Sequence[str]) -> str:
    return f": {'; '.join(reasons)}" if reasons else ""


def _event(event: Event) -> str:
    facts = (f"{printable(str(name), 40)} {_fact(value)}" for name, value in event.facts.items())
    return "  " + printable(f"{event.kind} (page {event.n}): {', '.join(facts)}", 400)


def _fact(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return " ".join(map(_fact, value)) if isinstance(value, list | tuple) else "none" if value is None else str(value)


def _hop(depth: int, step: Step, reasons: Sequence[str]) -> str:
    anchor = f"linked as “{printable(step.anchor, 80)}”, " if step.anchor else ""
    score = "a seed" if step.parent is None else f"{anchor}score {step.score:.4g}"
    title = f"  {printable(step.title, 80)}\n{'':6}" if step.title else "  "
    facts = (
        f"page {step.n}, rank {step.rank}, {score}, similarity {step.similarity:.4f}, relevance {step.relevance:.3f}"
    )
    why = f"\n{'':6}because: {'; '.join(reasons)}" if reasons else ""
    return f"{depth:>4}{title}{printable(step.url, 160)}\n{'':6}{facts}{why}"


@click.command()
@folder_argument
@json_option
def report(folder: Path, as_json: bool) -> None:
    """Regenerate report.html: harvest curve, best pages, hosts, errors, why it ended.

    \b
      $ scenthound report balloons
    """
    from scenthound.report.crawl_report import write_report

    with CrawlFolder.look(folder) as opened:
        path = write_report(opened)
        _refresh_index(opened)
    emit({"report": str(path)}) if as_json else click.echo(path)


class FormatOption(click.Option):
    """An option whose help lists the formats of the registry. They are imported only if the help is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        from scenthound.exports import EXPORTERS

        self.help = f"{', '.join(EXPORTERS.names())}."
        return super().get_help_record(ctx)


@click.command()
@folder_argument
@option("--to name", "FORMAT", "One of the installed formats.", required=True, cls=FormatOption,
        shell_complete=complete_exporters)  # fmt: skip
@option("--output", "FILE", "File to write; - is stdout.  [default: DIR/NAME.FORMAT]",
        type=click.Path(path_type=Path, allow_dash=True))  # fmt: skip
@click.option("--relevant", is_flag=True, help="Export only relevant pages.")
@option("--min-relevance", "X", "Export only pages with at least this relevance.", type=float)
@option("--fields", "NAME,…", "Export only these columns, in this order; `parts` stands for all parts of the score.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@json_option
def export(
    folder: Path,
    name: str,
    output: Path | None,
    relevant: bool,
    min_relevance: float | None,
    fields: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write a crawl in the format of another program, and print the file name.

    docs/reference/fields.md lists the columns: text, language, host, relevance, digest and more. CSV includes the
    texts only if --fields names them.

    \b
      $ scenthound export balloons --to wacz
      $ scenthound export balloons --to csv --output balloons.csv
      $ scenthound export balloons --to csv --relevant --fields url,title,main_text --output texts.csv
      $ scenthound export balloons --to jsonl --output - | head
    """
    from scenthound.exports import EXPORTERS
    from scenthound.files import replacing
    from scenthound.loop.page_rows import Selection

    writer = EXPORTERS.get(name)
    columns = tuple(part.strip() for part in fields.split(",") if part.strip()) if fields is not None else ()
    if fields is not None and not columns:
        raise BadUsage("--fields names no column", "for example: --fields url,title,text")
    selection = Selection(columns, relevant, min_relevance)
    with CrawlFolder.look(folder) as opened:
        if output == Path("-"):
            if as_json:
                raise BadUsage("--json and --output - both write to stdout", "leave one of them out")
            _written(name, writer, opened, sys.stdout.buffer, selection)
            for note in opened.recovered:
                say(f"note: {note}")
            return
        path = output or folder / f"{folder.resolve().name}.{name}"
        _check_target(path, force)
        with replacing(path) as file:
            pages = _written(name, writer, opened, file, selection)
        _refresh_index(opened)
        notes = list(opened.recovered)
    size = path.stat().st_size
    if as_json:
        emit({"file": str(path), "format": name, "pages": pages, "bytes": size, "notes": notes})
        return
    click.echo(path)
    say(f"{pages:,} pages, {size:,} bytes")
    for note in notes:
        say(f"note: {note}")


def _written(name: str, writer: Exporter, opened: CrawlFolder, file: BinaryIO, selection: Selection) -> int:
    """Write the export and return the number of pages. Raises `ExporterFailed` for an error of a plug-in."""
    try:
        return writer(opened, file, selection)
    except (ScenthoundError, OSError):
        raise
    except Exception as error:
        raise ExporterFailed(name, f"on {opened.path}", f"{type(error).__name__}: {error}") from error


def _check_target(path: Path, force: bool) -> None:
    """Raise `BadUsage` if a file would be overwritten. Files of a crawl never are, not even with `--force`."""
    from scenthound.loop.folder_files import is_part_of_a_crawl

    if is_part_of_a_crawl(path):
        raise BadUsage(f"{path} is part of the crawl itself", "name another file with --output")
    if path.is_dir():
        raise BadUsage(f"{path} is a folder", "name a file with --output")
    if path.exists() and not force:
        raise BadUsage(f"{path} exists", "name another file with --output, or overwrite it with --force")


def _refresh_index(opened: CrawlFolder) -> None:
    """Update the CDXJ index of the pages if the folder is writable."""
    from scenthound.store.cdxj import refresh

    with contextlib.suppress(OSError, OurFault):
        refresh(opened.path / "pages")
