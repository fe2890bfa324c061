"""`scenthound lab import` and `scenthound lab info`: bring a bed, look at a bed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.lab_progress import Pieces
from scenthound.cli.output import emit, json_option, out, say, table

if TYPE_CHECKING:
    from scenthound.lab.beds.info import BedInfo, Spread


class _KindsCommand(click.Command):
    """Lists at the end of its help what can be imported; looked up only when somebody asks."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from dataclasses import fields

        from scenthound.lab.importers import SHELF, Options
        from scenthound.loop.settings import shown
        from scenthound.parameters import default_of

        with formatter.section("Kinds"):
            formatter.write_dl([(name, one.about) for name, one in SHELF.items()])
        common = {field.name for field in fields(Options)}
        kinds = {
            name: [field for field in fields(one.options) if field.name not in common] for name, one in SHELF.items()
        }
        for name, own in {"every kind": fields(Options), **kinds}.items():
            if own:
                with formatter.section(f"What --set can say to {name}"):
                    formatter.write_dl(
                        [(f.name, f"{f.metadata.get('doc', '')}  [default: {shown(default_of(f))}]") for f in own]
                    )


@click.command(name="import", cls=_KindsCommand)
@click.argument("kind")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("bed", type=click.Path(path_type=Path))
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="An option of the importer; see below.")
@json_option
def import_(kind: str, source: Path, bed: Path, pairs: tuple[str, ...], as_json: bool) -> None:
    """Turn SOURCE into the new folder BED: all of it, or nothing.

    \b
      $ scenthound lab import warc pages.warc.gz beds/mine --set topics=topics.jsonl
      $ scenthound lab import html site/ beds/site --set base=http://site.test/
      $ scenthound lab import crawl balloons beds/balloons
    """
    from scenthound.lab.importers import import_bed

    with Pieces(f"reading {source.name}", quiet=as_json) as tell:
        made = import_bed(kind, source, bed, dict(map(pair, pairs)), tell)
    if as_json:
        emit(
            {
                "bed": str(made.bed),
                "kind": kind,
                "pages": made.pages,
                "redirects": made.redirects,
                "topics": made.topics,
                "problems": list(made.problems),
            }
        )
        return
    from scenthound.exports.clean import clean

    click.echo(made.bed)
    say(f"{made.pages:,} pages, {made.redirects:,} redirects, {made.topics:,} topics")
    for problem in made.problems:
        say(f"left out or missing: {clean(problem, 400)}")
    say(f"Look at it with: scenthound lab info {bed}")


globals()["import"] = import_  # the group looks commands up by name, and this name is a word of the language


def pair(text: str) -> tuple[str, str]:
    """`KEY=VALUE` of a `--set`."""
    from scenthound.errors import BadUsage

    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise BadUsage(f"`--set {text}` sets nothing", "write it as --set KEY=VALUE")
    return key.strip().replace("-", "_"), value.strip()


@click.command()
@click.argument("bed", type=click.Path(path_type=Path))
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Number that the sample for cosines is drawn from."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Processes that prepare the bed."
)
@json_option
def info(bed: Path, seed: int, jobs: int, as_json: bool) -> None:
    """Describe a bed: origin, licence, pages, links, hosts, topics, reachability from seeds, topical locality.

    \b
      $ scenthound lab info beds/demo
      $ scenthound lab info beds/demo --json
    """
    from scenthound.lab.beds.bed import Bed
    from scenthound.lab.beds.info import describe
    from scenthound.lab.beds.prepared import prepare

    opened = Bed.open(bed)
    with Pieces("preparing the bed, pages read", quiet=as_json) as tell:
        prepared = prepare(opened, jobs=jobs, progress=tell)
    found = describe(opened, prepared, seed)
    if as_json:
        emit({"bed": str(bed), **found.as_json()})
    else:
        _show(found)


def _show(found: BedInfo) -> None:
    from rich.text import Text

    from scenthound.exports.clean import clean
    from scenthound.report.crawl_report import size

    reach, near = found.reachability, found.locality
    share, chance = near.links_to_targets.mean, near.by_chance.mean
    times = f", {share / chance:.0f} times chance" if share is not None and chance else ""
    links = f"{found.links:,} between pages, {found.mean_out_degree:.1f} a page; {found.dead_links:,} lead nowhere"
    answers = f"{found.pages:,}; {found.redirects:,} redirects, {found.other_answers:,} other answers"
    gone = f"{found.seeds_missing:,} seeds and {found.targets_missing:,} targets are not in the bed"
    linked = f"{_or_none(near.cosine_linked, 3)} between linked pages ({near.pairs:,} pairs)"
    rows = [
        ("bed", found.name + (f": {found.title}" if found.title else "")),
        ("origin", found.origin or "unknown"),
        ("licence", found.licence or "unknown"),
        ("digest", found.digest),
        ("pages", f"{answers}; median {size(found.median_page_bytes)}"),
        ("hosts", f"{found.hosts:,}; {found.linked_hosts:,} ordered pairs of hosts are linked"),
        ("links", links),
        (
            "topics",
            f"{found.topics:,}; {_or_none(found.mean_seeds)} seeds and {_or_none(found.mean_targets)} targets each",
        ),
        ("missing", f"{gone}; {len(found.topics_without_targets):,} topics have no targets"),
        ("reachable", f"{_share(reach.targets)} of a topic's targets, {_share(reach.pages)} of all pages"),
        ("distance", f"mean {_or_none(reach.mean_distance)} links from seed to target"),
        ("locality", f"{_share(near.links_to_targets)} of a target's links lead to targets of its topic{times}"),
        ("cosine", f"{linked}, {_or_none(near.cosine_random, 3)} between pages drawn by lot"),
    ]
    console = out()
    for name, value in rows:
        console.print(Text(f"{name:>10}  ", style="bold") + Text(clean(value, 400)), soft_wrap=True)
    if reach.distances:
        told: list[tuple[Any, ...]] = [(distance, f"{times:,}") for distance, times in reach.distances.items()]
        console.print(table(("links from a seed", "targets"), told, numbers=[0, 1]))
    for fault in found.faults[:20]:
        say(f"fault: {clean(fault, 200)}")
    if len(found.faults) > 20:
        say(f"and {len(found.faults) - 20:,} more faults")


def _share(spread: Spread) -> str:
    if spread.mean is None:
        return "an unknown share"
    return f"{spread.mean:.1%} (topics from {spread.least:.1%} to {spread.most:.1%})"


def _or_none(value: float | None, digits: int = 1) -> str:
    return "no" if value is None else f"{value:.{digits}f}"
