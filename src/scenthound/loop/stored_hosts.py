"""The state of hosts in a crawl folder: when each may be asked again, its robots.txt, and its requested sitemaps."""

from __future__ import annotations

from dataclasses import dataclass

from scenthound.errors import FolderBroken
from scenthound.hosts import AddressDelay, HostClock, KnownHost, OriginRules, seconds_between
from scenthound.loop.admission import HOST_FAILURES
from scenthound.loop.messages import FOREVER
from scenthound.loop.new_urls import Sitemaps
from scenthound.loop.settings import Settings
from scenthound.store.database import CrawlDatabase
from scenthound.web.addresses import parse_networks
from scenthound.web.robots import RobotsRules


@dataclass(frozen=True, slots=True)
class StoredHosts:
    """The state of hosts in the database of a crawl."""

    database: CrawlDatabase

    def save(self, host_clock: HostClock) -> None:
        """Save what has changed since the last call."""
        hosts, origins = host_clock.take_changes()
        for origin, rules in origins.items():
            self.database.save_robots(origin, rules.rules.to_text(), rules.until, rules.failures)
        for name, host in hosts.items():
            due = host.next_allowed if host.next_allowed < FOREVER else 0.0
            self.database.save_host(
                name, next_allowed=due, failures=host.failures, pages=host.pages, barren=host.barren
            )

    def save_sitemaps(self, sitemaps: Sitemaps) -> None:
        """Save which sitemaps were requested since the last call."""
        for host, requested in sitemaps.take_requested().items():
            self.database.save_state(f"sitemaps of {host}", {"asked": requested})

    def host_clock(self, settings: Settings, now: float) -> HostClock:
        """The clock of the crawl, with the hosts that are resting now. It reads other hosts when needed."""
        host_clock = new_host_clock(settings)
        host_clock.recall_host, host_clock.recall_origin = self.host, self.origin
        for name in self.database.resting_hosts(now):
            host_clock.host(name)
        return host_clock

    def host(self, name: str) -> KnownHost:
        """The saved state of a host."""
        saved = self.database.host(name)
        failures = min(saved.failures, HOST_FAILURES - 1)  # a new run gives a failing host one more chance
        barren = saved.more.get("barren", 0)
        return KnownHost(saved.next_allowed, failures, barren if isinstance(barren, int) else 0, saved.pages)

    def origin(self, origin: str) -> OriginRules | None:
        """The saved rules of an origin; None if its robots.txt must be requested."""
        saved = self.database.robots(origin)
        if saved is None or saved.failures:
            return None  # it was unreachable, but may be reachable now
        try:
            return OriginRules(RobotsRules.from_text(saved.text), saved.until, saved.failures)
        except ValueError:
            return None  # damaged: request it again

    def sitemaps(self, host: str) -> list[str]:
        """The sitemaps that were requested from a host."""
        try:
            requested = (self.database.state(f"sitemaps of {host}") or {}).get("asked")
        except FolderBroken:
            requested = None
        return list(map(str, requested)) if isinstance(requested, list) else []  # damaged: request them again


def new_host_clock(settings: Settings) -> HostClock:
    """A clock for hosts that were never asked."""
    setting, delay, private = settings.address_delay, settings.delay, parse_networks(settings.allow_private)
    addresses = None
    if delay if setting < 0 else setting:
        addresses = AddressDelay(lambda address: seconds_between(address, setting, delay, private))
    return HostClock(delay, settings.backoff, settings.robots, settings.robots_cache, addresses=addresses)
