"""Run a crawl in its folder: the live driver, watchers, labels, orders, new seeds, signals and a full disk."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping

from scenthound import url as urls
from scenthound.errors import DiskFull, IoFailed, PluginFailed
from scenthound.loop.core import Crawl
from scenthound.loop.crawl_toml import masked
from scenthound.loop.folder import CrawlFolder
from scenthound.loop.link_balance import waiting_urls
from scenthound.loop.live import KnowsAddresses, LabelListener, LiveRun
from scenthound.loop.messages import Dropped
from scenthound.loop.plugin_failure import PluginFailure
from scenthound.loop.settings import Settings
from scenthound.loop.steering import Steering
from scenthound.loop.stored_page import StoredPage
from scenthound.model import Event, Miss, Response, Step
from scenthound.ports import Failure, Fetcher
from scenthound.wiring.find_seeds import Reseeding
from scenthound.wiring.parts_from_settings import (
    make_fetcher,
    make_reading_pool,
    parts_read,
    views_read,
)

Watch = Callable[[Step | Miss | Dropped | Event], Awaitable[None] | None]
"""Called with every page, miss, dropped link and event of the strategy. If it is `async`, it is awaited in order."""
Take = Callable[[StoredPage], Awaitable[None]]
"""Receives a page once it is committed."""
MOST_REASONS = 30  # different reasons for failure to count


class CountingFetcher:
    """A fetcher that counts why requests (also for robots.txt) got no reply, to explain a crawl without pages."""

    def __init__(self, fetcher: Fetcher) -> None:
        self.fetcher = fetcher
        self.failures: dict[str, tuple[int, str]] = {}
        """For each reason, the number of failures and an example of the details."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        reply = await (self.fetcher.fetch(url) if most is None else self.fetcher.fetch(url, most))
        if isinstance(reply, Failure) and (reply.reason in self.failures or len(self.failures) < MOST_REASONS):
            times, detail = self.failures.get(reply.reason, (0, ""))
            self.failures[reply.reason] = (times + 1, detail or masked(reply.detail))
        return reply

    async def address(self, host: str) -> str:
        return await self.fetcher.address(host) if isinstance(self.fetcher, KnowsAddresses) else ""


class Session:
    """A crawl that is ready to run, made by `begin` or `resume`."""

    def __init__(
        self,
        folder: CrawlFolder,
        crawl: Crawl,
        fetcher: Fetcher | None,
        clock: Callable[[], float],
        watch: Watch | None = None,
        is_resumed: bool = False,
    ) -> None:
        self.folder, self.crawl, self.clock = folder, crawl, clock
        self.hosts = folder.database.hosts_with_pages()
        """The number of hosts that have sent a page."""
        self.failures: Mapping[str, tuple[int, str]] = {}
        """Why requests of this run got no reply: the number of failures and example details for each reason."""
        self._fetcher = fetcher
        self._run: LiveRun | None = None
        self._is_over = False
        self._watch, crawl.recorder.watch = watch, self._recorded
        self._take: Take | None = None
        self._undelivered: deque[Awaitable[None]] = deque()
        self._listener, self.steering = LabelListener(folder, crawl), Steering(folder, crawl)
        self._reseeding = Reseeding(folder, crawl, self.steering, fetcher, is_resumed)

    def _recorded(self, event: Step | Miss | Dropped | Event) -> None:
        if isinstance(event, Step) and self.crawl.host_clock is not None:
            self.hosts += self.crawl.host_clock.host(urls.host(event.url)).pages == 1
        if self._watch is not None and (awaitable := self._watch(event)) is not None:
            self._undelivered.append(awaitable)
        if self._take is not None and isinstance(event, Step):
            self._undelivered.append(self._pass_page(event, self._take))

    async def _pass_page(self, step: Step, take: Take) -> None:
        await take(self.folder.stored(step))

    async def _deliver(self) -> None:
        """Await the results of the watcher, and pass on pages, in order."""
        while self._undelivered:
            await self._undelivered.popleft()

    @property
    def seconds(self) -> float:
        """How long the crawl has run, over all its runs."""
        return self.folder.seconds(None if self._is_over else self.clock())

    @property
    def waiting(self) -> int:
        """The number of URLs that are still to be fetched, including those in flight."""
        return waiting_urls(self.crawl)

    @property
    def settings(self) -> Settings:
        return self.folder.request.settings

    def listen(self) -> None:
        """Carry out new orders, pass new labels to strategy and judge, and commit the effects."""
        if self.steering.obey(self.clock()) + self._listener.listen():
            self.folder.commit(self.clock())

    def committed(self) -> None:
        """Called when all results are committed. Sync if due, listen, and ask for more seeds if due."""
        self.folder.sync_soon(self.clock())
        self.listen()
        if self._reseeding.step(self.clock()):
            self.folder.commit(self.clock())

    def interrupt(self) -> None:
        """First call: finish the requests in flight and save. Second call: stop now. Both can be resumed."""
        if self._run is not None:
            self._run.interrupt()
        else:
            self.crawl.stop("interrupted")

    async def run(
        self, tick: Callable[[], None] | None = None, handle_signals: bool = False, take: Take | None = None
    ) -> str:
        """Crawl to the end and return the reason. `take` is called with each page once it is committed.

        Cancelling this coroutine saves the crawl. Raises `PluginFailed`, `DiskFull` or `IoFailed` after a clean stop.
        """
        self._take = take
        try:
            return await self._crawl(tick, handle_signals)
        except PluginFailed as error:
            raise plugin_failed(self.folder, error, self.clock()) from (error.__cause__ or error)
        except DiskFull as error:
            self.folder.stopped("disk full", self.clock())
            raise DiskFull(error.path, f"make room, then: {resume_command(self.folder)}", error.left) from error
        except (IoFailed, OSError) as error:
            self.folder.stopped("I/O error", self.clock())
            failed = error if isinstance(error, IoFailed) else IoFailed.of(error, self.folder.path)
            raise IoFailed(failed.path, failed.cause, f"check the disk, then: {resume_command(self.folder)}") from error
        finally:
            self._is_over = True
            for awaitable in self._undelivered:
                if isinstance(awaitable, Coroutine):
                    awaitable.close()  # it never started

    async def _crawl(self, tick: Callable[[], None] | None, handle_signals: bool) -> str:
        settings = self.settings
        async with contextlib.AsyncExitStack() as stack:
            fetcher = self._fetcher
            if fetcher is None:
                fetcher = await stack.enter_async_context(make_fetcher(settings))
            counting = CountingFetcher(fetcher)
            self.failures = counting.failures
            parts = parts_read(self.crawl.strategy)
            pool = make_reading_pool(settings, parts, views_read(self.crawl))
            if pool is not None:
                stack.push_async_callback(pool.close)
            self._run = LiveRun(
                self.crawl,
                counting,
                self.folder,
                settings,
                parts,
                reader=pool,
                clock=self.clock,
                tick=tick,
                listen=self.committed,
                deliver=self._deliver,
            )
            stack.push_async_callback(self._reseeding.close)
            if handle_signals:
                loop = asyncio.get_running_loop()
                for signal_number in (signal.SIGINT, signal.SIGTERM):
                    loop.add_signal_handler(signal_number, self.interrupt)
                    stack.callback(loop.remove_signal_handler, signal_number)
            try:
                reason = await self._run.run()
                await self._deliver()
            except asyncio.CancelledError:
                self._finish("interrupted", counting)
                raise
            self._finish(reason, counting)
            return reason

    def _finish(self, reason: str, counting: CountingFetcher) -> None:
        self.folder.database.save_meta("failures", json.dumps(counting.failures))
        self.folder.finish(reason, self.clock())

    def close(self) -> None:
        self.folder.close()


def resume_command(folder: CrawlFolder) -> str:
    return f"scenthound resume {shlex.quote(str(folder.path))}"


def plugin_failed(folder: CrawlFolder, error: PluginFailed, now: float) -> PluginFailed:
    """Save in the folder which plug-in ended the run. Returns the error with the command that goes on."""
    folder.failed(PluginFailure.of(error, folder.request), now)
    return type(error)(error.plugin, error.where, error.error, f"{error.hint}: {resume_command(folder)}")


async def run_session(begin: Callable[[], Session], take: Take | None = None) -> None:
    """Begin a session, run it and close it. `begin` is called here, because SQLite is bound to one thread."""
    session = begin()
    try:
        await session.run(take=take)
    finally:
        session.close()
