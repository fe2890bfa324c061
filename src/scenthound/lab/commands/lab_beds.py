"""`scenthound lab import` and `lab info`: make a bed (a recorded web with known answers), and describe it."""

from __future__ import annotations

import random
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scenthound.cli.output import emit, json_option, key_value, option, out, print_facts, repeatable, say, table
from scenthound.errors import BadConfig
from scenthound.formats import printable
from scenthound.lab.commands.lab_progress import TaskProgress

if TYPE_CHECKING:
    from scenthound.lab.beds.info import BedInfo, Spread
    from scenthound.lab.beds.web_measures import Contexts, Degrees, WebMeasures

MOST_GENERATED = 200_000
"""Largest web generated on the fly that `info` describes; a larger one needs more than ten minutes, and gigabytes."""


class _ImportCommand(click.Command):
    """A command whose help ends with the importers and their options, which are loaded only when it is printed."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from dataclasses import fields

        from scenthound.lab.importers import IMPORTERS, Options
        from scenthound.loop.settings import shown
        from scenthound.parameters import default_of

        with formatter.section("Kinds"):
            formatter.write_dl([(name, importer.about) for name, importer in IMPORTERS.items()])
        common = {field.name for field in fields(Options)}
        own = {name: [f for f in fields(kind.options) if f.name not in common] for name, kind in IMPORTERS.items()}
        for name, options in {"every kind": fields(Options), **own}.items():
            if options:
                with formatter.section(f"Options (--set) of {name}"):
                    formatter.write_dl(
                        [(f.name, f"{f.metadata.get('doc', '')}  [default: {shown(default_of(f))}]") for f in options]
                    )


@click.command(name="import", cls=_ImportCommand)
@click.argument("kind")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("bed", type=click.Path(path_type=Path))
@repeatable("--set pairs", "KEY=VALUE", "An option of the importer; see below.")
@json_option
def import_(kind: str, source: Path, bed: Path, pairs: tuple[str, ...], as_json: bool) -> None:
    """Turn SOURCE into a bed in the new folder BED. If anything fails, nothing is written.

    \b
      $ scenthound lab import warc pages.warc.gz beds/mine --set topics=topics.jsonl
      $ scenthound lab import html site/ beds/site --set base=http://site.test/
      $ scenthound lab import crawl balloons beds/balloons
    """
    from scenthound.lab.importers import import_bed

    with TaskProgress(f"reading {source.name}", quiet=as_json) as progress:
        imported = import_bed(kind, source, bed, dict(map(key_value, pairs)), progress)
    if as_json:
        emit(
            {
                "bed": str(imported.bed),
                "kind": kind,
                "pages": imported.pages,
                "redirects": imported.redirects,
                "topics": imported.topics,
                "problems": list(imported.problems),
            }
        )
        return
    click.echo(imported.bed)
    say(f"{imported.pages:,} pages, {imported.redirects:,} redirects, {imported.topics:,} topics")
    for problem in imported.problems:
        say(f"skipped: {printable(problem, 400)}")
    say(f"Describe it with: scenthound lab info {shlex.quote(str(bed))}")


globals()["import"] = import_  # commands are looked up by name, and `import` is a keyword


@click.command()
@click.argument("bed", type=click.Path(path_type=Path))
@option("--topics", "N|ID,…", "Measure the first N topics, or the topics with these ids.  [default: all]")
@option("--seed", "N", "Random seed for the samples.", type=int, default=0, show_default=True)
@option(
    "--jobs", "N", "Processes to use for preparing the bed.", type=click.IntRange(min=1), default=2, show_default=True
)
@json_option
def info(bed: Path, topics: str | None, seed: int, jobs: int, as_json: bool) -> None:
    """Describe a bed: origin, licence, pages, links, hosts, topics, reachability from seeds, topical locality.

    It also prints what makes a bed easy or hard to crawl: the similarity of random, linked and sibling pages;
    similarity and on-topic share by distance; links within hosts, degrees, triangles, how well the words around links
    predict their targets, and hubs. It uses samples, so even a large bed takes about half a minute once prepared.

    \b
      $ scenthound lab info beds/demo
      $ scenthound lab info beds/demo --json
    """
    from scenthound.lab.beds.bed import Bed
    from scenthound.lab.beds.info import describe
    from scenthound.lab.beds.prepared import prepare
    from scenthound.lab.beds.web_measures import measure_web
    from scenthound.lab.run.spec import choose_topics

    opened = Bed.open(bed)
    chosen = choose_topics(opened.topics, topics)
    if "made" in opened.about and int(opened.about["pages"]) > MOST_GENERATED:
        raise BadConfig(
            f"describing {bed} would mean generating and reading its {opened.about['pages']:,} pages",
            f"generate a web with the same habits and at most {MOST_GENERATED:,} pages, and describe that one",
        )
    with TaskProgress("preparing the bed: pages read", quiet=as_json) as progress:
        prepared = prepare(opened, jobs=jobs, progress=progress)
        progress.begin("measuring: step")
        description = describe(opened, prepared, seed)
        measures = measure_web(prepared, chosen, random.Random(seed), progress)
    if as_json:
        emit({"bed": str(bed), **description.as_json(), "measures": asdict(measures)})
    else:
        _show(description)
        _show_measures(measures)


def _show(info: BedInfo) -> None:
    from scenthound.formats import size

    reach, locality = info.reachability, info.locality
    share, chance = locality.links_to_targets.mean, locality.by_chance.mean
    times = f", {share / chance:.0f} times chance" if share is not None and chance else ""
    links = f"{info.links:,} between pages, {info.mean_out_degree:.1f} per page; {info.dead_links:,} are dead"
    replies = f"{info.pages:,}; {info.redirects:,} redirects, {info.other_answers:,} other replies"
    missing = f"{info.seeds_missing:,} seeds and {info.targets_missing:,} targets are not in the bed"
    linked = f"{_or_na(locality.cosine_linked, 3)} between linked pages ({locality.pairs:,} pairs)"
    rows = [
        ("bed", info.name + (f": {info.title}" if info.title else "")),
        ("origin", info.origin or "unknown"),
        ("licence", info.licence or "unknown"),
        ("digest", info.digest),
        ("pages", f"{replies}; median {size(info.median_page_bytes)}"),
        ("hosts", f"{info.hosts:,}; {info.linked_hosts:,} pairs of hosts connected by links (counting direction)"),
        ("links", links),
        (
            "topics",
            f"{info.topics:,}; {_or_na(info.mean_seeds)} seeds and {_or_na(info.mean_targets)} targets each",
        ),
        ("missing", f"{missing}; {len(info.topics_without_targets):,} topics have no targets"),
        ("reachable", f"{_share(reach.targets)} of a topic's targets, {_share(reach.pages)} of all pages"),
        ("distance", f"mean {_or_na(reach.mean_distance)} links from seed to target"),
        ("locality", f"{_share(locality.links_to_targets)} of a target's links lead to targets of its topic{times}"),
        ("cosine", f"{linked}, {_or_na(locality.cosine_random, 3)} between random pages"),
    ]
    print_facts(((name, printable(value, 400)) for name, value in rows), width=10)
    if reach.distances:
        distances = [(distance, f"{count:,}") for distance, count in reach.distances.items()]
        out().print(table(("links from a seed", "targets"), distances, numbers=[0, 1]))
    for fault in info.faults[:20]:
        say(f"fault: {printable(fault, 200)}")
    if len(info.faults) > 20:
        say(f"and {len(info.faults) - 20:,} more faults")


def _show_measures(measures: WebMeasures) -> None:
    similar, clustering, hubs = measures.similarity, measures.clustering, measures.hubs
    answers = ", ".join(f"{count} (N={size})" for size, count in hubs.of_answers.items())
    linking = f"{hubs.of_seeds} of {hubs.topics} topics have a page that links to two seeds"
    linked = f"{_or_na(similar.linked, 3)} linked, {_or_na(similar.linked_hosts, 3)} linked between hosts"
    mixed = f"{_or_na(clustering.on_topic, 3)} on topic, {_or_na(clustering.mixed, 3)} with one of them off topic"
    rows = [
        ("similarity", f"{_or_na(similar.random, 3)} random, {linked}, {_or_na(similar.siblings, 3)} siblings"),
        ("in-links", _degrees(measures.in_degree)),
        ("out-links", _degrees(measures.out_degree)),
        ("same host", f"{_or_na(measures.within_host, 3)} of the links"),
        ("triangles", f"{_or_na(clustering.pages, 3)} of pairs of neighbours are linked; {mixed}"),
        ("contexts", f"{_contexts(measures.contexts)}; {_contexts(measures.contexts_between_hosts)} between hosts"),
        ("hubs", f"{linking}; topics with a page that links to at least N answers: {answers}"),
    ]
    print_facts(rows, width=10)
    distances = sorted({*similar.by_distance, *measures.on_topic}, key=int)
    shown = [(d, _or_na(similar.by_distance.get(d), 3), _or_na(measures.on_topic.get(d), 3)) for d in distances]
    if shown:
        out().print(table(("links away", "similarity", "on topic"), shown, numbers=[0, 1, 2]))


def _degrees(degrees: Degrees) -> str:
    exponent = "" if degrees.exponent is None else f"; power-law tail with exponent {degrees.exponent:.2f}"
    highest = f"10% of pages have over {degrees.ninth_decile:.0f}, 1% over {degrees.last_percent:.0f}"
    return f"median {degrees.median:.0f}, {highest}, maximum {degrees.most:,}{exponent}"


def _contexts(contexts: Contexts) -> str:
    return f"AUC {_or_na(contexts.keywords, 3)} by keywords, {_or_na(contexts.seeds, 3)} by examples"


def _share(spread: Spread) -> str:
    if spread.mean is None:
        return "an unknown share"
    return f"{spread.mean:.1%} (topics from {spread.least:.1%} to {spread.most:.1%})"


def _or_na(value: float | None, digits: int = 1) -> str:
    return "n/a" if value is None else f"{value:.{digits}f}"
