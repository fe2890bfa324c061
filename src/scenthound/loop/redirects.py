"""Redirects. Rule 1: the page is where they end; what was requested becomes its alias."""

from __future__ import annotations

from scenthound import url as urls
from scenthound.loop.recorder import Recorder
from scenthound.loop.scope import Scope
from scenthound.loop.selection import Selection
from scenthound.model import Candidate, Miss, Moved, Url

LIKELY = 2  # redirects in a row that lead to a page more often than to another redirect


class Redirects:
    """Follows redirects within scope and up to the longest chain, and knows where each chain began."""

    def __init__(self, selection: Selection, recorder: Recorder, scope: Scope | None, most: int) -> None:
        self._selection, self._recorder, self._scope, self._most = selection, recorder, scope, most
        self._origin: dict[Url, tuple[Url, int]] = {}  # the target of a redirect: what was requested first, hops so far

    def follow(self, moved: Moved) -> Miss | None:
        """Give the turn of the requested URL to the target, unless that is known already; a `Miss` says why not."""
        old, target = moved.candidate, moved.url
        selection, history = self._selection, self._recorder.history
        requested, hops = self._origin.pop(old.url, (old.url, 0))
        same = target == old.url and moved.spelling != (old.spelling or old.url)  # another spelling of one page
        if hops + 1 > self._most or (target == old.url and not same):
            return Miss(old, "redirect-loop", f"{hops + 1} redirects", moved.status, moved.size)
        if not same and (target in selection.chosen or history.seen(target)):
            history.alias(old.url, target)
            self._recorder.count(old.url, "redirect-to-known")
            selection.settle(old.url)
            return None
        follow = old._replace(url=target, spelling=moved.spelling)
        if not same and (reason := self._refusal(follow)):
            return Miss(old, f"redirect-{reason}", target, moved.status, moved.size)
        if (waiting := selection.claim(target)) is not None and waiting.score > follow.score:
            follow = waiting._replace(spelling=moved.spelling)
        self._origin[target] = (requested, hops + 1)
        selection.pass_on(old.url, follow, is_unlikely=hops + 1 > LIKELY)
        if not same:
            history.alias(old.url, target)
            selection.settle(old.url)
        return None

    def _refusal(self, follow: Candidate) -> str | None:
        """Why a redirect may not be followed. A seed may lead anywhere, and its target is in scope from then on."""
        if self._scope is None:
            return None
        if follow.depth == 0:
            self._scope.admit(urls.host(follow.url))
        return self._scope.refuses(follow)

    def end(self, url: Url) -> Url | None:
        """End the chain that led here. Returns what was requested first, or None if there was no chain."""
        asked, _ = self._origin.pop(url, (None, 0))
        return asked

    # ---- saved with the crawl

    def __contains__(self, url: Url) -> bool:
        return url in self._origin

    def chain(self, url: Url) -> tuple[Url | None, int]:
        """What was requested first and how many hops ago; (None, 0) if no redirect led here."""
        return self._origin.get(url, (None, 0))

    def restore(self, url: Url, asked: Url | None, hops: int) -> None:
        """Load what `chain` returned."""
        if asked is not None:
            self._origin[url] = (asked, hops)
