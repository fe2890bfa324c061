"""Whose turn it is: those who were promised one, then the batch at hand, then the best of the frontier.

A retry on a host that gave no reply, and the third redirect in a row, most likely lead nowhere. They let the frontier
go first: they get every eighth turn, and every turn that nobody else wants.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from scenthound import url as urls
from scenthound.loop.messages import FOREVER
from scenthound.loop.pending import Held
from scenthound.loop.politeness import Manners
from scenthound.model import Candidate, Url
from scenthound.ports import Frontier, Strategy, declaration_of

UNLIKELY_EVERY = 8  # turns: often enough that retries do not pile up where every eighth request fails


class Turns:
    """Takes candidates out of the frontier, and knows of each until it is settled.

    A URL is `chosen` from the moment it is drawn or promised a turn until it is released or settled.
    """

    def __init__(
        self,
        frontier: Frontier,
        seen: Callable[[Url], bool],
        manners: Manners | None,
        evicted: Callable[[Candidate], None],
        *,
        batch: int = 1,
        shuffled: bool = False,
        seed_number: int = 0,
    ) -> None:
        self.chosen: dict[Url, int] = {}
        """In the batch, held or in flight, with the rank it had. Always the same object: others look into it."""
        self.batches = 0
        """Batches drawn so far: what the order of the next one is drawn by."""
        self._frontier, self._seen, self._manners, self._evicted = frontier, seen, manners, evicted
        self._size, self._shuffled, self._seed_number = batch, shuffled, seed_number
        self._batch: deque[tuple[Candidate, int]] = deque()  # with its insertion number
        self._held = Held()
        self._unlikely: deque[Candidate] = deque()  # due, and behind the frontier
        self._demoted: set[Url] = set()  # URLs that go there whatever their host did
        self._turn = 0
        self._settle: Callable[[Url], None] = getattr(frontier, "settle", lambda url: None)

    @classmethod
    def of(
        cls,
        strategy: Strategy,
        frontier: Frontier,
        seen: Callable[[Url], bool],
        manners: Manners | None,
        evicted: Callable[[Candidate], None],
        seed_number: int,
    ) -> Turns:
        """As a strategy wants them: how many URLs are drawn at once, and whether in random order."""
        said = declaration_of(strategy)
        return cls(frontier, seen, manners, evicted, batch=said.batch, shuffled=said.shuffle, seed_number=seed_number)

    # ---- who is next

    def next(self, now: float) -> Candidate | None:
        """The candidate whose turn it is, on a host that is awake; None if there is none now."""
        self._turn += 1
        if self._turn % UNLIKELY_EVERY == 0 and (candidate := self._next_unlikely(now)) is not None:
            return candidate
        return self._next_likely(now) or self._next_unlikely(now)

    def _next_likely(self, now: float) -> Candidate | None:
        while (held := self._held.pop(now)) is not None:
            if not self._awake(held, now):
                self.hold(held)
            elif self._is_unlikely(held):
                self._unlikely.append(held)
            else:
                return held
        while True:
            while self._batch:
                candidate, number = self._batch.popleft()
                if self._awake(candidate, now):
                    return candidate
                self._put_back(candidate, number)
            if not self._draw(now):
                return None

    def _next_unlikely(self, now: float) -> Candidate | None:
        while self._unlikely:
            candidate = self._unlikely.popleft()
            if self._awake(candidate, now):
                return candidate
            self.hold(candidate)
        return None

    def _is_unlikely(self, candidate: Candidate) -> bool:
        if self._manners is None:
            return False
        return candidate.url in self._demoted or self._manners.host(urls.host(candidate.url)).silent

    def ready_at(self) -> float:
        """When there may be somebody again; never, when nothing waits and nothing is promised."""
        ready = self._frontier.ready_at()
        return min(self._held.ready_at(), FOREVER if ready is None else ready)

    def _draw(self, now: float) -> bool:
        """Take the next `batch` best out of the frontier, in random order if the strategy wants it so."""
        frontier = self._frontier
        while len(self._batch) < self._size and (candidate := frontier.pop(now)) is not None:
            if candidate.url in self.chosen or self._seen(candidate.url):  # met meanwhile by a redirect
                self._settle(candidate.url)
                continue
            self.chosen[candidate.url] = int(getattr(frontier, "last_rank", 1))
            self._batch.append((candidate, int(getattr(frontier, "popped_number", 0))))
        if self._shuffled and len(self._batch) > 1:
            drawn = list(self._batch)
            random.Random(f"{self._seed_number}:{self.batches}").shuffle(drawn)
            self._batch = deque(drawn)
        self.batches += bool(self._batch)
        return bool(self._batch)

    def _put_back(self, candidate: Candidate, number: int) -> None:
        """A member of the batch whose host went to rest waits in the frontier, so that others are not held up."""
        assert self._manners is not None
        host, frontier = urls.host(candidate.url), self._frontier
        self.chosen.pop(candidate.url)
        frontier.rest(host, self._manners.host(host).next_allowed)
        give_back = getattr(frontier, "give_back", None)
        fallen = give_back(number, candidate) if give_back else frontier.push(candidate)
        if fallen is not None:
            self._evicted(fallen)

    def _awake(self, candidate: Candidate, now: float) -> bool:
        return self._manners is None or self._manners.host(urls.host(candidate.url)).next_allowed <= now

    # ---- promises and rests

    def hold(self, candidate: Candidate, until: float | None = None) -> None:
        """Promise a candidate its turn as soon as its host is awake; or not before somebody says when that is."""
        self.chosen.setdefault(candidate.url, 1)
        if until is None:
            until = self._manners.host(urls.host(candidate.url)).next_allowed if self._manners else 0.0
        self._held.put(candidate, until)

    def pass_on(self, url: Url, to: Candidate, is_unlikely: bool = False) -> None:
        """The turn of a URL, and the rank it had, go to another candidate; behind the frontier if that is unlikely
        to lead to a page."""
        self.chosen[to.url] = self.release(url)
        if is_unlikely:
            self._demoted.add(to.url)
        self.hold(to)

    def rest(self, host: str, until: float) -> None:
        """Nothing of this host before then. For a crawl that has manners."""
        assert self._manners is not None
        self._manners.host(host).next_allowed = until
        self._frontier.rest(host, until)
        self._held.rest(host, until)

    # ---- the end of a turn

    def release(self, url: Url) -> int:
        """Its turn is over, for now at least; gives the rank it had."""
        self._demoted.discard(url)
        return self.chosen.pop(url, 1)

    def settle(self, url: Url) -> None:
        """What became of it is known: neither we nor the frontier need remember it."""
        self._demoted.discard(url)
        self.chosen.pop(url, None)
        self._settle(url)

    def claim(self, url: Url) -> Candidate | None:
        """Take this very URL out of the frontier, if it waits there and the frontier can do so."""
        take = getattr(self._frontier, "take", None)
        claimed: Candidate | None = take(url) if take is not None else None
        return claimed

    # ---- what survives a restart

    @property
    def promised(self) -> Iterator[Candidate]:
        """Those who are held, in the order of the promises; at the end those who let the frontier go first."""
        return chain(self._held, self._unlikely)

    @property
    def batch(self) -> list[tuple[Url, int]]:
        """What is left of the batch at hand, with insertion numbers."""
        return [(candidate.url, number) for candidate, number in self._batch]

    def take_up(self, batches: int, held: Iterable[Url], batch: Iterable[tuple[Url, int]]) -> None:
        """Go on from there. The frontier must be filled already and offer `take`."""
        self.batches = batches
        take = self._frontier.take  # type: ignore[attr-defined]
        for url in held:
            if (candidate := take(url)) is not None:
                self.hold(candidate)
        for url, number in batch:
            if (candidate := take(url)) is not None:
                self.chosen[url] = 1
                self._batch.append((candidate, number))
