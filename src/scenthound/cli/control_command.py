"""`scenthound control`: steer a crawl, running or not."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import click

from scenthound.cli.folder_commands import folder_argument
from scenthound.cli.output import emit, json_option, out, say, table
from scenthound.errors import BadUsage
from scenthound.formats import printable
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.steering import ACTIONS, give_order
from scenthound.store.lock import holder
from scenthound.store.order_table import Order, Orders

WAIT = 5.0  # seconds for a running crawl to carry out an order; it checks for orders a few times a second


@click.command()
@folder_argument
@click.argument("action", required=False, metavar=f"[{'|'.join(ACTIONS)}]")
@click.argument("value", required=False)
@click.option("--list", "lists_orders", is_flag=True, help="Show the orders so far and their outcome.")
@json_option
def control(folder: Path, action: str | None, value: str | None, lists_orders: bool, as_json: bool) -> None:
    """Pause, continue, stop or steer a crawl, even one that runs in another terminal.

    A running crawl carries out an order within a second, a stopped one when it is resumed. Every order is kept in the
    crawl's history, and stays in force after a resume.

    \b
      $ scenthound control reefs pause
      $ scenthound control reefs continue
      $ scenthound control reefs stop
      $ scenthound control reefs budget 2000
      $ scenthound control reefs seed https://example.org/coral.html
      $ scenthound control reefs block ads.example.org
      $ scenthound control reefs unblock ads.example.org
      $ scenthound control reefs delay 3
      $ scenthound control reefs --list
    """
    if lists_orders:
        if action is not None:
            raise BadUsage("--list takes no action", f"leave out `{action}`")
        _show(folder, as_json)
        return
    if action is None:
        raise BadUsage("no action given", f"scenthound control {folder} {'|'.join(ACTIONS)}")
    is_running = holder(folder) is not None
    if action == "stop" and not is_running:
        with CrawlFolder.look(folder):  # raises if this is not a crawl
            raise BadUsage(f"the crawl in {folder} is not running", "there is nothing to stop")
    order = give_order(folder, action, value, time.time())
    order = _wait(folder, order) if is_running else order
    if as_json:
        emit({"folder": str(folder), **order.as_plain()})
        return
    click.echo(f"{order.action} {printable(order.value)}".strip() + (f": {order.outcome}" if order.outcome else ""))
    if order.event is None and is_running:
        say("note: the crawl is busy and will carry out the order shortly")
    elif order.event is None:
        say(f"note: the crawl is not running; it takes effect after: scenthound resume {shlex.quote(str(folder))}")


def _wait(folder: Path, order: Order) -> Order:
    """Wait until the running crawl has carried out the order. Returns it with its outcome, or unchanged if that takes
    too long."""
    deadline = time.monotonic() + WAIT
    with CrawlFolder.look(folder) as opened:
        orders = Orders(opened.database)
        while time.monotonic() < deadline:
            current = orders.get(order.number)
            if current is not None and current.event is not None:
                return current
            time.sleep(0.05)
    return order


def _show(folder: Path, as_json: bool) -> None:
    with CrawlFolder.look(folder) as opened:
        orders = Orders(opened.database).all()
    if as_json:
        emit([order.as_plain() for order in orders])
    elif orders:
        rows = [(order.action, order.value, order.outcome or "not yet") for order in orders]
        out().print(table(("order", "value", "outcome"), rows))
    else:
        say("no orders yet")
