"""Whether the best URL waits for its host, or a worse one on a host that is awake goes first.

Every host rests for a delay after each request, so the hosts of the best URLs mostly rest. Two things can be done:

* `quality`: URLs are taken in the strategy's order, as if no host rested. Each keeps its turn until its host is awake,
  and the strategy reads pages in the order of turns, whichever reply comes first. At most `window` turns are open.
  So the order is that of a crawl without delays that has as many connections, and replies that are quick or slow don't
  change it. Right where pages are scarce: none goes to a URL only because its host is awake.
* `speed`: the best URL of a host that is awake is taken at once. Right where time is scarce: the crawl never idles.

`auto` is `quality` without a time limit. With one it is `quality` as long as the pages that are left can be fetched in
the time that is left:

    pages left * seconds per page <= time left

where seconds per page are measured while the crawl waits, with one page per 1.5 delays as the first guess.

A strategy with a frontier of its own chooses at pop time, by all results so far, so it has one turn at a time: Hayek
(estimating) finds .39 of the targets of three topics of the apache bed with one request in flight, .13 with two. A
batch is one turn of many URLs: they are fetched in parallel, and the next is chosen when all of them have been read.

Nobody is waited for long. A host is passed over that rests longer than `patience` or the crawl's `longest_wait`, or
whose request takes longer, or which gave no page so far and is slower than the driver waits for (a new host may be one
that never answers). Its turns don't count, and the frontier gives no other URLs of it, until it is awake again. So a
crawl ends because everything rests only if no other host is awake.

Reading in the order of turns matters: on a generated web (400 pages, 8 topics, 8 turns) breadth-first finds .23 of the
targets with it, as without delays, and .13 if the quickest reply is read first; apprentice .76 and .59.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from scenthound import url as urls
from scenthound.loop.messages import FOREVER, Limits, Result
from scenthound.model import Miss, Response, Url
from scenthound.page.page import Page

Order = Literal["auto", "quality", "speed"]
ORDERS: tuple[Order, ...] = get_args(Order)
WINDOW = 8  # turns: 16 and 32 are a little quicker, and strategies that learn lose up to a tenth of what they find
PATIENCE = 10  # delays: a page and its redirects take one to three, so a host in good health is never passed over
FIRST_GUESS = 1.5  # delays a page: the delay and a reply, if all that is wanted is on one host
WEIGHT = 20  # pages that the first guess counts as
SWITCH = 1.1  # times the time needed, before the crawl waits again: it should not change its mind at every page


@dataclass(frozen=True, slots=True)
class OrderRule:
    """How a crawl orders its requests when hosts rest."""

    order: Order = "speed"
    window: int = WINDOW
    """Turns that may be open at once, if the crawl waits."""
    delay: float = 1.0
    """The usual rest of a host; others are measured by it. 0: there is nothing to wait for."""

    @property
    def patience(self) -> float:
        """Seconds that a host is waited for."""
        return PATIENCE * self.delay

    @property
    def waits(self) -> bool:
        return self.order != "speed" and self.delay > 0


class HasPages(Protocol):
    """Counts the pages of the crawl."""

    @property
    def pages(self) -> int: ...


class EarlyResults:
    """Results that came before their turn, until it comes. At most one for each open turn."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._kept: dict[Url, tuple[Page | Miss, Response | None]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, result: Result, response: Response | None) -> bool:
        """Keep a page or a final miss if others have to be read first; False: take it in now."""
        if not isinstance(result, Page | Miss) or not self._turns.is_early(result.candidate.url):
            return False
        self._kept[result.candidate.url] = result, response
        return True

    def pop(self, in_turn: bool = True) -> tuple[Page | Miss, Response | None] | None:
        """Take out the first by turn: if its turn has come, or in any case. None if there is none."""
        for url in self._turns.in_order(self._kept):
            return None if in_turn and self._turns.is_early(url) else self._kept.pop(url)
        return None


class Turns:
    """Who is waited for: the URLs whose turn has come, the hosts that are passed over, and what it cost."""

    def __init__(self, rule: OrderRule, recorded: HasPages, limits: Limits) -> None:
        self.rule, self._recorded, self._limits = rule, recorded, limits
        self._patience = min(rule.patience, limits.longest_wait)  # the crawl would end before it waits longer
        self.is_patient = rule.waits and (rule.order == "quality" or limits.ends_at == FOREVER)
        """Whether URLs are taken in the strategy's order now."""
        self.waited = 0.0
        """Seconds in which a request could have been sent, and the crawl waited for the hosts of better URLs."""
        self.now = 0.0
        self._open: dict[Url, None] = {}  # in the order of turns
        self._flying: dict[str, float] = {}  # hosts in flight, with the time since; the oldest first
        self._passed_over: dict[str, float] = {}  # until when
        self._waits_since: float | None = None
        self._patient_since: tuple[float, int] | None = None
        self._patient_seconds, self._patient_pages = 0.0, 0

    # ---- the time

    @property
    def pages_left(self) -> int:
        return self._limits.pages - self._recorded.pages

    def move_to(self, now: float) -> bool:
        """The time is `now`. True if the crawl begins or ceases to wait: then `is_patient` has changed."""
        self.now = max(self.now, now)
        if self._waits_since is not None:
            self.waited += self.now - self._waits_since
            self._waits_since = None
        if not self.rule.waits or self.rule.order == "quality" or self._limits.ends_at == FOREVER:
            return False
        need, left = self.pages_left * self._seconds_per_page(), self._limits.ends_at - self.now
        patient = left >= need * (1.0 if self.is_patient else SWITCH)
        if patient == self.is_patient:
            return False
        self.is_patient, self._patient_since = patient, None
        return True

    def _seconds_per_page(self) -> float:
        if self.is_patient:
            time, pages = self._patient_since or (self.now, self.pages_left)
            self._patient_seconds += self.now - time
            self._patient_pages += pages - self.pages_left
            self._patient_since = self.now, self.pages_left
        guess = FIRST_GUESS * self.rule.delay * WEIGHT
        return (self._patient_seconds + guess) / (self._patient_pages + WEIGHT)

    def wait(self) -> None:
        """The window is full: nothing is taken until the time moves on."""
        self._waits_since = self.now

    # ---- turns

    @property
    def is_full(self) -> bool:
        """True if no URL may be taken before one of those whose turn is open has been read."""
        return self.is_patient and self._are_open(min(self.rule.window, max(self.pages_left, 1)))

    @property
    def cover_budget(self) -> bool:
        """True if a turn is open for every page that is left: the rest of a batch has to wait."""
        return self.is_patient and self._are_open(max(self.pages_left, 1))

    def _are_open(self, most: int) -> bool:
        """True if so many turns are open, or more; those of hosts that are passed over don't count."""
        if len(self._open) < most or not self._passed_over:
            return len(self._open) >= most
        return sum(not self.passes_over(urls.host(url)) for url in self._open) >= most

    def take(self, url: Url) -> None:
        """The turn of a URL has come."""
        self._open[url] = None

    def pass_on(self, url: Url, to: Url) -> None:
        """Another URL takes its turn: the target of a redirect."""
        if url in self._open:
            self._open = {to if each == url else each: None for each in self._open}

    def end(self, url: Url) -> None:
        self._open.pop(url, None)

    def in_order(self, chosen: Collection[Url]) -> list[Url]:
        """These URLs in the order of their turns; those without one last."""
        return [url for url in self._open if url in chosen] + [url for url in chosen if url not in self._open]

    def is_early(self, url: Url) -> bool:
        """True if a result has come before its turn: others have to be read first."""
        if not self.is_patient or url not in self._open:
            return False
        for each in self._open:
            if each == url or not self.passes_over(urls.host(each)):
                return each != url
        return False

    # ---- hosts

    def rest(self, host: str, until: float) -> bool:
        """A host rests. True if the frontier should not know: its URLs keep their turns, and wait for it."""
        self._flying.pop(host, None)
        if until == FOREVER:
            self._flying[host] = self.now
        elif until - self.now > self._patience:
            self._pass_over(host, until)
            return False
        self._passed_over.pop(host, None)
        return self.is_patient

    def passes_over(self, host: str) -> bool:
        return self._passed_over.get(host, 0.0) > self.now

    def overdue(self) -> list[str]:
        """Hosts whose request takes longer than we are patient, each named once."""
        late = []
        for host, since in self._flying.items():
            if since + self._patience > self.now:
                break
            late.append(host)
        return self.lose_patience(late)

    def lose_patience(self, hosts: Iterable[str]) -> list[str]:
        """Pass over these hosts until their requests are over. Returns those that were not passed over before."""
        flying = [host for host in hosts if self._flying.pop(host, None) is not None]
        for host in flying:
            self._pass_over(host, FOREVER)
        return flying

    def next_overdue(self) -> float:
        """When the next host becomes overdue."""
        return next(iter(self._flying.values()), FOREVER) + self._patience

    def _pass_over(self, host: str, until: float) -> None:
        if len(self._passed_over) > 1000:
            self._passed_over = {name: end for name, end in self._passed_over.items() if end > self.now}
        self._passed_over[host] = until
