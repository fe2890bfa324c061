"""Which requests hold a slot, and which are slow and hold none.

A request holds one of the driver's slots for a few times as long as requests usually take. Then it is slow: it moves
to a second, bounded pool, and its slot is free. So a host that hangs costs a slot for a moment and not for its whole
time-out, with one slot just as with 64. While the pool is full, the request that was slow for longest is cancelled as
soon as it has had `PATIENCE`. A host that gave pages before has a little more time; one that gave no reply last time
is slow from the start.

Slots limit the work done at once, and a request that only waits is no work. The usual time is learned from the
replies, as a retransmission time-out is (RFC 6298, 2.3). A slow reply counts as one at the limit, so a few slow hosts
can't raise it, and a connection that is slow throughout raises it within a few dozen replies. A request that is
wrongly called slow loses nothing: it continues.

Times are seconds in which the driver was idle. While it is busy, bytes that arrived wait for it, and no host is to
blame.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from scenthound.loop.messages import FOREVER, Standing

FACTOR = 3.0  # times as long as usual is slow
QUICKEST = 0.002  # seconds for each slot: a request is never slow before. With few slots, each of them is missed more
ENOUGH = 0.05  # seconds: however many slots there are
PROVEN = 0.25  # seconds: a host that gave pages is never slow before, however quick it usually is
FEW = 8  # replies: before these we do not know what is usual …
FIRST = 0.5  # … and a request is not slow before so many seconds, a quarter of it after each that is …
LEAST = 0.05  # … but not less: hosts that hang and come first cost little, and replies a second away are waited for
LONGEST = 1.0  # seconds that one of the first replies counts at most
SMOOTHING = 0.125  # the weight of a new reply; alpha of RFC 6298
PATIENCE = 2.0  # seconds that a slow request has at least


R = TypeVar("R", bound=Hashable)


class Slots(Generic[R]):
    """The requests in flight. `idle` is the time that the driver was idle so far."""

    def __init__(self, count: int, slow: int) -> None:
        self._most_slow = slow
        self._quickest = min(QUICKEST * count, ENOUGH)
        self._usual = 0.0  # seconds, smoothed
        self._replies = 0
        self._called_slow = 0
        self._new: dict[R, float] = {}  # with the time at which it began; the oldest first
        self._proven: dict[R, float] = {}
        self._slow: dict[R, float] = {}

    @property
    def bound(self) -> float:
        """How long a request to a new host holds a slot."""
        learned = max(self._quickest, FACTOR * self._usual)
        return learned if self._replies >= FEW else max(learned, LEAST, FIRST * 0.25 ** min(self._called_slow, 8))

    @property
    def slow(self) -> Iterable[R]:
        return self._slow.keys()

    def begin(self, request: R, idle: float, host: Standing = "new") -> None:
        """A request is sent; to a silent host it is slow from the start, if there is room."""
        if host == "silent" and not self._is_full:
            self._slow[request] = idle
        else:
            (self._proven if host == "proven" else self._new)[request] = idle

    def end(self, request: R, idle: float, is_reply: bool) -> None:
        """A request is over; if it brought a reply, its time counts for the usual time."""
        group = next(group for group in (self._new, self._proven, self._slow) if request in group)
        took = min(idle - group.pop(request), self.bound if self._replies >= FEW else LONGEST)
        if is_reply:
            self._usual += (SMOOTHING if self._replies else 1.0) * (took - self._usual)
            self._replies += 1

    def held(self, idle: float) -> int:
        """How many slots are held now."""
        for group, bound in self._bounds():
            while group and not self._is_full:
                request, began = _oldest(group)
                if idle - began < bound:
                    break
                self._slow[request] = group.pop(request)
                self._called_slow += 1
        return len(self._new) + len(self._proven)

    def held_for(self, idle: float) -> float:
        """How long until a slot becomes free because its request is slow."""
        wait = min((_oldest(group)[1] + bound - idle for group, bound in self._bounds() if group), default=FOREVER)
        return max(wait, _oldest(self._slow)[1] + PATIENCE - idle) if self._is_full else wait

    def give_way(self, idle: float) -> R | None:
        """The slow request to cancel: the pool is full, and a request that holds a slot is slow as well."""
        return _oldest(self._slow)[0] if self._is_full and self.held_for(idle) <= 0 else None

    def _bounds(self) -> tuple[tuple[dict[R, float], float], ...]:
        return (self._new, self.bound), (self._proven, max(PROVEN, self.bound))

    @property
    def _is_full(self) -> bool:
        return len(self._slow) >= self._most_slow


def _oldest(requests: dict[R, float]) -> tuple[R, float]:
    return next(iter(requests.items()))
