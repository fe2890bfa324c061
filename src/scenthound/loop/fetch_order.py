"""Decide whether the best URL waits for its host, or a worse URL on a host that is awake is fetched first.

Every host rests for a delay after each request, so the hosts of the best URLs are usually resting. There are two
policies:

* `quality`: URLs are taken in the strategy's order, as if no host rested. Each keeps its turn until its host is awake,
  and the strategy reads pages in the order of turns, whichever reply arrives first. At most `window` turns are open.
  So the order is the same as in a crawl without delays and with `window` connections, however fast each host replies.
  Best when the page budget is tight: no page is spent on a URL only because its host is awake.
* `speed`: the best URL of a host that is awake is taken at once. Best when time is tight: the crawl never idles.

`auto` is `quality` without a time limit. With a time limit it is `quality` as long as the rest of the page budget can
be fetched in the rest of the time:

    pages left * seconds per page <= time left

Seconds per page are measured while the crawl follows `quality`; the first guess is one page per 1.5 delays.

A strategy with its own frontier chooses at pop time, based on all results so far, so it has one turn at a time: Hayek
(estimating) finds .39 of the targets of three topics of the apache bed with one request in flight, .13 with two. A
batch is one turn of many URLs: they are fetched in parallel, and the next batch is chosen after all have been read.

The crawl never waits long for one host. A host is passed over if it rests longer than `patience` or the crawl's
`longest_wait`, if its request takes longer than that, or if it has sent no page yet and the driver considers it slow
(a new host may never answer). Until it is awake again its turns don't count, and the frontier returns none of its
URLs. So a crawl ends because everything rests only if no other host is awake.

Reading in the order of turns matters: on a generated web (400 pages, 8 topics, 8 turns) breadth-first finds .23 of the
targets this way, as many as without delays, and .13 if replies are read as they arrive; apprentice finds .76 and .59.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from scenthound import url as urls
from scenthound.hosts import HostClock
from scenthound.loop.messages import FOREVER, Limits, Result
from scenthound.model import Miss, Response, Url
from scenthound.page.page import Page

Order = Literal["auto", "quality", "speed"]
ORDERS: tuple[Order, ...] = get_args(Order)
WINDOW = 8  # turns: 16 and 32 are a little faster, but strategies that learn find up to a tenth less
PATIENCE = 10  # delays: a page and its redirects take one to three, so a healthy host is never passed over
FIRST_GUESS = 1.5  # delays per page: one delay and one reply, if all pages are on one host
WEIGHT = 20  # the number of measured pages that the first guess counts as
SWITCH = 1.1  # minimum time left / time needed to become patient again; above 1, so that the policy does not alternate


@dataclass(frozen=True, slots=True)
class OrderRule:
    """How a crawl orders its requests while hosts rest."""

    order: Order = "speed"
    window: int = WINDOW
    """The number of turns that may be open at once under `quality`."""
    delay: float = 1.0
    """How long a host usually rests; patience is measured in this unit. 0: hosts do not rest."""

    @property
    def patience(self) -> float:
        """Seconds to wait for a host before it is passed over."""
        return PATIENCE * self.delay

    @property
    def waits(self) -> bool:
        """Whether the crawl may wait for the hosts of better URLs."""
        return self.order != "speed" and self.delay > 0


class HasPages(Protocol):
    """Counts the pages of the crawl."""

    @property
    def pages(self) -> int: ...


class EarlyResults:
    """Keeps results that arrived before their turn: at most one per open turn."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._kept: dict[Url, tuple[Page | Miss, Response | None]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, result: Result, response: Response | None) -> bool:
        """Keep a page or a final miss if others have to be read first; return False if it can be processed now."""
        if not isinstance(result, Page | Miss) or not self._turns.is_early(result.candidate.url):
            return False
        self._kept[result.candidate.url] = result, response
        return True

    def pop(self, in_turn: bool = True) -> tuple[Page | Miss, Response | None] | None:
        """Take out the result with the earliest turn; with `in_turn` only if its turn has come. Otherwise None."""
        for url in self._turns.in_order(self._kept):
            return None if in_turn and self._turns.is_early(url) else self._kept.pop(url)
        return None


class Turns:
    """Tracks the URLs whose turn is open, decides whether to be patient, and measures the time spent waiting."""

    def __init__(self, rule: OrderRule, recorder: HasPages, limits: Limits, host_clock: HostClock) -> None:
        self.rule, self._recorder, self._limits, self.host_clock = rule, recorder, limits, host_clock
        is_patient = rule.waits and (rule.order == "quality" or limits.ends_at == FOREVER)
        host_clock.begin(min(rule.patience, limits.longest_wait), is_patient)  # a crawl ends rather than wait longer
        self.waited = 0.0
        """Seconds in which the crawl could have sent requests, but waited for the hosts of better URLs."""
        self._open: dict[Url, None] = {}  # in the order of turns
        self._waits_since: float | None = None
        self._patient_since: tuple[float, int] | None = None
        self._patient_seconds, self._patient_pages = 0.0, 0

    # ---- the time

    @property
    def is_patient(self) -> bool:
        """Whether URLs are currently taken in the strategy's order."""
        return self.host_clock.is_patient

    @property
    def pages_left(self) -> int:
        return self._limits.pages - self._recorder.pages

    def advance_to(self, now: float) -> None:
        """Set the time to `now`, and decide whether to be patient from now on."""
        self.host_clock.advance(now)
        now = self.host_clock.now
        if self._waits_since is not None:
            self.waited += now - self._waits_since
            self._waits_since = None
        if not self.rule.waits or self.rule.order == "quality" or self._limits.ends_at == FOREVER:
            return
        need, left = self.pages_left * self._seconds_per_page(now), self._limits.ends_at - now
        is_patient = left >= need * (1.0 if self.is_patient else SWITCH)
        if is_patient != self.is_patient:
            self._patient_since = None
            self.host_clock.be_patient(is_patient)

    def _seconds_per_page(self, now: float) -> float:
        if self.is_patient:
            time, pages = self._patient_since or (now, self.pages_left)
            self._patient_seconds += now - time
            self._patient_pages += pages - self.pages_left
            self._patient_since = now, self.pages_left
        guess = FIRST_GUESS * self.rule.delay * WEIGHT
        return (self._patient_seconds + guess) / (self._patient_pages + WEIGHT)

    def wait(self) -> None:
        """Start measuring the time in which no URL is taken because the window is full."""
        self._waits_since = self.host_clock.now

    # ---- turns

    @property
    def is_full(self) -> bool:
        """True if no URL may be taken until one with an open turn has been read."""
        return self.is_patient and self._are_open(min(self.rule.window, max(self.pages_left, 1)))

    @property
    def cover_budget(self) -> bool:
        """True if the open turns use up the page budget, so that the rest of a batch has to wait."""
        return self.is_patient and self._are_open(max(self.pages_left, 1))

    def _are_open(self, count: int) -> bool:
        """True if at least `count` turns are open, not counting hosts that are passed over."""
        passes_over = self.host_clock.passes_over
        return len(self._open) >= count and sum(not passes_over(urls.host(url)) for url in self._open) >= count

    def take(self, url: Url) -> None:
        """Open a turn for a URL."""
        self._open[url] = None

    def pass_on(self, url: Url, to: Url) -> None:
        """Give the turn of a URL to the target of its redirect."""
        if url in self._open:
            self._open = {to if open_url == url else open_url: None for open_url in self._open}

    def end(self, url: Url) -> None:
        self._open.pop(url, None)

    def in_order(self, chosen: Collection[Url]) -> list[Url]:
        """These URLs in the order of their turns, followed by those without a turn."""
        return [url for url in self._open if url in chosen] + [url for url in chosen if url not in self._open]

    def is_early(self, url: Url) -> bool:
        """True if other URLs have to be read before this one."""
        if not self.is_patient or url not in self._open:
            return False
        for open_url in self._open:
            if open_url == url or not self.host_clock.passes_over(urls.host(open_url)):
                return open_url != url
        return False
