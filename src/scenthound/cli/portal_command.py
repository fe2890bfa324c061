"""`scenthound portal`: a collection as a site."""

from __future__ import annotations

import time
from pathlib import Path

import click

from scenthound.apps.portal.categories import MOST_CLUSTERS
from scenthound.cli.folder_commands import folder_argument
from scenthound.cli.output import emit, json_option, option, out, say, table

SAY_EVERY = 2.0  # seconds


@click.command()
@folder_argument
@option("--out site", "SITE", "The folder of the site.  [default: DIR/portal]", type=click.Path(path_type=Path))
@option(
    "--taxonomy",
    "FILE",
    "Categories with examples (TOML or JSON); give it on every run.  [default: proposed from the pages]",
    type=click.Path(path_type=Path),
)
@click.option(
    "--clusters",
    type=click.IntRange(1, MOST_CLUSTERS),
    metavar="N",
    help="Propose N new categories; the old categories.toml is kept under another name.",
)
@click.option("--relevant-only", is_flag=True, help="Only pages that were relevant when they were fetched.")
@json_option
def portal(
    folder: Path, site: Path | None, taxonomy: Path | None, clusters: int | None, relevant_only: bool, as_json: bool
) -> None:
    """Make a site of a crawl: categories, a page for each collected page, citations, search in the browser.

    Any web server can host the folder; no program runs there. Run it again when there are new pages: only files that
    have changed are written. Edit the names in SITE/categories.toml; they are kept.

    \b
      $ scenthound portal balloons
      $ scenthound portal balloons --out /srv/www/balloons --clusters 8
      $ scenthound portal balloons --taxonomy categories.toml --relevant-only
      $ python -m http.server --directory balloons/portal 8000
    """
    from scenthound.apps.portal import build_portal
    from scenthound.report.crawl_report import size

    if taxonomy is not None and clusters is not None:
        from scenthound.errors import BadUsage

        raise BadUsage("--taxonomy and --clusters both say what the categories are", "leave one of them out")
    said = time.monotonic()

    def progress(words: str) -> None:
        nonlocal said
        if time.monotonic() - said > SAY_EVERY:
            said = time.monotonic()
            say(f"{words} …")

    made = build_portal(folder, site, taxonomy, clusters, relevant_only, progress)
    if as_json:
        emit({"folder": str(folder), **made.as_plain()})
        return
    out().print(table(("category", "pages"), made.categories, numbers=[1]))
    left_out = f"; {made.left_out:,} pages are not stored and left out" if made.left_out else ""
    say(f"{made.pages:,} pages, {made.new:,} new{left_out}; {made.cites:,} citations between them")
    say(
        f"{made.written:,} of {made.files:,} files written, {size(made.bytes)} in all, "
        f"of which the search index has {size(made.search_bytes)}"
    )
    say(f"look at it: python -m http.server --directory {made.path} 8000")
