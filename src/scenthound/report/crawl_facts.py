"""Gather the figures of a crawl folder: for `status` and the report all of them, for the desk those that are new."""

from __future__ import annotations

import contextlib
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenthound import url as urls
from scenthound.errors import FolderBroken
from scenthound.formats import full_trail_line
from scenthound.looking_for import CONTROL, in_words
from scenthound.loop.crawl_toml import CrawlRequest
from scenthound.loop.figures import LITTLE_LEFT, POINTS, Figures, Left, SavedFigures
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.link_balance import ROBOTS, LinkBalance
from scenthound.loop.plugin_failure import PLUGIN_FAILED, PluginFailure
from scenthound.loop.resume import saved_figures
from scenthound.loop.selection import ALL_RESTS, ONLY_SUSPENDED
from scenthound.loop.trap_watch import REINSTATED, SUSPENDED
from scenthound.model import NOTHING, Event, LookingFor, Mark, Step
from scenthound.parameters import changed_values
from scenthound.report.long_rests import LongRest, long_rests, rests_in_words
from scenthound.report.wording import Wording, why_no_url_is_left
from scenthound.store.lock import holder
from scenthound.store.order_table import Orders
from scenthound.store.sqlite_history import SqliteHistory
from scenthound.typed_data import from_json, from_plain

BEST = 20
BUCKETS = 60
SHOWN_OF_BEST = ("n", "url", "title", "similarity", "relevance", "relevant")  # fields in `status --json`
PAUSE = 120.0  # seconds; if runs are not recorded, a longer gap counts as a pause between two runs

NO_URL_LEFT = "frontier empty"
ENDINGS = {
    "pages": "all requested pages were fetched",
    "time": "the time was up",
    NO_URL_LEFT: "no URL was left to fetch",
    ALL_RESTS: "every host with URLs left had to rest too long",
    ONLY_SUSPENDED: "only URLs that look like traps were left, and samples of them gave nothing new",
    "dry": "too few relevant pages were found recently",
    LITTLE_LEFT: "the rest of the budget was expected to yield little",
    "interrupted": "it was interrupted, and can be resumed",
    "stopped": "it was stopped, and can be resumed",
    "demo stopped": "it was stopped",
    "disk full": "the disk was full; make room, then it can be resumed",
    "I/O error": "a disk or the system failed; it can be resumed",
    PLUGIN_FAILED: "a plug-in failed; it can be resumed",
    "running": "it is running now",
    "paused": "it is paused; continue it with `scenthound control DIR continue`",
    "cut off": "the process was killed; it can be resumed",
}
FINAL = {"pages", "time", "frontier empty", ALL_RESTS, ONLY_SUSPENDED, "dry", LITTLE_LEFT}


@dataclass(slots=True)
class HostFacts:
    """The counts of one host."""

    pages: int = 0
    relevant: int = 0
    misses: int = 0
    """URLs that brought no page and are not requested again."""
    bytes: int = 0
    """Of all replies."""
    last: float = 0.0
    """When its latest page was fetched."""


@dataclass(slots=True)
class CrawlFacts:
    """A crawl in figures."""

    request: CrawlRequest
    folder: Path | None = None
    budget: int = 0
    """Number of pages requested, as set by the latest run that set it."""
    figures: Figures = field(default_factory=Figures)
    ended: str = ""
    """The recorded reason why the crawl ended; `running` or `cut off` if there is none."""
    process: int | None = None
    relevant_in_the_end: int = 0
    """Number of relevant pages according to the judge's latest verdicts."""
    doubts: list[str] = field(default_factory=list)
    """Reasons why the judge's verdicts may be wrong, and what to do about them."""
    bytes: int = 0
    """Of all replies."""
    first: float = 0.0
    """When the first reply came."""
    busy: float = 0.0
    """Seconds of running time, without pauses between runs."""
    waiting: int = 0
    failures: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Requests of the latest run without a reply, including robots.txt: count and an example, by reason."""
    links: LinkBalance = field(default_factory=LinkBalance)
    """What became of every link that was found."""
    pending: list[str] = field(default_factory=list)
    """Orders that the crawl has not carried out yet."""
    rests: list[LongRest] = field(default_factory=list)
    """Hosts with waiting URLs that have to rest, if the crawl ended because of them."""
    plugin_failure: PluginFailure | None = None
    """The error of a plug-in that ended the latest run."""
    suspended: list[str] = field(default_factory=list)
    """URL patterns that wait behind all others because their pages had nothing new: host, number of pages, pattern."""
    suspended_urls: int = 0
    """Number of the waiting URLs that look like traps."""
    hosts: dict[str, HostFacts] = field(default_factory=dict)
    best: list[Step] = field(default_factory=list)
    speed: list[tuple[float, float]] = field(default_factory=list)
    """Pages per second over time, as (seconds since the start, rate)."""
    exploration: list[tuple[int, float]] = field(default_factory=list)
    """How often the strategy departed from its ranking, as (pages fetched, rate); empty if it does not report it."""

    @property
    def left(self) -> Left | None:
        """Expected yield of the rest of the budget; None if there are too few pages to tell."""
        return self.figures.left(self.budget)

    @property
    def looking_for_in_words(self) -> str:
        """What the crawl looks for, in a sentence, and the command that changes it."""
        return in_words(self.request.topic, self.request.parsed_seeds(), CONTROL)

    @property
    def outlook(self) -> str:
        """The expected yield of the rest of the budget, in words."""
        return outlook(self.left, self.budget - self.figures.pages)

    @property
    def rate(self) -> float:
        return pages_per_second(self.figures.pages, self.busy)

    @property
    def hosts_with_pages(self) -> int:
        return sum(host.pages > 0 for host in self.hosts.values())

    @property
    def failed(self) -> dict[str, int]:
        return failed(self.figures)

    @property
    def waiting_in_words(self) -> str:
        """The number of waiting URLs, and of those that look like traps."""
        traps = f", {self.suspended_urls:,} of them behind all others: they look like traps" * bool(self.suspended_urls)
        return f"{self.waiting:,} waiting{traps}"

    @property
    def why(self) -> str:
        """Why the crawl ended, in words."""
        return ending_in_words(self.ended, self.links, self.budget, self.plugin_failure, self.rests)

    def in_place(self, words: str) -> str:
        """Words with the folder of the crawl in commands. Reports are passed on, so theirs have `DIR`."""
        return words if self.folder is None else words.replace(" DIR ", f" {shlex.quote(str(self.folder))} ")

    def as_plain(self) -> dict[str, Any]:
        """The figures as JSON data."""
        request, figures, left, wording = self.request, self.figures, self.left, Wording(self.request)
        pages = figures.pages or 1
        return {
            "topic": request.topic.keywords,
            "looking_for": request.topic.looking_for,
            "looking_for_in_words": self.in_place(self.looking_for_in_words),
            "strategy": request.strategy,
            "ended": self.ended,
            "why": self.in_place(self.why),
            "process": self.process,
            "pages": figures.pages,
            "budget": self.budget,
            "judge": request.settings.judge,
            "relevant": figures.relevant,
            "relevant_in_the_end": self.relevant_in_the_end,
            "doubts": self.doubts,
            "harvest": figures.harvest,
            "harvest_recent": figures.harvest_recent,
            "expected": None if left is None else left.expected,
            "expected_share": None if left is None else left.share,
            "similarity": figures.similarity / pages,
            "relevance": figures.relevance / pages,
            "frontier": self.waiting,
            "hosts": self.hosts_with_pages,
            "bytes": self.bytes,
            "seconds": self.busy,
            "pages_per_second": self.rate,
            "out_of_order": figures.out_of_order,
            "waited": figures.waited,
            "exploration": self.exploration[-1][1] if self.exploration else None,
            "misses": dict(figures.misses),
            "refused": dict(figures.dropped),
            "links": self.links.as_plain() if self.links.is_complete else None,
            "suspended": self.suspended,
            "pending": self.pending,
            "plugin_failure": None if self.plugin_failure is None else self.plugin_failure.as_plain(),
            "suspended_urls": self.suspended_urls,
            "failures": {reason: times for reason, (times, _) in self.failures.items()},
            "best": [
                {**{key: line[key] for key in SHOWN_OF_BEST}, "why": wording.reasons(step)}
                for step, line in ((step, full_trail_line(step)) for step in self.best[:10])
            ],
        }


def ending_in_words(
    ended: str, links: LinkBalance, budget: int, failure: PluginFailure | None, rests: Sequence[LongRest] = ()
) -> str:
    """Why a crawl ended: why links were refused if no URL was left, a plug-in's error, or which hosts have to rest."""
    if ended == ALL_RESTS and rests:
        return f"{ENDINGS[ended]}: {rests_in_words(rests)}"
    if ended == PLUGIN_FAILED and failure is not None:
        return f"{failure}; it can be resumed"
    words = ENDINGS.get(ended, ended or "it has not begun")
    refused = why_no_url_is_left(links.not_followed) if ended == NO_URL_LEFT and links.pages < budget else ""
    return f"no URL was left: {refused}" if refused else words


def outlook(left: Left | None, pages: int) -> str:
    """The expected yield of the next `pages` pages, in words.

    >>> outlook(Left(60.0, 2.9), 400), outlook(None, 400)
    ('at most about 3 more relevant pages in 400, 5% of all', 'too few pages to tell')
    """
    if left is None:
        return "too few pages to tell"
    return f"at most about {left.expected:,.0f} more relevant pages in {max(pages, 0):,}, {left.share:.0%} of all"


def failed(figures: Figures) -> dict[str, int]:
    """Number of URLs that were requested and brought no page, by reason."""
    return {reason: times for reason, times in figures.misses.items() if reason != ROBOTS}


def pages_per_second(pages: int, seconds: float) -> float:
    """The speed of a crawl: all its pages over all its running time."""
    return pages / seconds if seconds > 0 else 0.0


def gather(folder: CrawlFolder) -> CrawlFacts:
    """Gather the figures from a folder's history as of the last commit, reading it once."""
    with folder.database.snapshot():
        return _gathered(folder)


def _gathered(folder: CrawlFolder) -> CrawlFacts:
    facts = CrawlFacts(folder.request, folder.path, folder.budget)
    saved = saved_state(folder)
    read_history(facts, folder.history, folder.runs, saved)
    facts.waiting = frontier_length(folder, saved)
    facts.links = link_balance(facts.figures, facts.waiting)
    facts.failures = _failures(folder.database.meta("failures"))
    facts.doubts = folder.doubts()
    facts.pending = [f"{order.action} {order.value}".strip() for order in Orders(folder.database).pending()]
    facts.suspended = [_suspension(event) for event in suspensions(folder)]
    facts.suspended_urls = folder.suspended_urls
    facts.exploration = _exploration(folder.history.strategy_events("exploration"))
    facts.ended, facts.process = state_of(folder, facts.figures.last)
    facts.rests = long_rests(folder) if facts.ended == ALL_RESTS else []
    facts.plugin_failure = folder.plugin_failure() if facts.ended == PLUGIN_FAILED else None
    return facts


def suspensions(folder: CrawlFolder) -> list[Event]:
    """The events of the suspensions that have not ended."""
    latest: dict[tuple[Any, Any], Event] = {}
    ended = Counter((e.facts.get("host"), e.facts.get("pattern")) for e in folder.history.strategy_events(REINSTATED))
    for event in folder.history.strategy_events(SUSPENDED):
        pattern = (event.facts.get("host"), event.facts.get("pattern"))
        latest.pop(pattern, None)
        if ended[pattern]:  # the two take turns
            ended[pattern] -= 1
        else:
            latest[pattern] = event
    return list(latest.values())


def how_to_fetch_suspended(urls_left: int, folder: Path) -> str:
    """What to do when only suspended URLs are left, in words."""
    left = (
        "1 URL that looks like a trap is left"
        if urls_left == 1
        else f"{urls_left:,} URLs that look like traps are left"
    )
    return f"{left}. Fetch them anyway: scenthound resume {shlex.quote(str(folder))} --set traps=false"


def _suspension(event: Event) -> str:
    return (
        f"{event.facts.get('host')}: {event.facts.get('pages')} pages of {event.facts.get('pattern')} had nothing new"
    )


def _exploration(events: Iterable[Event]) -> list[tuple[int, float]]:
    """The exploration rates in these events, one for each page, thinned to what a screen can show."""
    rates = ((event.n, event.facts.get("rate")) for event in events)
    curve = [(n, float(rate)) for n, rate in rates if isinstance(rate, int | float) and 0 <= rate <= 1]
    return curve[:: max(1, len(curve) // POINTS)]


def _failures(text: str) -> dict[str, tuple[int, str]]:
    try:
        return from_json(text or "{}", dict[str, tuple[int, str]])
    except ValueError:
        return {}


def saved_state(folder: CrawlFolder) -> Mapping[str, Any]:
    """The state of the loop as of the last commit; empty if there is none or it can't be read."""
    try:
        return folder.database.state("crawl") or {}
    except FolderBroken:
        return {}


def link_balance(figures: Figures, waiting: int) -> LinkBalance:
    """What became of every link found."""
    return LinkBalance.of(figures.links, figures.dropped, figures.misses, figures.pages, waiting)


def frontier_length(folder: CrawlFolder, saved: Mapping[str, Any] | None = None) -> int:
    """Number of URLs waiting as of the last commit, including those in flight. `saved` is the state of the loop."""
    from scenthound.store.sqlite_frontier import waiting

    length = (saved_state(folder) if saved is None else saved).get("waiting")
    if isinstance(length, int) and length >= 0:
        return length
    own_frontier = folder.database.meta("waiting")
    return int(own_frontier) if own_frontier.isdigit() else waiting(folder.database)


class StoredFigures:
    """The figures in the history of a crawl, which another process may be writing, and the same for each host."""

    def __init__(self, looking_for: LookingFor) -> None:
        self.figures = Figures(looking_for=looking_for)
        self.hosts: defaultdict[str, HostFacts] = defaultdict(HostFacts)
        self.last_event = 0

    @property
    def bytes(self) -> int:
        """Of all replies."""
        return sum(host.bytes for host in self.hosts.values())

    def read(self, history: SqliteHistory, saved: Mapping[str, Any]) -> None:
        """Count what was recorded since the last call. Call it in a snapshot. `saved` is the state of the loop."""
        figures, after, self.last_event = self.figures, self.last_event, history.last_event()
        for page in history.marks(after):
            figures.page(page)
            count_page(self.hosts[urls.host(page.url)], page)
        for lost in history.lost_marks(after):
            host = self.hosts[urls.host(lost.url)]
            host.misses += lost.is_final
            host.bytes += lost.bytes
        figures.take_counts(history)
        with contextlib.suppress(ValueError):  # damaged: these counts stay 0
            figures.load(from_plain(saved_figures(saved), SavedFigures))


def count_page(host: HostFacts, page: Mark) -> None:
    """Count a page of a host."""
    host.pages += 1
    host.relevant += page.relevant
    host.bytes += page.bytes
    host.last = page.time


def read_history(
    facts: CrawlFacts,
    history: SqliteHistory,
    runs: Sequence[tuple[float, float]] = (),
    saved: Mapping[str, Any] = NOTHING,
) -> None:
    """Set the figures in `facts` that the history tells. `runs` are the times at which the crawl was running."""
    counted = StoredFigures(facts.request.topic.looking_for)
    counted.read(history, saved)
    facts.figures, facts.bytes = counted.figures, counted.bytes
    facts.hosts = dict(sorted(counted.hosts.items(), key=lambda pair: (-pair[1].pages, -pair[1].misses, pair[0])))
    facts.best, facts.relevant_in_the_end = history.best_in_the_end(BEST), history.relevant_in_the_end()
    clock, page_times = RunningTime(runs), list[float]()
    for time, is_page in history.times():
        facts.first = facts.first or time
        facts.busy = clock.at(time)
        if is_page:
            page_times.append(facts.busy)
    facts.speed = _speed(page_times)
    facts.busy = sum(end - begin for begin, end in runs) if runs else facts.busy


class RunningTime:
    """Computes the running time up to moments in ascending order. Without recorded runs, long gaps are left out."""

    def __init__(self, runs: Sequence[tuple[float, float]]) -> None:
        self._runs, self._run, self._elapsed = runs, 0, 0.0
        self._last: float | None = None

    def at(self, moment: float) -> float:
        if not self._runs:
            gap = max(0.0, moment - self._last) if self._last is not None else 0.0
            self._last = max(moment, self._last or moment)
            self._elapsed += gap if gap <= PAUSE else 0.0
            return self._elapsed
        while self._run + 1 < len(self._runs) and moment >= self._runs[self._run + 1][0]:
            begin, end = self._runs[self._run]
            self._elapsed += end - begin
            self._run += 1
        begin, end = self._runs[self._run]
        return self._elapsed + min(max(0.0, moment - begin), end - begin)


def _speed(times: list[float]) -> list[tuple[float, float]]:
    """Pages per second in equal slices of the time spent crawling."""
    if len(times) < 2 or times[-1] <= 0:
        return []
    slices = max(1, min(BUCKETS, len(times) // 5))
    width = times[-1] / slices
    counts = Counter(min(slices - 1, int(time / width)) for time in times)
    return [((index + 0.5) * width, counts[index] / width) for index in range(slices)]


def state_of(folder: CrawlFolder, last_page: float) -> tuple[str, int | None]:
    """Whether the crawl runs or is paused, and its process; otherwise why it ended.

    The recorded reason counts unless the process was killed after recording it.
    """
    if folder.crawl is not None:  # this process, at the end of its run
        return folder.database.meta("ended") or "interrupted", None
    if (process := holder(folder.path)) is not None:
        return "paused" if Orders(folder.database).is_paused() else "running", process
    return folder.ended(last_page) or "cut off", None


def settings_changed(request: CrawlRequest) -> Mapping[str, Any]:
    """The settings that are not at their defaults."""
    return changed_values(request.settings)
