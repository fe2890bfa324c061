"""Labels that people give to the pages of a crawl, and when the crawl used them.

Any process may write a label while the crawl runs. Only the crawl records that a label was delivered to the strategy,
in the same commit as its effects and with the number of the last event before it, so that a resumed crawl can deliver
the same labels in the same order.
"""

from __future__ import annotations

from typing import NamedTuple

from scenthound.model import Url
from scenthound.store.database import CrawlDatabase


class Label(NamedTuple):
    """A page, and whether a person marked it as on topic."""

    url: Url
    on_topic: bool
    time: float


class DeliveredLabel(NamedTuple):
    """A label that the strategy received after event `event` of the history."""

    number: int
    event: int
    url: Url
    on_topic: bool


class Labels:
    """The labels in a crawl's database."""

    def __init__(self, database: CrawlDatabase) -> None:
        self._database = database
        self._version = -1

    def all(self) -> list[Label]:
        """The latest label of each page, oldest first."""
        rows = self._database.rows("SELECT url, on_topic, time FROM labels ORDER BY time, url")
        return [Label(Url(url), bool(on_topic), time) for url, on_topic, time in rows]

    def delivered(self, after: int = 0) -> list[DeliveredLabel]:
        """The labels delivered after the delivery with this number, oldest first."""
        sql = "SELECT number, event, url, on_topic FROM delivered_labels WHERE number > ? ORDER BY 1"
        rows = self._database.rows(sql, (after,))
        return [DeliveredLabel(number, event, Url(url), bool(on_topic)) for number, event, url, on_topic in rows]

    def last_delivery(self) -> int:
        """The number of the last delivery; 0 if there was none."""
        return int((self._database.row("SELECT max(number) FROM delivered_labels") or (0,))[0] or 0)

    def undelivered(self) -> list[Label]:
        """Labels that are new or have changed. Cheap if no other process has written."""
        version = int((self._database.row("PRAGMA data_version") or (0,))[0])
        if version == self._version:
            return []
        self._version = version
        delivered = {label.url: label.on_topic for label in self.delivered()}
        return [label for label in self.all() if delivered.get(label.url) is not label.on_topic]

    def record_delivery(self, label: Label, event: int) -> None:
        """Record that the strategy received a label, in the same commit as its effects."""
        self._database.execute(
            "INSERT INTO delivered_labels (event, url, on_topic) VALUES (?, ?, ?)", (event, label.url, label.on_topic)
        )
