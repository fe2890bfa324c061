"""The crawl loop, without clock or socket: time and results come in, actions go out.

A driver calls `next(now)`, gets a `Fetch`, a `Wait` or a `Done`, and brings what each fetch returned to `landed`. The
same object runs live, in replay and on a cluster. The parts that it is made of do not know it: see `scenthound.loop`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from scenthound import url as urls
from scenthound.loop.connectivity import Connectivity, is_unanswered
from scenthound.loop.fetch_order import EarlyResults, OrderRule, Turns
from scenthound.loop.messages import FOREVER, Done, Fetch, Limits, Postponed, Result, RobotsLanded, SitemapLanded, Wait
from scenthound.loop.new_urls import Candidates, Redirects, Sitemaps
from scenthound.loop.plugin_calls import Judging, PageJudgement, Stopwatch, StrategyCalls
from scenthound.loop.politeness import Admission, Politeness
from scenthound.loop.recording import Counters, Recorder, Watcher
from scenthound.loop.scope import Scope
from scenthound.loop.selection import ALL_RESTS, UrlSelection
from scenthound.loop.service_files import ServiceFiles, is_service_file, robots_file
from scenthound.loop.trap_watch import TrapWatch
from scenthound.model import Candidate, Miss, Moved, Response, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Frontier, History, OwnFrontier, Repository, Strategy, Where, declaration_of


@dataclass(eq=False)
class Crawl:
    """One crawl over strategy, frontier and history. docs/concepts/architecture.md has the drawing.

    Its parts are public for reports and for `resume`; only the loop and `resume` change them.
    """

    strategy: Strategy
    frontier: Frontier
    history: History
    topic: Topic
    seeds: Sequence[tuple[Url, str]]
    """As (key, spelling)."""
    _: KW_ONLY
    limits: Limits
    scope: Scope | None = None
    politeness: Politeness | None = None
    judging: Judging = field(default_factory=Judging)
    traps: TrapWatch | None = None
    counters: Counters = field(default_factory=Counters)
    repository: Repository | None = None
    seed_number: int = 0
    watch: Watcher | None = None
    order: OrderRule = field(default_factory=OrderRule)
    """What is done while the hosts of the best URLs rest."""
    meter: Callable[[], float] = time.perf_counter
    """Measures `rank_seconds`; the laboratory gives CPU time."""

    def __post_init__(self) -> None:
        strategy, frontier, politeness, limits = self.strategy, self.frontier, self.politeness, self.limits
        seeds, declared = dict(self.seeds), declaration_of(self.strategy)
        self.seed_spellings, self.ended = seeds, ""  # `ended`: why the crawl ended, or is about to
        self.unkept = False  # a page was read whose content is not in the repository
        recorder = self.recorder = Recorder(self.history, self.counters, self.watch)
        self.stopwatch = Stopwatch(self.meter)
        self.calls = StrategyCalls(strategy, self.stopwatch)
        self.admission = Admission(politeness, limits, self.traps)
        is_own = isinstance(strategy, OwnFrontier)
        order = replace(self.order, window=1) if is_own or declared.batch > 1 else self.order
        self.turns = Turns(order, recorder, limits)
        self.selection = UrlSelection(frontier, recorder, seeds, politeness, declared, self.seed_number)
        self.selection.follow(self.turns, has_ranks=not is_own)
        closed, nofollow = self.admission.closed, limits.nofollow
        self.candidates = Candidates(frontier, recorder, self.selection, self.scope, closed, nofollow, self.traps)
        self.redirects = Redirects(self.selection, recorder, self.scope, limits.redirects)
        self.sitemaps = Sitemaps(limits.sitemaps)
        self._files = ServiceFiles(self.selection, politeness, self.sitemaps)
        self.tries: dict[Url, int] = {}  # failed requests of URLs that will be tried again
        self._in_flight: dict[Url, Fetch] = {}
        self._connectivity, self._early, self._not_before = Connectivity(), EarlyResults(self.turns), 0.0

    @property
    def pages(self) -> int:
        return self.recorder.pages

    @property
    def in_flight(self) -> int:
        return len(self._in_flight)

    @property
    def unfinished(self) -> list[Candidate]:
        """Pages and sitemaps in flight."""
        return [fetch.candidate for fetch in self._in_flight.values() if fetch.kind != "robots"]

    @property
    def rank_seconds(self) -> float:
        """Time spent in scoring and choosing, by the meter."""
        return self.stopwatch.seconds

    def start(self) -> None:
        """Start the strategy and put its seeds into the frontier."""
        for candidate in self.calls.start(self.topic, list(self.seed_spellings), self.seed_number):
            spelling = self.seed_spellings.get(candidate.url, candidate.spelling)
            if not self.history.seen(candidate.url):
                self.candidates.push(candidate._replace(spelling=spelling))

    def wait_until(self, moment: float) -> None:
        """Request nothing before this moment."""
        self._not_before = moment

    def stop(self, reason: str) -> None:
        """Request nothing more; what is in flight may still land."""
        self.ended = self.ended or reason

    def next(self, now: float, slow: Collection[Fetch] = ()) -> Fetch | Wait | Done:
        """The next action. Every `Fetch` must come back through `landed`.

        `slow` are those in flight that the driver does not wait for. If the budget is spent and only they are left,
        the crawl is `Done`, and they count as not requested.
        """
        limits = self.limits
        if self.politeness is not None:
            self.selection.keep_time(now, slow)
            self._read_early(now)
        self.ended = self.ended or self.counters.reason_to_end(limits, now, len(self._in_flight))
        left, coming = limits.pages - self.recorder.pages, len(self._in_flight)
        if not self.ended and left <= 0 and len(slow) == coming:
            return self._done("pages")
        if coming >= left:  # robots.txt files and sitemaps are no pages: counted only at the end
            coming = sum(f.kind == "page" for f in self._in_flight.values()) - sum(f.kind == "page" for f in slow)
        if self.ended or coming >= left:
            if not self._early:
                return self._close("pages")
            self._read_early(now, in_turn=False)  # nothing more is requested, so their turn may never come
            return self.next(now, slow)
        if now < self._not_before:
            return Wait(self._not_before)
        if self.politeness and self._connectivity.doubts and (instead := self._probe(self.politeness, now)):
            return instead
        with self.stopwatch:
            while (candidate := self.selection.next(now)) is not None:
                if (fetch := self._admitted(candidate, now)) is not None:
                    return fetch
        ready = self.selection.ready_at()
        if self._in_flight or (ready < FOREVER and ready - now <= limits.longest_wait):
            return Wait(ready)
        return self._done("frontier empty" if ready == FOREVER else ALL_RESTS)

    def _probe(self, politeness: Politeness, now: float) -> Fetch | Wait | None:
        """Many hosts in a row gave no answer: test our connection on a host that answered before."""
        step = self._connectivity.probe(politeness.next_allowed, now)
        if isinstance(step, str):
            return self._launch(Fetch(robots_file(urls.origin(step)), "robots"))
        return Wait(step) if step > now else None

    def _close(self, reason: str) -> Wait | Done:
        return Wait(FOREVER) if self._in_flight else self._done(reason)

    def _done(self, reason: str) -> Done:
        self.ended = self.ended or reason
        self._take_events()
        return Done(self.ended)

    def _admitted(self, candidate: Candidate, now: float) -> Fetch | None:
        """The fetch for a candidate whose turn it is; None if politeness or limits forbid it."""
        if is_service_file(candidate):
            return self._launch(self._files.request(candidate, now))
        do, reason, until = self.admission.verdict(candidate, now)
        match do:
            case "fetch":
                return self._launch(Fetch(candidate))
            case "robots":
                return self._launch(self._files.ask_robots(candidate))
            case "rest":
                self._rest(urls.host(candidate.url), now if until is None else until)
                self.selection.hold(candidate)
            case "drop":
                self.selection.settle(candidate.url)
                self.recorder.dropped(candidate, reason)
                if until is not None:
                    self.candidates.push(candidate._replace(due=until))
            case "lose":
                self._lose(Miss(candidate, reason), now, heard=False)
        return None

    def _launch(self, fetch: Fetch | None) -> Fetch | None:
        if fetch is not None and self.politeness is not None:
            host = urls.host(fetch.candidate.url)
            fetch = fetch._replace(host=self.politeness.launched(host))
            self.selection.rest(host, FOREVER)
        if fetch is not None:
            self._in_flight[fetch.candidate.url] = fetch
        return fetch

    def _rest(self, host: str, until: float) -> None:
        assert self.politeness is not None
        self.politeness.rest(host, until)
        self.selection.rest(host, until)

    def landed(self, result: Result, now: float, response: Response | None = None, ended: float | None = None) -> None:
        """Take in the result of a fetch. `response` is for the repository; the host rests from `ended` on, or `now`."""
        candidate = result.candidate
        self.counters.attempts += 1
        if self.politeness is not None:
            self.politeness.replied(host := urls.host(candidate.url), is_unanswered(result))
            if self._connectivity.observe(result):
                self.counters.count("no-network")
                self.postpone(result, now + self._connectivity.excuse(host))
                return
            until = self.politeness.landed(result, now if ended is None else ended)
            if not self._files.follow(result):
                self._rest(host, until)
            if not (isinstance(result, Miss) and self._may_retry(result)) and self._early.keep(result, response):
                return
        self._take_in(result, response, now)
        if self.politeness is not None:
            self._read_early(now)

    def _read_early(self, now: float, in_turn: bool = True) -> None:
        """Take in results that came before their turn: those whose turn it is by now, or all."""
        while self._early and (early := self._early.pop(in_turn)) is not None:
            self._take_in(*early, now)

    def _take_in(self, result: Result, response: Response | None, now: float) -> None:
        candidate = result.candidate
        self._in_flight.pop(candidate.url, None)
        if isinstance(result, Page):
            if self.recorder.pages >= self.limits.pages:  # it was slow, and others came first
                self.selection.hold(candidate)
                return
            judgement = self.judging.judge(result, self.redirects.chain(candidate.url)[0])
            offers = self.calls.read(result, judgement)  # before anything is written: a strategy or a judge may raise
        where = None if self.repository is None or response is None else self.repository.put(response, now)
        match result:
            case Page():
                self._record(result, judgement, where, now)
                with self.stopwatch:
                    self.candidates.add_page(result, offers)
                if self.counters.dry:
                    self.stop("dry")
            case Miss():
                self._missed(result, now)
            case Moved() if not is_service_file(candidate):
                if (miss := self.redirects.follow(result)) is not None:
                    self._lose(miss, now)
            case RobotsLanded():
                self._files.take_robots(result)
            case SitemapLanded():
                for listed in self._files.take_sitemap(result):
                    self.candidates.add(listed)
        self._take_events()

    def _record(self, page: Page, judgement: PageJudgement, where: Where | None, now: float) -> None:
        url = page.candidate.url
        self.tries.pop(url, None)
        rank, requested = self.selection.chosen.get(url, 1), self.redirects.end(url)
        step = self.recorder.page(page, judgement, rank, requested, where, now)
        self.selection.settle(url)
        relevant = self.counters.page(step)
        if self.politeness is not None:
            self.politeness.gave_page(urls.host(page.url), relevant)
        if self.scope is not None:
            self.scope.learn(page.url, relevant)
        self.unkept = self.unkept or (where is None and self.repository is not None)
        self.recorder.tell(step)

    def postpone(self, result: Result | Postponed, until: float) -> None:
        """Make a request again later, without counting a failure of URL or host."""
        candidate = result.candidate
        self._in_flight.pop(candidate.url, None)
        self._rest(urls.host(candidate.url), until)
        self._files.postpone(result)

    def _missed(self, miss: Miss, now: float) -> None:
        if self._may_retry(miss):
            self.tries[miss.candidate.url] = self.tries.get(miss.candidate.url, 0) + 1
            self.recorder.postponed(miss, now)
            self.selection.hold(miss.candidate)
        else:
            self._lose(miss, now)

    def _may_retry(self, miss: Miss) -> bool:
        return miss.retry_after is not None and self.tries.get(miss.candidate.url, 0) < self.limits.retries

    def _lose(self, miss: Miss, now: float, heard: bool = True) -> None:
        url = miss.candidate.url
        self.tries.pop(url, None)
        self.redirects.end(url)
        self.selection.settle(url)
        self.recorder.lost(miss, now, heard)
        if heard:
            for candidate in self.calls.miss(miss):
                self.candidates.add(candidate)

    def _take_events(self) -> None:
        if self.calls.emits_events:
            self.recorder.events(self.calls.take_events(self.recorder.last_number))
