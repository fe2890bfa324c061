"""`scenthound related`: find organisations similar to a few known ones, from a new or an existing crawl."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.crawl_options import fetch_options, set_option
from scenthound.cli.output import emit, json_option, key_value, option, out, repeatable, say, table
from scenthound.cli.shell_words import complete_sources
from scenthound.errors import BadUsage
from scenthound.formats import printable

if TYPE_CHECKING:
    from scenthound.desk.apps.related import Organisation, RelatedOrganisations

PAGES = 500
MENTIONED = 0.75
"""The least share of sites that are farther from the seeds that is worth a word."""


@click.command()
@click.argument("seeds_or_crawl", metavar="SEEDS|DIR", type=click.Path(path_type=Path, allow_dash=True))
@option("--topic", "WORDS", "What the organisations have in common.  [default: words that their home pages share]")
@repeatable(
    "--source sources", "NAME:ADDRESS", "With --augment: a source that knows links, e.g. collections:DIR.",
    shell_complete=complete_sources,
)  # fmt: skip
@click.option(
    "--augment", is_flag=True, help="Also start from pages that link to several seeds, found with the sources."
)
@option("--pages", "N", f"Stop after this many pages.  [default: {PAGES}]")
@option("--time", "TIME", "Stop after this long, e.g. `90 s` or `2 h`.")
@option(
    "--out folder", "DIR", "Folder of the new crawl.  [default: named after the topic]", type=click.Path(path_type=Path)
)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=25,
    show_default=True,
    metavar="N",
    help="Show at most N organisations.",
)
@option(
    "--csv",
    "FILE",
    "Write the table with all counts to FILE; - is stdout.",
    type=click.Path(path_type=Path, allow_dash=True),
)
@fetch_options
@set_option
@json_option
def related(seeds_or_crawl: Path, limit: int, csv: Path | None, as_json: bool, **options: Any) -> int:
    """Find organisations similar to those in SEEDS, a file with one home page per line.

    Crawls with hound looking for sites, then ranks the organisations it found: by pages that list them next to seeds,
    by links, and by how similar their home pages are to those of the seeds. If DIR is an existing crawl, nothing is
    fetched. Home pages that you label on topic count as seeds, those off topic as rejected; the desk has a page for
    these decisions (Related).

    \b
      $ scenthound related clubs.txt --topic "hot air balloon clubs" --pages 500 --out clubs
      $ scenthound related clubs --csv clubs.csv
      $ scenthound related clubs.txt --source collections:balloons --augment --json
    """
    from scenthound.desk.apps.related import related as find_related
    from scenthound.loop.folder import CrawlFolder

    if as_json and csv == Path("-"):
        raise BadUsage("--json and --csv - both write to stdout", "leave one of them out")
    code, folder = 0, seeds_or_crawl
    if (folder / "crawl.toml").exists():
        _refuse_crawl_options(options)
    else:
        folder, code = _crawl(seeds_or_crawl, options)
    with CrawlFolder.look(folder) as opened:
        answer = find_related(opened, limit)
    if csv is not None:
        _write_csv(answer, csv)
    if as_json:
        emit({"folder": str(folder), **answer.as_plain()})
    elif csv != Path("-"):
        _show(answer, folder)
    return code


def _refuse_crawl_options(options: dict[str, Any]) -> None:
    crawl_options = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if crawl_options:
        raise BadUsage(
            f"{crawl_options[0]} is for a new crawl, and this is an existing one",
            "leave it out, or give a file with one home page per line",
        )


def _crawl(seed_file: Path, options: dict[str, Any]) -> tuple[Path, int]:
    """Crawl from the seeds in a file. Returns the folder and the exit code."""
    from scenthound.cli.crawl_commands import crawl_for
    from scenthound.cli.crawl_request import CrawlOptions, crawl_request, seeds_of, slug
    from scenthound.desk.apps.related.owners import Owners
    from scenthound.desk.apps.related.related_organisations import check_seeds

    own = {name: options.pop(name) for name in ("topic", "augment", "folder", "pairs")}
    seeds = seeds_of(str(seed_file))
    owners = Owners(_parsed(seeds))
    check_seeds({owners.key(url) for url in _parsed(seeds)})
    options["pages"] = str(PAGES) if options["pages"] is None else options["pages"]
    topic = own["topic"] or _topic_of(seeds, options, own["pairs"])
    pairs = _pairs(own["pairs"], options["pages"])
    request = crawl_request(
        CrawlOptions(
            topic=topic, seeds=seeds, strategy="hound", pairs=pairs, looking_for="sites",
            augment=own["augment"], settings=options,
        )
    )  # fmt: skip
    folder = own["folder"] or Path(slug(request.topic))
    return folder, crawl_for(request, folder)


def _pairs(pairs: Sequence[str], pages: str) -> Sequence[str]:
    """The settings of the crawl: unless told otherwise, it spends half of its pages on comparing sites."""
    return (f"compare_after={int(pages) // 2}", *pairs) if pages.isdecimal() else pairs


def _parsed(seeds: Sequence[str]) -> list[Any]:
    from scenthound import url as urls

    return [urls.make(seed) for seed in seeds]


def _topic_of(seeds: Sequence[str], options: dict[str, Any], pairs: Sequence[str]) -> str:
    """The words that the seeds have in common. Fetches their pages."""
    from scenthound.desk.apps.related.facts import ANALYSER, HomeFacts
    from scenthound.desk.apps.related.shared_words import topic_words
    from scenthound.lab.topics.example_sources import gather
    from scenthound.loop.settings import Settings, read

    flags = {key: value for key, value in options.items() if value and key not in ("pages", "time")}
    pages = gather(seeds, read(Settings, {**dict(map(key_value, pairs)), **flags})).pages
    homes = [HomeFacts(page.title, "", ANALYSER.counts(page.text), page.text) for page in pages]
    words = " ".join(topic_words(homes))
    if not words:
        raise BadUsage("the seeds' pages have no words in common", "give a topic: --topic WORDS")
    say(f"note: the topic is what the seeds have in common: {printable(words)}")
    return words


def _write_csv(answer: RelatedOrganisations, path: Path) -> None:
    import io

    from scenthound.desk.apps.related import write_csv
    from scenthound.files import write_text

    buffer = io.StringIO(newline="")
    write_csv(answer, buffer)
    if path == Path("-"):
        sys.stdout.write(buffer.getvalue())
    else:
        write_text(path, buffer.getvalue())
        say(f"table: {path}")


def _show(answer: RelatedOrganisations, folder: Path) -> None:
    rows = [
        (f"{organisation.confidence:.2f}", organisation.name, organisation.home, _because(organisation))
        for organisation in (*answer.organisations, *answer.rejected)
    ]
    out().print(table(("confidence", "organisation", "home page", "why"), rows, numbers=[0]))
    say(f"{answer.pages:,} pages read; {len(answer.seeds)} seeds: {', '.join(answer.seeds[:10])}")
    say(f"Accept or reject them at the desk: scenthound desk {shlex.quote(str(folder))}")
    for note in answer.notes:
        say(f"note: {printable(note, 400)}")


def _because(organisation: Organisation) -> str:
    """The evidence in a few words."""
    evidence, reasons = organisation.evidence, []
    if organisation.decision:
        reasons.append(organisation.decision)
    if organisation.hubs:
        best = organisation.hubs[0]
        heading = f" under “{printable(best.heading, 40)}”" if best.heading else ""
        reasons.append(f"listed with {', '.join(best.seeds[:3])} on {printable(best.url, 60)}{heading}")
    if evidence.from_seeds:
        reasons.append(f"{evidence.from_seeds} seeds link to it")
    if evidence.to_seeds:
        reasons.append(f"links to {evidence.to_seeds} seeds")
    if organisation.nearer_than is not None and organisation.nearer_than >= MENTIONED:
        reasons.append(f"nearer to the seeds than {organisation.nearer_than:.0%} of the sites read")
    if organisation.shared_words:
        reasons.append(f"words: {', '.join(organisation.shared_words[:5])}")
    return "; ".join(reasons) or "found in the crawl"
