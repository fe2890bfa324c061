"""Steer a crawl from another process: pause it, change its budget or what it looks for, add seeds, block hosts, label
pages.

`give_order` and `give_label` write to the crawl's database without its lock. The crawl looks for orders between
commits, which costs one comparison if there are none, and never waits for them. Each order that it carries out is an
event of its history, committed together with the effect. A resumed crawl carries out the orders of earlier runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from scenthound import looking_for
from scenthound import url as urls
from scenthound.errors import BadUsage, NotAUrl, OurFault, UnknownName
from scenthound.formats import whole_number
from scenthound.loop.change_target import change_target
from scenthound.loop.core import Crawl
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.messages import FOREVER
from scenthound.loop.settings import Settings, read
from scenthound.model import Candidate, Event, Url
from scenthound.store.database import CrawlDatabase
from scenthound.store.order_table import Order, Orders

PATIENCE = 60.0  # seconds to wait for a busy crawl to finish a transaction
STEERED = "steered"  # the kind of the events
MOST_PAGES = 10**12


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a crawl can be ordered to do."""

    about: str
    value: str = ""
    """The placeholder for its value, such as `URL`; empty if it takes no value."""
    parse: Callable[[str], str] = str
    """Returns the value as it is stored. Raises `OurFault`."""


def _pages(text: str) -> str:
    number = whole_number(text.strip())
    if number is None or not 0 < number <= MOST_PAGES:
        raise BadUsage(f"not a number of pages: `{text[:80]}`", f"write a whole number from 1 to {MOST_PAGES:,}")
    return str(number)


def _seed(text: str) -> str:
    """The URL without user name and password, which are never stored."""
    try:
        spelling = urls.resolve(text)
        urls.canonical(spelling)
    except NotAUrl as error:
        raise BadUsage(error.message, "write the whole URL, such as https://example.org/page") from None
    return spelling


def _host(text: str) -> str:
    name = text.strip().strip(".")
    try:
        return urls.host(urls.make(name if "://" in name else f"http://{name}/"))
    except NotAUrl:
        raise BadUsage(f"not a host: `{text[:80]}`", "write it as www.example.org") from None


def _seconds(text: str) -> str:
    try:
        return str(read(Settings, {"delay": text.strip()}).delay)
    except OurFault as error:
        raise BadUsage(f"not a time: `{text[:80]}` ({error.message})", "write seconds, such as 2, or 500 ms") from None


def _looking_for(text: str) -> str:
    try:
        return looking_for.checked(text.strip())
    except OurFault:
        raise BadUsage(f"a crawl can't look for `{text[:80]}`", "write pages or sites") from None


def _on_or_off(text: str) -> str:
    try:
        return "on" if read(Settings, {"traps": text.strip().lower()}).traps else "off"
    except OurFault:
        raise BadUsage(f"neither on nor off: `{text[:80]}`", "write `traps off` to fetch them") from None


ActionName = Literal["pause", "continue", "stop", "budget", "seed", "block", "unblock", "looking-for", "traps", "delay"]
ACTIONS: Mapping[str, Action] = {
    "pause": Action("Request nothing more until `continue`. Requests in flight are completed."),
    "continue": Action("End a pause."),
    "stop": Action("End the run. The crawl can be resumed."),
    "budget": Action("Stop when there are N pages in total.", "N", _pages),
    "seed": Action("Fetch this page next, whatever its score.", "URL", _seed),
    "block": Action("Fetch nothing more from this host.", "HOST", _host),
    "unblock": Action("Fetch from this host again, if new links to it are found.", "HOST", _host),
    "looking-for": Action(
        "Look for pages about the topic, or for sites, from now on.", "|".join(looking_for.CHOICES), _looking_for
    ),
    "traps": Action("Let URLs that look like traps wait, or (off) fetch them like others.", "on|off", _on_or_off),
    "delay": Action("Wait this long between two requests to a host.", "SECONDS", _seconds),
}


def parse_order(action: str, value: str | None) -> tuple[str, str]:
    """The action and the value as it is stored. Raises `UnknownName` or `BadUsage`."""
    declared = ACTIONS.get(action)
    if declared is None:
        raise UnknownName.among("order", action, ACTIONS)
    if not declared.value and value:
        raise BadUsage(f"`{action}` takes no value", f"leave out `{value[:80]}`")
    if declared.value and not value:
        raise BadUsage(f"`{action}` needs a value", f"write it as: {action} {declared.value}")
    return action, declared.parse(value or "")


def give_order(path: Path, action: str, value: str | None, now: float, patience: float = PATIENCE) -> Order:
    """Give an order to the crawl in this folder. A stopped crawl obeys when it is resumed."""
    action, value = parse_order(action, value)
    with CrawlFolder.look(path):  # raises if this is not a crawl
        pass
    number = _write(path, lambda database: Orders(database).give(action, value, now), patience)
    return Order(number, action, value, now)


def give_label(path: Path, page: Url, on_topic: bool, now: float, patience: float = PATIENCE) -> None:
    """Label a page of the crawl in this folder. The latest label of a page counts."""
    _write(path, lambda database: database.save_label(page, on_topic, now), patience)


def _write(path: Path, write: Callable[[CrawlDatabase], Any], patience: float) -> Any:
    """Write to the database without the crawl's lock; SQLite lets two processes write in turn."""
    database = CrawlDatabase(path / "crawl.db", patience=patience)
    try:
        result = write(database)
        database.commit()
    finally:
        database.close()
    return result


class Steering:
    """Makes a running crawl obey its orders."""

    def __init__(self, folder: CrawlFolder, crawl: Crawl) -> None:
        self._folder, self._crawl = folder, crawl
        self._orders = Orders(folder.database)
        self._time_left: float | None = None  # until the time limit, while the crawl is paused
        self._methods: dict[str, Callable[[str, float], str]] = {
            "pause": self._pause,
            "continue": self._continue,
            "stop": self._stop,
            "budget": self._budget,
            "seed": self._seed,
            "block": self._block,
            "unblock": self._unblock,
            "looking-for": self._look_for,
            "traps": self._traps,
            "delay": self._delay,
        }

    @property
    def is_paused(self) -> bool:
        return self._time_left is not None

    def obey(self, now: float) -> int:
        """Carry out new orders and return their number. Call this between commits, and commit afterwards."""
        orders = self._orders.new()
        for order in orders:
            self._record(order, self._carry_out(order, now))
        return len(orders)

    def add_seed(self, url: str, now: float) -> None:
        """Give and carry out the order to fetch a seed, on behalf of the crawl itself. Commit afterwards."""
        number = self._orders.give("seed", url, now)
        order = Order(number, "seed", url, now)
        self._record(order, self._carry_out(order, now))

    def restore(self, now: float) -> None:
        """After a resume, carry out the orders of earlier runs again.

        The budget and what is looked for are restored elsewhere. A `stop` that came too late for its run has no effect.
        """
        for order in self._orders.all():
            if order.event is None and order.action == "stop":
                self._record(order, "the crawl had ended already")
            elif order.event is not None and order.action not in ("stop", "budget", "looking-for"):
                self._carry_out(order, now)
        if not self.is_paused and self._crawl.host_clock is not None:
            self._crawl.pause_until(now + self._crawl.host_clock.delay)

    def _carry_out(self, order: Order, now: float) -> str:
        """Carry out an order and return the outcome. It may be invalid if another version or a person wrote it."""
        try:
            action, value = parse_order(order.action, order.value)
            return self._methods[action](value, now)
        except OurFault as error:
            return f"refused: {error.message}"

    def _record(self, order: Order, outcome: str) -> None:
        recorder = self._crawl.recorder
        self._orders.record_taken(order, self._folder.history.last_event(), outcome)
        facts = {"order": order.number, "action": order.action, "value": order.value, "outcome": outcome}
        recorder.events([Event(STEERED, facts, n=recorder.last_number)])

    def _pause(self, _: str, now: float) -> str:
        limits = self._crawl.limits
        if self._time_left is None:
            self._time_left, limits.ends_at = limits.ends_at - now, FOREVER
        self._crawl.pause_until(FOREVER)
        return "paused"

    def _continue(self, _: str, now: float) -> str:
        if self._time_left is None:
            return "it was not paused"
        self._crawl.limits.ends_at, self._time_left = now + self._time_left, None
        self._crawl.pause_until(now)
        return "continued"

    def _stop(self, _: str, now: float) -> str:
        self._crawl.stop("stopped")
        return "stopped"

    def _budget(self, value: str, now: float) -> str:
        self._crawl.limits.pages = int(value)
        self._folder.database.save_meta("pages_asked", value)  # crawl.toml stays as it was written
        return f"the budget is {int(value):,} pages"

    def _seed(self, value: str, now: float) -> str:
        crawl, url = self._crawl, urls.make(value)
        if crawl.history.seen(url):
            return f"not fetched again: {crawl.history.fate(url)}"
        if crawl.scope is not None:
            crawl.scope.admit(urls.host(url))
        if url in crawl.selection.chosen:
            return "it is being fetched"
        crawl.candidates.add_seed(Candidate(url, FOREVER, spelling=urls.resolve(value)))
        return "it is next"

    def _block(self, value: str, now: float) -> str:
        self._crawl.admission.blocked.add(value)
        return "blocked"

    def _unblock(self, value: str, now: float) -> str:
        if value not in self._crawl.admission.blocked:
            return "it was not blocked"
        self._crawl.admission.blocked.discard(value)
        return "not blocked any more"

    def _look_for(self, value: str, now: float) -> str:
        wanted, crawl = looking_for.checked(value), self._crawl
        if crawl.topic.looking_for == wanted:
            return f"it is looking for {wanted} already"
        is_steered = change_target(self._folder, crawl, wanted)
        count = f"{crawl.figures.relevant:,} of {crawl.figures.pages:,} pages so far are relevant"
        return f"looking for {wanted}; {count}" + ("" if is_steered else "; the strategy chooses pages as before")

    def _traps(self, value: str, now: float) -> str:
        waiting = len(self._crawl.suspended)
        self._crawl.candidates.watch_for_traps(value == "on")
        if value == "on":
            return "URLs that look like traps wait behind all others"
        return f"{waiting:,} URLs that look like traps are fetched like all others"

    def _delay(self, value: str, now: float) -> str:
        if self._crawl.host_clock is None:
            return "this crawl has no delay"
        self._crawl.host_clock.delay = float(value)
        return f"the delay is {float(value):g} s"
