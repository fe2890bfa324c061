"""Orders to a crawl: pause, continue, stop, change the budget, add a seed, block a host, change a delay.

Any process may write an order, whether the crawl runs or not. Only the crawl records that it took one: in the same
commit as its effects, with the number of the last event before it and the outcome.
"""

from __future__ import annotations

from typing import NamedTuple

from scenthound.store.database import CrawlDatabase


class Order(NamedTuple):
    """One order. `event` is the last event of the history before the crawl took it; None if it was not taken yet."""

    number: int
    action: str
    value: str
    time: float
    event: int | None = None
    outcome: str = ""

    def as_plain(self) -> dict[str, object]:
        """The order as JSON data, for commands and the desk."""
        return {
            "order": self.number,
            "action": self.action,
            "value": self.value,
            "time": self.time,
            "taken": self.event is not None,
            "outcome": self.outcome,
        }


_COLUMNS = "number, action, value, time, event, coalesce(outcome, '')"


class Orders:
    """The orders in a crawl's database."""

    def __init__(self, database: CrawlDatabase) -> None:
        self._database = database
        self._version = -1

    def give(self, action: str, value: str, now: float) -> int:
        """Write an order and return its number. The caller must commit."""
        sql = "INSERT INTO orders (action, value, time) VALUES (?, ?, ?)"
        return int(self._database.execute(sql, (action, value, now)).lastrowid or 0)

    def new(self) -> list[Order]:
        """Orders that the crawl has not taken yet. Cheap if no other process has written."""
        version = int((self._database.row("PRAGMA data_version") or (0,))[0])
        if version == self._version:
            return []
        self._version = version
        return self.pending()

    def pending(self) -> list[Order]:
        """Orders that the crawl has not taken yet, oldest first."""
        return [order for order in self.all() if order.event is None]

    def all(self) -> list[Order]:
        """All orders, oldest first."""
        return [Order(*row) for row in self._database.rows(f"SELECT {_COLUMNS} FROM orders ORDER BY number")]  # noqa: S608

    def get(self, number: int) -> Order | None:
        """The order with this number; None if there is none."""
        row = self._database.row(f"SELECT {_COLUMNS} FROM orders WHERE number = ?", (number,))  # noqa: S608
        return None if row is None else Order(*row)

    def record_taken(self, order: Order, event: int, outcome: str) -> None:
        """Record that the crawl took an order, in the same commit as its effects."""
        self._database.execute(
            "UPDATE orders SET event = ?, outcome = ? WHERE number = ?", (event, outcome, order.number)
        )

    def blocked(self) -> list[str]:
        """The hosts that are blocked after all orders, taken or not."""
        hosts: dict[str, None] = {}
        for order in self.all():
            if order.action == "block":
                hosts[order.value] = None
            elif order.action == "unblock":
                hosts.pop(order.value, None)
        return list(hosts)

    def is_paused(self) -> bool:
        """Whether the last pause or continue order, taken or not, was to pause."""
        sql = "SELECT action FROM orders WHERE action IN ('pause', 'continue') ORDER BY number DESC LIMIT 1"
        return self._database.row(sql) == ("pause",)
