"""`scenthound show`: print one stored page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from scenthound.cli.output import emit, json_option, print_facts
from scenthound.errors import BadUsage, NotAUrl, UnknownName
from scenthound.formats import json_number, printable
from scenthound.loop.folder import CrawlFolder

if TYPE_CHECKING:
    from scenthound.loop.stored_page import StoredPage


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, readable=False), metavar="DIR")
@click.argument("url")
@click.option("--links", is_flag=True, help="Print its links instead of its text, one per line: URL, tab, anchor.")
@click.option("--headers", is_flag=True, help="Print its HTTP headers instead of its text.")
@click.option("--html", is_flag=True, help="Print its HTML source instead of its text.")
@json_option
def show(folder: Path, url: str, links: bool, headers: bool, html: bool, as_json: bool) -> None:
    """Show a fetched page: where it is stored and its text; or its links, headers or source.

    \b
      $ scenthound show balloons https://example.org/envelopes.html
      $ scenthound show balloons https://example.org/envelopes.html --links
      $ scenthound show balloons https://example.org/envelopes.html --json
    """
    if links + headers + html > 1:
        raise BadUsage("--links, --headers and --html can't be combined", "leave all but one out")
    with CrawlFolder.look(folder) as opened:
        try:
            page = opened.open(url)
        except NotAUrl as error:
            raise BadUsage(error.message, "write the full URL, e.g. https://example.org/page") from None
        except UnknownName as error:
            raise BadUsage(f"no page of {folder} has the URL {printable(url, 200)}", error.hint) from None
        if as_json:
            emit(_plain(page))
        elif links:
            for link in page.links:
                click.echo(f"{printable(link.url)}\t{printable(link.anchor)}")
        elif headers:
            for name, value in page.headers:
                click.echo(f"{printable(name)}: {printable(value)}")
        elif html:
            click.echo(page.html.encode("utf-8", "replace"))
        else:
            _print(page)


def _print(page: StoredPage) -> None:
    where = page.where
    rows = [
        ("title", page.title or "(none)"),
        ("url", page.url),
        ("page", f"{page.n:,}, fetched {page.time:%Y-%m-%d %H:%M:%S} UTC, status {page.step.status}"),
        ("relevance", f"{page.relevance:.3f} ({'relevant' if page.is_relevant else 'not relevant'})"),
        ("type", page.content_type or "unknown"),
        ("stored", f"{where.file} at {where.offset:,}" if where else "no: the page asks not to be archived"),
    ]
    print_facts(rows)
    click.echo()
    for line in page.text.splitlines():
        click.echo(printable(line))


def _plain(page: StoredPage) -> dict[str, object]:
    modified, where = page.last_modified, page.where
    return {
        "n": page.n,
        "url": page.url,
        "title": page.title,
        "host": page.host,
        "time": page.time.isoformat(),
        "status": page.step.status,
        "relevance": json_number(page.relevance),
        "relevant": page.is_relevant,
        "content_type": page.content_type,
        "last_modified": modified.isoformat() if modified else None,
        "digest": page.digest,
        "warc": {"file": where.file, "offset": where.offset, "length": where.length} if where else None,
        "headers": [list(header) for header in page.headers],
        "links": [{"url": link.url, "anchor": link.anchor} for link in page.links],
        "text": page.text,
    }
