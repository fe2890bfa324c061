"""`scenthound map`: map what a site has on a topic, from a new or an existing crawl."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.crawl_options import fetch_options, pdf_option, set_option
from scenthound.cli.output import emit, json_option, option, say
from scenthound.cli.shell_words import complete_strategies
from scenthound.errors import BadUsage

if TYPE_CHECKING:
    from scenthound.desk.apps.site_map import SiteMap

PAGES = 200
STRATEGY = "shark-search"


@click.command()
@click.argument("site", metavar="URL|DIR")
@click.argument("topic", required=False)
@option("--pages", "N", f"Stop after this many pages.  [default: {PAGES}]")
@option("--time", "TIME", "Stop after this long, e.g. `90 s` or `2 h`.")
@option(
    "--strategy", "NAME", f"How to choose the next page.  [default: {STRATEGY}]", shell_complete=complete_strategies
)
@option(
    "--out folder", "DIR", "Folder of the new crawl.  [default: named after the topic]", type=click.Path(path_type=Path)
)
@click.option("--all", "unfolded", is_flag=True, help="Do not fold branches without pages on the topic.")
@fetch_options
@set_option
@pdf_option
@json_option
def map(site: str, topic: str | None, unfolded: bool, as_json: bool, **options: Any) -> int:
    """Map what a site has on a topic: a tree of its pages, with those on topic marked and other branches folded.

    Crawls the host of URL and writes DIR/map: map.html (one file with everything), map.svg, map.md, and sitemap.xml
    with the pages on topic. At the desk the map grows while the crawl runs (Site map). If DIR is an existing crawl,
    nothing is fetched. For a PNG open map.svg in a browser, or run: rsvg-convert map.svg -o map.png

    \b
      $ scenthound map https://example.org/ "hot air ballooning" --pages 200 --out balloon-map
      $ scenthound map balloon-map --all
    """
    from scenthound.desk.apps.site_map import site_map
    from scenthound.loop.folder import CrawlFolder

    code, folder = 0, Path(site)
    if (folder / "crawl.toml").exists():
        crawl_options = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
        if topic is not None or crawl_options:
            extra = crawl_options[0] if crawl_options else "a topic"
            raise BadUsage(
                f"{extra} is for a new crawl, and {folder} is an existing one",
                "leave it out, or give the URL of a site",
            )
    else:
        folder, code = _crawl(site, topic, options)
    with CrawlFolder.look(folder) as opened:
        tree = site_map(opened, unfolded)
    files = _write(tree, folder / "map")
    if as_json:
        emit({"folder": str(folder), "files": files, **tree.as_plain()})
        return code
    from scenthound.desk.apps.site_map import text_of

    click.echo(text_of(tree))
    if not tree.on_topic:
        say(f"note: none of the {tree.pages:,} pages is on topic. {_advice(folder, tree.pages)}")
    say(f"map: {files[0]}")
    return code


def _advice(folder: Path, pages: int) -> str:
    """What to do if nothing is on topic; more pages help only if the frontier is not empty."""
    from scenthound.loop.folder import CrawlFolder
    from scenthound.report.crawl_facts import frontier_length

    with CrawlFolder.look(folder) as opened:
        if not frontier_length(opened):
            return "No links are left to follow: try other words, or start from another page of the site"
    return f"Try other words, or more pages: scenthound resume {shlex.quote(str(folder))} --pages {pages * 2}"


def _crawl(site: str, topic: str | None, options: dict[str, Any]) -> tuple[Path, int]:
    """Crawl a site. Returns the folder and the exit code."""
    from scenthound import url as urls
    from scenthound.cli.crawl_commands import crawl_for
    from scenthound.cli.crawl_request import CrawlOptions, crawl_request, slug
    from scenthound.loop.crawl_toml import check_seeds

    if topic is None:
        raise BadUsage(
            "no topic: say what you are looking for on this site", f'scenthound map {site} "hot air ballooning"'
        )
    seeds = check_seeds([("URL", site)])
    host = urls.host(urls.make(seeds[0]))
    twin = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
    own = {name: options.pop(name) for name in ("strategy", "folder", "pairs")}
    options |= {"pages": options["pages"] or str(PAGES), "hosts": [twin]}
    request = crawl_request(
        CrawlOptions(
            topic=topic, seeds=seeds, strategy=own["strategy"] or STRATEGY, pairs=own["pairs"], scope="host",
            looking_for="pages", settings=options,
        )
    )  # fmt: skip
    folder = own["folder"] or Path(f"{slug(request.topic)}-map")
    say(f"Watch the map grow: scenthound desk {shlex.quote(str(folder))}")
    return folder, crawl_for(request, folder)


def _write(tree: SiteMap, folder: Path) -> list[str]:
    """Write all files of the map. Returns their paths, the page first."""
    from scenthound.desk.apps.site_map import FORMATS
    from scenthound.files import make_folder, write_text

    make_folder(folder)
    for name, (write, _) in FORMATS.items():
        write_text(folder / name, write(tree))
    return [str(folder / name) for name in FORMATS]
