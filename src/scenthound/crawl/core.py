"""The loop: no clock, no socket. It is given the time and the results, and gives back what to do.

A driver asks `next(now)` and gets a `Fetch`, a `Wait` or a `Done`; it brings what came to `landed`.
The same object runs live, in replay and on a cluster.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

from scenthound import url as urls
from scenthound.crawl.held import Held
from scenthound.crawl.politeness import Manners
from scenthound.crawl.scope import Scope
from scenthound.crawl.silence import Silence
from scenthound.crawl.steps import (
    FOREVER,
    SITEMAP,
    Done,
    Dropped,
    Fetch,
    Kind,
    Limits,
    RobotsLanded,
    SitemapLanded,
    Wait,
)
from scenthound.crawl.tally import Tally
from scenthound.errors import StrategyFailed
from scenthound.model import Candidate, Event, Miss, Moved, Page, Response, Step, Topic, Url
from scenthound.ports import Frontier, Hears, History, NeedsLuck, Repository, Strategy, Tells
from scenthound.web.robots import Rules

HOST_FAILURES = 6  # failures in a row after which a host is left alone: two URLs, each tried three times


class Crawl:
    """One run over strategy, frontier and history. See DESIGN section 2 for the drawing."""

    def __init__(
        self,
        strategy: Strategy,
        frontier: Frontier,
        history: History,
        topic: Topic,
        seeds: Sequence[tuple[Url, str]],
        *,
        limits: Limits,
        scope: Scope | None = None,
        manners: Manners | None = None,
        judge: Callable[[Page], float] | None = None,
        tally: Tally | None = None,
        repository: Repository | None = None,
        seed_number: int = 0,
        watch: Callable[[Step | Miss | Dropped | Event], None] | None = None,
        meter: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.strategy, self.frontier, self.history = strategy, frontier, history
        self.topic, self.seeds = topic, dict(seeds)
        self.limits, self.scope, self.manners = limits, scope, manners
        self.judge, self.repository, self.watch = judge, repository, watch
        self.tally = tally or Tally()
        self.pages = self.numbered = len(history)  # pages recorded, and the last number given
        self._meter = meter  # of `rank_seconds`: the laboratory gives CPU time, which takes longer to ask for
        self.rank_seconds = 0.0
        self.links_scored = 0
        self.ended = ""
        self.not_before = 0.0  # on resume: when the last request before the crash is surely a delay ago
        self._seed_number = seed_number
        self._batch_size = int(getattr(strategy, "batch", 1))
        self._shuffled = bool(getattr(strategy, "shuffle", False))
        self._tells = isinstance(strategy, Tells)
        self._batches = 0
        self._batch: deque[tuple[Candidate, int]] = deque()  # with its insertion number
        self._held = Held()
        self._flying: dict[Url, Fetch] = {}
        self._pages_flying = 0
        self._chosen: dict[Url, int] = {}  # in the batch, held or in flight, with the rank it had
        self._origin: dict[Url, tuple[Url, int]] = {}  # a redirect's target: what was asked for first, hops so far
        self._tries: dict[Url, int] = {}
        self._sitemaps: dict[str, list[str]] = {}
        self._silence = Silence()
        self.unkept = False  # a page was read whose content is not in the repository
        self._settle = getattr(frontier, "settle", lambda url: None)
        self._matters: Callable[[Candidate], bool] = getattr(frontier, "matters", lambda candidate: True)
        self.later: Set[Url] = frozenset()  # on resume: fetched after the page that is heard again

    # ---- beginning

    def start(self) -> None:
        """The strategy hears the topic; its seeds enter the frontier."""
        for candidate in self.introduce():
            if not self.history.seen(candidate.url):
                self._push(candidate._replace(spelling=self.seeds.get(candidate.url, candidate.spelling)))

    def introduce(self) -> Iterable[Candidate]:
        """Tell the strategy what the crawl is about. On resume its answer is in the frontier already."""
        if isinstance(self.strategy, NeedsLuck):
            self.strategy.lucky(random.Random(self._seed_number))
        return list(self.strategy.start(self.topic, list(self.seeds)))

    def want_again(self, step: Step) -> None:
        """Put back a page that was recorded once and whose content is gone."""
        asked = (step.url, step.score, step.carry, step.parts, step.parent, step.anchor, step.depth)
        self._push(Candidate(*asked, spelling=self.seeds.get(step.url, "")))

    # ---- what to do

    def next(self, now: float) -> Fetch | Wait | Done:
        """The next thing to do. Every `Fetch` must come back through `landed`."""
        if not self.ended and now >= self.limits.ends_at:
            self.ended = "time"
        if self.ended or self.pages + self._pages_flying >= self.limits.pages:
            return self._close("pages")
        if now < self.not_before:
            return Wait(self.not_before)
        before = self._meter()
        try:
            while (found := self._take(now)) is not None:
                if (fetch := self._cleared(found, now)) is not None:
                    return fetch
        finally:
            self.rank_seconds += self._meter() - before
        ready = self._ready_at()
        if not self._flying and ready == FOREVER:
            return self._close("frontier empty")
        if not self._flying and ready - now > self.limits.longest_wait:
            return self._close("all that is left rests")
        return Wait(ready)

    def stop(self, reason: str) -> None:
        """Ask for nothing more; what is in flight may still land."""
        self.ended = self.ended or reason

    @property
    def in_flight(self) -> int:
        return len(self._flying)

    def _close(self, reason: str) -> Wait | Done:
        if self._flying:
            return Wait(FOREVER)
        self.ended = self.ended or reason
        self._tell()
        return Done(self.ended)

    def _take(self, now: float) -> Candidate | None:
        """The candidate whose turn it is: promised ones first, then the batch, then a new batch."""
        while (held := self._held.pop(now)) is not None:
            if self._awake(held, now):
                return held
            self._hold(held)
        while True:
            while self._batch:
                candidate, number = self._batch.popleft()
                if self._awake(candidate, now):
                    return candidate
                self._put_back(candidate, number)
            if not self._draw(now):
                return None

    def _draw(self, now: float) -> bool:
        """Take the next `batch` best out of the frontier, in random order if the strategy wants it so."""
        while len(self._batch) < self._batch_size and (candidate := self.frontier.pop(now)) is not None:
            if candidate.url in self._chosen or self.history.seen(candidate.url):  # met meanwhile by a redirect
                self._settle(candidate.url)
                continue
            self._chosen[candidate.url] = int(getattr(self.frontier, "last_rank", 1))
            self._batch.append((candidate, int(getattr(self.frontier, "popped_number", 0))))
        if self._shuffled and len(self._batch) > 1:
            drawn = list(self._batch)
            random.Random(f"{self._seed_number}:{self._batches}").shuffle(drawn)
            self._batch = deque(drawn)
        self._batches += bool(self._batch)
        return bool(self._batch)

    def _put_back(self, candidate: Candidate, number: int) -> None:
        """A member of the batch whose host went to rest waits in the frontier, so that others are not held up."""
        assert self.manners is not None
        host = urls.host(candidate.url)
        self._chosen.pop(candidate.url)
        self.frontier.rest(host, self.manners.host(host).next_allowed)
        give_back = getattr(self.frontier, "give_back", None)
        fallen = give_back(number, candidate) if give_back else self.frontier.push(candidate)
        if fallen is not None:
            self._drop(fallen, "evicted")

    def _awake(self, candidate: Candidate, now: float) -> bool:
        return self.manners is None or self.manners.host(urls.host(candidate.url)).next_allowed <= now

    def _rest(self, host: str, until: float) -> None:
        assert self.manners is not None
        self.manners.host(host).next_allowed = until
        self.frontier.rest(host, until)
        self._held.rest(host, until)

    def _cleared(self, candidate: Candidate, now: float) -> Fetch | None:
        """The fetch for a candidate whose turn it is; None where manners or limits forbid it after all."""
        if self.manners is None or SITEMAP in candidate.carry:
            return self._launch(candidate, "page" if SITEMAP not in candidate.carry else "sitemap")
        if reason := self._closed(urls.host(candidate.url)):
            self._release(candidate.url)
            self._settle(candidate.url)
            self._drop(candidate, reason)
            return None
        spelling = candidate.spelling or candidate.url
        origin = urls.origin(spelling)
        if (due := self.manners.due(origin)) > now:  # what it was last asked before a restart is not known
            self._rest(urls.host(candidate.url), due)
            self._hold(candidate)
            return None
        verdict = self.manners.verdict(spelling, now)
        if verdict == "ask-robots":
            self._hold(candidate, FOREVER)
            return self._launch(
                Candidate(Url(origin + "/robots.txt"), FOREVER, spelling=origin + "/robots.txt"), "robots"
            )
        if verdict != "fetch" and self.manners.asks_again(origin):
            known = self.manners.origin(origin)
            self._rest(urls.host(candidate.url), known.until if known else now)
            self._hold(candidate)
            return None
        if verdict == "robots-unreachable":  # no, for a day; perhaps yes after that
            known = self.manners.origin(origin)
            self._release(candidate.url)
            self._settle(candidate.url)
            self._drop(candidate, verdict)
            self._push(candidate._replace(due=known.until if known else now))
            return None
        if verdict != "fetch":
            self._lose(Miss(candidate, verdict), now, heard=False)
            return None
        return self._launch(candidate, "page")

    def _closed(self, host: str) -> str | None:
        """Why nothing more is wanted of a host, if so: its budget is spent, or it has given nothing for long."""
        if self.manners is None:
            return None
        state, limits = self.manners.host(host), self.limits
        if limits.pages_per_host and state.pages >= limits.pages_per_host:
            return "host-budget"
        if state.failures >= HOST_FAILURES:
            return "host-failing"
        return "host-asleep" if limits.host_patience and state.barren >= limits.host_patience else None

    def _hold(self, candidate: Candidate, until: float | None = None) -> None:
        """Promise a candidate its turn as soon as its host is awake."""
        self._chosen.setdefault(candidate.url, 1)
        if until is None:
            until = self.manners.host(urls.host(candidate.url)).next_allowed if self.manners else 0.0
        self._held.put(candidate, until)

    def _launch(self, candidate: Candidate, kind: Kind) -> Fetch:
        fetch = self._flying[candidate.url] = Fetch(candidate, kind)
        self._pages_flying += kind == "page"
        if self.manners is not None:
            self._rest(urls.host(candidate.url), FOREVER)
            self.manners.host(urls.host(candidate.url)).met = True
        return fetch

    def _ready_at(self) -> float:
        """When there may be something to do again; never, when nothing waits and nothing is promised."""
        ready = self.frontier.ready_at()
        return min(self._held.ready_at(), FOREVER if ready is None else ready)

    # ---- what came of it

    def landed(
        self,
        result: Page | Miss | Moved | RobotsLanded | SitemapLanded,
        now: float,
        response: Response | None = None,
        ended: float | None = None,
    ) -> None:
        """Take in what a fetch brought. `response` is the raw reply, for the repository; `ended` is when it was
        complete, if that was before `now`: a host rests from then on."""
        candidate = result.candidate
        fetch = self._flying.pop(candidate.url, None)
        self._pages_flying -= fetch is not None and fetch.kind == "page"
        self.tally.attempts += 1
        if isinstance(result, Page):
            offers = self._read(result)  # before anything is written: a strategy may raise
        where = self.repository.put(response, now) if self.repository and response is not None else None
        if self.manners is not None:
            if self._silence.hears(result):
                self._hold_through(result, now)
                return
            self._let_rest(result, now if ended is None else ended)
        match result:
            case Page():
                self._record(result, where, now)
                self._offer_all(result, offers)
                if self.tally.dry:
                    self.stop("dry")
            case Miss():
                self._missed(result, now)
            case Moved():
                self._follow(result, now)
            case RobotsLanded():
                self._add_sitemaps(candidate, result.rules)
            case SitemapLanded():
                self._list(result)
        self._tell()

    def _tell(self) -> None:
        for event in self.told():
            self.history.note(event)
            if self.watch:
                self.watch(event)

    def told(self) -> list[Event]:
        """What the strategy has to tell since it was asked last. On resume it was written down before."""
        if not self._tells:
            return []
        return [event._replace(n=self.numbered) for event in self.strategy.told()]  # type: ignore[attr-defined]

    def _let_rest(self, result: Any, now: float) -> None:
        assert self.manners is not None
        candidate: Candidate = result.candidate
        origin = urls.origin(candidate.spelling or candidate.url)
        if isinstance(result, RobotsLanded):
            self.manners.learn(origin, result.rules, now, result.hopeless, result.retry_after)
        if isinstance(result, Miss):
            until = self.manners.rest_after_miss(result, origin, now)
        else:
            until = self.manners.rest_after(origin, now)
        self._rest(urls.host(candidate.url), until)

    def _record(self, page: Page, where: Any, now: float) -> None:
        candidate = page.candidate
        similarity = self.judge(page) if self.judge else 0.0
        asked, _ = self._origin.pop(candidate.url, (None, 0))
        self._tries.pop(candidate.url, None)
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
            rank=self._release(candidate.url),
            requested=asked,
            carry=candidate.carry,
        )
        self.history.record(step, where)
        self.history.link(page.url, [link.url for link in page.outlinks])
        if page.url != candidate.url:
            self.history.alias(candidate.url, page.url)
        self._settle(candidate.url)
        relevant = self.tally.page(step)
        if self.manners is not None:
            host = self.manners.host(urls.host(page.url))
            host.pages += 1
            host.barren = 0 if relevant else host.barren + 1
        if self.scope is not None:
            self.scope.learn(page.url, relevant)
        self.unkept = self.unkept or (where is None and self.repository is not None)
        if self.watch:
            self.watch(step)

    def _read(self, page: Page) -> list[Candidate]:
        """What the strategy wants after this page. Its errors are told with its name and the page's."""
        before, effort = self._meter(), page.effort
        try:
            offers = list(self.strategy.read(page))
        except Exception as error:
            name = type(self.strategy).__name__
            raise StrategyFailed(
                f"the strategy {name} failed on {page.url}: {type(error).__name__}: {error}",
                "nothing recorded is lost: mend the strategy, then resume",
            ) from error
        self.links_scored += len(offers)
        self.rank_seconds += self._meter() - before - (page.effort - effort)
        return offers

    def _offer_all(self, page: Page, offers: list[Candidate]) -> None:
        before = self._meter()
        barred: set[Url] = set()
        if self.limits.nofollow and any(link.nofollow for link in page.links):
            barred = {link.url for link in page.links if link.nofollow}
            barred -= {link.url for link in page.links if not link.nofollow}
        anew = self._ranked_anew(offers)
        chosen, seen, later = self._chosen, self.history.seen, self.later
        push, scope, matters = self.frontier.push, self.scope, self._matters
        for candidate in offers[:anew]:  # some 100 a page: what most of them need is done here, with few calls
            url = candidate.url
            if not matters(candidate) or url in chosen or (seen(url) and url not in later):
                continue
            if barred and url in barred:
                self._drop(candidate, "nofollow")
            elif scope is not None or candidate.rescored:
                self._admit(candidate)
            elif (fallen := push(candidate)) is not None:
                self._fell(fallen, candidate)
        if anew < len(offers):
            self.frontier.rescore(offers[anew:])  # type: ignore[attr-defined]
        self.rank_seconds += self._meter() - before

    def _ranked_anew(self, offers: list[Candidate]) -> int:
        """From where on the offers are nothing but new scores for what waits: those the frontier can take in one go."""
        end = len(offers)
        if hasattr(self.frontier, "rescore"):
            while end and offers[end - 1].rescored and offers[end - 1].parent is None:
                end -= 1
        return end

    def reconsider(self, page: Page) -> None:
        """Offer what a page fetched earlier leads to once more, as after the frontier was lost."""
        self._offer_all(page, self._read(page))

    def hear_again(self, page: Page) -> None:
        """On resume: the strategy reads a page once more; what it wanted of it is in the frontier already."""
        self._read(page)

    def _hold_through(self, result: Any, now: float) -> None:
        """Wait a while, and let nobody pay for it: neither the URL's tries nor the host's record."""
        candidate: Candidate = result.candidate
        self._rest(urls.host(candidate.url), now)
        self.tally.count("no-network")
        if isinstance(result, Miss):
            self._hold(candidate)
        if now >= self.not_before:
            self.not_before = now + self._silence.pause()

    def _missed(self, miss: Miss, now: float) -> None:
        url = miss.candidate.url
        tried = self._tries.get(url, 0)
        if miss.retry_after is not None and tried < self.limits.retries:
            self._tries[url] = tried + 1
            self.history.lost(miss, now, dead=False, heard=False)
            self.tally.retry(miss)
            self._hold(miss.candidate)
            return
        self._lose(miss, now)

    def _lose(self, miss: Miss, now: float, heard: bool = True) -> None:
        url = miss.candidate.url
        self._tries.pop(url, None)
        self._origin.pop(url, None)
        self._release(url)
        self.history.lost(miss, now, heard=heard)
        self._settle(url)
        self.tally.miss(miss)
        if self.watch:
            self.watch(miss)
        if heard:
            self.hear_miss(miss)

    def hear_miss(self, miss: Miss, offer: bool = True) -> None:
        """The strategy is told that a URL brought nothing."""
        for candidate in list(self.strategy.miss(miss)):
            if offer:
                self._offer(candidate)

    def hear(self, url: Url, on_topic: bool, offer: bool = True) -> None:
        """The strategy is told what somebody thinks of a page; what it wants after that replaces what it wanted."""
        if not isinstance(self.strategy, Hears):
            return
        before = self._meter()
        for candidate in list(self.strategy.hear(url, on_topic)):
            if offer:
                self._offer(candidate)
        self.rank_seconds += self._meter() - before

    def _follow(self, moved: Moved, now: float) -> None:
        """Rule 1: the page is where the redirects end; what was asked for is remembered as its alias."""
        old, target = moved.candidate, moved.url
        asked, hops = self._origin.pop(old.url, (old.url, 0))
        same = target == old.url and moved.spelling != (old.spelling or old.url)  # another spelling of one page
        if hops + 1 > self.limits.redirects or (target == old.url and not same):
            self._lose(Miss(old, "redirect-loop", f"{hops + 1} redirects", moved.status, moved.size), now)
            return
        if not same and (target in self._chosen or self.history.seen(target)):
            self.history.alias(old.url, target)
            self.history.count(urls.host(old.url), "redirect-to-known")
            self.tally.count("redirect-to-known")
            self._release(old.url)
            self._settle(old.url)
            return
        follow = old._replace(url=target, spelling=moved.spelling)
        if not same and (reason := self._stranger(follow)):
            self._lose(Miss(old, f"redirect-{reason}", target, moved.status, moved.size), now)
            return
        take = getattr(self.frontier, "take", None)
        if take is not None and (waiting := take(target)) is not None and waiting.score > follow.score:
            follow = waiting._replace(spelling=moved.spelling)
        rank = self._release(old.url)
        self._origin[target] = (asked, hops + 1)
        self._chosen[target] = rank
        self._hold(follow)
        if not same:
            self.history.alias(old.url, target)
            self._settle(old.url)

    def _stranger(self, follow: Candidate) -> str | None:
        """Why a redirect may not be followed. A seed may lead anywhere, and where it leads is then in scope."""
        if self.scope is None:
            return None
        if follow.depth == 0:
            self.scope.admit(urls.host(follow.url))
        return self.scope.refuses(follow)

    def _release(self, url: Url) -> int:
        return self._chosen.pop(url, 1)

    def _offer(self, candidate: Candidate) -> None:
        """Take a candidate in if nobody has had it and nothing speaks against it."""
        url = candidate.url
        if url not in self._chosen and (url in self.later or not self.history.seen(url)):
            self._admit(candidate)

    def _admit(self, candidate: Candidate) -> None:
        """Take in a candidate that nobody has had, unless something speaks against it."""
        if candidate.url not in self.frontier:  # most links lead to what waits already
            if candidate.rescored and candidate.parent is None:
                return  # a new score for something that waits no longer
            reason = self.scope.refuses(candidate) or self._closed(urls.host(candidate.url)) if self.scope else None
            if reason:
                self._drop(candidate, reason)
                return
        self._push(candidate)

    def _push(self, candidate: Candidate) -> None:
        if (fallen := self.frontier.push(candidate)) is not None:
            self._fell(fallen, candidate)

    def _fell(self, fallen: Candidate, pushed: Candidate) -> None:
        self._drop(fallen, "evicted" if fallen.url != pushed.url else "frontier-full")

    def _drop(self, candidate: Candidate, reason: str) -> None:
        self.history.count(urls.host(candidate.url), reason)
        self.tally.count(reason)
        if self.watch:
            self.watch(Dropped(candidate, reason))

    # ---- sitemaps, where they are wanted

    def _add_sitemaps(self, asked: Candidate, rules: Rules | None) -> None:
        if rules is not None and self.limits.sitemaps:
            self._hold_sitemaps(rules.sitemaps, urls.host(asked.url))

    def _hold_sitemaps(self, spellings: Iterable[str], host: str) -> None:
        asked = self._sitemaps.setdefault(host, [])
        for spelling in spellings:
            if len(asked) >= self.limits.sitemaps or urls.host(spelling) != host or spelling in asked:
                continue
            asked.append(spelling)
            self._hold(Candidate(Url(spelling), 0.0, {SITEMAP: True}, spelling=spelling))

    def _list(self, listing: SitemapLanded) -> None:
        self._release(listing.candidate.url)
        host = urls.host(listing.candidate.url)
        for url, spelling in listing.urls:
            if urls.host(url) == host:  # a sitemap speaks for its own host only
                self._offer(
                    Candidate(url, 0.0, parent=listing.candidate.url, anchor="(sitemap)", depth=1, spelling=spelling)
                )
        self._hold_sitemaps(listing.children, host)

    # ---- what survives a restart

    def save(self) -> Mapping[str, Any]:
        """The loop's own state, plain JSON. What is in flight counts as not yet asked for; what waits in the
        frontier is the frontier's to keep, so only redirect targets and sitemaps are written out whole."""
        promised = [*(fetch.candidate for fetch in self._flying.values() if fetch.kind != "robots"), *self._held]
        loose = {c.url for c in promised if c.url in self._origin or SITEMAP in c.carry}
        return {
            "batches": self._batches,
            "batch": [[c.url, number] for c, number in self._batch],
            "held": [c.url for c in promised if c.url not in loose],
            "loose": [
                [*c[:2], dict(c.carry), dict(c.parts), *c[4:], *self._origin.get(c.url, (None, 0))]
                for c in promised
                if c.url in loose
            ],
            "tries": dict(self._tries),
            "sitemaps": {host: list(asked) for host, asked in self._sitemaps.items()},
            "tally": self.tally.save(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take up what `save` gave. The frontier must be filled already and offer `take`."""
        self._batches = state["batches"]
        self._tries = dict(state["tries"])
        self._sitemaps = {host: list(asked) for host, asked in state["sitemaps"].items()}
        self.tally.load(state["tally"])
        take = self.frontier.take  # type: ignore[attr-defined]
        for url in state["held"]:
            if (candidate := take(url)) is not None:
                self._hold(candidate)
        for url, number in state["batch"]:
            if (candidate := take(url)) is not None:
                self._chosen[url] = 1
                self._batch.append((candidate, number))
        for *fields, asked, hops in state["loose"]:
            candidate = Candidate(*fields)
            take(candidate.url)  # it may have waited there before the redirect led to it
            if asked is not None:
                self._origin[candidate.url] = (asked, hops)
            self._hold(candidate)
