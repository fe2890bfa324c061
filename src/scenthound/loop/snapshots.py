"""Save the learned state of strategy and judge at intervals; on resume they read later pages again.

A strategy with a small state is saved with every commit. The history does not contain everything that happens to its
own frontier (links that robots.txt forbids, redirects to known pages), which matters if that frontier is small.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from scenthound.loop.core import Crawl
from scenthound.loop.resume import Learned
from scenthound.ports import Saves, declaration_of
from scenthound.store.database import CrawlDatabase
from scenthound.store.label_table import Labels
from scenthound.typed_data import from_json


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshots in the database of a crawl."""

    database: CrawlDatabase

    def save(self, crawl: Crawl, event: int, every: int | None = None) -> None:
        """Save what was learned up to an event. With `every`, only if the last snapshot is at least that many events
        old, a page is not stored, or the strategy's state is small."""
        if not (isinstance(crawl.strategy, Saves) or crawl.judging.has_state):
            return
        if crawl.calls.has_failed or crawl.judging.has_failed:  # a resumed crawl starts from the last good snapshot
            return
        last = self.database.meta_number("snapshot", -1_000_000)
        is_due = crawl.has_unstored_pages or declaration_of(crawl.strategy).small_state
        if every is not None and not is_due and event - last < every:
            return
        if isinstance(crawl.strategy, Saves):
            self.database.save_state("strategy", crawl.calls.save() or {})
        if crawl.judging.has_state:
            self.database.save_state("judge", crawl.judging.save())
        self.save_doubts(crawl)
        self.database.save_meta("snapshot", str(event))
        self.database.save_meta("snapshot_labels", str(Labels(self.database).last_delivery()))
        crawl.has_unstored_pages = False

    def save_doubts(self, crawl: Crawl) -> None:
        self.database.save_meta("doubts", json.dumps(crawl.judging.doubts()))

    def learned(self, name: str, relearn: bool) -> Learned:
        """The last snapshot of the strategy or the judge, and the labels since then."""
        state, labels = None if relearn else self.database.state(name), Labels(self.database)
        if state is None:
            return Learned(labels=labels.delivered())
        event, last = (self.database.meta_number(key) for key in ("snapshot", "snapshot_labels"))
        return Learned(state, event, labels.delivered(last))

    def doubts(self) -> list[str]:
        """Reasons why the judge's verdicts may be wrong, as of the last snapshot or the end of the last run."""
        try:
            return from_json(self.database.meta("doubts") or "[]", list[str])
        except ValueError:
            return []
