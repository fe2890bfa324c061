"""Spaces the requests to hosts that share an IP address: a thousand names on one machine are one machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from scenthound.web.addresses import Network, forbidden

SHARE = 0.25  # of the delay between two requests to one host: the default delay between two to one address
MOST = 20_000  # addresses kept in memory


@runtime_checkable
class KnowsAddresses(Protocol):
    """A fetcher that can tell the IP address of a host before it is asked."""

    async def address(self, host: str) -> str:
        """An address of this host; empty if it has none, or if a proxy looks it up."""


def seconds_at(address: str, given: float, delay: float, private: Sequence[Network] = ()) -> float:
    """The rest between two requests to an address: as given, or by default (-1) a share of the delay of a host.

    By default the addresses of private networks that the user allowed have none: these machines are the user's.
    """
    if given >= 0:
        return given
    return 0.0 if private and forbidden(address) is not None else SHARE * delay


@dataclass(slots=True)
class AddressDelay:
    """When a host may be asked, by the requests to other hosts at its address. It reads no clock."""

    seconds: Callable[[str], float]
    """The rest after a request to an address."""
    _ready: dict[str, float] = field(default_factory=dict)
    _waiting: dict[str, dict[str, float]] = field(default_factory=dict)

    def ready_at(self, host: str, address: str, now: float) -> float:
        """`now` if the request may be sent, which then counts as sent; else when to ask again."""
        rest = self.seconds(address)
        if not rest:
            return now
        ready, waiting = self._ready.get(address, 0.0), self._waiting.get(address, {})
        if ready <= now:
            self._forget(now)
            self._ready[address] = now + rest
            waiting.pop(host, None)
            return now
        # Each host comes when those before it have had their turn; one that is long overdue won't come.
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
