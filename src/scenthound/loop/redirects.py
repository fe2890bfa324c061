"""Redirects. Rule 1: the page is where they end; what was asked for is remembered as its alias."""

from __future__ import annotations

from scenthound import url as urls
from scenthound.loop.recorder import Ledger
from scenthound.loop.scope import Scope
from scenthound.loop.selection import Turns
from scenthound.model import Candidate, Miss, Moved, Url

LIKELY = 2  # redirects in a row that lead to a page more often than to another redirect


class Redirects:
    """Follows them, as far as scope and the longest chain allow, and knows where each chain began."""

    def __init__(self, turns: Turns, ledger: Ledger, scope: Scope | None, most: int) -> None:
        self._turns, self._ledger, self._scope, self._most = turns, ledger, scope, most
        self._origin: dict[Url, tuple[Url, int]] = {}  # a redirect's target: what was asked for first, hops so far

    def follow(self, moved: Moved) -> Miss | None:
        """Promise the target the turn of what was asked for, unless it was had already; a `Miss` says why not."""
        old, target = moved.candidate, moved.url
        turns, history = self._turns, self._ledger.history
        asked, hops = self._origin.pop(old.url, (old.url, 0))
        same = target == old.url and moved.spelling != (old.spelling or old.url)  # another spelling of one page
        if hops + 1 > self._most or (target == old.url and not same):
            return Miss(old, "redirect-loop", f"{hops + 1} redirects", moved.status, moved.size)
        if not same and (target in turns.chosen or history.seen(target)):
            history.alias(old.url, target)
            self._ledger.count(old.url, "redirect-to-known")
            turns.settle(old.url)
            return None
        follow = old._replace(url=target, spelling=moved.spelling)
        if not same and (reason := self._stranger(follow)):
            return Miss(old, f"redirect-{reason}", target, moved.status, moved.size)
        if (waiting := turns.claim(target)) is not None and waiting.score > follow.score:
            follow = waiting._replace(spelling=moved.spelling)
        self._origin[target] = (asked, hops + 1)
        turns.pass_on(old.url, follow, is_unlikely=hops + 1 > LIKELY)
        if not same:
            history.alias(old.url, target)
            turns.settle(old.url)
        return None

    def _stranger(self, follow: Candidate) -> str | None:
        """Why a redirect may not be followed. A seed may lead anywhere, and where it leads is then in scope."""
        if self._scope is None:
            return None
        if follow.depth == 0:
            self._scope.admit(urls.host(follow.url))
        return self._scope.refuses(follow)

    def over(self, url: Url) -> Url | None:
        """The chain that led here ends here; gives what was asked for first, or None if there was no chain."""
        asked, _ = self._origin.pop(url, (None, 0))
        return asked

    # ---- what survives a restart

    def __contains__(self, url: Url) -> bool:
        return url in self._origin

    def chain(self, url: Url) -> tuple[Url | None, int]:
        """What was asked for first and how many hops ago; (None, 0) where no redirect led."""
        return self._origin.get(url, (None, 0))

    def take_up(self, url: Url, asked: Url | None, hops: int) -> None:
        """What `chain` gave."""
        if asked is not None:
            self._origin[url] = (asked, hops)
