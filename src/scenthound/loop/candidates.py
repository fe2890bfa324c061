"""What the strategy wants, on its way into the frontier; what is turned away is counted, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Container, Set

from scenthound import url as urls
from scenthound.loop.recorder import Ledger
from scenthound.loop.scope import Scope
from scenthound.model import Candidate, Url
from scenthound.page.page import Page
from scenthound.ports import Frontier


class Offers:
    """The door of the frontier. What was had already is passed over; the rest goes in, or is dropped."""

    def __init__(
        self,
        frontier: Frontier,
        ledger: Ledger,
        chosen: Container[Url],
        scope: Scope | None,
        closed: Callable[[str], str | None],
        nofollow: bool,
    ) -> None:
        self.later: Set[Url] = frozenset()
        """On resume: fetched after the page that is heard again, so not had yet."""
        self._frontier, self._ledger, self._chosen, self._scope = frontier, ledger, chosen, scope
        self._closed, self._nofollow = closed, nofollow
        self._seen = ledger.history.seen
        self._matters: Callable[[Candidate], bool] = getattr(frontier, "matters", lambda candidate: True)

    def of_page(self, page: Page, offers: list[Candidate]) -> None:
        """Take in what the strategy wants after a page."""
        barred: set[Url] = set()
        if self._nofollow and any(link.nofollow for link in page.links):
            barred = {link.url for link in page.links if link.nofollow}
            barred -= {link.url for link in page.links if not link.nofollow}
        anew = self._ranked_anew(offers)
        chosen, seen, later = self._chosen, self._seen, self.later
        push, scope, matters = self._frontier.push, self._scope, self._matters
        for candidate in offers[:anew]:  # some 100 a page: what most of them need is done here, with few calls
            url = candidate.url
            if not matters(candidate) or url in chosen or (seen(url) and url not in later):
                continue
            if barred and url in barred:
                self._ledger.dropped(candidate, "nofollow")
            elif scope is not None or candidate.rescored:
                self._admit(candidate)
            elif (fallen := push(candidate)) is not None:
                self._fell(fallen, candidate)
        if anew < len(offers):
            self._frontier.rescore(offers[anew:])  # type: ignore[attr-defined]

    def _ranked_anew(self, offers: list[Candidate]) -> int:
        """From where on the offers are nothing but new scores for what waits: those the frontier can take in one go."""
        end = len(offers)
        if hasattr(self._frontier, "rescore"):
            while end and offers[end - 1].rescored and offers[end - 1].parent is None:
                end -= 1
        return end

    def offer(self, candidate: Candidate) -> None:
        """Take a candidate in if nobody has had it and nothing speaks against it."""
        url = candidate.url
        if url not in self._chosen and (url in self.later or not self._seen(url)):
            self._admit(candidate)

    def _admit(self, candidate: Candidate) -> None:
        """Take in a candidate that nobody has had, unless something speaks against it."""
        if candidate.url not in self._frontier:  # most links lead to what waits already
            if candidate.rescored and candidate.parent is None:
                return  # a new score for something that waits no longer
            scope = self._scope
            reason = scope.refuses(candidate) or self._closed(urls.host(candidate.url)) if scope else None
            if reason:
                self._ledger.dropped(candidate, reason)
                return
        self.push(candidate)

    def push(self, candidate: Candidate) -> None:
        """Take a candidate in, whatever speaks against it."""
        if (fallen := self._frontier.push(candidate)) is not None:
            self._fell(fallen, candidate)

    def _fell(self, fallen: Candidate, pushed: Candidate) -> None:
        self._ledger.dropped(fallen, "evicted" if fallen.url != pushed.url else "frontier-full")
