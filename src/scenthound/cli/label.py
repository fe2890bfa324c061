"""`scenthound label`: tell a crawl, running or not, what a page is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scenthound.cli.folder_commands import folder_argument
from scenthound.cli.output import emit, json_option, out, say, table

if TYPE_CHECKING:
    from scenthound.loop.folder import CrawlFolder
    from scenthound.model import Url

PATIENCE = 60.0  # seconds in which a busy crawl will have paused between two transactions


@click.command()
@folder_argument
@click.argument("url", required=False)
@click.option(
    "--on-topic/--off-topic", "on_topic", default=None, help="What the page is; the last word on a page counts."
)
@click.option("--list", "listed", is_flag=True, help="Show the labels there are, and which the crawl has heard.")
@json_option
def label(folder: Path, url: str | None, on_topic: bool | None, listed: bool, as_json: bool) -> None:
    """Say that a page of a crawl is on topic or off.

    A running crawl hears it within a second, a stopped one when it is resumed. A strategy that learns changes its
    mind about what waits; the label is kept in any case, and `scenthound train --from DIR` learns from it too.

    \b
      $ scenthound label reefs https://example.org/coral.html --on-topic
      $ scenthound label reefs https://example.org/cars.html --off-topic
      $ scenthound label reefs --list
    """
    from scenthound.errors import BadUsage
    from scenthound.loop.folder import CrawlFolder

    if listed:
        if url is not None or on_topic is not None:
            raise BadUsage("--list shows labels and gives none", "leave out the URL and what it is")
        with CrawlFolder.look(folder) as opened:
            _show(opened, as_json)
        return
    if url is None or on_topic is None:
        raise BadUsage("a label needs a page and what it is", f"scenthound label {folder} URL --on-topic")
    with CrawlFolder.look(folder) as opened:
        page = _met(opened, url)
        heard = _how_heard(opened)
    _write(folder, page, on_topic)
    if as_json:
        emit({"folder": str(folder), "url": page, "on_topic": on_topic, "heard": heard})
        return
    from scenthound.exports.clean import clean

    click.echo(f"{clean(page)} {'on topic' if on_topic else 'off topic'}")
    if heard == "never":
        say(f"note: {opened.asked.strategy} does not learn from labels; it is kept for training and for other crawls.")
    elif heard == "when resumed":
        say(f"note: the crawl is not running; it hears this with: scenthound resume {folder}")


def _met(opened: CrawlFolder, raw: str) -> Url:
    """The page that is meant, if this crawl has met it; else an error that names pages which look alike."""
    from scenthound.errors import BadUsage, NotAUrl
    from scenthound.exports.clean import clean
    from scenthound.report.explain import explain

    try:
        found = explain(opened, raw)
    except NotAUrl as error:
        raise BadUsage(error.message, "write the URL whole, as https://example.org/page") from None
    if found.state == "crawled":
        return found.path[-1].url
    if found.state == "waiting":
        return found.url
    near = " or ".join(clean(one, 200) for one in found.near)
    hint = f"did you mean {near}?" if near else f"`scenthound trail {opened.path}` lists the pages there are"
    raise BadUsage(f"this crawl has no page {clean(raw, 200)}: {found.why}", hint)


def _how_heard(opened: CrawlFolder) -> str:
    """When the crawl will hear a label: `soon`, `when resumed`, or `never` where its strategy has no ears."""
    from scenthound.ports import TakesLabels
    from scenthound.store.lock import holder
    from scenthound.strategies import SHELF

    if not issubclass(SHELF.get(opened.asked.strategy), TakesLabels):
        return "never"
    return "soon" if holder(opened.path) is not None else "when resumed"


def _write(folder: Path, page: Url, on_topic: bool) -> None:
    """Beside the crawl, without its lock: SQLite lets two processes write by turns."""
    from scenthound.store.database import CrawlDatabase

    database = CrawlDatabase(folder / "crawl.db", patience=PATIENCE)
    try:
        database.save_label(page, on_topic, time.time())
        database.commit()
    finally:
        database.close()


def _show(opened: CrawlFolder, as_json: bool) -> None:
    from scenthound.store.labels import Labels

    labels = Labels(opened.database)
    heard = {one.url: one for one in labels.heard()}
    rows: list[dict[str, Any]] = []
    for one in labels.all():
        told = heard.get(one.url)
        after = None
        if told is not None and told.on_topic == one.on_topic:
            after = opened.history.pages_until(told.event)
        rows.append({"url": one.url, "on_topic": one.on_topic, "time": one.time, "heard_after_pages": after})
    if as_json:
        emit(rows)
        return
    if not rows:
        say("no labels yet")
        return
    told_rows = [
        (
            "on topic" if row["on_topic"] else "off topic",
            "not yet" if row["heard_after_pages"] is None else f"after {row['heard_after_pages']:,} pages",
            row["url"],
        )
        for row in rows
    ]
    out().print(table(("label", "heard", "page"), told_rows))
