"""Run short crawls in memory, one after the other, that share hosts, robots rules and connections.

This is for programs that look at a few pages again and again, such as the companion. The second crawl knows when the
first one asked a host, and its robots rules. Nothing is written: pages go to the strategy and are then discarded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from scenthound.loop.core import Crawl
from scenthound.loop.live import Clock, LiveRun
from scenthound.loop.settings import Settings
from scenthound.loop.stored_hosts import new_host_clock
from scenthound.model import Topic, Url
from scenthound.ports import Fetcher, Strategy, declaration_of
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.wiring.parts_from_settings import (
    make_fetcher,
    make_order,
    make_scope,
    make_short_limits,
)


class ShortCrawls:
    """Runs short crawls, one at a time, in one event loop. Cancelling the task of a crawl ends it."""

    def __init__(
        self, settings: Settings, fetcher: Fetcher | None = None, clock: Callable[[], float] | None = None
    ) -> None:
        self.settings = settings
        self._fetcher, self._clock = fetcher, clock or Clock()
        self._host_clock = new_host_clock(settings)
        self._open = contextlib.AsyncExitStack()

    async def run(self, strategy: Strategy, seeds: Sequence[tuple[Url, str]], settings: Settings | None = None) -> str:
        """Crawl from seeds, as (canonical URL, spelling), and return why it ended. Seeds out of scope are left out.

        `settings` has the limits and the scope of this crawl; settings of hosts and connections do not change.
        """
        settings = settings or self.settings
        if self._fetcher is None:
            self._fetcher = await self._open.enter_async_context(make_fetcher(self.settings))
        crawl = self._crawl(strategy, seeds, settings)
        run = LiveRun(
            crawl,
            self._fetcher,
            self,
            settings,
            declaration_of(strategy).parts,
            clock=self._clock,
        )
        return await run.run()

    def _crawl(self, strategy: Strategy, seeds: Sequence[tuple[Url, str]], settings: Settings) -> Crawl:
        scope, now = make_scope(settings), self._clock()
        crawl = Crawl(
            strategy,
            MemoryFrontier(settings.frontier, declaration_of(strategy).eviction),
            MemoryHistory(),
            Topic(""),
            [(url, spelling) for url, spelling in seeds if scope.refuses_url(url) is None],
            limits=make_short_limits(settings, now),
            scope=scope,
            host_clock=self._host_clock,
            order=make_order(settings),
        )
        crawl.start()
        crawl.selection.advance_to(now)
        self._host_clock.rest_on(now)
        return crawl

    def commit(self, now: float) -> None:
        """Save nothing, but discard the recorded changes so that they do not accumulate."""
        self._host_clock.take_changes()

    async def close(self) -> None:
        await self._open.aclose()
