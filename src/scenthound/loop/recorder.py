"""What happens in a crawl: written into the history, counted in the tally, told to whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scenthound import url as urls
from scenthound.loop.messages import Dropped
from scenthound.loop.tally import Tally
from scenthound.model import Candidate, Event, Miss, Step, Url
from scenthound.page.page import Page
from scenthound.ports import History, Where

Watcher = Callable[[Step | Miss | Dropped | Event], None]


class Ledger:
    """The one hand that writes. It gives pages their numbers."""

    def __init__(self, history: History, tally: Tally, watch: Watcher | None) -> None:
        self.history, self.tally, self.watch = history, tally, watch
        self.pages = self.numbered = len(history)
        """Pages recorded, and the last number given."""

    def page(
        self, page: Page, similarity: float, rank: int, requested: Url | None, where: Where | None, now: float
    ) -> Step:
        """A page came. It is in the history from here on, with its links and the name it was asked for by."""
        candidate, history = page.candidate, self.history
        self.pages += 1
        self.numbered += 1
        step = Step(
            n=self.numbered,
            url=page.url,
            parent=candidate.parent,
            anchor=candidate.anchor,
            score=candidate.score,
            parts=candidate.parts,
            similarity=similarity,
            depth=candidate.depth,
            status=page.status,
            bytes=page.size,
            time=now,
            title=page.title,
            rank=rank,
            requested=requested,
            carry=candidate.carry,
        )
        history.record(step, where)
        history.link(page.url, [link.url for link in page.outlinks])
        if page.url != candidate.url:
            history.alias(candidate.url, page.url)
        return step

    def tell(self, what: Step | Miss | Dropped | Event) -> None:
        if self.watch:
            self.watch(what)

    def lost(self, miss: Miss, now: float, heard: bool) -> None:
        """A request brought no page, and will not be made again."""
        self.history.lost(miss, now, heard=heard)
        self.tally.miss(miss)
        self.tell(miss)

    def postponed(self, miss: Miss, now: float) -> None:
        """A request brought no page, and will be made again."""
        self.history.lost(miss, now, dead=False, heard=False)
        self.tally.retry(miss)

    def dropped(self, candidate: Candidate, reason: str) -> None:
        """A URL was offered and is not kept."""
        self.count(candidate.url, reason)
        if self.watch:
            self.watch(Dropped(candidate, reason))

    def count(self, url: Url, reason: str) -> None:
        """Something happened to a URL that only its host's figures show."""
        self.history.count(urls.host(url), reason)
        self.tally.count(reason)

    def noted(self, events: Iterable[Event]) -> None:
        """The strategy told of itself."""
        for event in events:
            self.history.note(event)
            self.tell(event)
