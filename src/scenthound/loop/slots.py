"""How many requests may be in flight at once, and which of them are slow.

Slots limit the work done at once, and a request that only waits is not work. So a request that takes much longer than
usual gives its slot back: a host that hangs blocks a slot for a moment, not for its whole time-out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from scenthound.hosts import HostBehaviour
from scenthound.loop.messages import FOREVER

FACTOR = 3.0  # a request is slow if it takes this many times the usual time
QUICKEST = 0.002  # a request is never slow before this many seconds per slot: the fewer slots, the more each is needed
ENOUGH = 0.05  # upper limit of that time in seconds, however many slots there are
PROVEN = 0.25  # a host that has sent pages is never slow before this many seconds
FEW = 8  # with fewer replies the usual time is unknown …
FIRST = 0.5  # … and a request is slow after this many seconds, a quarter of it after each slow request …
LEAST = 0.05  # … but never less. So hosts that hang at the start cost little, and replies a second away are waited for
LONGEST = 1.0  # maximum seconds that one of the first replies counts as
SMOOTHING = 0.125  # the weight of a new reply; alpha of RFC 6298
PATIENCE = 2.0  # seconds that a slow request has before it may be cancelled

R = TypeVar("R", bound=Hashable)


class Slots(Generic[R]):
    """The requests in flight: those that hold one of the driver's slots, and slow ones that hold none.

    A request holds a slot for a few times as long as requests usually take. Then it is slow: it moves to a second,
    bounded pool, and its slot is free, with one slot just as with 64. When the pool is full, the request that has been
    slow for longest is cancelled once it has had `PATIENCE`. A host that has sent pages gets a little more time; a host
    that did not reply last time is slow from the start.

    The usual time is learned from the replies, like a retransmission time-out (RFC 6298, 2.3). A slow reply counts as
    if it took the limit, so a few slow hosts can't raise the usual time; a connection that is always slow raises it
    within a few dozen replies. A request that is wrongly considered slow loses nothing: it continues.

    Times are measured in `idle`, the time that the driver has been idle so far. While the driver is busy, replies that
    have arrived wait for it, which is not the fault of their hosts.
    """

    def __init__(self, count: int, slow: int) -> None:
        self._most_slow = slow
        self._quickest = min(QUICKEST * count, ENOUGH)
        self._usual = 0.0  # seconds, smoothed
        self._replies = 0
        self._called_slow = 0
        self._new: dict[R, float] = {}  # requests and when they began, the oldest first; likewise below
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

    def begin(self, request: R, idle: float, host: HostBehaviour = "new") -> None:
        """Add a request. A request to a silent host is slow from the start, if there is room."""
        if host == "silent" and not self._is_full:
            self._slow[request] = idle
        else:
            (self._proven if host == "proven" else self._new)[request] = idle

    def end(self, request: R, idle: float, is_reply: bool) -> None:
        """Remove a request. If it got a reply, learn from its time."""
        group = next(group for group in (self._new, self._proven, self._slow) if request in group)
        took = min(idle - group.pop(request), self.bound if self._replies >= FEW else LONGEST)
        if is_reply:
            self._usual += (SMOOTHING if self._replies else 1.0) * (took - self._usual)
            self._replies += 1

    def in_use(self, idle: float) -> int:
        """The number of slots held now."""
        for group, bound in self._bounds():
            while group and not self._is_full:
                request, began = _oldest(group)
                if idle - began < bound:
                    break
                self._slow[request] = group.pop(request)
                self._called_slow += 1
        return len(self._new) + len(self._proven)

    def free_in(self, idle: float) -> float:
        """The time until a slot becomes free because its request is slow."""
        wait = min((_oldest(group)[1] + bound - idle for group, bound in self._bounds() if group), default=FOREVER)
        return max(wait, _oldest(self._slow)[1] + PATIENCE - idle) if self._is_full else wait

    def to_cancel(self, idle: float) -> R | None:
        """The slow request to cancel, if the pool is full and a request that holds a slot has become slow as well."""
        return _oldest(self._slow)[0] if self._is_full and self.free_in(idle) <= 0 else None

    def _bounds(self) -> tuple[tuple[dict[R, float], float], ...]:
        return (self._new, self.bound), (self._proven, max(PROVEN, self.bound))

    @property
    def _is_full(self) -> bool:
        return len(self._slow) >= self._most_slow


def _oldest(requests: dict[R, float]) -> tuple[R, float]:
    return next(iter(requests.items()))
