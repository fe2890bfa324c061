"""Which requests hold a slot, and which are slow and hold none.

A request holds one of the driver's slots for as long as requests usually take, a few times over. Then it is slow: it
moves to an allowance of its own, and somebody else gets its slot. So a host that hangs costs a slot for a moment and
not for its whole time-out, with one slot just as with 64. The allowance is bounded. While it is full, the request that
was slow for longest is given up as soon as it has had `PATIENCE`.

Why this is right: slots bound the work that we do at once, and a request that only waits is no work. What is usual is
learned from the replies, as a retransmission time-out is (RFC 6298, 2.3). A reply that was slow counts as one that just
was not, so a few slow hosts can't raise the bound, and a connection that is slow throughout raises it within a few
dozen replies. Wrongly called slow, a request loses nothing: it goes on.

Times are seconds that the driver was idle. While it is busy, bytes that arrived wait for it, and no host is to blame.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

FACTOR = 3.0  # times as long as usual is slow
QUICKEST = 0.002  # seconds for each slot: a request is never slow before. With few slots, each of them is missed more
ENOUGH = 0.05  # seconds: however many slots there are
FIRST = 0.25  # seconds: slow, as long as there was no reply
SMOOTHING = 0.125  # the weight of a new reply; alpha of RFC 6298
PATIENCE = 2.0  # seconds that a slow request has at least


R = TypeVar("R", bound=Hashable)


class Slots(Generic[R]):
    """Knows the requests in flight. `idle` is the time that the driver was idle so far."""

    def __init__(self, count: int, slow: int) -> None:
        self._most_slow = slow
        self._quickest = min(QUICKEST * count, ENOUGH)
        self._usual: float | None = None  # seconds, smoothed; None: there was no reply yet
        self._holding: dict[R, float] = {}  # with the time at which it began; the oldest first
        self._slow: dict[R, float] = {}

    @property
    def bound(self) -> float:
        """How long a request holds a slot."""
        return FIRST if self._usual is None else max(self._quickest, FACTOR * self._usual)

    @property
    def slow(self) -> Iterable[R]:
        return self._slow.keys()

    def begin(self, request: R, idle: float, doubtful: bool = False) -> None:
        """A request goes out; a doubtful one is slow from the start, if there is room."""
        is_slow = doubtful and not self._is_full
        (self._slow if is_slow else self._holding)[request] = idle

    def end(self, request: R, idle: float, is_reply: bool) -> None:
        """A request is over; if it brought a reply, its time says what is usual."""
        began = self._holding.pop(request, None)
        if began is None:
            began = self._slow.pop(request)
        if is_reply:
            took = min(idle - began, self.bound)
            self._usual = took if self._usual is None else self._usual + SMOOTHING * (took - self._usual)

    def held(self, idle: float) -> int:
        """How many slots are held now."""
        while self._holding and not self._is_full:
            request, began = _oldest(self._holding)
            if idle - began < self.bound:
                break
            self._slow[request] = self._holding.pop(request)
        return len(self._holding)

    def held_for(self, idle: float) -> float:
        """How long until a slot is given back because its request is slow."""
        if not self._holding:
            return float("inf")
        wait = _oldest(self._holding)[1] + self.bound - idle
        return max(wait, _oldest(self._slow)[1] + PATIENCE - idle) if self._is_full else wait

    def give_way(self, idle: float) -> R | None:
        """The slow request to give up: the allowance is full, and a request that holds a slot is slow as well."""
        return _oldest(self._slow)[0] if self._is_full and self.held_for(idle) <= 0 else None

    @property
    def _is_full(self) -> bool:
        return len(self._slow) >= self._most_slow


def _oldest(requests: dict[R, float]) -> tuple[R, float]:
    return next(iter(requests.items()))
