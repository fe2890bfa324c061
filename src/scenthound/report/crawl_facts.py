"""Gather the figures of a crawl in one pass over its history, for `status` and the report."""

from __future__ import annotations

import heapq
import shlex
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenthound import url as urls
from scenthound.errors import FolderBroken
from scenthound.formats import full_trail_line
from scenthound.looking_for import CONTROL, in_words, is_counted
from scenthound.loop.crawl_toml import CrawlRequest
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.forecast import LITTLE_LEFT, Forecast, Left
from scenthound.loop.link_balance import ROBOTS, LinkBalance
from scenthound.loop.plugin_failure import PLUGIN_FAILED, PluginFailure
from scenthound.loop.recording import WINDOW, SavedCounters
from scenthound.loop.selection import ALL_RESTS, ONLY_SUSPENDED
from scenthound.loop.trap_watch import REINSTATED, SUSPENDED
from scenthound.model import Event, Lost, Step, Url
from scenthound.parameters import changed_values
from scenthound.report.long_rests import LongRest, long_rests, rests_in_words
from scenthound.report.wording import Wording, why_no_url_is_left
from scenthound.store.lock import holder
from scenthound.store.order_table import Orders
from scenthound.typed_data import from_json, from_plain

BEST = 20
POINTS = 400  # points of a curve: a screen can't show more
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
    bytes: int = 0


@dataclass(slots=True)
class HarvestPoint:
    """The harvest rate after a page: overall and over the last hundred pages."""

    n: int
    harvest: float
    recent: float
    window: int
    """Number of pages in `recent`."""


@dataclass(slots=True)
class CrawlFacts:
    """A crawl in figures."""

    request: CrawlRequest
    folder: Path | None = None
    budget: int = 0
    """Number of pages requested, as set by the latest run that set it."""
    ended: str = ""
    """The recorded reason why the crawl ended; `running` or `cut off` if there is none."""
    process: int | None = None
    pages: int = 0
    relevant: int = 0
    similarity: float = 0.0
    """The mean similarity of all pages to the topic."""
    relevance: float = 0.0
    """The mean over all pages, as judged when they were fetched."""
    relevant_in_the_end: int = 0
    """Number of relevant pages according to the judge's latest verdicts."""
    doubts: list[str] = field(default_factory=list)
    """Reasons why the judge's verdicts may be wrong, and what to do about them."""
    bytes: int = 0
    first: float = 0.0
    last: float = 0.0
    busy: float = 0.0
    """Seconds of running time, without pauses between runs."""
    harvest_recent: float = 0.0
    left: Left | None = None
    """Expected yield of the rest of the budget; None if there are too few pages to tell."""
    waiting: int = 0
    misses: dict[str, int] = field(default_factory=dict)
    """Number of URLs that brought no page, by reason; a URL that was retried counts once."""
    out_of_order: int = 0
    """Number of requests sent before better ones whose hosts were resting."""
    waited: float = 0.0
    """Seconds in which the crawl waited for the hosts of better URLs, though a request could have been sent."""
    failures: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Requests of the latest run without a reply, including robots.txt: count and an example, by reason."""
    refused: dict[str, int] = field(default_factory=dict)
    """Number of links and URLs that were dropped, by reason, as the history counts them."""
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
    curve: list[HarvestPoint] = field(default_factory=list)
    speed: list[tuple[float, float]] = field(default_factory=list)
    """Pages per second over time, as (seconds since the start, rate)."""
    exploration: list[tuple[int, float]] = field(default_factory=list)
    """How often the strategy departed from its ranking, as (pages fetched, rate); empty if it does not report it."""

    @property
    def harvest(self) -> float:
        return self.relevant / self.pages if self.pages else 0.0

    @property
    def looking_for_in_words(self) -> str:
        """What the crawl looks for, in a sentence, and the command that changes it."""
        return in_words(self.request.topic, self.request.parsed_seeds(), CONTROL)

    @property
    def outlook(self) -> str:
        """The expected yield of the rest of the budget, in words."""
        return outlook(self.left, self.budget - self.pages)

    @property
    def rate(self) -> float:
        return pages_per_second(self.pages, self.busy)

    @property
    def hosts_with_pages(self) -> int:
        return sum(host.pages > 0 for host in self.hosts.values())

    @property
    def failed(self) -> dict[str, int]:
        """Number of URLs that were requested and brought no page, by reason."""
        return {reason: times for reason, times in self.misses.items() if reason != ROBOTS}

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
        request, wording = self.request, Wording(self.request)
        return {
            "topic": request.topic.keywords,
            "looking_for": request.topic.looking_for,
            "looking_for_in_words": self.in_place(self.looking_for_in_words),
            "strategy": request.strategy,
            "ended": self.ended,
            "why": self.in_place(self.why),
            "process": self.process,
            "pages": self.pages,
            "budget": self.budget,
            "judge": request.settings.judge,
            "relevant": self.relevant,
            "relevant_in_the_end": self.relevant_in_the_end,
            "doubts": self.doubts,
            "harvest": self.harvest,
            "harvest_recent": self.harvest_recent,
            "expected": None if self.left is None else self.left.expected,
            "expected_share": None if self.left is None else self.left.share,
            "similarity": self.similarity,
            "relevance": self.relevance,
            "frontier": self.waiting,
            "hosts": self.hosts_with_pages,
            "bytes": self.bytes,
            "seconds": self.busy,
            "pages_per_second": self.rate,
            "out_of_order": self.out_of_order,
            "waited": self.waited,
            "exploration": self.exploration[-1][1] if self.exploration else None,
            "misses": self.misses,
            "refused": self.refused,
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


def pages_per_second(pages: int, seconds: float) -> float:
    """The speed of a crawl: all its pages over all its running time."""
    return pages / seconds if seconds > 0 else 0.0


def gather(folder: CrawlFolder) -> CrawlFacts:
    """Gather the figures from a folder's history as of the last commit, reading it once."""
    with folder.database.snapshot():
        return _gathered(folder)


def _gathered(folder: CrawlFolder) -> CrawlFacts:
    facts = CrawlFacts(folder.request, folder.path, folder.budget, refused=dict(folder.history.counts()))
    facts.waiting = frontier_length(folder)
    counters = _counters(folder)
    facts.out_of_order, facts.waited = counters.out_of_order, counters.waited
    facts.failures = _failures(folder.database.meta("failures"))
    facts.doubts = folder.doubts()
    facts.pending = [f"{order.action} {order.value}".strip() for order in Orders(folder.database).pending()]
    facts.suspended = [_suspension(event) for event in suspensions(folder)]
    facts.suspended_urls = folder.suspended_urls
    pages = read_events(facts, folder.history.events(), folder.runs, folder.history.revised())
    facts.misses = folder.history.reasons()
    facts.links = LinkBalance.of(counters.links, facts.refused, facts.misses, facts.pages, facts.waiting)
    facts.curve = _thinned(pages.curve)
    facts.speed = _speed(pages.busy_times)
    facts.exploration = _exploration(folder.history.strategy_events("exploration"))
    facts.hosts = dict(sorted(facts.hosts.items(), key=lambda pair: (-pair[1].pages, -pair[1].misses, pair[0])))
    _ending(facts, folder)
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


def _counters(folder: CrawlFolder) -> SavedCounters:
    """The saved counters, such as the requests sent out of order; all are 0 in old folders."""
    try:
        return from_plain((folder.database.state("crawl") or {}).get("tally", {}), SavedCounters)
    except (FolderBroken, ValueError):
        return SavedCounters()


def link_balance(folder: CrawlFolder) -> LinkBalance:
    """What became of every link found, as of the last commit."""
    history = folder.history
    with folder.database.snapshot():
        links, waiting = _counters(folder).links, frontier_length(folder)
        return LinkBalance.of(links, history.counts(), history.reasons(), len(history), waiting)


def frontier_length(folder: CrawlFolder) -> int:
    """Number of URLs waiting as of the last commit, including those in flight."""
    from scenthound.store.sqlite_frontier import waiting

    try:
        saved = (folder.database.state("crawl") or {}).get("waiting")
    except FolderBroken:
        saved = None
    if isinstance(saved, int) and saved >= 0:
        return saved
    own_frontier = folder.database.meta("waiting")
    return int(own_frontier) if own_frontier.isdigit() else waiting(folder.database)


@dataclass(slots=True)
class EventSeries:
    """Points of the curves collected while the history is read; `curve` is thinned as it grows."""

    curve: list[HarvestPoint] = field(default_factory=list)
    every: int = 1
    busy_times: list[float] = field(default_factory=list)


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


def read_events(
    facts: CrawlFacts,
    events: Iterable[Step | Lost],
    runs: Sequence[tuple[float, float]] = (),
    revised: Mapping[Url, tuple[float, bool]] | None = None,
) -> EventSeries:
    """Add up pages and failures in `facts`, in one pass over the events, and return what the curves need.

    `runs` are the times at which the crawl was running; `revised` are later verdicts of the judge, by URL.
    """
    recent: deque[bool] = deque(maxlen=WINDOW)
    forecast = Forecast()
    best: list[tuple[float, int, Step]] = []
    pages = EventSeries()
    misses: Counter[str] = Counter()
    similarity, relevance, recent_relevant = 0.0, 0.0, 0
    watch, failed = RunningTime(runs), dict[Url, HostFacts]()
    for event in events:
        if not facts.first:
            facts.first = facts.last = event.time
        facts.busy = watch.at(event.time)
        facts.last = max(facts.last, event.time)
        host = facts.hosts.setdefault(urls.host(event.url), HostFacts())
        facts.bytes += event.bytes
        host.bytes += event.bytes
        if isinstance(event, Lost):
            misses[event.reason] += 1
            if event.url not in failed:
                failed[event.url] = host
                host.misses += 1
            continue
        for url in (event.url, event.requested):
            if url in failed:  # a retry succeeded
                failed.pop(url).misses -= 1
        relevant = event.relevant
        facts.pages += 1
        facts.relevant += relevant
        revision = revised.get(event.url) if revised else None
        latest = event if revision is None else event._replace(relevance=revision[0], relevant=revision[1])
        facts.relevant_in_the_end += latest.relevant
        similarity += event.similarity
        relevance += event.relevance
        found = event.relevance if is_counted(event.url, facts.request.topic.looking_for) else 0.0
        forecast.page(found, is_seed=event.depth == 0)
        host.pages += 1
        host.relevant += relevant
        recent_relevant += relevant - (recent[0] if len(recent) == WINDOW else 0)
        recent.append(relevant)
        facts.harvest_recent = recent_relevant / len(recent)
        entry = (latest.relevance, -event.n, latest)
        (heapq.heappush if len(best) < BEST else heapq.heappushpop)(best, entry)
        pages.busy_times.append(facts.busy)
        if facts.pages % pages.every == 0:
            pages.curve.append(HarvestPoint(facts.pages, facts.harvest, facts.harvest_recent, len(recent)))
            if len(pages.curve) >= 4 * POINTS:
                pages.curve, pages.every = pages.curve[1::2], pages.every * 2
    facts.best = [step for _, _, step in sorted(best, reverse=True)]
    facts.left = forecast.left(facts.budget - facts.pages)
    facts.similarity = similarity / facts.pages if facts.pages else 0.0
    facts.relevance = relevance / facts.pages if facts.pages else 0.0
    facts.busy = sum(end - begin for begin, end in runs) if runs else facts.busy
    facts.misses = misses
    return pages


def _thinned(curve: list[HarvestPoint]) -> list[HarvestPoint]:
    step = max(1, len(curve) // POINTS)
    return curve if step == 1 else [*curve[step - 1 :: step], *curve[-1:]]


def _speed(times: list[float]) -> list[tuple[float, float]]:
    """Pages per second in equal slices of the time spent crawling."""
    if len(times) < 2 or times[-1] <= 0:
        return []
    slices = max(1, min(BUCKETS, len(times) // 5))
    width = times[-1] / slices
    counts = Counter(min(slices - 1, int(time / width)) for time in times)
    return [((index + 0.5) * width, counts[index] / width) for index in range(slices)]


def _ending(facts: CrawlFacts, folder: CrawlFolder) -> None:
    """Set why the crawl ended: the recorded reason, unless a process is running or was killed after recording it."""
    facts.process = holder(folder.path)
    reason = folder.database.meta("ended")
    if folder.crawl is not None:  # this process, at the end of its run
        facts.ended, facts.process = reason or "interrupted", None
    elif facts.process is not None:
        facts.ended = "paused" if Orders(folder.database).is_paused() else "running"
    else:
        facts.ended = folder.ended(facts.last) or "cut off"
    facts.rests = long_rests(folder) if facts.ended == ALL_RESTS else []
    facts.plugin_failure = folder.plugin_failure() if facts.ended == PLUGIN_FAILED else None


def settings_changed(request: CrawlRequest) -> Mapping[str, Any]:
    """The settings that are not at their defaults."""
    return changed_values(request.settings)
