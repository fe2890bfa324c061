"""`scenthound ask`: answer a question with a short crawl."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.crawl_options import fetch_options, looking_for_option, pdf_option, set_option, start_options
from scenthound.cli.output import json_option, option, out, say
from scenthound.desk.apps.ask import PAGES, QUESTION_STRATEGIES, Hit, strategy_for_question
from scenthound.errors import BadUsage
from scenthound.formats import printable

if TYPE_CHECKING:
    from scenthound.loop.crawl_toml import CrawlRequest


@click.command()
@click.argument("query")
@start_options
@click.option(
    "--pages", type=click.IntRange(min=1), default=PAGES, show_default=True, metavar="N", help="Fetch at most N pages."
)
@click.option(
    "--strategy",
    type=click.Choice(list(QUESTION_STRATEGIES)),
    default="hound",
    show_default=True,
    help="How to choose the next page.",
)
@looking_for_option
@click.option("--per-seed", is_flag=True, help="Keep one frontier for each seed, and serve them in turn.")
@option(
    "--keep",
    "DIR",
    "Keep the crawl in this new folder.  [default: delete it]",
    type=click.Path(path_type=Path),
)
@set_option
@pdf_option
@fetch_options
@json_option
def ask(
    query: str,
    seeds: tuple[str, ...],
    seed_files: tuple[str, ...],
    pages: int,
    strategy: str,
    looking_for: str | None,
    per_seed: bool,
    keep: Path | None,
    pairs: tuple[str, ...],
    as_json: bool,
    **settings: Any,
) -> int:
    """Look for QUERY on the web right away: results are printed as they are found, and ranked at the end.

    The crawl is short, so hound and best-first are greedy: they always fetch the page that looks best. Exploration
    pays only in long crawls: after 25 pages the pages of best-64-first rank 18 to 39 places behind (standard errors of
    5 to 9, one recorded web: docs/applications.md).
    InfoSpiders choose links at random, weighted by score. Stop at any time with Ctrl-C. The pages are deleted unless
    you pass --keep. With --json every line is a document: one for each hit, and a last one with the ranking.

    \b
      $ scenthound ask "hot air balloon clubs" --seed https://example.org/links
      $ scenthound ask "hot air balloon clubs" --source searxng:https://search.example.org/ --pages 100
      $ scenthound ask "hot air balloon clubs" --seeds links.txt --strategy infospiders --keep clubs
      $ scenthound ask "hot air balloon clubs" --seeds links.txt --strategy best-first --per-seed
    """
    from scenthound.cli.crawl_request import CrawlOptions, crawl_request

    if not query.strip():
        raise BadUsage("no question: say what you are looking for", 'scenthound ask "hot air balloon clubs" --seed URL')
    name, parameters = strategy_for_question(strategy, per_seed)
    greedy = [f"{key}={value}" for key, value in parameters.items()]
    request = crawl_request(
        CrawlOptions(
            query, seeds, seed_files, name, pairs=[*greedy, *pairs], looking_for=looking_for,
            settings={"pages": pages, **settings},
        )
    )  # fmt: skip
    with _crawl_folder(keep) as folder:
        return _answer(request, folder, keep, as_json)


@contextlib.contextmanager
def _crawl_folder(keep: Path | None) -> Iterator[Path]:
    """The folder of the crawl: `keep`, or a temporary one that is deleted afterwards."""
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="scenthound-ask-", ignore_cleanup_errors=True) as scratch:
        yield Path(scratch) / "crawl"


def _answer(request: CrawlRequest, folder: Path, keep: Path | None, as_json: bool) -> int:
    from scenthound.cli.crawl_commands import say_what_for
    from scenthound.desk.apps.ask import HitList, ranked
    from scenthound.report.causes import why_nothing
    from scenthound.report.crawl_facts import gather
    from scenthound.wiring import begin

    hits = HitList(_print_json if as_json else _print)
    session = begin(
        request.topic,
        request.seeds,
        folder,
        strategy=request.strategy,
        parameters=request.parameters,
        settings=request.settings,
        watch=hits.watch,
        found=request.found,
    )
    if not as_json:
        say_what_for(request)
    try:
        reason = asyncio.run(session.run(handle_signals=True))
        best, facts = ranked(session.folder), gather(session.folder)
    finally:
        session.close()
    failure = why_nothing(facts) if not facts.figures.pages and reason != "interrupted" else None
    if as_json:
        last = {
            "ended": reason,
            "looking_for": request.topic.looking_for,
            "pages": facts.figures.pages,
            "hits": len(hits.hits),
            "kept": str(keep) if keep else None,
        }
        error = {"error": failure[0], "hint": failure[1], "exit_code": 1} if failure else {}
        click.echo(json.dumps({**last, "ranked": list(map(asdict, best)), **error}))
        return 1 if failure else 0
    if failure:
        say(f"error: {failure[0]}\nhint: {failure[1]}")
        return 1
    _print_end(best, facts.figures.pages, facts.why, keep)
    return 0


def _print_json(hit: Hit) -> None:
    click.echo(json.dumps({"hit": asdict(hit)}))


def _print(hit: Hit) -> None:
    click.echo(f"{hit.number:>3}  {hit.relevance:.2f}  {printable(hit.title, 100) or '(no title)'}")
    click.echo(f"           {printable(hit.url, 200)}")
    click.echo(f"           {hit.origin}")


def _print_end(best: list[Hit], pages: int, why: str, keep: Path | None) -> None:
    from scenthound.report.causes import NO_HITS

    if best:
        out().print("\nfinal ranking:")
        for rank, hit in enumerate(best, 1):
            click.echo(f"{rank:>3}  {hit.relevance:.2f}  {printable(hit.title, 60) or '(no title)'}  {hit.url}")
    say(f"{pages:,} pages fetched, {len(best):,} ranked; {why}")
    if not best:
        say(f"hint: {NO_HITS}")
    if keep is not None:
        say(f"kept in {keep}; search it: scenthound search {shlex.quote(str(keep))} WORDS")
