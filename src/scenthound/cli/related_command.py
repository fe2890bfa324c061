"""`scenthound related`: organisations of the same kind as a few given ones, from a new crawl or an old one."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.crawl_options import fetch_options, set_option
from scenthound.cli.output import emit, json_option, key_value, option, out, repeatable, say, table
from scenthound.cli.shell_words import sources_named
from scenthound.errors import BadUsage
from scenthound.formats import printable

if TYPE_CHECKING:
    from scenthound.apps.related import RelatedOrganisations

PAGES = 500


@click.command()
@click.argument("given", metavar="SEEDS|DIR", type=click.Path(path_type=Path, allow_dash=True))
@option("--topic", "WORDS", "What they have in common.  [default: words of their home pages]")
@repeatable(
    "--source sources", "NAME:ADDRESS", "With --augment: who knows links, as collections:DIR.",
    shell_complete=sources_named,
)  # fmt: skip
@click.option("--augment", is_flag=True, help="Start also from pages that link to several seeds; asks the sources.")
@option("--pages", "N", f"Stop after this many pages.  [default: {PAGES}]")
@option("--time", "TIME", "Stop after this long, as `90 s` or `2 h`.")
@option(
    "--out folder", "DIR", "The folder of the new crawl.  [default: from the topic]", type=click.Path(path_type=Path)
)
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=25, show_default=True, metavar="N", help="So many organisations."
)
@option(
    "--csv", "FILE", "Write the table with all counts; - is stdout.", type=click.Path(path_type=Path, allow_dash=True)
)
@fetch_options
@set_option
@json_option
def related(given: Path, limit: int, csv: Path | None, as_json: bool, **options: Any) -> int:
    """Find organisations of the same kind as those in SEEDS, a file with one home page a line.

    Crawls with hound looking for sites, then ranks what it met: by pages that list it beside seeds, by links, and by
    how like the seeds' home pages its own is. DIR is a crawl that there is: nothing is fetched. Home pages that you
    label on topic count as seeds, those off topic as rejected; the desk has a page to decide on (Related).

    \b
      $ scenthound related clubs.txt --topic "hot air balloon clubs" --pages 500 --out clubs
      $ scenthound related clubs --csv clubs.csv
      $ scenthound related clubs.txt --source collections:balloons --augment --json
    """
    from scenthound.apps.related import related as answer_for
    from scenthound.loop.folder import CrawlFolder

    if as_json and csv == Path("-"):
        raise BadUsage("--json and --csv - both want stdout", "leave one of them out")
    is_crawl, code, folder = (given / "crawl.toml").exists(), 0, given
    if is_crawl:
        _refuse_crawl_options(options)
    else:
        folder, code = _crawl(given, options)
    with CrawlFolder.look(folder) as opened:
        answer = answer_for(opened, limit)
    if csv is not None:
        _write_csv(answer, csv)
    if as_json:
        emit({"folder": str(folder), **answer.as_plain()})
    elif csv != Path("-"):
        _show(answer, folder)
    return code


def _refuse_crawl_options(options: dict[str, Any]) -> None:
    named = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if named:
        raise BadUsage(
            f"{named[0]} is for a new crawl, and this is one that there is",
            "leave it out, or give a file with one home page a line",
        )


def _crawl(given: Path, options: dict[str, Any]) -> tuple[Path, int]:
    """Crawl from a file of seeds. Returns the folder and the exit code."""
    from scenthound.apps.related.answer import check_seeds
    from scenthound.apps.related.owners import Owners
    from scenthound.cli.crawl_commands import crawl_for
    from scenthound.cli.inputs import CrawlOptions, crawl_request, seeds_of, slug

    own = {name: options.pop(name) for name in ("topic", "augment", "folder", "pairs")}
    seeds = seeds_of(str(given))
    owners = Owners(_made(seeds))
    check_seeds({owners.key(url) for url in _made(seeds)})
    options["pages"] = options["pages"] or str(PAGES)
    topic = own["topic"] or _topic_of(seeds, options, own["pairs"])
    request = crawl_request(
        CrawlOptions(
            topic=topic, seeds=seeds, strategy="hound", pairs=own["pairs"], looking_for="sites",
            augment=own["augment"], settings=options,
        )
    )  # fmt: skip
    folder = own["folder"] or Path(slug(request.topic))
    return folder, crawl_for(request, folder)


def _made(seeds: Sequence[str]) -> list[Any]:
    from scenthound import url as urls

    return [urls.make(seed) for seed in seeds]


def _topic_of(seeds: Sequence[str], options: dict[str, Any], pairs: Sequence[str]) -> str:
    """The words that the seeds have in common; their pages are fetched for it."""
    from scenthound.apps.related.facts import ANALYSER, HomeFacts
    from scenthound.apps.related.shared_words import common_words
    from scenthound.lab.topics.example_sources import gather
    from scenthound.loop.settings import Settings, read

    given = {key: value for key, value in options.items() if value and key not in ("pages", "time")}
    pages = gather(seeds, read(Settings, {**dict(map(key_value, pairs)), **given})).pages
    homes = [HomeFacts(page.title, "", ANALYSER.counts(page.text), page.text) for page in pages]
    words = " ".join(common_words(homes))
    if not words:
        raise BadUsage("the seeds' pages have no words in common", "say what they have in common: --topic WORDS")
    say(f"note: the topic is what the seeds have in common: {printable(words)}")
    return words


def _write_csv(answer: RelatedOrganisations, path: Path) -> None:
    import io

    from scenthound.apps.related import write_csv
    from scenthound.files import write_text

    made = io.StringIO(newline="")
    write_csv(answer, made)
    if path == Path("-"):
        sys.stdout.write(made.getvalue())
    else:
        write_text(path, made.getvalue())
        say(f"table: {path}")


def _show(answer: RelatedOrganisations, folder: Path) -> None:
    rows = [
        (f"{one.confidence:.2f}", one.name, one.home, _because(one))
        for one in (*answer.organisations, *answer.rejected)
    ]
    out().print(table(("confidence", "organisation", "home page", "why"), rows, numbers=[0]))
    say(f"{answer.pages:,} pages read; {len(answer.seeds)} seeds: {', '.join(answer.seeds[:10])}")
    say(f"Decide at the desk: scenthound desk {shlex.quote(str(folder))}")
    for note in answer.notes:
        say(f"note: {printable(note, 400)}")


def _because(one: Any) -> str:
    """The evidence in a few words."""
    evidence, reasons = one.evidence, []
    if one.decision:
        reasons.append(one.decision)
    if one.hubs:
        best = one.hubs[0]
        heading = f" under “{printable(best.heading, 40)}”" if best.heading else ""
        reasons.append(f"beside {', '.join(best.seeds[:3])} on {printable(best.url, 60)}{heading}")
    if evidence.from_seeds:
        reasons.append(f"{evidence.from_seeds} seeds link to it")
    if evidence.to_seeds:
        reasons.append(f"links to {evidence.to_seeds} seeds")
    if one.shared_words:
        reasons.append(f"words: {', '.join(one.shared_words[:5])}")
    return "; ".join(reasons) or "met in the crawl"
