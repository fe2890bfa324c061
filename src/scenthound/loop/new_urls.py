"""How URLs enter a crawl: as links of a page, as targets of redirects, and from sitemaps.

URLs that are refused are counted by reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from operator import attrgetter, is_

from scenthound import url as urls
from scenthound.loop.link_balance import (
    FETCHED_MEANWHILE,
    KNOWN,
    LINKS,
    NOFOLLOW,
    NOT_OFFERED,
    PAGE_NOFOLLOW,
    REPEATED,
    SEEDS,
    SELF,
    SITEMAPS,
    STRATEGY,
)
from scenthound.loop.messages import SITEMAP, SitemapLanded
from scenthound.loop.recording import Recorder
from scenthound.loop.scope import Scope
from scenthound.loop.selection import UrlSelection
from scenthound.loop.trap_watch import TrapWatch
from scenthound.model import Candidate, Link, Miss, Moved, Url
from scenthound.page.page import Page
from scenthound.ports import Frontier

NO_URLS: frozenset[Url] = frozenset()
_url_of: Callable[[Candidate | Link], Url] = attrgetter("url")


def bound_for(bound: int | None, seeds: Collection[object]) -> int | None:
    """The bound of a frontier, raised if necessary to hold all seeds, because no seed is ever dropped.

    >>> bound_for(2, ["a", "b", "c"]), bound_for(None, ["a"])
    (3, None)
    """
    return None if bound is None else max(bound, len(seeds))


class Candidates:
    """Decides which candidates enter the frontier, and counts what becomes of every link of a page (`link_balance`).

    URLs that were already fetched or chosen are skipped. `unfetched` contains URLs to treat as unknown although they
    are in the history: on resume, URLs fetched after the page that the strategy is reading again.
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
        self._suspended = selection.suspended
        self._checks = scope is not None or traps is not None
        self._drops = 0  # candidates that a push removed from the frontier, or that were refused for lack of room

    def _is_known(self, url: Url) -> bool:
        return url in self._chosen or self._seen(url) or url in self._frontier or url in self._suspended

    def _entries(self) -> int:
        """A number that grows by 1 with every URL that begins to wait, if none is popped in between."""
        return len(self._frontier) + len(self._suspended) + self._drops

    def add_page(
        self, page: Page, offers: list[Candidate], unfetched: Collection[Url] = (), is_relevant: bool = False
    ) -> None:
        """Add the candidates that the strategy returned for a page."""
        if self._traps is not None:
            self._watch_for_traps(self._traps, page, is_relevant)
        rescored, outlinks = _rescored_from(offers), page.record.outlinks
        barred = frozenset(page.record.barred) if self._nofollow and page.record.barred else NO_URLS
        suggested: Set[Url] = NO_URLS  # offered although the page does not link to them
        withheld: Set[Url] = NO_URLS  # linked to, but not offered
        suggestions, refused = 0, set[Url]()
        if rescored != len(outlinks) or not all(map(is_, map(_url_of, offers), map(_url_of, outlinks))):
            linked, offered = set(map(_url_of, outlinks)), set(map(_url_of, offers[:rescored]))
            suggested, withheld = offered - linked, linked - offered
        chosen, seen, checks, frontier = self._chosen, self._seen, self._checks, self._frontier
        suspended = self._suspended.urls
        push, matters, before = frontier.push, frontier.matters, self._entries()
        for candidate in offers[:rescored]:  # about 100 per page, so the common case is inlined
            url = candidate.url
            if url in chosen or url in suspended or (seen(url) and url not in unfetched) or url in barred:
                continue
            if not matters(candidate):
                continue
            if suggested and url in suggested:
                suggestions += self._is_new(candidate) and url not in refused
            if checks or candidate.rescored:
                self._admit(candidate, refused)
            elif (dropped := push(candidate)) is not None:
                self._drops += 1
                self._handle_dropped(dropped, candidate)
        decided = self._entries() - before + len(refused) - suggestions
        self._recorder.found(STRATEGY, suggestions)
        self._count_links(page, withheld, decided)
        if rescored < len(offers):
            frontier.rescore(offers[rescored:])

    def _count_links(self, page: Page, withheld: Set[Url], decided: int) -> None:
        """Count every link of a page once.

        The strategy has `withheld` some; `decided` of the others were refused, or entered the frontier.
        """
        record, recorder = page.record, self._recorder
        unknown = 0
        for link in record.outlinks if withheld else ():  # some strategies offer only URLs that they have not seen
            if link.url in withheld and not self._is_known(link.url):
                recorder.count(link.url, self._refusal(page.offer(link, 0.0)) or NOT_OFFERED)
                unknown += 1
        for url in record.barred:
            candidate = Candidate(url, 0.0, parent=page.url, depth=page.candidate.depth + 1)
            recorder.dropped(candidate, PAGE_NOFOLLOW if record.nofollow else NOFOLLOW)
        for reason, times in record.refused.items():
            recorder.count(page.url, reason, times)
        links, outlinks = len(record.links), len(record.outlinks)
        more = links - outlinks - len(record.barred)
        own = list(map(_url_of, record.links)).count(record.url) if more else 0
        recorder.found(LINKS, links + sum(record.refused.values()))
        recorder.found(SELF, own)
        recorder.found(REPEATED, more - own)
        recorder.found(KNOWN, outlinks - unknown - decided)

    def add(self, candidate: Candidate, unfetched: Collection[Url] = ()) -> None:
        """Add a candidate of the strategy, unless it was already fetched or chosen, or is out of scope."""
        url = candidate.url
        if url not in self._chosen and url not in self._suspended and (url in unfetched or not self._seen(url)):
            self._recorder.found(STRATEGY, self._is_new(candidate))
            self._admit(candidate)

    def add_seed(self, candidate: Candidate) -> None:
        """Add a seed, or another URL to begin with, without any check."""
        if candidate.url not in self._chosen:
            source = SEEDS if candidate.parent is None else STRATEGY
            self._recorder.found(source, candidate.url not in self._frontier)
            self.push(candidate)

    def add_listed(self, sitemap: SitemapLanded, listed: Iterable[Candidate]) -> None:
        """Add the pages that a sitemap lists; those on other hosts are not among the `listed`."""
        recorder, others = self._recorder, len(sitemap.urls)
        recorder.found(SITEMAPS, len(sitemap.urls) + sitemap.bad_urls)
        for candidate in listed:
            others -= 1
            is_known = self._is_known(candidate.url)
            recorder.found(KNOWN, is_known)
            if not is_known or candidate.url in self._frontier:
                self._admit(candidate)
        recorder.count(sitemap.candidate.url, "sitemap-other-host", others)
        recorder.count(sitemap.candidate.url, "bad-url", sitemap.bad_urls)

    def _is_new(self, candidate: Candidate) -> bool:
        """False for a URL that waits, and for a new score of a URL that no longer waits."""
        return candidate.url not in self._frontier and not (candidate.rescored and candidate.parent is None)

    def _admit(self, candidate: Candidate, refused: set[Url] | None = None) -> None:
        """Add a candidate that was not fetched or chosen yet, unless it is out of scope. A trap is suspended.

        If it is refused, its URL is added to `refused`, and not counted again if it was there.
        """
        url = candidate.url
        if url not in self._frontier:  # most links lead to a waiting URL, which was checked before
            if candidate.rescored and candidate.parent is None:
                return  # a new score for a URL that is no longer waiting
            if reason := self._refusal(candidate):
                if refused is None or url not in refused:
                    self._recorder.dropped(candidate, reason)
                if refused is not None:
                    refused.add(url)
                return
            if self._traps is not None and self._traps.suspends(candidate.url, candidate.parent):
                self._suspend(candidate)
                return
        self.push(candidate)

    def _refusal(self, candidate: Candidate) -> str | None:
        """Why a URL may not enter the frontier: out of scope, or a host that is closed."""
        scope = self._scope
        return scope.refuses(candidate) or self._closed(urls.host(candidate.url)) if scope else None

    def push(self, candidate: Candidate) -> None:
        """Add a candidate without any check. If there is no room, a suspended one goes first."""
        if self._suspended and len(self._frontier) + len(self._suspended) >= self._suspended.most:
            last = self._suspended.last()
            self._suspended.take(last.url)
            self._frontier.settle(last.url)
            self._drops += 1
            self._recorder.dropped(last, "evicted")
        if (dropped := self._frontier.push(candidate)) is not None:
            self._drops += 1
            self._handle_dropped(dropped, candidate)

    # ---- candidates that look like traps

    def release(self, candidates: Iterable[Candidate]) -> None:
        """Return candidates that are no longer suspended to the frontier."""
        for candidate in candidates:
            if self._seen(candidate.url):
                self._frontier.settle(candidate.url)
                self._recorder.count(candidate.url, FETCHED_MEANWHILE)
            else:
                self.push(candidate)

    def watch_for_traps(self, is_on: bool) -> None:
        """Let URLs that look like traps wait, or fetch them like all others."""
        if self._traps is not None:
            self._traps.is_on = is_on
            self.release(() if is_on else self._suspended.release_all())

    def _suspend(self, candidate: Candidate) -> None:
        """Add a new candidate to the suspended ones, unless there is no room for it."""
        frontier, suspended = self._frontier, self._suspended
        if len(frontier) + len(suspended) >= suspended.most:
            self._drops += 1
            self._recorder.dropped(candidate, "frontier-full")
            return
        self.push(candidate)
        if (taken := frontier.take(candidate.url)) is not None:
            suspended.put(taken, self._recorder.pages)

    def _watch_for_traps(self, traps: TrapWatch, page: Page, is_relevant: bool) -> None:
        """Let the watch learn from a page, and suspend or release candidates accordingly."""
        lesson = traps.learn(page, self._is_known, self._seen, is_relevant)
        self._suspended.result(page.candidate.url, lesson.says_new, lesson.is_text_new)
        for url in lesson.forgiven:
            self._suspended.forgive(url)
        if lesson.suspended is not None:
            self._recorder.suspended(lesson.suspended, page.url)
        for reinstated in lesson.reinstated:
            self._recorder.reinstated(reinstated, page.url)
        if lesson.says_new and self._suspended:
            self.release(self._suspended.release(urls.host(page.url), traps.suspends))


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
        if selection.is_waiting(target):
            self._recorder.count(old.url, "redirect-to-waiting")
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
