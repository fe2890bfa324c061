"""`scenthound portal`: turn a crawl into a website."""

from __future__ import annotations

import time
from pathlib import Path

import click

from scenthound.cli.folder_commands import folder_argument
from scenthound.cli.output import emit, json_option, option, out, say, table
from scenthound.desk.apps.portal.categories import MOST_CLUSTERS

SAY_EVERY = 2.0  # seconds


@click.command()
@folder_argument
@option("--out site", "SITE", "Folder of the site.  [default: DIR/portal]", type=click.Path(path_type=Path))
@option(
    "--taxonomy",
    "FILE",
    "Categories with examples (TOML or JSON); needed on every run.  [default: proposed from the pages]",
    type=click.Path(path_type=Path),
)
@click.option(
    "--clusters",
    type=click.IntRange(1, MOST_CLUSTERS),
    metavar="N",
    help="Propose N new categories; the old categories.toml is renamed.",
)
@click.option("--relevant-only", is_flag=True, help="Include only pages that were relevant when they were fetched.")
@json_option
def portal(
    folder: Path, site: Path | None, taxonomy: Path | None, clusters: int | None, relevant_only: bool, as_json: bool
) -> None:
    """Turn a crawl into a website: categories, an entry for each page, citations, search in the browser.

    Any web server can host the folder; it contains only static files. Run the command again when there are new pages:
    only files that have changed are written. You can edit the names in SITE/categories.toml; they are kept.

    \b
      $ scenthound portal balloons
      $ scenthound portal balloons --out /srv/www/balloons --clusters 8
      $ scenthound portal balloons --taxonomy categories.toml --relevant-only
      $ python -m http.server --directory balloons/portal 8000
    """
    from scenthound.desk.apps.portal import build_portal
    from scenthound.formats import size

    if taxonomy is not None and clusters is not None:
        from scenthound.errors import BadUsage

        raise BadUsage("--taxonomy and --clusters can't be combined", "leave one of them out")
    last_message = time.monotonic()

    def progress(message: str) -> None:
        nonlocal last_message
        if time.monotonic() - last_message > SAY_EVERY:
            last_message = time.monotonic()
            say(f"{message} …")

    built = build_portal(folder, site, taxonomy, clusters, relevant_only, progress)
    if as_json:
        emit({"folder": str(folder), **built.as_plain()})
        return
    out().print(table(("category", "pages"), built.categories, numbers=[1]))
    left_out = f"; {built.left_out:,} pages were not stored and are left out" if built.left_out else ""
    say(f"{built.pages:,} pages, {built.new:,} new{left_out}; {built.cites:,} citations between them")
    say(
        f"{built.written:,} of {built.files:,} files written, {size(built.bytes)} in total, "
        f"{size(built.search_bytes)} of it search index"
    )
    say(f"See it with: python -m http.server --directory {built.path} 8000")
