"""Choose the next candidate: first pending candidates, then the current batch, then the best of the frontier.

`fetch_order` decides whether a URL keeps its turn while its host is resting.

A retry on a host that did not reply, and the third redirect in a row, are unlikely to lead to a page. They come after
the frontier: they get every eighth turn, and the turns that no other candidate needs.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Container, Iterable, Iterator
from itertools import chain

from scenthound import url as urls
from scenthound.loop.fetch_order import Turns
from scenthound.loop.link_balance import FETCHED_MEANWHILE
from scenthound.loop.messages import FOREVER, Fetch
from scenthound.loop.recording import Recorder
from scenthound.loop.suspended_urls import SuspendedUrls
from scenthound.model import Candidate, Url
from scenthound.ports import Declaration, Frontier, Popped

ALL_RESTS = "all that is left rests"
"""The reason recorded for a crawl that ended because its hosts rest for too long; it can be resumed later."""
ONLY_SUSPENDED = "only suspended URLs left"
"""The reason recorded for a crawl that ended because all URLs left look like traps, and samples gave nothing new."""


UNLIKELY_EVERY = 8  # turns: often enough that retries do not accumulate if every eighth request fails


class UrlSelection:
    """Takes candidates out of the frontier and tracks each until it is settled.

    A URL is `chosen` from the moment it is popped or pending until it is released or settled.
    """

    def __init__(
        self,
        frontier: Frontier,
        recorder: Recorder,
        seeds: Container[Url],
        turns: Turns,
        declaration: Declaration,
        seed_number: int = 0,
        suspended: SuspendedUrls | None = None,
        *,
        is_polite: bool = True,
        has_ranks: bool = True,
    ) -> None:
        """`is_polite`: hosts rest. `has_ranks`: the frontier sets `Popped.rank`."""
        self.chosen: dict[Url, int] = {}
        """URLs in the batch, pending or in flight, with their rank. Other objects keep a reference to this dict."""
        self.batches = 0
        """The number of batches so far, which seeds the shuffling of the next batch."""
        self._frontier, self._recorder, self._seeds, self.turns = frontier, recorder, seeds, turns
        self._host_clock, self._pending = turns.host_clock, turns.host_clock.pending
        self._seen = recorder.history.seen
        self.suspended = SuspendedUrls() if suspended is None else suspended
        self._size, self._shuffled, self._seed_number = declaration.batch, declaration.shuffle, seed_number
        self._batch: deque[Popped] = deque()
        self._unlikely: deque[Candidate] = deque()  # ready, but tried after the frontier
        self._demoted: set[Url] = set()  # URLs that are unlikely for a reason other than a silent host
        self._turn = 0
        self._is_polite, self._has_ranks = is_polite, has_ranks

    # ---- the next candidate

    def next(self, now: float) -> Candidate | None:
        """The next candidate whose host is awake; None if there is none now."""
        if not self._is_polite:  # no host rests, and no candidate is unlikely
            return self._pending.pop(now) or self._next_of_batch(now)
        self._turn += 1
        if self._turn % UNLIKELY_EVERY == 0 and (candidate := self._next_unlikely()) is not None:
            return candidate
        return self._next_likely(now) or self._next_unlikely()

    def _next_of_batch(self, now: float) -> Candidate | None:
        return self._batch.popleft().candidate if self._batch or self._pop_batch(now) else None

    def _next_likely(self, now: float) -> Candidate | None:
        while (pending := self._pending.pop(now)) is not None:
            if not self._awake(pending):
                self.hold(pending)
            elif self._is_unlikely(pending):
                self._unlikely.append(pending)
            else:
                return pending
        while True:
            while self._batch and not self.turns.cover_budget:
                popped = self._batch.popleft()
                self.turns.take(popped.candidate.url)
                if self._awake(popped.candidate):
                    self._recorder.figures.out_of_order += popped.rank > 1 if self._has_ranks else popped.overtakes
                    return popped.candidate
                if self.turns.is_patient and not self._host_clock.passes_over(urls.host(popped.candidate.url)):
                    self.hold(popped.candidate)
                else:
                    self._give_back(popped)
            if self._batch or self._must_wait() or not self._pop_batch(now):
                return None

    def _next_unlikely(self) -> Candidate | None:
        while self._unlikely:
            candidate = self._unlikely.popleft()
            if self._awake(candidate):
                return candidate
            self.hold(candidate)
        return None

    def _is_unlikely(self, candidate: Candidate) -> bool:
        return candidate.url in self._demoted or self._host_clock.host(urls.host(candidate.url)).silent

    def advance_to(self, now: float, slow: Iterable[Fetch] = ()) -> None:
        """Set the time, and pass over hosts that reply too late.

        `slow` contains the requests that the driver does not wait for.
        """
        if not self._is_polite:
            return
        waited = self.turns.waited
        self.turns.advance_to(now)
        self._recorder.figures.waited += self.turns.waited - waited
        if self.turns.is_patient:
            self._host_clock.lose_patience(urls.host(fetch.candidate.url) for fetch in slow if fetch.host != "proven")

    def ready_at(self) -> float:
        """When `next` can return a candidate again; infinity if none is waiting."""
        if self.turns.is_full:
            return min(self._pending.ready_at(), self._host_clock.next_overdue())
        return min(self._pending.ready_at(), self._host_clock.next_wake())

    def _must_wait(self) -> bool:
        """True if no URL may be taken until one with an open turn has been read."""
        if not self.turns.is_full:
            return False
        if len(self._frontier):
            self.turns.wait()
        return True

    def _pop_batch(self, now: float) -> bool:
        """Pop a batch from the frontier, shuffled if the strategy asks for it. False if nothing can be popped."""
        frontier = self._frontier
        while len(self._batch) < self._size and (popped := self._pop(now)) is not None:
            url = popped.candidate.url
            if url in self.chosen or self._seen(url):  # a redirect has led to it in the meantime
                frontier.settle(url)
                self._recorder.count(url, FETCHED_MEANWHILE)
                continue
            self.chosen[url] = popped.rank
            self._batch.append(popped)
        if self._shuffled and len(self._batch) > 1:
            batch = list(self._batch)
            random.Random(f"{self._seed_number}:{self.batches}").shuffle(batch)
            self._batch = deque(batch)
        self.batches += bool(self._batch)
        return bool(self._batch)

    def _pop(self, now: float) -> Popped | None:
        if self._has_ranks:
            return self._frontier.pop(now)
        before, popped = len(self._frontier), self._frontier.pop(now)
        self._recorder.frontier_changed(len(self._frontier) - before + (popped is not None))
        return popped

    def _give_back(self, popped: Popped) -> None:
        """Return a member of the batch whose host now rests to the frontier, so that it does not delay others."""
        url = popped.candidate.url
        self.chosen.pop(url)
        self.turns.end(url)
        if (dropped := self._frontier.give_back(popped)) is not None:
            self.handle_dropped(dropped)

    def _awake(self, candidate: Candidate) -> bool:
        return self._host_clock.next_allowed(urls.host(candidate.url)) <= self._host_clock.now

    # ---- pending candidates

    def hold(self, candidate: Candidate, until: float | None = None) -> None:
        """Make a candidate pending until its host wakes, or until `until` or the next `rest` of its host."""
        self.chosen.setdefault(candidate.url, 1)
        self._host_clock.hold(candidate, until)

    def hold_sample(self, pages: int) -> None:
        """Make a suspended URL pending if a sample is due after this number of pages."""
        if self.suspended and (sample := self.suspended.next_sample(pages)) is not None:
            self._hold_sample(sample)

    def hold_last_samples(self, pages_left: int) -> bool:
        """Make samples pending because only suspended URLs are left. False if there may be no more samples."""
        samples = self.suspended.last_samples(pages_left)
        for sample in samples:
            self._hold_sample(sample)
        return bool(samples)

    def _hold_sample(self, sample: Candidate) -> None:
        if self._seen(sample.url):
            self.suspended.drop_sample(sample.url)
            self._frontier.settle(sample.url)
            self._recorder.count(sample.url, FETCHED_MEANWHILE)
        else:
            self.hold(sample)

    def suspend(self, candidate: Candidate) -> None:
        """Let a chosen candidate wait behind all others, because it looks like a trap."""
        self.release(candidate.url)
        self.suspended.put(candidate, self._recorder.pages)

    def why_empty(self, ready: float) -> str:
        """Why nothing can be chosen until `ready`: the reason for which the crawl ends."""
        if ready < FOREVER:
            return ALL_RESTS
        return ONLY_SUSPENDED if self.suspended else "frontier empty"

    def pass_on(self, url: Url, to: Candidate, is_unlikely: bool = False) -> None:
        """Give the turn and rank of a URL to another candidate, which comes after the frontier if it is unlikely."""
        self.turns.pass_on(url, to.url)
        self._demoted.discard(url)
        self.chosen[to.url] = self.chosen.pop(url, 1)
        self.suspended.exempt(to.url)
        if is_unlikely:
            self._demoted.add(to.url)
        self.hold(to)

    def handle_dropped(self, dropped: Candidate, pushed: Candidate | None = None) -> None:
        """Record a candidate that the frontier dropped, perhaps `pushed` itself. Seeds are kept pending instead."""
        if dropped.url in self._seeds and dropped.parent is None:
            self.hold(dropped, dropped.due or None)
        else:
            refused = pushed is not None and dropped.url == pushed.url
            self._recorder.dropped(dropped, "frontier-full" if refused else "evicted")

    # ---- the end of a turn

    def release(self, url: Url) -> None:
        """End the turn of a URL. It may be chosen again."""
        self._demoted.discard(url)
        self.turns.end(url)
        self.chosen.pop(url, None)

    def settle(self, url: Url) -> None:
        """Forget a URL here and in the frontier, because its result is known."""
        self.release(url)
        self.suspended.take(url)
        self._frontier.settle(url)

    def is_waiting(self, url: Url) -> bool:
        """Whether this URL waits in the frontier, or is suspended."""
        return url in self._frontier or url in self.suspended

    def claim(self, url: Url) -> Candidate | None:
        """Take this URL out of the frontier or of the suspended URLs; None if it is not waiting there."""
        return self.suspended.take(url) or self._frontier.take(url)

    # ---- saved with the crawl

    @property
    def pending(self) -> Iterator[Candidate]:
        """Pending candidates in order, the unlikely ones last."""
        return chain(self._pending, self._unlikely)

    @property
    def batch(self) -> list[tuple[Url, int]]:
        """The rest of the current batch, with insertion numbers."""
        return [(popped.candidate.url, popped.number) for popped in self._batch]

    def restore(self, batches: int, pending: Iterable[Url], batch: Iterable[tuple[Url, int]]) -> None:
        """Load the saved state. The URLs are waiting in the frontier."""
        self.batches = batches
        for url in pending:
            if (candidate := self.claim(url)) is not None:
                self.turns.take(url)
                self.hold(candidate)
        for url, number in batch:
            if (candidate := self.claim(url)) is not None:
                self.chosen[url] = 1
                self._batch.append(Popped(candidate, number=number))
