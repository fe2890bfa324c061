"""Labels on their way from the database to a strategy, while a crawl runs and when it is taken up again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from scenthound.loop.core import Crawl
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Step
from scenthound.ports import Hears, Where
from scenthound.store.labels import Heard, Labels
from scenthound.store.memory import Lost


class Listener:
    """Tells a crawl's strategy of labels that somebody gave meanwhile."""

    def __init__(self, folder: CrawlFolder, crawl: Crawl) -> None:
        self._folder, self._crawl = folder, crawl
        self._labels = Labels(folder.database)
        self._listens = isinstance(crawl.strategy, Hears)  # slow to ask, and it is asked after every commit

    def listen(self) -> int:
        """Let the strategy hear what is new; gives how many labels that were. Call it between two commits' pages,
        and commit afterwards: the label counts as heard from then on."""
        if not self._listens:
            return 0
        new = self._labels.unheard()
        event = self._folder.history.last_event() if new else 0
        for label in new:
            self._crawl.hear(label.url, label.on_topic)
            self._labels.hear(label, event)
        return len(new)


def in_order(folder: CrawlFolder, after: int, heard_after: int) -> Iterator[tuple[Step | Lost | Heard, Where | None]]:
    """What a strategy was told after an event and a label: pages, misses and labels as they came."""
    told = deque(Labels(folder.database).heard(heard_after))
    for number, event, where in folder.history.numbered_after(after):
        while told and told[0].event < number:
            yield told.popleft(), None
        yield event, where
    for one in told:
        yield one, None
