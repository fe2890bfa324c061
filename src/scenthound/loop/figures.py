"""The figures of a crawl, counted once: harvest, curve, speed, best pages, and what is left to find.

The loop counts each page as it is recorded. Commands, report and desk count the pages of a folder in the same way; see
`report/crawl_facts.py`.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from scenthound.looking_for import PAGES, is_counted
from scenthound.loop.messages import Limits
from scenthound.model import LookingFor, Mark, Step
from scenthound.ports import History

RECENT = 100  # pages in the recent harvest rate
SPEED_OVER = 20.0  # seconds in which the pages of the current speed were fetched
BEST = 10
POINTS = 400  # points of the curve: a screen can't show more
FORECAST_FROM = 300  # latest pages from whose mean relevance the forecast is made
LITTLE_LEFT = "little left"
"""The reason recorded for a crawl that the rule `stop_share` has stopped."""


class HarvestPoint(NamedTuple):
    """The harvest rate after a page: overall, and over the last `window` pages."""

    n: int
    harvest: float
    recent: float
    window: int


class Left(NamedTuple):
    """The expected yield of the rest of a crawl."""

    found: float
    """Relevant pages so far, as a sum of probabilities."""
    expected: float
    """Relevant pages expected in the rest of the budget, as a sum of probabilities."""

    @property
    def share(self) -> float:
        """The expected pages as a share of all relevant pages that the whole crawl would find."""
        whole = self.found + self.expected
        return self.expected / whole if whole > 0 else 1.0


class Forecast:
    """Estimates what is left to find from the relevance of each page: for progress reports and the rule `stop_share`.

        expected = pages left in the budget * mean relevance of the last 300 pages
        left     = expected / (relevance of all pages so far + expected)

    Relevance is the judge's rating when the page was fetched, so this works with every strategy. A crawl that takes the
    best pages first finds less and less, so the estimate is too high rather than too low; reports say "at most about".
    Sums of probabilities tell more than counts of relevant pages: after 300 pages without a relevant one they still
    distinguish "hopeless" from "not yet". Seeds do not count as found. benchmarks/stopping.py measures what the rule
    loses and saves.

    >>> forecast = Forecast()
    >>> for n in range(500):
    ...     forecast.page(0.9 if n < 100 else 0.01)
    >>> left = forecast.left(100)
    >>> round(left.found), round(left.expected), round(left.share, 3)
    (94, 1, 0.011)
    """

    __slots__ = ("_recent", "found", "pages")

    def __init__(self, window: int = FORECAST_FROM) -> None:
        self.pages, self.found = 0, 0.0
        self._recent: deque[float] = deque(maxlen=window)

    def page(self, relevance: float, is_seed: bool = False) -> None:
        """Count a page."""
        self.pages += 1
        if not is_seed:
            self.found += relevance
            self._recent.append(relevance)

    def left(self, pages: int) -> Left | None:
        """The expected yield of the next `pages` pages; None until the window is full."""
        if len(self._recent) < (self._recent.maxlen or 0):
            return None
        return Left(self.found, max(pages, 0) * math.fsum(self._recent) / len(self._recent))


class SavedFigures(msgspec.Struct, frozen=True, omit_defaults=True):
    """The figures that can't be counted again from the history."""

    attempts: int = 0
    retries: Mapping[str, int] = {}
    dry: tuple[Sequence[int], float, int] = ((), 0.0, 0)
    """Whether each of the last pages was relevant, the best rate of relevant pages, and for how long it was low."""
    out_of_order: int = 0
    waited: float = 0
    links: Mapping[str, int] = {}


@dataclass(slots=True)
class Figures:
    """Counts pages, harvest and failures. Its size does not grow with the crawl.

    If sites are looked for, only home pages count for the forecast. `best` and the mean relevance are of all pages.

    With `dry_window` it also applies the stopping rule of sheet 70.2: `dry` becomes true when the moving harvest rate
    has stayed below max(floor, best rate / 5) for `dry_patience` pages in a row.
    """

    dry_window: int = 0
    dry_floor: float = 0.02
    dry_patience: int = 200
    looking_for: LookingFor = PAGES
    pages: int = 0
    attempts: int = 0
    relevant: int = 0
    similarity: float = 0.0
    """The sum over all pages."""
    relevance: float = 0.0
    """The sum over all pages, as judged when they were fetched."""
    misses: Counter[str] = field(default_factory=Counter)
    """URLs that brought no page, by reason. A URL that was retried counts once."""
    retries: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    """URLs and links that are not followed, by reason."""
    links: Counter[str] = field(default_factory=Counter)
    """Links and URLs found by source, and repeated links; see `link_balance`."""
    best: list[tuple[float, int, str, str]] = field(default_factory=list)
    """A heap of relevance, negative number, URL and title."""
    curve: list[HarvestPoint] = field(default_factory=list)
    """At most 2 * `POINTS` points at equal distances."""
    forecast: Forecast = field(default_factory=Forecast)
    """Estimates what is left to find."""
    dry: bool = False
    out_of_order: int = 0
    """URLs requested before better URLs whose hosts were resting."""
    waited: float = 0.0
    """Seconds in which the crawl could have sent requests, but waited for the hosts of better URLs."""
    first: float = 0.0
    """When the first page was fetched."""
    _recent: deque[bool] = field(default_factory=lambda: deque(maxlen=RECENT))
    _recent_relevant: int = 0
    _times: deque[float] = field(default_factory=deque)
    """When the pages of the last `SPEED_OVER` seconds were fetched."""
    _every: int = 1
    """Pages from one point of the curve to the next."""
    _flags: deque[bool] = field(default_factory=deque)
    _good: int = 0
    _best_rate: float = 0.0
    _below: int = 0

    def page(self, page: Step | Mark) -> None:
        """Count a page."""
        good = bool(page.relevant)
        self.pages += 1
        self.relevant += good
        self.similarity += page.similarity
        self.relevance += page.relevance
        self._recent_relevant += good - (self._recent[0] if len(self._recent) == RECENT else 0)
        self._recent.append(good)
        found = page.relevance if is_counted(page.url, self.looking_for) else 0.0
        self.forecast.page(found, is_seed=page.depth == 0)
        if len(self.best) < BEST:
            heapq.heappush(self.best, (page.relevance, -page.n, str(page.url), page.title))
        elif page.relevance > self.best[0][0]:
            heapq.heapreplace(self.best, (page.relevance, -page.n, str(page.url), page.title))
        self.first = self.first or page.time
        self._times.append(page.time)
        while abs(page.time - self._times[0]) > SPEED_OVER:  # later than now, if the clock was set back
            self._times.popleft()
        if self.pages % self._every == 0:
            self._extend_curve()
        if self.dry_window:
            self._watch_harvest(good)

    def count_again(self, pages: Iterable[Step | Mark]) -> None:
        """Count all pages so far again, after what counts as relevant has changed."""
        fresh = Figures(looking_for=self.looking_for)
        for page in pages:
            fresh.page(page)
        self.relevant, self._recent, self._recent_relevant = fresh.relevant, fresh._recent, fresh._recent_relevant
        self.forecast, self.best, self.curve, self._every = fresh.forecast, fresh.best, fresh.curve, fresh._every
        self.dry, self._below, self._best_rate, self._good = False, 0, 0.0, 0
        self._flags.clear()

    def take_counts(self, history: History) -> None:
        """Take over what the history has counted: failures, and links that are not followed."""
        self.misses, self.dropped = Counter(history.reasons()), Counter(history.counts())

    @property
    def harvest(self) -> float:
        return self.relevant / self.pages if self.pages else 0.0

    @property
    def harvest_recent(self) -> float:
        """The harvest rate of the last `window` pages."""
        return self._recent_relevant / len(self._recent) if self._recent else 0.0

    @property
    def window(self) -> int:
        return len(self._recent)

    @property
    def last(self) -> float:
        """When the latest page was fetched; 0 if there is none."""
        return self._times[-1] if self._times else 0.0

    def left(self, budget: int) -> Left | None:
        """The expected yield of the rest of the page budget; None if there are too few pages to tell."""
        return self.forecast.left(budget - self.pages)

    def speed(self, now: float, began: float | None = None) -> float:
        """Pages per second, over the last `SPEED_OVER` seconds or since the crawl, or this run, `began`."""
        pages = sum(time > now - SPEED_OVER for time in self._times)
        elapsed = now - (self.first if began is None else began)
        return pages / max(1.0, min(SPEED_OVER, elapsed))

    def reason_to_end(self, limits: Limits, now: float, in_flight: int) -> str:
        """Why the crawl must end before its page budget is spent; empty if it may continue."""
        if now >= limits.ends_at:
            return "time"
        if 0 < limits.requests <= self.attempts + in_flight:
            return "requests"
        return LITTLE_LEFT if limits.stop_share and self._is_little_left(limits) else ""

    def _is_little_left(self, limits: Limits) -> bool:
        """Whether at most `limits.stop_share` of all relevant pages are expected in the rest of the budget."""
        if self.pages >= limits.pages:
            return False
        left = self.left(limits.pages)
        return left is not None and left.share <= limits.stop_share

    def _extend_curve(self) -> None:
        self.curve.append(HarvestPoint(self.pages, self.harvest, self.harvest_recent, len(self._recent)))
        if len(self.curve) > 2 * POINTS:
            self.curve, self._every = self.curve[1::2], 2 * self._every

    def _watch_harvest(self, good: bool) -> None:
        self._flags.append(good)
        self._good += good
        if len(self._flags) > self.dry_window:
            self._good -= self._flags.popleft()
        rate = self._good / len(self._flags)
        self._best_rate = max(self._best_rate, rate)
        floor = max(self.dry_floor, self._best_rate / 5)
        self._below = self._below + 1 if rate < floor else 0
        self.dry = self._below >= self.dry_patience

    def save(self) -> SavedFigures:
        return SavedFigures(
            self.attempts,
            dict(self.retries),
            ([int(flag) for flag in self._flags], self._best_rate, self._below),
            self.out_of_order,
            round(self.waited, 3) or 0,  # 0.0 would not be left out
            dict(self.links),
        )

    def load(self, saved: SavedFigures) -> None:
        """Load what `save` returned. Pages, misses and dropped links are counted again from the history."""
        self.attempts, self.out_of_order, self.waited = saved.attempts, saved.out_of_order, saved.waited
        self.retries, self.links = Counter(saved.retries), Counter(saved.links)
        flags, self._best_rate, self._below = saved.dry
        self._flags = deque(bool(flag) for flag in flags)
        self._good = sum(self._flags)
