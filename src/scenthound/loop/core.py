"""The crawl loop. It has no clock and no socket: a driver passes in times and results, and receives actions.

The driver calls `next(now)`, which returns a `Fetch`, a `Wait` or a `Done`, and passes the result of each fetch to
`landed`. So the same loop runs live and in replay. Its parts (see `scenthound.loop`) have no reference to the loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace

from scenthound import url as urls
from scenthound.hosts import HostClock
from scenthound.loop.admission import Admission
from scenthound.loop.connectivity import Connectivity, is_unanswered
from scenthound.loop.fetch_order import EarlyResults, OrderRule, Turns
from scenthound.loop.figures import Figures
from scenthound.loop.messages import FOREVER, Done, Fetch, Limits, Postponed, Result, RobotsLanded, SitemapLanded, Wait
from scenthound.loop.new_urls import Candidates, Redirects, Sitemaps
from scenthound.loop.plugin_calls import Judging, PageVerdict, Stopwatch, StrategyCalls
from scenthound.loop.recording import Recorder, Watcher
from scenthound.loop.scope import Scope
from scenthound.loop.selection import UrlSelection
from scenthound.loop.service_files import ServiceFiles, is_service_file, robots_file
from scenthound.loop.suspended_urls import SuspendedUrls
from scenthound.loop.trap_watch import TrapWatch
from scenthound.model import Candidate, Miss, Moved, Response, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Frontier, History, OwnFrontier, Repository, Strategy, Where, declaration_of


@dataclass(eq=False)
class Crawl:
    """One crawl: connects strategy, judge, frontier, history and hosts (diagram: docs/concepts/architecture.md).

    Its parts are public for reports and for `resume`; only the loop and `resume` change them.
    """

    strategy: Strategy
    frontier: Frontier
    history: History
    topic: Topic
    seeds: Sequence[tuple[Url, str]]
    """Canonical URL and spelling of each seed."""
    _: KW_ONLY
    limits: Limits
    scope: Scope | None = None
    host_clock: HostClock | None = None
    """When each host may be asked. None: always; robots.txt is not read and no host rests, as in a replay."""
    judging: Judging = field(default_factory=Judging)
    traps: TrapWatch | None = None
    suspended: SuspendedUrls = field(default_factory=SuspendedUrls)
    figures: Figures = field(default_factory=Figures)
    repository: Repository | None = None
    seed_number: int = 0
    watch: Watcher | None = None
    order: OrderRule = field(default_factory=OrderRule)
    """What to do while the hosts of the best URLs are resting."""
    meter: Callable[[], float] = time.perf_counter

    def __post_init__(self) -> None:
        strategy, frontier, limits = self.strategy, self.frontier, self.limits
        declared, has_own_frontier = declaration_of(strategy), isinstance(strategy, OwnFrontier)
        seeds = self.seed_spellings = dict(self.seeds)
        self.end_reason = ""  # set as soon as the crawl is about to end
        self.has_unstored_pages = False  # whether a page was read without being stored in the repository
        recorder = self.recorder = Recorder(self.history, self.figures, self.watch)
        self.stopwatch = Stopwatch(self.meter)
        own_frontier = frontier if has_own_frontier else None
        self.calls = StrategyCalls(strategy, self.stopwatch, own_frontier, recorder.frontier_changed)
        self.admission = Admission(self.host_clock, limits, self.traps, self.suspended)
        order = replace(self.order, window=1) if has_own_frontier or declared.batch > 1 else self.order
        is_polite, host_clock = self.host_clock is not None, self.host_clock or HostClock()
        frontier.host_clock = host_clock
        self.turns = Turns(order, recorder, limits, host_clock)
        chosen_by = (self.turns, declared, self.seed_number, self.suspended)
        self.selection = UrlSelection(
            frontier, recorder, seeds, *chosen_by, is_polite=is_polite, has_ranks=not has_own_frontier
        )
        closed, nofollow = self.admission.closed, limits.nofollow
        self.candidates = Candidates(frontier, recorder, self.selection, self.scope, closed, nofollow, self.traps)
        self.redirects = Redirects(self.selection, recorder, self.scope, limits.redirects)
        self.sitemaps = Sitemaps(limits.sitemaps)
        self._files = ServiceFiles(self.selection, host_clock, self.sitemaps)
        self.tries: dict[Url, int] = {}  # number of failed requests per URL that will be retried
        self._in_flight: dict[Url, Fetch] = {}
        self._connectivity, self._early, self._not_before = Connectivity(), EarlyResults(self.turns), 0.0

    @property
    def pages(self) -> int:
        return self.recorder.pages

    @property
    def in_flight(self) -> int:
        return len(self._in_flight)

    @property
    def unfinished(self) -> list[Candidate]:  # a resumed crawl requests them again
        return [fetch.candidate for fetch in self._in_flight.values() if fetch.kind != "robots"]

    @property
    def rank_seconds(self) -> float:  # spent scoring and choosing URLs, measured with `meter`
        return self.stopwatch.seconds

    def start(self) -> None:
        for candidate in self.calls.start(self.topic, list(self.seed_spellings), self.seed_number):
            spelling = self.seed_spellings.get(candidate.url, candidate.spelling)
            if not self.history.seen(candidate.url):
                self.candidates.add_seed(candidate._replace(spelling=spelling))

    def pause_until(self, moment: float) -> None:  # request nothing before
        self._not_before = moment

    def stop(self, reason: str) -> None:  # results of requests in flight may still arrive
        self.end_reason = self.end_reason or reason

    def next(self, now: float, slow: Collection[Fetch] = ()) -> Fetch | Wait | Done:
        """The next action. The driver must pass the result of every `Fetch` to `landed`.

        `slow` contains requests in flight that the driver does not wait for. If the budget is spent and only these are
        left, the crawl is `Done`, and they count as not requested.
        """
        limits = self.limits
        self.selection.advance_to(now, slow)
        self._process_early(now)
        self.end_reason = self.end_reason or self.figures.reason_to_end(limits, now, len(self._in_flight))
        left, expected = limits.pages - self.recorder.pages, len(self._in_flight)
        if not self.end_reason and left <= 0 and len(slow) == expected:
            return self._done("pages")
        if expected >= left:  # close to the end: robots.txt files, sitemaps and slow requests do not count
            expected = sum(f.kind == "page" for f in self._in_flight.values()) - sum(f.kind == "page" for f in slow)
        if self.end_reason or expected >= left:
            if not self._early:
                return Wait(FOREVER) if self._in_flight else self._done("pages")
            self._process_early(now, in_turn=False)  # no more requests are sent, so no later turn is coming
            return self.next(now, slow)
        if now < self._not_before:
            return Wait(self._not_before)
        if self.host_clock and self._connectivity.doubts and (action := self._probe(self.host_clock, now)):
            return action
        with self.stopwatch:
            self.selection.hold_sample(self.recorder.pages)
            while (candidate := self.selection.next(now)) is not None:
                if (fetch := self._admit(candidate, now)) is not None:
                    return fetch
        ready = self.selection.ready_at()
        if self._in_flight or (ready < FOREVER and ready - now <= limits.longest_wait):
            return Wait(ready)
        if ready == FOREVER and self.selection.hold_last_samples(left):
            return self.next(now, slow)
        return self._done(self.selection.why_empty(ready))

    def _probe(self, host_clock: HostClock, now: float) -> Fetch | Wait | None:
        """Test our own connection with a host that answered before, because many hosts in a row did not answer."""
        probe = self._connectivity.probe(host_clock.next_allowed, now)
        if isinstance(probe, str):
            return self._launch(Fetch(robots_file(urls.origin(probe)), "robots"))
        return Wait(probe) if probe > now else None

    def _done(self, reason: str) -> Done:
        self.end_reason = self.end_reason or reason
        self._take_events()
        return Done(self.end_reason)

    def _admit(self, candidate: Candidate, now: float) -> Fetch | None:
        if is_service_file(candidate):
            return self._launch(self._files.request(candidate, now))
        action, reason, until = self.admission.verdict(candidate, now)
        match action:
            case "fetch":
                return self._launch(Fetch(candidate))
            case "robots":
                return self._launch(self._files.ask_robots(candidate))
            case "rest":
                assert self.host_clock is not None
                self.host_clock.rest(urls.host(candidate.url), now if until is None else until)
                self.selection.hold(candidate)
            case "suspend":
                self.selection.suspend(candidate)
            case "drop":
                self.selection.settle(candidate.url)
                self.recorder.dropped(candidate, reason, is_delayed=until is not None)
                if until is not None:
                    self.candidates.push(candidate._replace(due=until))
            case "lose":
                self._record_final_miss(Miss(candidate, reason), now, inform_strategy=False)
        return None

    def _launch(self, fetch: Fetch | None) -> Fetch | None:
        """Register a request. Its host rests until the result arrives."""
        if fetch is not None and self.host_clock is not None:
            fetch = fetch._replace(host=self.host_clock.launched(urls.host(fetch.candidate.url)))
        if fetch is not None:
            self._in_flight[fetch.candidate.url] = fetch
        return fetch

    def landed(
        self, result: Result, now: float, response: Response | None = None, finished_at: float | None = None
    ) -> None:
        """Process the result of a fetch and store its `response`. The host rests from `finished_at`, or `now`."""
        candidate = result.candidate
        self.figures.attempts += 1
        if self.host_clock is not None:
            host = urls.host(candidate.url)
            self.host_clock.replied(host, is_unanswered(result))
            if self._connectivity.observe(result):
                self.figures.dropped["no-network"] += 1
                self.postpone(result, now + self._connectivity.excuse_failure(host))
                return
            self._files.let_host_rest(result, now if finished_at is None else finished_at)
            if not (isinstance(result, Miss) and self._may_retry(result)) and self._early.keep(result, response):
                return
        self._process(result, response, now)
        self._process_early(now)

    def _process_early(self, now: float, in_turn: bool = True) -> None:
        """Process results that arrived early: those whose turn has come, or all if not `in_turn`."""
        while self._early and (early := self._early.pop(in_turn)) is not None:
            self._process(*early, now)

    def _process(self, result: Result, response: Response | None, now: float) -> None:
        """Pass a result to judge and strategy, store and record it, and add the new URLs to the frontier."""
        candidate, is_late = result.candidate, self.recorder.pages >= self.limits.pages
        if isinstance(result, Page) and not is_late:  # before anything is changed, because these may raise
            verdict = self.judging.judge(result, self.redirects.chain(candidate.url)[0])
            offers = self.calls.read(result, verdict)
        self._in_flight.pop(candidate.url, None)
        if isinstance(result, Page) and is_late:  # it was slow, and others have used up the budget
            self.selection.hold(candidate)
            return
        where = None if self.repository is None or response is None else self.repository.put(response, now)
        match result:
            case Page():
                self._record(result, verdict, where, now)
                with self.stopwatch:
                    self.candidates.add_page(result, offers, is_relevant=verdict.relevant)
                if self.figures.dry:
                    self.stop("dry")
            case Miss():
                self._handle_miss(result, now)
            case Moved() if not is_service_file(candidate):
                if (miss := self.redirects.follow(result)) is not None:
                    self._record_final_miss(miss, now)
            case RobotsLanded():
                self._files.take_robots(result)
            case SitemapLanded():
                self.candidates.add_listed(result, self._files.take_sitemap(result))
        self._take_events()

    def _record(self, page: Page, verdict: PageVerdict, where: Where | None, now: float) -> None:
        url = page.candidate.url
        self.tries.pop(url, None)
        rank, requested = self.selection.chosen.get(url, 1), self.redirects.end(url)
        step = self.recorder.page(page, verdict, rank, requested, where, now)
        self.selection.settle(url)
        if self.host_clock is not None:
            self.host_clock.count_page(urls.host(page.url), step.relevant)
        self.has_unstored_pages = self.has_unstored_pages or (where is None and self.repository is not None)
        self.recorder.notify(step)

    def postpone(self, result: Result | Postponed, until: float) -> None:
        """Repeat a request later, without counting a failure of the URL or its host."""
        assert self.host_clock is not None
        candidate = result.candidate
        self._in_flight.pop(candidate.url, None)
        self.host_clock.rest(urls.host(candidate.url), until)
        self._files.postpone(result)

    def _handle_miss(self, miss: Miss, now: float) -> None:
        """Retry a failed request later if that may help; otherwise record it as final."""
        if self._may_retry(miss):
            self.tries[miss.candidate.url] = self.tries.get(miss.candidate.url, 0) + 1
            self.recorder.postponed(miss, now)
            self.selection.hold(miss.candidate)
        else:
            self._record_final_miss(miss, now)

    def _may_retry(self, miss: Miss) -> bool:
        return miss.retry_after is not None and self.tries.get(miss.candidate.url, 0) < self.limits.retries

    def _record_final_miss(self, miss: Miss, now: float, inform_strategy: bool = True) -> None:
        """Record a URL that is not requested again, and inform the strategy of it."""
        url = miss.candidate.url
        self.tries.pop(url, None)
        self.suspended.result(self.redirects.chain(url)[0] or url, says_new=False)
        self.redirects.end(url)
        self.selection.settle(url)
        self.recorder.lost(miss, now, inform_strategy)
        if inform_strategy:
            for candidate in self.calls.miss(miss):
                self.candidates.add(candidate)

    def _take_events(self) -> None:
        if self.calls.emits_events:
            self.recorder.events(self.calls.take_events(self.recorder.last_number))
