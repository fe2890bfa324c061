"""How URLs enter a crawl: as links of a page, as targets of redirects, and from sitemaps.

URLs that are refused are counted by reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from scenthound import url as urls
from scenthound.loop.messages import SITEMAP, SitemapLanded
from scenthound.loop.recording import Recorder
from scenthound.loop.scope import Scope
from scenthound.loop.selection import UrlSelection
from scenthound.loop.trap_watch import TrapWatch
from scenthound.model import Candidate, Miss, Moved, Url
from scenthound.page.page import Page
from scenthound.ports import Frontier


def bound_for(bound: int | None, seeds: Collection[object]) -> int | None:
    """The bound of a frontier, raised if necessary to hold all seeds, because no seed is ever dropped.

    >>> bound_for(2, ["a", "b", "c"]), bound_for(None, ["a"])
    (3, None)
    """
    return None if bound is None else max(bound, len(seeds))


class Candidates:
    """Decides which candidates enter the frontier. URLs that were already fetched or chosen are skipped.

    `unfetched` contains URLs to treat as unknown although they are in the history: on resume, URLs fetched after the
    page that the strategy is reading again.
    """

    def __init__(
        self,
        frontier: Frontier,
        recorder: Recorder,
        selection: UrlSelection,
        scope: Scope | None,
        closed: Callable[[str], str | None],
        nofollow: bool,
        traps: TrapWatch | None = None,
    ) -> None:
        self._frontier, self._recorder, self._handle_dropped = frontier, recorder, selection.handle_dropped
        self._chosen, self._scope, self._closed, self._nofollow = selection.chosen, scope, closed, nofollow
        self._seen, self._traps = recorder.history.seen, traps
        self._checks = scope is not None or traps is not None

    def _is_known(self, url: Url) -> bool:
        return url in self._frontier or url in self._chosen or self._seen(url)

    def add_page(self, page: Page, offers: list[Candidate], unfetched: Collection[Url] = ()) -> None:
        """Add the candidates that the strategy returned for a page."""
        if self._traps is not None and (suspended := self._traps.learn(page, self._is_known)) is not None:
            self._recorder.suspended(suspended, page.url)
        barred = page.record.barred if self._nofollow else ()
        rescored = _rescored_from(offers)
        chosen, seen, checks = self._chosen, self._seen, self._checks
        push, matters = self._frontier.push, self._frontier.matters
        for candidate in offers[:rescored]:  # about 100 per page, so the common case is inlined
            url = candidate.url
            if url in chosen or (seen(url) and url not in unfetched) or not matters(candidate):
                continue
            if barred and url in barred:
                self._recorder.dropped(candidate, "nofollow")
            elif checks or candidate.rescored:
                self._admit(candidate)
            elif (dropped := push(candidate)) is not None:
                self._handle_dropped(dropped, candidate)
        if rescored < len(offers):
            self._frontier.rescore(offers[rescored:])

    def add(self, candidate: Candidate, unfetched: Collection[Url] = ()) -> None:
        """Add a candidate, unless it was already fetched or chosen, or is out of scope."""
        url = candidate.url
        if url not in self._chosen and (url in unfetched or not self._seen(url)):
            self._admit(candidate)

    def _admit(self, candidate: Candidate) -> None:
        """Add a candidate that was not fetched or chosen yet, unless it is out of scope or a trap."""
        if candidate.url not in self._frontier:  # most links lead to a waiting URL, which was checked before
            if candidate.rescored and candidate.parent is None:
                return  # a new score for a URL that is no longer waiting
            scope = self._scope
            reason = scope.refuses(candidate) or self._closed(urls.host(candidate.url)) if scope else None
            if reason is None and self._traps is not None:
                reason = self._traps.refuses(candidate.url, candidate.parent)
            if reason:
                self._recorder.dropped(candidate, reason)
                return
        self.push(candidate)

    def push(self, candidate: Candidate) -> None:
        """Add a candidate without any check."""
        if (dropped := self._frontier.push(candidate)) is not None:
            self._handle_dropped(dropped, candidate)


def _rescored_from(offers: list[Candidate]) -> int:
    """The index from which all offers are new scores for waiting URLs, which the frontier takes in one call."""
    end = len(offers)
    while end and offers[end - 1].rescored and offers[end - 1].parent is None:
        end -= 1
    return end


LIKELY = 2  # redirects in a row that still lead to a page more often than to another redirect


class Redirects:
    """Follows redirects within scope, at most `most` in a row, and remembers where each chain began."""

    def __init__(self, selection: UrlSelection, recorder: Recorder, scope: Scope | None, most: int) -> None:
        self._selection, self._recorder, self._scope, self._most = selection, recorder, scope, most
        self._origin: dict[Url, tuple[Url, int]] = {}  # by redirect target: the URL requested first, hops so far

    def follow(self, moved: Moved) -> Miss | None:
        """Give the turn of a URL to its target, unless the target is known. Returns a `Miss` if it is refused."""
        old, target = moved.candidate, moved.url
        selection, history = self._selection, self._recorder.history
        requested, hops = self._origin.pop(old.url, (old.url, 0))
        same = target == old.url and moved.spelling != (old.spelling or old.url)  # another spelling of the same page
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
        """Why a redirect may not be followed, or None. A seed may redirect to any host, which extends the scope."""
        if self._scope is None:
            return None
        if follow.depth == 0:
            self._scope.admit(urls.host(follow.url))
        return self._scope.refuses(follow)

    def end(self, url: Url) -> Url | None:
        """Forget the chain that led here. Returns the URL requested first, or None if there was no redirect."""
        requested, _ = self._origin.pop(url, (None, 0))
        return requested

    # ---- saved with the crawl

    def __contains__(self, url: Url) -> bool:
        return url in self._origin

    def chain(self, url: Url) -> tuple[Url | None, int]:
        """The URL requested first and the number of hops since; (None, 0) if no redirect led here."""
        return self._origin.get(url, (None, 0))

    def restore(self, url: Url, requested: Url | None, hops: int) -> None:
        """Load what `chain` returned."""
        if requested is not None:
            self._origin[url] = (requested, hops)


class Sitemaps:
    """Decides which sitemaps to request: each once, and at most `most` per host.

    The crawl folder stores what `take_requested` returns.
    """

    def __init__(self, most: int) -> None:
        self.recall: Callable[[str], Sequence[str]] = lambda host: ()
        """Reads which sitemaps were requested from a host that is not in memory."""
        self._most = most
        self._requested: dict[str, list[str]] = {}

    def to_request(self, spellings: Iterable[str], host: str) -> list[Candidate]:
        """The requests for sitemaps that a host names, limited to new ones on the host itself."""
        sitemaps: list[Candidate] = []
        if not self._most:
            return sitemaps
        requested = self._requested.get(host)
        if requested is None:
            requested = list(self.recall(host))
        for spelling in spellings:
            if len(requested) >= self._most or urls.host(spelling) != host or spelling in requested:
                continue
            requested.append(spelling)
            sitemaps.append(Candidate(Url(spelling), 0.0, {SITEMAP: True}, spelling=spelling))
        if sitemaps:
            self._requested[host] = requested
        return sitemaps

    @staticmethod
    def listed_pages(sitemap: SitemapLanded) -> Iterator[Candidate]:
        """The pages that a sitemap lists on its own host, with score 0."""
        source = sitemap.candidate.url
        host = urls.host(source)
        for url, spelling in sitemap.urls:
            if urls.host(url) == host:
                yield Candidate(url, 0.0, parent=source, anchor="(sitemap)", depth=1, spelling=spelling)

    # ---- saved with the crawl

    def take_requested(self) -> Mapping[str, list[str]]:
        """Return the sitemaps requested since the last call, by host, and clear them from memory."""
        requested, self._requested = self._requested, {}
        return requested

    def save(self) -> dict[str, list[str]]:
        """The requested sitemaps in memory, by host."""
        return {host: list(sitemaps) for host, sitemaps in self._requested.items()}

    def load(self, state: Mapping[str, Sequence[str]]) -> None:
        self._requested = {host: list(sitemaps) for host, sitemaps in state.items()}
