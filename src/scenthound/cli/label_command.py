"""`scenthound label`: label a page of a crawl, running or not, as on topic or off topic."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Any

import click

from scenthound.cli.folder_commands import folder_argument
from scenthound.cli.output import emit, json_option, out, say, table
from scenthound.errors import BadUsage, NotAUrl
from scenthound.formats import printable
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import give_label
from scenthound.model import Url


@click.command()
@folder_argument
@click.argument("url", required=False)
@click.option(
    "--on-topic/--off-topic", "on_topic", default=None, help="The label; the last one given for a page counts."
)
@click.option("--list", "lists_labels", is_flag=True, help="Show the labels, and which of them the crawl has used.")
@json_option
def label(folder: Path, url: str | None, on_topic: bool | None, lists_labels: bool, as_json: bool) -> None:
    """Label a page of a crawl as on topic or off topic.

    A running crawl uses the label within a second, a stopped one when it is resumed. A strategy that learns re-scores
    the frontier. The label is kept in any case, and `scenthound train --from DIR` learns from it too.

    \b
      $ scenthound label reefs https://example.org/coral.html --on-topic
      $ scenthound label reefs https://example.org/cars.html --off-topic
      $ scenthound label reefs --list
    """
    if lists_labels:
        if url is not None or on_topic is not None:
            raise BadUsage("--list takes no label", "leave out the URL and --on-topic or --off-topic")
        with CrawlFolder.look(folder) as opened:
            _show(opened, as_json)
        return
    if url is None or on_topic is None:
        raise BadUsage(
            "a label needs a URL, and --on-topic or --off-topic",
            f"scenthound label {shlex.quote(str(folder))} URL --on-topic",
        )
    with CrawlFolder.look(folder) as opened:
        page = _known_url(opened, url)
        delivery = _delivery(opened)
    give_label(folder, page, on_topic, time.time())
    if as_json:
        emit({"folder": str(folder), "url": page, "on_topic": on_topic, "heard": delivery})
        return
    click.echo(f"{printable(page)} {'on topic' if on_topic else 'off topic'}")
    if delivery == "never":
        say(f"note: {opened.request.strategy} does not learn from labels; it is kept for training and other crawls")
    elif delivery == "when resumed":
        say(f"note: the crawl is not running; the label is used after: scenthound resume {shlex.quote(str(folder))}")


def _known_url(opened: CrawlFolder, raw: str) -> Url:
    """The URL in the form that this crawl uses. Raises `BadUsage` with similar URLs if it is unknown."""
    from scenthound.report.explain import explain

    try:
        explanation = explain(opened, raw)
    except NotAUrl as error:
        raise BadUsage(error.message, "write the full URL, e.g. https://example.org/page") from None
    if explanation.state == "crawled":
        return explanation.path[-1].url
    if explanation.state == "waiting":
        return explanation.url
    near = " or ".join(printable(url, 200) for url in explanation.near)
    hint = f"did you mean {near}?" if near else f"`scenthound trail {opened.path}` lists its pages"
    raise BadUsage(f"this crawl has no page {printable(raw, 200)}: {explanation.why}", hint)


def _delivery(opened: CrawlFolder) -> str:
    """When the strategy will get a label: `soon`, `when resumed`, or `never` if it takes no labels."""
    from scenthound.ports import TakesLabels
    from scenthound.store.lock import holder
    from scenthound.strategies import STRATEGIES

    if not issubclass(STRATEGIES.get(opened.request.strategy), TakesLabels):
        return "never"
    return "soon" if holder(opened.path) is not None else "when resumed"


def _show(opened: CrawlFolder, as_json: bool) -> None:
    from scenthound.store.label_table import Labels

    labels = Labels(opened.database)
    delivered = {label.url: label for label in labels.delivered()}
    rows: list[dict[str, Any]] = []
    for label in labels.all():
        delivery = delivered.get(label.url)
        after = None
        if delivery is not None and delivery.on_topic == label.on_topic:
            after = opened.history.pages_until(delivery.event)
        rows.append({"url": label.url, "on_topic": label.on_topic, "time": label.time, "heard_after_pages": after})
    if as_json:
        emit(rows)
        return
    if not rows:
        say("no labels yet")
        return
    shown = [
        (
            "on topic" if row["on_topic"] else "off topic",
            "not yet" if row["heard_after_pages"] is None else f"after {row['heard_after_pages']:,} pages",
            row["url"],
        )
        for row in rows
    ]
    out().print(table(("label", "used", "page"), shown))
