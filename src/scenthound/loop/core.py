"""The loop: no clock, no socket. It is given the time and the results, and gives back what to do.

A driver asks `next(now)` and gets a `Fetch`, a `Wait` or a `Done`; it brings what came to `landed`.
The same object runs live, in replay and on a cluster.

Each part of the work has an object of its own: `Turns` says whose turn it is, `Gate` whether it may be asked for,
`Guide` speaks to the strategy, `Offers` takes in what that wants, `Redirects` and `Sitemaps` see to theirs, `Ledger`
writes down what happened. None of them knows the loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import Any

from scenthound import url as urls
from scenthound.loop.admission import Gate
from scenthound.loop.candidates import Offers
from scenthound.loop.connectivity import Silence, is_unanswered
from scenthound.loop.messages import (
    FOREVER,
    SITEMAP,
    Done,
    Fetch,
    Kind,
    Limits,
    RobotsLanded,
    SitemapLanded,
    Standing,
    Wait,
)
from scenthound.loop.politeness import Manners
from scenthound.loop.recorder import Ledger, Watcher
from scenthound.loop.redirects import Redirects
from scenthound.loop.scope import Scope
from scenthound.loop.selection import Turns
from scenthound.loop.sitemaps import Sitemaps
from scenthound.loop.strategy_calls import Guide
from scenthound.loop.tally import Tally
from scenthound.model import Candidate, Event, Miss, Moved, Response, Step, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Frontier, History, Repository, Strategy, Where


class Crawl:
    """One run over strategy, frontier and history. docs/concepts/architecture.md has the drawing.

    `limits`, `scope`, `manners`, `history` and `frontier` are there to be read: the parts of the loop hold their own.
    """

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
        watch: Watcher | None = None,
        meter: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.strategy, self.frontier, self.history = strategy, frontier, history
        self.topic, self.seeds = topic, dict(seeds)
        self.limits, self.scope, self.manners = limits, scope, manners
        self.judge, self.repository = judge, repository
        self.tally = tally or Tally()
        self.sitemaps = Sitemaps(limits.sitemaps)
        self.ended = ""
        self.not_before = 0.0  # on resume: when the last request before the crash is surely a delay ago
        self.unkept = False  # a page was read whose content is not in the repository
        self._seed_number = seed_number
        self._meter = meter  # of `rank_seconds`: the laboratory gives CPU time, which takes longer to ask for
        self._choosing = 0.0  # seconds spent in choosing: the strategy's own are the guide's
        self._ledger = ledger = Ledger(history, self.tally, watch)
        self._guide = Guide(strategy, meter)
        self._gate = Gate(manners, limits)
        self._turns = Turns.of(
            strategy, frontier, history.seen, manners, lambda fallen: ledger.dropped(fallen, "evicted"), seed_number
        )
        self._offers = Offers(frontier, ledger, self._turns.chosen, scope, self._gate.closed, limits.nofollow)
        self._redirects = Redirects(self._turns, ledger, scope, limits.redirects)
        self._silence = Silence()
        self._flying: dict[Url, Fetch] = {}
        self._pages_flying = 0
        self._tries: dict[Url, int] = {}

    # ---- what others may ask, or set

    @property
    def in_flight(self) -> int:
        return len(self._flying)

    @property
    def pages(self) -> int:
        """Pages recorded."""
        return self._ledger.pages

    @property
    def numbered(self) -> int:
        """The last number that a page was given."""
        return self._ledger.numbered

    @numbered.setter
    def numbered(self, number: int) -> None:
        self._ledger.numbered = number

    @property
    def rank_seconds(self) -> float:
        """Spent in scoring and choosing, by the meter."""
        return self._choosing + self._guide.seconds

    @property
    def links_scored(self) -> int:
        return self._guide.links_scored

    @property
    def watch(self) -> Watcher | None:
        """Whoever is told of every page, miss, dropped link and event."""
        return self._ledger.watch

    @watch.setter
    def watch(self, watch: Watcher | None) -> None:
        self._ledger.watch = watch

    @property
    def later(self) -> Set[Url]:
        """On resume: what was fetched after the page that is heard again."""
        return self._offers.later

    @later.setter
    def later(self, later: Set[Url]) -> None:
        self._offers.later = later

    # ---- beginning

    def start(self) -> None:
        """The strategy hears the topic; its seeds enter the frontier."""
        for candidate in self.introduce():
            if not self.history.seen(candidate.url):
                self._offers.push(candidate._replace(spelling=self.seeds.get(candidate.url, candidate.spelling)))

    def introduce(self) -> Iterable[Candidate]:
        """Tell the strategy what the crawl is about. On resume its answer is in the frontier already."""
        return self._guide.start(self.topic, list(self.seeds), self._seed_number)

    def want_again(self, step: Step) -> None:
        """Put back a page that was recorded once and whose content is gone."""
        asked = (step.url, step.score, step.carry, step.parts, step.parent, step.anchor, step.depth)
        self._offers.push(Candidate(*asked, spelling=self.seeds.get(step.url, "")))

    # ---- what to do

    def next(self, now: float, slow: Collection[Fetch] = ()) -> Fetch | Wait | Done:
        """The next thing to do. Every `Fetch` must come back through `landed`.

        Of those in flight some may be `slow`. The budget of pages does not wait for them: when it is spent and only
        they are left, it is `Done`, and they count as not yet asked for.
        """
        if not self.ended and now >= self.limits.ends_at:
            self.ended = "time"
        if not self.ended and self._ledger.pages >= self.limits.pages and len(slow) == len(self._flying):
            return self._done("pages")
        coming = self._pages_flying - sum(fetch.kind == "page" for fetch in slow)
        if self.ended or self._ledger.pages + coming >= self.limits.pages:
            return self._close("pages")
        if now < self.not_before:
            return Wait(self.not_before)
        if self._silence.doubts and (instead := self._probe(now)) is not None:
            return instead
        before = self._meter()
        try:
            while (found := self._turns.next(now)) is not None:
                if (fetch := self._cleared(found, now)) is not None:
                    return fetch
        finally:
            self._choosing += self._meter() - before
        ready = self._turns.ready_at()
        if not self._flying and ready == FOREVER:
            return self._close("frontier empty")
        if not self._flying and ready - now > self.limits.longest_wait:
            return self._close("all that is left rests")
        return Wait(ready)

    def _probe(self, now: float) -> Fetch | Wait | None:
        """Many hosts in a row gave no answer: ask one that answered before whether our own connection is up."""
        assert self.manners is not None
        manners = self.manners
        step = self._silence.probe(lambda host: manners.host(host).next_allowed, now)
        if isinstance(step, str):
            return self._launch(Candidate(step, FOREVER, spelling=step), "robots")
        return Wait(step) if step > now else None

    def stop(self, reason: str) -> None:
        """Ask for nothing more; what is in flight may still land."""
        self.ended = self.ended or reason

    def _close(self, reason: str) -> Wait | Done:
        return Wait(FOREVER) if self._flying else self._done(reason)

    def _done(self, reason: str) -> Done:
        self.ended = self.ended or reason
        self._ledger.noted(self.told())
        return Done(self.ended)

    def _cleared(self, candidate: Candidate, now: float) -> Fetch | None:
        """The fetch for a candidate whose turn it is; None where manners or limits forbid it after all."""
        if SITEMAP in candidate.carry:
            return self._launch(candidate, "sitemap")
        do, reason, until = self._gate.verdict(candidate, now)
        match do:
            case "fetch":
                return self._launch(candidate, "page")
            case "robots":
                self._turns.hold(candidate, FOREVER)
                file = urls.origin(candidate.spelling or candidate.url) + "/robots.txt"
                return self._launch(Candidate(Url(file), FOREVER, spelling=file), "robots")
            case "rest":
                self._turns.rest(urls.host(candidate.url), now if until is None else until)
                self._turns.hold(candidate)
            case "drop":
                self._turns.settle(candidate.url)
                self._ledger.dropped(candidate, reason)
                if until is not None:
                    self._offers.push(candidate._replace(due=until))
            case "lose":
                self._lose(Miss(candidate, reason), now, heard=False)
        return None

    def _launch(self, candidate: Candidate, kind: Kind) -> Fetch:
        standing: Standing = "new"
        if self.manners is not None:
            host = urls.host(candidate.url)
            self._turns.rest(host, FOREVER)
            state = self.manners.host(host)
            state.met = True
            standing = "silent" if state.silent else "proven" if state.pages else "new"
        fetch = self._flying[candidate.url] = Fetch(candidate, kind, standing)
        self._pages_flying += kind == "page"
        return fetch

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
        if isinstance(result, Page) and self._ledger.pages >= self.limits.pages:  # it was slow, and others came first
            self._turns.hold(candidate)
            return
        if isinstance(result, Page):
            similarity = self.judge(result) if self.judge else 0.0  # before the strategy has the page in its hands
            offers = self._guide.read(result)  # before anything is written: a strategy may raise
        where = self.repository.put(response, now) if self.repository and response is not None else None
        if self.manners is not None:
            self.manners.host(urls.host(candidate.url)).silent = is_unanswered(result)
            if self._silence.hears(result):
                self._excuse(result, now)
                return
            until = self._gate.rest_after(result, now if ended is None else ended)
            self._turns.rest(urls.host(candidate.url), until)
        match result:
            case Page():
                self._record(result, similarity, where, now)
                self._take_in(result, offers)
                if self.tally.dry:
                    self.stop("dry")
            case Miss():
                self._missed(result, now)
            case Moved():
                if (miss := self._redirects.follow(result)) is not None:
                    self._lose(miss, now)
            case RobotsLanded():
                if result.rules is not None:
                    self._ask_sitemaps(result.rules.sitemaps, candidate)
            case SitemapLanded():
                self._turns.release(candidate.url)
                for listed in self.sitemaps.listed(result):
                    self._offers.offer(listed)
                self._ask_sitemaps(result.children, candidate)
        self._ledger.noted(self.told())

    def _record(self, page: Page, similarity: float, where: Where | None, now: float) -> None:
        url = page.candidate.url
        self._tries.pop(url, None)
        step = self._ledger.page(page, similarity, self._turns.release(url), self._redirects.over(url), where, now)
        self._turns.settle(url)
        relevant = self.tally.page(step)
        self._gate.gave(page.url, relevant)
        if self.scope is not None:
            self.scope.learn(page.url, relevant)
        self.unkept = self.unkept or (where is None and self.repository is not None)
        self._ledger.tell(step)

    def _take_in(self, page: Page, offers: list[Candidate]) -> None:
        before = self._meter()
        self._offers.of_page(page, offers)
        self._choosing += self._meter() - before

    def _ask_sitemaps(self, spellings: Iterable[str], named_by: Candidate) -> None:
        for candidate in self.sitemaps.wanted(spellings, urls.host(named_by.url)):
            self._turns.hold(candidate)

    def _excuse(self, result: Page | Miss | Moved | RobotsLanded | SitemapLanded, now: float) -> None:
        """Try again later; neither the URL's tries nor the host's failures are counted. See `Silence`."""
        host = urls.host(result.candidate.url)
        self._turns.rest(host, now + self._silence.excuse(host))
        self.tally.count("no-network")
        if isinstance(result, Miss):
            self._turns.hold(result.candidate)

    def _missed(self, miss: Miss, now: float) -> None:
        url = miss.candidate.url
        tried = self._tries.get(url, 0)
        if miss.retry_after is not None and tried < self.limits.retries:
            self._tries[url] = tried + 1
            self._ledger.postponed(miss, now)
            self._turns.hold(miss.candidate)
            return
        self._lose(miss, now)

    def _lose(self, miss: Miss, now: float, heard: bool = True) -> None:
        url = miss.candidate.url
        self._tries.pop(url, None)
        self._redirects.over(url)
        self._turns.settle(url)
        self._ledger.lost(miss, now, heard)
        if heard:
            self.hear_miss(miss)

    # ---- what the strategy is told, and tells; on resume it hears again what it had heard

    def told(self) -> list[Event]:
        """What the strategy has to tell since it was asked last. On resume it was written down before."""
        return self._guide.told(self._ledger.numbered)

    def reconsider(self, page: Page) -> None:
        """Offer what a page fetched earlier leads to once more, as after the frontier was lost."""
        self._take_in(page, self._guide.read(page))

    def hear_again(self, page: Page) -> None:
        """On resume: the strategy reads a page once more; what it wanted of it is in the frontier already."""
        self._guide.read(page)

    def hear_miss(self, miss: Miss, offer: bool = True) -> None:
        """The strategy is told that a URL brought nothing."""
        for candidate in self._guide.miss(miss):
            if offer:
                self._offers.offer(candidate)

    def hear(self, url: Url, on_topic: bool, offer: bool = True) -> None:
        """The strategy is told what somebody thinks of a page; what it wants after that replaces what it wanted."""
        before = self._meter()
        for candidate in self._guide.hear(url, on_topic):
            if offer:
                self._offers.offer(candidate)
        self._choosing += self._meter() - before

    # ---- what survives a restart

    def save(self) -> Mapping[str, Any]:
        """The loop's own state, plain JSON. What is in flight counts as not yet asked for; what waits in the
        frontier is the frontier's to keep, so only redirect targets and sitemaps are written out whole."""
        flying = [fetch.candidate for fetch in self._flying.values() if fetch.kind != "robots"]
        promised = [*flying, *self._turns.promised]
        loose = {c.url for c in promised if c.url in self._redirects or SITEMAP in c.carry}
        return {
            "batches": self._turns.batches,
            "batch": [list(member) for member in self._turns.batch],
            "held": [c.url for c in promised if c.url not in loose],
            "loose": [
                [*c[:2], dict(c.carry), dict(c.parts), *c[4:], *self._redirects.chain(c.url)]
                for c in promised
                if c.url in loose
            ],
            "tries": dict(self._tries),
            "sitemaps": self.sitemaps.save(),
            "tally": self.tally.save(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Take up what `save` gave. The frontier must be filled already and offer `take`."""
        self._tries = dict(state["tries"])
        self.sitemaps.load(state["sitemaps"])
        self.tally.load(state["tally"])
        self._turns.take_up(state["batches"], state["held"], state["batch"])
        for *fields, asked, hops in state["loose"]:
            candidate = Candidate(*fields)
            self._turns.claim(candidate.url)  # it may have waited there before the redirect led to it
            self._redirects.take_up(candidate.url, asked, hops)
            self._turns.hold(candidate)
