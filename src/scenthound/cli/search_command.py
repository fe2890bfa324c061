"""`scenthound search` and `scenthound index`: full-text search over the pages of a crawl."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scenthound.cli.folder_commands import folder_argument
from scenthound.cli.output import emit, json_option, option, out, repeatable, say
from scenthound.errors import BadUsage, FolderInUse
from scenthound.formats import printable

if TYPE_CHECKING:
    from scenthound.search import Results

NICENESS = 19
SAY_EVERY = 5.0  # seconds


@click.command()
@folder_argument
@click.argument("query", required=False, default="")
@repeatable("--host hosts", "NAME", "Only pages of this host or its subdomains; can be repeated.")
@repeatable("--language languages", "CODE", "Only pages that declare this language, e.g. `en`.")
@click.option(
    "--min-relevance", type=float, metavar="X", help="Only pages with at least this relevance to the topic, 0 to 1."
)
@option("--since", "DATE", "Only pages fetched on this day or later, e.g. 2026-01-31.")
@option("--until", "DATE", "Only pages fetched on this day or earlier.")
@option("--category", "NAME", "Only pages in this category of the crawl's portal.")
@option("--like", "URL", "Instead of a query: find pages similar to this one.")
@click.option(
    "--limit", type=click.IntRange(0, 1000), default=10, show_default=True, metavar="N", help="Show at most N results."
)
@click.option(
    "--weight",
    type=click.FloatRange(0.0, 1.0),
    default=0.6,
    show_default=True,
    metavar="X",
    help="Weight of the text match in the ranking; the rest is relevance to the topic.",
)
@json_option
def search(
    folder: Path,
    query: str,
    hosts: tuple[str, ...],
    languages: tuple[str, ...],
    min_relevance: float | None,
    since: str | None,
    until: str | None,
    category: str | None,
    like: str | None,
    limit: int,
    weight: float,
    as_json: bool,
) -> None:
    """Search the pages of a crawl, running or not. The index is updated first.

    All words must occur. Queries can use "a phrase", title:word, host:example.org, anchor:word, -excluded, this OR
    that, begin*.

    \b
      $ scenthound search balloons 'envelope repair'
      $ scenthound search balloons '"hot air" title:club -car' --min-relevance 0.2
      $ scenthound search balloons --like https://example.org/envelopes.html --limit 5
      $ scenthound search balloons burner --host example.org --json
      $ scenthound search balloons burner --since 2026-01-31 --category "Clubs, pilots"
    """
    from scenthound import search as engine
    from scenthound.search import Filters
    from scenthound.search.portal_categories import pages_in

    if bool(query.strip()) == bool(like):
        raise BadUsage("give either a query or --like URL", f"for example: scenthound search {folder} 'hot air'")
    filters = Filters(
        tuple(name.strip().strip(".").lower() for name in hosts),
        tuple(code.strip().lower() for code in languages),
        min_relevance,
        None if since is None else engine.parse_day(since),
        None if until is None else engine.parse_day(until) + engine.DAY,
        None if category is None else tuple(pages_in(folder, category)),
    )
    if like is None:
        engine.parse_query(query)  # a bad query is an error before any indexing
    _update_index(folder, quiet=as_json)
    if like is None:
        results = engine.search(folder, query, filters, limit, weight=weight)
    else:
        results = engine.like(folder, _page(folder, like), filters, limit, weight=weight)
    if as_json:
        emit({"folder": str(folder), "query": query, "like": like, **results.as_plain()})
    else:
        _print(results)


def _page(folder: Path, raw: str) -> str:
    from scenthound import url as urls
    from scenthound.errors import NotAUrl
    from scenthound.loop.folder import CrawlFolder

    try:
        url = urls.make(raw)
    except NotAUrl as error:
        raise BadUsage(error.message, "write the full URL, e.g. https://example.org/page") from None
    with CrawlFolder.look(folder) as opened:
        step = opened.history.step_of(url)
    return url if step is None else step.url


def _update_index(folder: Path, quiet: bool, rebuild: bool = False) -> int:
    """Index the new pages and return their number. If another process is indexing, its index is used as it is."""
    from scenthound.search import index_folder

    last_message = time.monotonic()

    def progress(pages: int) -> None:
        nonlocal last_message
        if not quiet and time.monotonic() - last_message > SAY_EVERY:
            last_message = time.monotonic()
            say(f"indexing: {pages:,} pages …")

    try:
        return index_folder(folder, rebuild, progress)
    except FolderInUse:
        if rebuild:
            raise
        return 0


def _print(results: Results) -> None:
    from rich.text import Text

    console = out()
    for rank, result in enumerate(results.found, 1):
        title = _text(result.title) if result.title else Text("(no title)")
        console.print(Text(f"{rank:>3}  {result.score:.2f}  ") + title, soft_wrap=True)
        console.print(Text(f"           {printable(result.url, 200)}", style="dim"), soft_wrap=True)
        if result.snippet:
            console.print(Text("           ") + _text(result.snippet), soft_wrap=True)
    if not results.indexed:
        say("this crawl has no pages yet; `scenthound status` says why")
        return
    total = f"{results.total:,} of {results.indexed:,} pages match"
    say(f"{total}; ranking: {results.order}" if results.total else f"{total}. Use fewer words, or word*, to find more.")


def _text(parts: tuple[tuple[str, bool], ...]) -> object:
    """Text with the matched words in bold, or between asterisks if stdout is not a terminal."""
    from rich.text import Text

    plain = not out().is_terminal
    text = Text()
    for part, marked in parts:
        shown = printable(part)
        if marked:
            text += Text(f"*{shown}*" if plain else shown, style="bold")
        elif shown:  # `printable` strips the spaces next to marked words
            text += Text(" " * part[:1].isspace() + shown + " " * part[-1:].isspace())
        else:
            text += Text(" " * bool(part))
    return text


@click.command()
@folder_argument
@click.option("--follow", is_flag=True, help="Keep indexing until the crawl has ended, at the lowest priority.")
@click.option("--rebuild", is_flag=True, help="Rebuild the index from the history and the WARC files.")
@json_option
def index(folder: Path, follow: bool, rebuild: bool, as_json: bool) -> None:
    """Build the full-text index of a crawl, or keep it current while the crawl runs.

    `search` does this too; for a large crawl, do it beforehand. The desk runs it for every crawl that it shows.

    \b
      $ scenthound index balloons
      $ scenthound index balloons --follow
    """
    if follow:
        from scenthound.search import Indexer

        give_way()
        with Indexer(folder, rebuild) as indexer:
            pages = indexer.follow(time.sleep)
    else:
        pages = _update_index(folder, as_json, rebuild)
    emit({"folder": str(folder), "indexed": pages}) if as_json else click.echo(f"{pages:,} pages indexed")


def give_way() -> None:
    """Use only CPU time that no other process wants: the crawl comes first."""
    os.nice(NICENESS)
    if hasattr(os, "SCHED_IDLE"):  # Linux
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
