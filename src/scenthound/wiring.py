"""Puts the parts together: a strategy by name, a folder, a fetcher, the loop, the judge.

Everything that a command, an app or a five-line script needs to run a crawl goes through here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import platform
import resource
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from scenthound import url as urls
from scenthound.crawl.asked import Asked, check_seeds, masked
from scenthound.crawl.core import Crawl
from scenthound.crawl.folder import CrawlFolder
from scenthound.crawl.hearing import Listener, in_order
from scenthound.crawl.run import Clock, LiveRun
from scenthound.crawl.scope import Scope
from scenthound.crawl.settings import Settings, read
from scenthound.crawl.steps import Dropped, Limits
from scenthound.crawl.tally import Tally
from scenthound.crawl.teaching import check_untaught, fitting, taught
from scenthound.errors import BadConfig, BadUsage, DiskFull
from scenthound.model import Candidate, Event, Miss, Page, Response, Step, Topic, Url
from scenthound.ports import Eviction, Failure, Fetcher, OwnFrontier, Saves, Strategy
from scenthound.reading.readers import Readers
from scenthound.store.labels import Heard, Labels
from scenthound.store.memory import Lost
from scenthound.store.models import load_model
from scenthound.store.sqlite import SqliteFrontier
from scenthound.strategies import SHELF as STRATEGIES
from scenthound.text.contexts import Around
from scenthound.text.judge import Judge
from scenthound.web.addresses import parse_networks
from scenthound.web.fetch import FetchLimits, HttpFetcher
from scenthound.web.landing import PageLimits, land

PRODUCT = "scenthound"
SITEMAPS_PER_HOST = 50
MOST_REASONS = 30  # different reasons for failure that are remembered
Watcher = Callable[[Step | Miss | Dropped | Event], None]


def make_strategy(name: str, parameters: Mapping[str, Any] | None = None) -> Strategy:
    """A strategy by its name, its parameters checked against its fields."""
    kind = STRATEGIES.get(name)
    made: Strategy = read(kind, parameters or {}, what=f"parameter of {name}")
    return made


def split_settings(pairs: Mapping[str, Any], strategy: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell settings of the crawl from parameters of the strategy, by their names."""
    known = {f.name for f in fields(Settings)}
    own = {f.name for f in fields(STRATEGIES.get(strategy)) if f.init}
    settings: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    for name, value in pairs.items():
        key = name.replace("-", "_")
        (parameters if key in own else settings)[key] = value
        if key not in own and key not in known:
            from scenthound.errors import UnknownName

            raise UnknownName.among(
                "setting", name, known | own, f"`scenthound strategies {strategy}` lists its parameters"
            )
    return settings, parameters


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    with contextlib.suppress(PackageNotFoundError):
        found[PRODUCT] = version(PRODUCT)
    return found


def user_agent(settings: Settings) -> str:
    """Who we say we are: the product, its version, and whom to write to."""
    if settings.user_agent:
        return settings.user_agent
    about = f" (+{settings.contact})" if settings.contact else ""
    return f"{PRODUCT}/{versions().get(PRODUCT, '0')}{about}"


def product_token(settings: Settings) -> str:
    """The name that robots.txt is read for."""
    return (settings.user_agent.split("/")[0].split(" ")[0] or PRODUCT) if settings.user_agent else PRODUCT


class Witness:
    """A fetcher that remembers why no reply came, robots.txt included: the answer to "why is there nothing?"."""

    def __init__(self, fetcher: Fetcher) -> None:
        self.fetcher = fetcher
        self.failures: dict[str, tuple[int, str]] = {}
        """How often, and an example of the details, by reason."""

    async def fetch(self, url: str, most: int | None = None) -> Response | Failure:
        reply = await (self.fetcher.fetch(url) if most is None else self.fetcher.fetch(url, most))
        if isinstance(reply, Failure) and (reply.reason in self.failures or len(self.failures) < MOST_REASONS):
            times, detail = self.failures.get(reply.reason, (0, ""))
            self.failures[reply.reason] = (times + 1, detail or masked(reply.detail))
        return reply


class Session:
    """A crawl with its folder, ready to run. Make one with `begin` or `resume`."""

    def __init__(self, folder: CrawlFolder, crawl: Crawl, fetcher: Fetcher | None, clock: Callable[[], float]) -> None:
        self.folder, self.crawl, self.clock = folder, crawl, clock
        self.hosts = folder.database.hosts_with_pages()
        """Hosts that gave a page."""
        self.witness: Witness | None = None
        self._fetcher = fetcher
        self._run: LiveRun | None = None
        self._is_over = False
        self._watch, crawl.watch = crawl.watch, self._heard
        self._listener = Listener(folder, crawl)

    def _heard(self, event: Step | Miss | Dropped | Event) -> None:
        if isinstance(event, Step) and self.crawl.manners is not None:
            self.hosts += self.crawl.manners.host(urls.host(event.url)).pages == 1
        if self._watch:
            self._watch(event)

    @property
    def seconds(self) -> float:
        """How long the crawl has been running, in all its runs."""
        return self.folder.seconds(None if self._is_over else self.clock())

    @property
    def waiting(self) -> int:
        """URLs still to be asked for: those in the frontier, and those whose turn has come but that are not settled."""
        taken = getattr(self.crawl.frontier, "in_flight", list)
        return len(self.crawl.frontier) + len(taken())

    @property
    def settings(self) -> Settings:
        return self.folder.asked.settings

    def listen(self) -> None:
        """Let the strategy hear labels that were given meanwhile, and keep what it made of them."""
        if self._listener.listen():
            self.folder.commit(self.clock())

    def interrupt(self) -> None:
        """First call: finish what is in flight and save; second: stop now. Both can be resumed."""
        if self._run is not None:
            self._run.interrupt()
        else:
            self.crawl.stop("interrupted")

    async def run(self, tick: Callable[[], None] | None = None, handle_signals: bool = False) -> str:
        """Crawl to the end; gives the reason why it ended. `DiskFull` is raised after a clean stop."""
        try:
            return await self._crawl(tick, handle_signals)
        except DiskFull as error:
            self.folder.stopped("disk full", self.clock())
            raise DiskFull(error.message, f"make room, then go on: scenthound resume {self.folder.path}") from error
        finally:
            self._is_over = True

    async def _crawl(self, tick: Callable[[], None] | None, handle_signals: bool) -> str:
        settings = self.settings
        async with contextlib.AsyncExitStack() as stack:
            fetcher = self._fetcher
            if fetcher is None:
                fetcher = await stack.enter_async_context(make_fetcher(settings))
            witness = self.witness = Witness(fetcher)
            readers = make_readers(settings, _around(self.crawl.strategy))
            if readers is not None:
                stack.push_async_callback(readers.close)
            self._run = LiveRun(
                self.crawl,
                witness,
                self.folder,
                product_token(settings),
                page_limits(settings),
                concurrency=settings.concurrency,
                group_pages=settings.group_pages or max(1, settings.concurrency // 4),
                group_time=settings.group_time,
                obey_robots=settings.robots,
                delay=settings.delay,
                reader=readers,
                clock=self.clock,
                tick=tick,
                listen=self.listen,
            )
            if handle_signals:
                loop = asyncio.get_running_loop()
                for number in (signal.SIGINT, signal.SIGTERM):
                    loop.add_signal_handler(number, self.interrupt)
                    stack.callback(loop.remove_signal_handler, number)
            reason = await self._run.run()
            self.folder.database.save_meta("failures", json.dumps(witness.failures))
            self.folder.finish(reason, self.clock())
            return reason

    def close(self) -> None:
        self.folder.close()


def make_fetcher(settings: Settings) -> HttpFetcher:
    limits = FetchLimits(
        bytes=settings.page_bytes,
        header_bytes=settings.header_bytes,
        connect=settings.connect_timeout,
        idle=settings.idle_timeout,
        total=settings.page_timeout,
        idle_connections=_idle_connections(settings.concurrency),
    )
    return HttpFetcher(
        limits,
        user_agent(settings),
        allow_private=parse_networks(settings.allow_private),
        proxy=settings.proxy or None,
        verify_tls=settings.verify_tls,
    )


def _idle_connections(concurrency: int) -> int:
    """So many that every host in flight keeps its connection while it rests, within the files that we may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, min(max(256, 2 * concurrency), files - concurrency - 100))


def make_readers(settings: Settings, around: Sequence[Around] = ()) -> Readers | None:
    agent = product_token(settings) if settings.robots else ""
    return Readers(settings.workers, page_limits(settings), agent, around) if settings.workers else None


def _around(strategy: Strategy) -> Sequence[Around]:
    """What a strategy says it will ask about links; a stranger's may call something else `around`."""
    said = getattr(strategy, "around", ())
    return [one for one in said if isinstance(one, Around)] if isinstance(said, Sequence) else ()


def page_limits(settings: Settings) -> PageLimits:
    return PageLimits(
        unpacked=settings.page_bytes,
        ratio=settings.unpack_ratio,
        links=settings.links_per_page,
        url_length=settings.url_length,
    )


def check_topic(topic: Topic) -> None:
    """Raise `BadConfig` for a topic that no page can be like."""
    if not topic.keywords.strip():
        raise BadConfig("the topic has no words", "say what you look for, as: hot air ballooning")
    if not Judge(topic).query.counts:
        raise BadConfig(
            f"nothing is left of the topic “{topic.keywords[:80]}” without its stop words",
            "name what the pages are about, as: hot air ballooning",
        )


def begin(
    topic: Topic | str,
    seeds: Sequence[str],
    out: Path | str,
    *,
    strategy: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    fetcher: Fetcher | None = None,
    watch: Watcher | None = None,
    model: Path | str | None = None,
) -> Session:
    """A new crawl in a new folder. `seeds` may be a single URL. `model` is a folder that `train` made.

    The strategy is `best-first` unless said; with a model it is the model's, with the parameters of its training.
    """
    topic = Topic(topic) if isinstance(topic, str) else topic
    seeds = [seeds] if isinstance(seeds, str) else seeds
    check_topic(topic)
    if not seeds:
        raise BadUsage("no seeds: a crawl has to start somewhere", "give one URL or more, as https://example.org/")
    check_seeds([("seed", seed) for seed in seeds])
    settings = settings or Settings()
    started = datetime.now(UTC).isoformat(timespec="seconds")
    learned = None if model is None else load_model(Path(model))
    if learned is not None:
        strategy, parameters = fitting(learned, strategy, parameters, make_strategy)
    strategy = strategy or "best-first"
    asked = Asked(topic, tuple(seeds), strategy, dict(parameters or {}), settings, versions(), started)
    made = make_strategy(strategy, parameters)  # whatever is wrong is said before writing
    if getattr(made, "oracle", False):
        raise BadConfig(f"{strategy} with these parameters is an oracle: it sees what no crawler can see", "lab run it")
    if learned is not None:
        taught(made, learned)
        asked = replace(asked, model=learned.digest)
    else:
        check_untaught(made, strategy)
    make_scope(settings)
    make_fetcher(settings)
    asked.keyed_seeds()
    folder = CrawlFolder.create(Path(out), asked, learned)
    try:
        clock = Clock()
        crawl = _assemble(folder, clock, watch)
        crawl.start()
        folder.database.save_meta("started_at", str(clock()))
        folder.attach(crawl, clock())
        return Session(folder, crawl, fetcher, clock)
    except BaseException:
        folder.close()
        raise


def resume(
    out: Path | str, *, fetcher: Fetcher | None = None, watch: Watcher | None = None, pages: int | None = None
) -> Session:
    """Go on with the crawl in a folder, whatever ended it. `pages` sets a new budget."""
    folder = CrawlFolder.reopen(Path(out))
    try:
        clock = Clock()
        crawl = _assemble(folder, clock, watch, pages)
        state = folder.database.state("crawl")
        if state is None:  # it was killed while it was being born
            crawl.start()
        else:
            crawl.introduce()
            _remember(folder, crawl)
            crawl.load(state)
        if folder.salvaged:
            _reconsider(folder, crawl)
        for step in folder.forgotten:
            crawl.want_again(step)
        if crawl.manners is not None:
            crawl.manners.resumed_at = clock()
        crawl.not_before = clock() + folder.asked.settings.delay
        folder.attach(crawl, clock())
        session = Session(folder, crawl, fetcher, clock)
        session.listen()
        return session
    except BaseException:
        folder.close()
        raise


def _assemble(
    folder: CrawlFolder, clock: Callable[[], float], watch: Watcher | None, pages: int | None = None
) -> Crawl:
    asked, settings = folder.asked, folder.asked.settings
    if pages:
        folder.database.save_meta("pages_asked", str(pages))  # crawl.toml stays as it was written
    strategy = make_strategy(asked.strategy, asked.parameters)
    if (learned := folder.model()) is not None:
        taught(strategy, learned)
    manners = folder.manners(clock())
    if isinstance(strategy, OwnFrontier):
        frontier = strategy.frontier(settings.frontier)
    else:
        eviction: Eviction = getattr(strategy, "eviction", "scored")
        frontier = SqliteFrontier(folder.database, settings.frontier, eviction, settings.spread)
    crawl = Crawl(
        strategy,
        frontier,
        folder.history,
        asked.topic,
        asked.keyed_seeds(),
        limits=Limits(
            pages=folder.budget,
            ends_at=clock() + settings.time if settings.time else float("inf"),
            pages_per_host=settings.pages_per_host,
            redirects=settings.redirects,
            retries=settings.retries,
            longest_wait=settings.longest_wait,
            host_patience=settings.host_patience,
            nofollow=settings.nofollow,
            sitemaps=SITEMAPS_PER_HOST if settings.sitemaps else 0,
        ),
        scope=make_scope(settings),
        manners=manners,
        judge=Judge(asked.topic),
        tally=Tally(settings.relevant, settings.dry_window, settings.dry_floor, settings.dry_patience),
        repository=folder.repository,
        seed_number=settings.seed_number,
        watch=watch,
    )
    for name, host in manners.hosts.items():
        if host.next_allowed > clock():
            frontier.rest(name, host.next_allowed)
    return crawl


def make_scope(settings: Settings) -> Scope:
    return Scope(
        frozenset(settings.hosts),
        frozenset(settings.domains),
        frozenset(settings.not_hosts),
        frozenset(settings.not_domains),
        tuple(settings.paths),
        tuple(settings.not_paths),
        settings.depth,
        settings.traps,
    )


def _remember(folder: CrawlFolder, crawl: Crawl) -> None:
    """Bring tally and strategy to where they were: counts from the history, state from the last snapshot,
    and what was read after it from the WARC, so that a resumed strategy decides as an undisturbed one."""
    for step in folder.history.marks():
        relevant = crawl.tally.page(step)
        if crawl.scope is not None:
            crawl.scope.learn(step.url, relevant)
            if step.depth == 0 and step.requested is not None:
                crawl.scope.admit(urls.host(step.url))
    crawl.numbered = folder.history.highest()
    crawl.tally.misses.update(folder.history.reasons())
    crawl.tally.dropped.update(folder.history.counts())
    if not isinstance(crawl.strategy, Saves):
        for told in Labels(folder.database).heard():
            crawl.hear(told.url, told.on_topic, offer=False)
        return
    state = folder.database.state("strategy")
    if state is not None:
        crawl.strategy.load(state)
    after = int(folder.database.meta("snapshot", "0")) if state is not None else 0
    labels = int(folder.database.meta("snapshot_labels", "0")) if state is not None else 0
    limits = page_limits(folder.asked.settings)
    own = isinstance(crawl.strategy, OwnFrontier)  # as old as the snapshot too: what was wanted since goes in again
    crawl.later = later = _heard_later(folder, crawl, after) if own else set()
    for event, where in in_order(folder, after, labels):
        if isinstance(event, Heard):
            crawl.hear(event.url, event.on_topic, offer=own)
            continue
        later -= {event.url} if isinstance(event, Lost) else {event.url, event.requested or event.url}
        if isinstance(event, Lost):
            candidate = Candidate(event.url, event.score, event.carry, {}, event.parent, event.anchor, event.depth)
            crawl.hear_miss(Miss(candidate, event.reason, event.detail, event.status, event.bytes), offer=own)
        elif where is not None:
            page = _read_again(folder, event, where, limits)
            if page is not None:
                (crawl.reconsider if own else crawl.hear_again)(page)
        crawl.told()  # recorded before the restart


def _heard_later(folder: CrawlFolder, crawl: Crawl, after: int) -> set[Url]:
    """What was asked for since the snapshot and will be heard of again. A frontier that can say what waits in it gives
    up the rest of what is known by now; only with such a one does it matter that they were still unknown then."""
    waiting = getattr(crawl.frontier, "urls", None)
    if waiting is None:
        return set()
    later: set[Url] = set()
    for event, _ in folder.history.events_after(after):
        later |= {event.url} if isinstance(event, Lost) else {event.url, event.requested or event.url}
    for url in waiting():
        if url not in later and folder.history.seen(url):
            crawl.frontier.settle(url)  # type: ignore[attr-defined]
    return later


def _reconsider(folder: CrawlFolder, crawl: Crawl) -> None:
    """Fill the frontier anew after a salvage: with the seeds, and with what the strategy wants of each page kept."""
    crawl.start()
    limits = page_limits(folder.asked.settings)
    for event, where in folder.history.events_after(0):
        if isinstance(event, Step) and where is not None:
            page = _read_again(folder, event, where, limits)
            if page is not None:
                crawl.reconsider(page)


def _read_again(folder: CrawlFolder, step: Step, where: Any, limits: PageLimits) -> Page | None:
    candidate = Candidate(step.url, step.score, step.carry, step.parts, step.parent, step.anchor, step.depth)
    agent = product_token(folder.asked.settings) if folder.asked.settings.robots else ""
    result = land(candidate, folder.repository.get(where), limits, agent=agent, now=step.time)
    return result if isinstance(result, Page) else None


async def crawl_async(
    topic: Topic | str,
    seeds: Sequence[str],
    pages: int = 1000,
    out: Path | str = "crawl",
    *,
    strategy: str | None = None,
    watch: Watcher | None = None,
    model: Path | str | None = None,
    **options: Any,
) -> CrawlFolder:
    """Crawl for a topic and give back the finished folder: `crawl` for programs that have an event loop."""
    name = strategy or (load_model(Path(model)).strategy if model is not None else "best-first")
    given, parameters = split_settings({"pages": pages, **options}, name)
    settings = read(Settings, given)
    session = begin(
        topic, seeds, out, strategy=strategy, parameters=parameters, settings=settings, watch=watch, model=model
    )
    try:
        await session.run()
    finally:
        session.close()
    return CrawlFolder.look(Path(out))


def crawl(
    topic: Topic | str,
    seeds: Sequence[str],
    pages: int = 1000,
    out: Path | str = "crawl",
    *,
    strategy: str | None = None,
    watch: Watcher | None = None,
    model: Path | str | None = None,
    **options: Any,
) -> CrawlFolder:
    """Crawl the web for a topic, best pages first, and give back the finished folder.

    `topic` is words or a `Topic`; `seeds` are URLs to start from, or a single one; `out` is the new folder. `watch`
    hears of each page, each miss, each link that was left alone and each event the strategy tells
    of. `strategy` is `best-first` unless said, or that
    of the `model`, a folder that `train` made. `options` are settings of the crawl
    (`delay="500 ms"`, `hosts=["example.org"]`, see `Settings`) and parameters of the strategy. Robots rules are
    obeyed and hosts are given rest. Raises `ScenthoundError` where something is wrong with what was asked.
    """
    return asyncio.run(crawl_async(topic, seeds, pages, out, strategy=strategy, watch=watch, model=model, **options))


__all__ = ["DiskFull", "Session", "begin", "crawl", "crawl_async", "make_strategy", "resume", "split_settings"]
