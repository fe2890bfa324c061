"""A wrapper that checks the rules of a frontier during a crawl, for frontiers with an order of their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from scenthound.hosts import HostClock
from scenthound.model import Candidate, Url
from scenthound.ports import Frontier, Popped
from scenthound.url import host as host_of


class CheckedFrontier(Frontier):
    """Forwards every call and asserts the rules of the port. It scans the whole frontier, so use it on small webs."""

    def __init__(self, inner: Frontier) -> None:
        self._inner = inner

    @property
    def host_clock(self) -> HostClock:
        return self._inner.host_clock

    @host_clock.setter
    def host_clock(self, host_clock: HostClock) -> None:
        self._inner.host_clock = host_clock

    def push(self, candidate: Candidate) -> Candidate | None:
        before, dropped = self._waiting(), self._inner.push(candidate)
        after = self._waiting()
        if dropped is None:
            assert candidate.url in after, f"{candidate.url} was pushed but does not wait"
            assert before <= after, f"{before - after} were dropped but not returned"
        else:
            assert dropped.url not in after, f"{dropped.url} was returned as dropped but still waits"
            assert dropped.url == candidate.url or candidate.url in after
            assert dropped.url == candidate.url or dropped.url in before
        assert candidate.url not in self._inner.in_flight(), "a URL that waits is not in flight"
        return dropped

    def matters(self, candidate: Candidate) -> bool:
        answer = self._inner.matters(candidate)
        assert answer or candidate.url in self._inner, "a new URL always matters"
        return answer

    def rescore(self, candidates: Sequence[Candidate]) -> None:
        before = self._waiting()
        self._inner.rescore(candidates)
        assert self._waiting() == before, "new scores must not add or remove URLs"

    def pop(self, now: float) -> Popped | None:
        before, popped = self._waiting(), self._inner.pop(now)
        if popped is None:
            assert self.host_clock.next_wake() > now, "a candidate that is due on a host that is ready must be popped"
        else:
            url = popped.candidate.url
            assert url in before, f"{url} was popped but was not waiting"
            assert url not in self._inner, f"{url} was popped but is still waiting"
            assert url in self._inner.in_flight(), f"{url} was popped but is not in flight"
            assert popped.rank >= 1
            assert popped.candidate.due <= now, f"{url} is not due"
            assert self.host_clock.ready_at(host_of(url)) <= now, f"the host of {url} rests"
        self._waiting()
        return popped

    def take(self, url: Url) -> Candidate | None:
        was_waiting, taken = url in self._inner, self._inner.take(url)
        assert url not in self._inner
        assert was_waiting or taken is None
        assert taken is None or taken.url == url
        assert taken is None or url in self._inner.in_flight()
        return taken

    def give_back(self, popped: Popped) -> Candidate | None:
        url, dropped = popped.candidate.url, self._inner.give_back(popped)
        assert url in self._inner or (dropped is not None and dropped.url == url)
        assert url not in self._inner.in_flight()
        return dropped

    def settle(self, url: Url) -> None:
        self._inner.settle(url)
        assert url not in self._inner
        assert url not in self._inner.in_flight()

    def in_flight(self) -> Collection[Url]:
        return self._inner.in_flight()

    def urls(self) -> Collection[Url]:
        return self._inner.urls()

    def __len__(self) -> int:
        return len(self._inner)

    def __contains__(self, url: object) -> bool:
        return url in self._inner

    def _waiting(self) -> set[Url]:
        waiting = list(self._inner.urls())
        assert len(waiting) == len(set(waiting)) == len(self._inner), "each waiting URL is listed and counted once"
        assert all(url in self._inner for url in waiting)
        return set(waiting)
