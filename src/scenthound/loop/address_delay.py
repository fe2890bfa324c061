"""Space out the requests to hosts that share an IP address: a thousand host names may be one machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from scenthound.web.addresses import Network, forbidden

SHARE = 0.25  # the default delay for one address, as a share of the delay for one host
MOST = 20_000  # addresses kept in memory


@runtime_checkable
class KnowsAddresses(Protocol):
    """A fetcher that can look up the IP address of a host before it sends a request."""

    async def address(self, host: str) -> str:
        """An address of this host; empty if it has none, or if a proxy looks it up."""


def seconds_between(address: str, setting: float, delay: float, private: Sequence[Network] = ()) -> float:
    """Seconds between two requests to an address: `setting`, or a share of the delay for one host if that is -1.

    By default there is no delay in `private`, the private networks that the user allowed, because these are the user's
    own machines.
    """
    if setting >= 0:
        return setting
    return 0.0 if private and forbidden(address) is not None else SHARE * delay


@dataclass(slots=True)
class AddressDelay:
    """Decides when a host may be asked, given the requests to other hosts at its address. It reads no clock."""

    seconds: Callable[[str], float]
    """How long an address rests after a request."""
    _ready: dict[str, float] = field(default_factory=dict)
    _waiting: dict[str, dict[str, float]] = field(default_factory=dict)

    def ready_at(self, host: str, address: str, now: float) -> float:
        """Return `now` if the request may be sent (it then counts as sent), otherwise the time to try again."""
        rest = self.seconds(address)
        if not rest:
            return now
        ready, waiting = self._ready.get(address, 0.0), self._waiting.get(address, {})
        if ready <= now:
            self._forget(now)
            self._ready[address] = now + rest
            waiting.pop(host, None)
            return now
        # Each host waits for the hosts before it. A host that is long overdue is not expected any more.
        waiting = {name: until for name, until in waiting.items() if until > now - 10 * rest and name != host}
        waiting[host] = ready + rest * len(waiting)
        self._waiting[address] = waiting
        return waiting[host]

    def __len__(self) -> int:
        return len(self._ready)

    def _forget(self, now: float) -> None:
        if len(self._ready) >= MOST:
            self._ready = {address: ready for address, ready in self._ready.items() if ready > now}
            self._waiting = {address: hosts for address, hosts in self._waiting.items() if address in self._ready}
