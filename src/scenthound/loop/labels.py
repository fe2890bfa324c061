"""Labels on their way from the database to the strategy, while a crawl runs."""

from __future__ import annotations

from collections.abc import Collection

from scenthound.loop.core import Crawl
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Url
from scenthound.ports import Hears
from scenthound.store.label_table import Labels


class Listener:
    """Tells a crawl's strategy of labels that people gave meanwhile."""

    def __init__(self, folder: CrawlFolder, crawl: Crawl) -> None:
        self._folder, self._crawl = folder, crawl
        self._labels = Labels(folder.database)
        self._listens = isinstance(crawl.strategy, Hears)  # a slow test, needed after every commit

    def listen(self) -> int:
        """Tell the strategy of new labels and return how many there were. Call it between commits and commit after
        it: the labels count as heard from then on."""
        if not self._listens:
            return 0
        new = self._labels.undelivered()
        event = self._folder.history.last_event() if new else 0
        for label in new:
            tell(self._crawl, label.url, label.on_topic)
            self._labels.record_delivery(label, event)
        return len(new)


def tell(crawl: Crawl, url: Url, on_topic: bool, unfetched: Collection[Url] = ()) -> None:
    """Tell the strategy the label of a page; its new scores replace the old ones."""
    with crawl.stopwatch:
        for candidate in crawl.calls.hear(url, on_topic):
            crawl.candidates.add(candidate, unfetched)
