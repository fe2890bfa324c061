"""Candidates on their way from the strategy to the frontier; those not kept are counted with the reason."""

from __future__ import annotations

from collections.abc import Callable, Collection

from scenthound import url as urls
from scenthound.loop.recorder import Recorder
from scenthound.loop.scope import Scope
from scenthound.loop.selection import Selection
from scenthound.model import Candidate, Url
from scenthound.page.page import Page
from scenthound.ports import Frontier


class Candidates:
    """Decides what enters the frontier. URLs that were fetched or chosen already are skipped.

    `unfetched` names URLs to treat as unknown though the history has them: on resume, those that were fetched after
    the page which the strategy reads again.
    """

    def __init__(
        self,
        frontier: Frontier,
        recorder: Recorder,
        selection: Selection,
        scope: Scope | None,
        closed: Callable[[str], str | None],
        nofollow: bool,
    ) -> None:
        self._frontier, self._recorder, self._fell = frontier, recorder, selection.fell
        self._chosen, self._scope, self._closed, self._nofollow = selection.chosen, scope, closed, nofollow
        self._seen = recorder.history.seen

    def add_page(self, page: Page, offers: list[Candidate], unfetched: Collection[Url] = ()) -> None:
        """Add what the strategy returned for a page."""
        barred: set[Url] = set()
        if self._nofollow and any(link.nofollow for link in page.links):
            barred = {link.url for link in page.links if link.nofollow}
            barred -= {link.url for link in page.links if not link.nofollow}
        rescored = _rescored_from(offers)
        chosen, seen, scope = self._chosen, self._seen, self._scope
        push, matters = self._frontier.push, self._frontier.matters
        for candidate in offers[:rescored]:  # about 100 per page: the common case is inlined
            url = candidate.url
            if not matters(candidate) or url in chosen or (seen(url) and url not in unfetched):
                continue
            if barred and url in barred:
                self._recorder.dropped(candidate, "nofollow")
            elif scope is not None or candidate.rescored:
                self._admit(candidate)
            elif (fallen := push(candidate)) is not None:
                self._fell(fallen, candidate)
        if rescored < len(offers):
            self._frontier.rescore(offers[rescored:])

    def add(self, candidate: Candidate, unfetched: Collection[Url] = ()) -> None:
        """Add a candidate, unless its URL is known or it is out of scope."""
        url = candidate.url
        if url not in self._chosen and (url in unfetched or not self._seen(url)):
            self._admit(candidate)

    def _admit(self, candidate: Candidate) -> None:
        """Add a candidate whose URL is not known, unless it is out of scope."""
        if candidate.url not in self._frontier:  # most links lead to a waiting URL
            if candidate.rescored and candidate.parent is None:
                return  # a new score for a URL that is not waiting any more
            scope = self._scope
            reason = scope.refuses(candidate) or self._closed(urls.host(candidate.url)) if scope else None
            if reason:
                self._recorder.dropped(candidate, reason)
                return
        self.push(candidate)

    def push(self, candidate: Candidate) -> None:
        """Add a candidate without any check."""
        if (fallen := self._frontier.push(candidate)) is not None:
            self._fell(fallen, candidate)


def _rescored_from(offers: list[Candidate]) -> int:
    """The index from which on all offers are new scores for waiting URLs, which the frontier can take at once."""
    end = len(offers)
    while end and offers[end - 1].rescored and offers[end - 1].parent is None:
        end -= 1
    return end
