"""What people said of a crawl's pages, and when the crawl heard it.

A label may be written by any process while the crawl runs; that it was heard is written by the crawl alone, together
with what it made of it and the number of the last event before. So a resumed crawl can be told the same things in the
same order.
"""

from __future__ import annotations

from typing import NamedTuple

from scenthound.model import Url
from scenthound.store.database import CrawlDatabase


class Label(NamedTuple):
    """A page and what somebody said of it."""

    url: Url
    on_topic: bool
    time: float


class Heard(NamedTuple):
    """A label that the strategy was told of, after so many events of the history."""

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
        """The last word on each page, in the order of their times."""
        rows = self._database.rows("SELECT url, on_topic, time FROM labels ORDER BY time, url")
        return [Label(Url(url), bool(said), time) for url, said, time in rows]

    def heard(self, after: int = 0) -> list[Heard]:
        """What the crawl was told after the telling of this number, oldest first."""
        if not self._database.has_table("heard"):
            return []
        rows = self._database.rows(
            "SELECT number, event, url, on_topic FROM heard WHERE number > ? ORDER BY 1", (after,)
        )
        return [Heard(number, event, Url(url), bool(said)) for number, event, url, said in rows]

    def last_heard(self) -> int:
        """The number of the last telling."""
        return int((self._database.row("SELECT max(number) FROM heard") or (0,))[0] or 0)

    def unheard(self) -> list[Label]:
        """Labels that the crawl was not told of yet, or otherwise. Costs next to nothing where nobody wrote."""
        version = int((self._database.row("PRAGMA data_version") or (0,))[0])
        if version == self._version:
            return []
        self._version = version
        told = {one.url: one.on_topic for one in self.heard()}
        return [one for one in self.all() if told.get(one.url) is not one.on_topic]

    def hear(self, label: Label, event: int) -> None:
        """Note that the crawl was told, with the same commit as what came of it."""
        self._database.execute(
            "INSERT INTO heard (event, url, on_topic) VALUES (?, ?, ?)", (event, label.url, label.on_topic)
        )
